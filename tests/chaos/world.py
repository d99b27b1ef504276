"""What the campaign plays with: two casinos, three jackpots, twelve tables, all set up by the service's commands."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from tests.chaos import paytable, program
from tests.chaos.outcomes import JACKPOTS
from tests.chaos.table_server import Table

CASINOS: Final = ("north", "south")
TABLES_EACH: Final = 2
REASON: Final = ("--reason", "chaos")
AT_ONCE: Final = 3


@dataclass(frozen=True, slots=True)
class World:
    """The tables, each with the key of its casino's table servers."""

    tables: tuple[Table, ...]

    @property
    def keys(self) -> dict[str, str]:
        """Return the key of each table."""
        return {table.table_id: table.key for table in self.tables}


@dataclass(frozen=True, slots=True)
class _Commands:
    url: str = field(repr=False)

    def run(self, *arguments: str) -> str:
        return program.jackpot(*arguments, *REASON, url=self.url).stdout.strip()


def set_up(owner_url: str) -> World:
    """Set a new database up. Raises: program.CommandFailed."""
    program.upgrade(owner_url)
    commands = _Commands(program.service_url(owner_url))
    for casino in CASINOS:
        commands.run("casinos", "add", casino, casino.title())
    rates = [f"{code}={float(rate):g}" for code, rate in paytable.RATES.items() if code != paytable.BASE]
    commands.run("rates", "publish", "--base", paytable.BASE, *rates)
    for jackpot_id, book in JACKPOTS.items():
        commands.run("jackpots", "open", jackpot_id, "--rules", book.name, "--currency", paytable.BASE)
    places = [(casino, jackpot_id, n) for casino in CASINOS for jackpot_id in JACKPOTS for n in range(TABLES_EACH)]
    keys = dict(zip(CASINOS, _at_once([partial(_key, commands, casino) for casino in CASINOS]), strict=True))
    names = _at_once([partial(_table, commands, *place) for place in places])
    tables = [
        Table(name, JACKPOTS[jackpot_id].name, keys[casino])
        for name, (casino, jackpot_id, _) in zip(names, places, strict=True)
    ]
    return World(tuple(tables))


def _key(commands: _Commands, casino: str) -> str:
    return commands.run("keys", "create", "--role", "table", "--casino", casino, "--name", f"tables of {casino}")


def _table(commands: _Commands, casino: str, jackpot_id: str, number: int) -> str:
    name = f"{casino}.{jackpot_id}.{number}"
    game = ("--game", "caribbean-stud")
    commands.run("tables", "add", name, "--casino", casino, "--jackpot", jackpot_id, *game)
    return name


def _at_once(acts: "Sequence[partial[str]]") -> list[str]:
    with ThreadPoolExecutor(AT_ONCE) as threads:
        return list(threads.map(lambda act: act(), acts))
