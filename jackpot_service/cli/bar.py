"""A bar on the terminal, which shows how far a long command is."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from jackpot_service.cli.progress import OnCount, rate


@contextmanager
def shown_bar() -> Iterator[OnCount]:
    """Yield what to call as the work goes on."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(30),
        TaskProgressColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    # The time left is reckoned from all that was done, as `progress` does without a bar.
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, speed_estimate_period=math.inf) as bar:
        task = bar.add_task("", total=None, rate="")

        def advance(done: int, total: int | None, what: str) -> None:
            speed = bar.tasks[0].speed
            bar.update(task, completed=done, total=total, description=what, rate=rate(speed or 0))

        yield advance
