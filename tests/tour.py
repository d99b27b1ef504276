"""
A tour of the package: `make tour`, or `python -m tests.tour` from the checkout.

It plays the calls that matter most against an embedded PostgreSQL, lists the files of the package that each enters, and
prints the package's figures with their targets. It judges nothing: it exits 0 whatever the figures are.
"""

import logging
import sys
import tempfile
import threading
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Final

import click
import structlog

import jackpot_service
from jackpot_service.database import embedded
from jackpot_service.domain.principals import Role
from jackpot_service.schema import migrate, months
from tests.support.answers import Answer
from tests.support.bets import bet
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.world import World

PACKAGE: Final = Path(jackpot_service.__file__).parent
CHECKOUT: Final = Path(__file__).resolve().parents[1]
APART: Final = PACKAGE / "migrations"
"""Reviewed SQL and what runs it: counted by itself."""

MOST_FILES: Final[Mapping[str, int]] = {"bet": 30, "result with a hit": 32, "report": 22, "change request": 22}
MOST_LINES: Final = 34_000
MOST_MODULES: Final = 300
MOST_ROOMS: Final = 22
MOST_LAYERS: Final = 10


class Steps:
    """Notes which files of the package are entered, in every thread that begins after it was made."""

    def __init__(self) -> None:
        self._entered: set[str] | None = None
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def of(self, call: Callable[[], Answer]) -> tuple[Answer, tuple[str, ...]]:
        """Make a call; return its answer, and the files that it entered."""
        entered = self._entered = set()
        answer = call()
        self._entered = None
        files = (Path(name) for name in entered)
        return answer, tuple(sorted(str(file.relative_to(PACKAGE)) for file in files if file.is_relative_to(PACKAGE)))

    def _note(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and self._entered is not None:
            self._entered.add(frame.f_code.co_filename)


def main() -> None:
    """Take the tour, and print what was seen."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    steps = Steps()
    with tempfile.TemporaryDirectory(prefix="jackpot-tour-") as directory:
        Path(directory).chmod(0o711)
        with embedded.running(Path(directory), settings={"fsync": "off"}) as cluster:
            migrate.upgrade(cluster.url())
            months.make(cluster.url(), now=datetime.now(UTC))
            world = World(cluster.service_url())
            _tour(world, steps)
            world.close()
    _figures()


def _tour(world: World, steps: Steps) -> None:
    """Make each call twice: the first finds and remembers what the second finds remembered."""
    world.open()
    table, finance, operator = world.key(Role.TABLE), world.key(Role.FINANCE), world.person("Ann", Role.OPERATOR)
    calls: Mapping[str, Callable[[int], Answer]] = {
        "bet": lambda turn: world.post_bets(bet(f"b{turn}"), round_id=f"r{turn}"),
        "result with a hit": lambda turn: world.send(
            "PUT", "T1", f"r{turn}/result", {"bet_count": 1, "hands": [hand("1", ROYAL_FLUSH)]}, key=table
        ),
        "report": lambda _: world.get("/v1/reports/trial-balance?from=2026-01-01", key=finance),
        "change request": lambda turn: world.post(
            "/v1/change-requests",
            {
                "request_id": f"q{turn}",
                "kind": "adjustment",
                "payload": {
                    "jackpot_id": "j1",
                    "account": "reserve",
                    "amount": "1",
                    "document": "memo 12",
                    "cause": "promotional-contribution",
                },
                "reason": "as agreed",
            },
            key=operator,
        ),
    }
    for name, call in calls.items():
        _require_done(name, call(1))
        answer, entered = steps.of(partial(call, 2))
        _require_done(name, answer)
        click.echo(_stated(f"Files entered by a warm {name}", len(entered), MOST_FILES[name]))
        for file in entered:
            click.echo(f"  {file}")


def _require_done(name: str, answer: Answer) -> None:
    if answer.status not in {200, 201}:
        message = f"the {name} was answered {answer.status}: {answer.text}"
        raise click.ClickException(message)


def _figures() -> None:
    """Print how large the package is, and how many rooms and layers its contract of imports names."""
    modules = [path for path in PACKAGE.rglob("*.py") if not path.is_relative_to(APART)]
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules}
    layers = _layers()
    click.echo(_stated("Lines, without migrations", sum(lines.values()), MOST_LINES))
    by_room: Counter[str] = Counter()
    for path, count in lines.items():
        by_room[path.relative_to(PACKAGE).parts[0]] += count
    for room, count in by_room.most_common():
        click.echo(f"  {room}: {count:,}")
    click.echo(_stated("Modules that are not empty", sum(map(bool, lines.values())), MOST_MODULES))
    click.echo(_stated("Rooms: folders and modules at the top", sum(map(len, layers)), MOST_ROOMS))
    click.echo(_stated("Layers of imports", len(layers), MOST_LAYERS))


def _layers() -> list[list[str]]:
    """The layers that `make check-layers` holds; its list of rooms is exhaustive."""
    settings = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    whole = next(contract for contract in contracts if contract.get("containers") == [PACKAGE.name])
    return [layer.replace(":", "|").split("|") for layer in whole["layers"]]


def _stated(what: str, figure: int, most: int) -> str:
    return f"{what}: {figure:,} (target: {most:,} at most)"


if __name__ == "__main__":
    main()
