"""`jackpot events`: what happened, a line of JSON an event."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final

import click
import orjson
import sqlalchemy
from marshmallow import ValidationError

from jackpot_service.cli.opening import opened_engine
from jackpot_service.cli.values import Value
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import read
from jackpot_service.domain.principals import SYSTEM_OPERATOR
from jackpot_service.events.cursor import BEGINNING, Cursor, decode, encode
from jackpot_service.events.entries import heads, require_reached
from jackpot_service.events.event import as_cloud_event
from jackpot_service.events.page import Page, events_page

MOST_AT_ONCE: Final = 1000

LOOK_EVERY_S: Final = 0.5

NOW: Final = "now"


def _cursor(text: str) -> Cursor | None:
    """Read where to go on; None for now."""
    try:
        return None if text == NOW else decode(text)
    except ValueError as error:
        raise ValidationError(str(error)) from None


@click.command("events")
@click.option(
    "--after",
    type=Value("cursor", _cursor),
    default=BEGINNING,
    show_default="the very beginning",
    help="Go on from there: «now», or the cursor that was printed last.",
)
@click.option("--follow", is_flag=True, help="Go on with what happens, until Ctrl-C.")
@click.pass_obj
def events(config: Config, after: Cursor | None, follow: bool) -> None:  # noqa: FBT001
    """
    Print what happened as CloudEvents, a line of JSON each, as the house sees it.

    The cursor after the last of them is printed on standard error at the end; if their reader goes away, that
    after the last page that was printed whole.
    """
    with opened_engine(config) as engine:
        cursor = _start(engine, after)
        try:
            with suppress(KeyboardInterrupt):
                for page in _pages(engine, cursor, follow=follow):
                    with _uninterrupted():
                        for event in page.items:
                            click.echo(orjson.dumps(as_cloud_event(event, with_people=True)))
                        cursor = page.next
        finally:
            click.echo(f"Next: --after {encode(cursor)}", err=True)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait, so that the cursor that is printed is that after the last event that was printed."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(engine: sqlalchemy.Engine, after: Cursor | None) -> Cursor:
    """Raises: CursorAhead."""
    reached = read(engine, heads)
    if after is None:
        return Cursor(reached.positions)
    require_reached(after, reached)
    return after


def _pages(engine: sqlalchemy.Engine, cursor: Cursor, *, follow: bool) -> Iterator[Page]:
    """Read page by page, up to the end of the books as they are at the beginning; or for ever, as they grow."""
    reached = read(engine, heads)
    while True:
        page = read(
            engine,
            partial(events_page, reader=SYSTEM_OPERATOR, after=cursor, reached=reached, limit=MOST_AT_ONCE),
        )
        yield page
        cursor = page.next
        if not page.has_more:
            if not follow:
                return
            time.sleep(LOOK_EVERY_S)
            reached = read(engine, heads)


COMMANDS = (events,)
