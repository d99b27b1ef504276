"""How the demo shows its progress: a bar on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from jackpot_demo import play
from jackpot_demo.tally import in_words

SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def shown(rounds: int | None) -> Iterator[Callable[[play.Progress], None]]:
    """Yield what to call after each round. Royal flushes are told on a line of their own."""
    console = Console()
    if console.is_terminal:
        with _bar(console) as bar:
            task = bar.add_task("shuffling", total=rounds)

            def advance(progress: play.Progress) -> None:
                bar.update(task, completed=progress.tally.rounds, description=progress.line)
                if _is_top(progress):
                    bar.console.print(progress.line)

            yield advance
        return
    last = 0.0

    def tell(progress: play.Progress) -> None:
        nonlocal last
        is_last = progress.tally.rounds == rounds
        if _is_top(progress) or is_last or time.monotonic() - last > SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            click.echo(progress.line)
        if is_last:
            click.echo(_totals(progress))

    yield tell


def _bar(console: Console) -> Progress:
    columns = (
        SpinnerColumn(),
        MofNCompleteColumn(),
        BarColumn(20),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    return Progress(*columns, console=console)


def _is_top(progress: play.Progress) -> bool:
    return "royal flush" in progress.line.lower()


def _totals(progress: play.Progress) -> str:
    tally = progress.tally
    return (
        f"{tally.rounds:,} rounds, {tally.bets:,} bets, {tally.voids:,} voids, {tally.cancellations:,} cancellations, "
        f"{tally.awards:,} awards, {tally.retries:,} retries; staked {in_words(tally.staked_minor)}; "
        f"awarded {in_words(tally.awarded_minor)}"
    )
