"""`jackpot events`: what happened, a line of JSON an event."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import click

from jackpot_service.cli.lazy import example
from jackpot_service.cli.printing import json_line
from jackpot_service.cli.service_api import Service, at, configured

MOST_AT_ONCE: Final = 1000

WAIT_S: Final = 20


@example("jackpot events > events.jsonl", "jackpot events --after now --follow")
@click.command("events")
@click.option(
    "--after",
    show_default="the very beginning",
    help="Go on from there: «now», or the cursor that was printed last.",
)
@click.option("--follow", is_flag=True, help="Go on with what happens, until Ctrl-C.")
def events(after: str | None, follow: bool) -> None:  # noqa: FBT001
    """
    Print what happened as CloudEvents, a line of JSON each, as far as your key sees it.

    The cursor after the last of them is printed on standard error at the end. If their reader goes away, that is the
    cursor after the last page that was printed whole.
    """
    service = configured()
    cursor: str | None = None
    try:
        with suppress(KeyboardInterrupt):
            for items, following in _pages(service, after, follow=follow):
                cursor = cursor or after
                with _uninterrupted():
                    for event in items:
                        click.echo(json_line(event))
                    cursor = following
    finally:
        if cursor is not None:
            click.echo(f"Next: --after {cursor}", err=True)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait, so that the cursor that is printed is that after the last event that was printed."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _pages(service: Service, after: str | None, *, follow: bool) -> Iterator[tuple[list[dict[str, object]], str]]:
    """Read page by page to the end of what is booked, or for ever: then the service is asked to wait for more."""
    is_at_end = False
    while True:
        page = service.get(at("events"), after=after, limit=MOST_AT_ONCE, wait=WAIT_S if is_at_end else None)
        after = page["next"]
        yield page["items"], after
        is_at_end = not page["has_more"]
        if is_at_end and not follow:
            return
