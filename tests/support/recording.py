"""
Every statement that the service sent, as its database got it: from the server's own log.

The log is switched on for the service's login in one database only, so what tests look at by the owner's login, and
what other tests do meanwhile, is not in it. It holds what pipelines, SQLAlchemy and cursors send alike.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg import sql

from jackpot_service.database.embedded import Cluster
from jackpot_service.database.tables import ROLE

_LINE: Final = re.compile(r"\S+ \S+ \S+ \[(\d+)\] (\S*) ([A-Z]+):  (.*)", re.DOTALL)
_SAID: Final = re.compile(r"(?:statement|execute [^:]*): (.*)", re.DOTALL)
_PARAMETER: Final = re.compile(r"(\$\d+) = (?:NULL|'((?:[^']|'')*)')")
_PARAMETERS: Final = "Parameters: "


@dataclass(frozen=True, slots=True)
class Sent:
    """A statement, with the values of its parameters by their names (`$1`), None for NULL."""

    part: str
    text: str
    values: Mapping[str, str | None] = field(default_factory=dict)


class Recorder:
    """Reads what was sent in each part of a story."""

    def __init__(self, log: Path, database: str) -> None:
        self._log = log
        self._database = database
        self.sent: list[Sent] = []

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Record what is sent in the block, as a part of the story."""
        start = self._log.stat().st_size
        yield
        with self._log.open("rb") as log:
            log.seek(start)
            written = log.read().decode(errors="replace")
        self.sent += statements(written, self._database, part=name)


@contextmanager
def recording(administrator: psycopg.Connection[Any], cluster: Cluster, database_url: str) -> Iterator[Recorder]:
    """Have the server log what the service sends on connections that are made from now on."""
    database = database_url.rpartition("/")[2].partition("?")[0]
    setting = sql.SQL("ALTER ROLE {} IN DATABASE {} {} log_statement")
    named = [sql.Identifier(ROLE), sql.Identifier(database)]
    administrator.execute(setting.format(*named, sql.SQL("SET")) + sql.SQL(" = 'all'"))
    try:
        yield Recorder(cluster.directory / "server.log", database)
    finally:
        administrator.execute(setting.format(*named, sql.SQL("RESET")))


def statements(log: str, database: str, *, part: str) -> Sequence[Sent]:
    """Read the statements of one database from a piece of a log that begins with a whole line."""
    sent: list[Sent] = []
    latest: dict[str, int] = {}
    for line in log.replace("\n\t", "\0").split("\n"):
        match = _LINE.fullmatch(line.replace("\0", "\n"))
        if match is None or match[2] != database:
            continue
        process, kind, message = match[1], match[3], match[4]
        if kind == "LOG" and (statement := _SAID.fullmatch(message)):
            latest[process] = len(sent)
            sent.append(Sent(part, statement[1]))
        elif kind == "DETAIL" and message.startswith(_PARAMETERS):
            place = latest.pop(process)
            sent[place] = Sent(part, sent[place].text, _values(message))
    return sent


def _values(message: str) -> dict[str, str | None]:
    return {
        match[1]: None if match[2] is None else match[2].replace("''", "'")
        for match in _PARAMETER.finditer(message, len(_PARAMETERS))
    }
