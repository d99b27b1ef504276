"""
The project's own campaign of faults: `make chaos`, or `python -m tests.chaos` from the checkout.

Exit code: 0 when nothing was found wrong, 1 when the books are, or the campaign failed, 2 when only answers are: calls
that hung, or a status outside the contract.
"""

import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

import click
import orjson
from rich.console import Console

from jackpot_service.database.embedded import EmbeddedError
from tests.chaos import blindness, campaign, database, disk, plan, replicated, report, site
from tests.chaos.faults.fault import Drawn
from tests.chaos.program import CommandFailed
from tests.chaos.replicated import NoCluster
from tests.chaos.report import Outcome
from tests.chaos.service import NotServing
from tests.chaos.site import Site
from tests.chaos.world import World, set_up

FAILURES = (blindness.Blind, CommandFailed, EmbeddedError, NoCluster, NotServing, TimeoutError)
FAILED = 1

LEAST_WIDTH = 150
"""Characters; the table would be cut otherwise."""

VARIABLE = "CHAOS"
BY_HOSTS = {"patroni": False, "patroni-hosts": True}
"""What the variable may say: a Patroni cluster instead of the embedded PostgreSQL, by HAProxy or past it."""


@click.command()
@click.option("--minutes", type=click.FloatRange(0.1, 600), default=10.0, show_default=True, help="Of faults.")
@click.option("--seed", type=int, default=1, show_default=True, help="Draw the same faults, and deal the same cards.")
@click.option("--tables", type=click.IntRange(2, 64), default=16, show_default=True, help="Table servers.")
@click.option("--only", multiple=True, help="Only faults with this in their name; may be repeated.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("var/chaos"),
    show_default=True,
    help="Where the table goes, as chaos.md and chaos.json, and what the service logged if something was found.",
)
def main(*, minutes: float, seed: int, tables: int, only: tuple[str, ...], output: Path) -> None:
    """Kill, freeze and overload the service while tables play, and hold its books against what it acknowledged."""
    chosen = [fault for fault in plan.ALL if not only or any(word in fault().name for word in only)]
    if not chosen:
        message = f"no fault has {' or '.join(map(repr, only))} in its name"
        raise click.BadParameter(message, param_hint="--only")
    console = Console(width=max(Console().width, LEAST_WIDTH))
    try:
        with _directory() as directory:
            outcome = _run(console, directory, minutes=minutes, seed=seed, tables=tables, chosen=chosen)
            output.mkdir(parents=True, exist_ok=True)
            if outcome.exit_code:
                shutil.copy(directory / "campaign" / "service.log", output)
    except FAILURES as failure:
        console.print(f"chaos failed: {failure}", markup=False)
        sys.exit(FAILED)
    report.print_to(console, outcome)
    (output / "chaos.md").write_text(report.as_markdown(outcome))
    (output / "chaos.json").write_bytes(orjson.dumps(report.as_document(outcome), option=orjson.OPT_INDENT_2))
    sys.exit(outcome.exit_code)


def _run(
    console: Console, directory: Path, *, minutes: float, seed: int, tables: int, chosen: Sequence[Drawn]
) -> Outcome:
    by_hosts = _cluster_asked_for()
    commit = report.current_commit()
    with ExitStack() as stack:
        home = directory / "home"
        console.print("setting up")
        world = site.set_up_in(home)
        console.print("is the checker blind?")
        sight = blindness.prove(directory, home, world)
        console.print(f"it is not: {sight.lost_without_flush} losses were reported where there were some")
        if by_hosts is not None:
            attacked = stack.enter_context(_replicated(directory, by_hosts=by_hosts, seed=seed, tables=tables))
        else:
            attacked = stack.enter_context(_embedded(directory, home, world, seed=seed, tables=tables))
        allowed, left_out = plan.possible(attacked, chosen)
        began_s = time.monotonic()
        drawn = plan.draws(allowed, seed=seed)
        phases = campaign.run(attacked, drawn, seconds=60 * minutes, say=console.print)
        seconds = time.monotonic() - began_s
    names = {phase.name for phase in phases}
    late = {fault().name: "the time was up" for fault in allowed if fault().name not in names}
    return Outcome(commit, seed, seconds, sight, phases, left_out | late)


def _cluster_asked_for() -> bool | None:
    """Return whether a cluster is reached by its hosts; None for the embedded PostgreSQL. Raises: NoCluster."""
    chosen_hosts = os.environ.get(VARIABLE)
    if not chosen_hosts:
        return None
    if chosen_hosts not in BY_HOSTS:
        message = f"{VARIABLE}={chosen_hosts}: it may be {' or '.join(BY_HOSTS)}"
        raise NoCluster(message)
    replicated.require_support()
    return BY_HOSTS[chosen_hosts]


@contextmanager
def _embedded(directory: Path, home: Path, world: World, *, seed: int, tables: int) -> Iterator[Site]:
    """Serve a copy of the database that is set up, on a small disk if one can be mounted."""
    data = directory / "data"
    with disk.mounted(data) as small:
        database.copy(home, data)
        with (
            database.running(data, database.SETTINGS) as attacked,
            site.opened(directory / "campaign", world, attacked, seed=seed, servers=tables, disk=small) as opened,
        ):
            yield opened


@contextmanager
def _replicated(directory: Path, *, by_hosts: bool, seed: int, tables: int) -> Iterator[Site]:
    """Serve a replicated PostgreSQL of three nodes, set up anew."""
    with (
        replicated.running(directory / "nodes", by_hosts=by_hosts) as attacked,
        site.opened(directory / "campaign", set_up(attacked.owner_url), attacked, seed=seed, servers=tables) as opened,
    ):
        yield opened


@contextmanager
def _directory() -> Iterator[Path]:
    """Make a directory that PostgreSQL's own account can search, and remove it unless the block fails."""
    directory = Path(tempfile.mkdtemp(prefix="jackpot-chaos-"))
    directory.chmod(0o711)
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


def _leave(_signal: int, _frame: FrameType | None) -> None:
    """End as after Ctrl-C, so that everything that was started is stopped."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _leave)
    main(prog_name="python -m tests.chaos")
