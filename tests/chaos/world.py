"""What the campaign plays with: two casinos, three jackpots, twelve tables, all set up by the service's own acts."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Final

import sqlalchemy

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import transact
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.records.immutable import Table as PlayingTable
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.casinos import add_casino, add_table
from jackpot_service.usecases.jackpots import OpenJackpot, open_jackpot
from jackpot_service.usecases.keys import create_key
from jackpot_service.usecases.publish_rates import PublishRates, publish_first_sheet
from tests.chaos import paytable, program
from tests.chaos.outcomes import JACKPOTS
from tests.chaos.table_server import Table

CASINOS: Final = ("north", "south")
TABLES_EACH: Final = 2


@dataclass(frozen=True, slots=True)
class World:
    """The tables, each with the key of its casino's table servers."""

    tables: tuple[Table, ...]

    @property
    def keys(self) -> dict[str, str]:
        """Return the key of each table."""
        return {table.table_id: table.key for table in self.tables}


def set_up(owner_url: str) -> World:
    """Set a new database up. Raises: program.CommandFailed."""
    program.upgrade(owner_url)
    engine = create_engine(Config(), program.service_url(owner_url))
    try:
        return World(tuple(_set_up(engine)))
    finally:
        engine.dispose()


def _set_up(engine: sqlalchemy.Engine) -> Iterator[Table]:
    act = Act(SYSTEM_OPERATOR, datetime.now(UTC), reason="chaos")
    for casino in CASINOS:
        transact(engine, partial(add_casino, act=act, casino_id=casino, name=casino.title()))
    rates = {
        code: Decimal(rate.numerator) / rate.denominator
        for code, rate in paytable.RATES.items()
        if code != paytable.BASE
    }
    transact(engine, partial(publish_first_sheet, command=PublishRates(act, paytable.BASE, rates, act.now)))
    for jackpot_id, book in JACKPOTS.items():
        opening = OpenJackpot(act, jackpot_id, book.name, paytable.BASE, None, {}, Config().stripes)
        transact(engine, partial(open_jackpot, command=opening))
    for casino in CASINOS:
        server = Principal(f"tables of {casino}", Role.TABLE, casino)
        key = transact(engine, partial(create_key, act=act, principal=server)).whole
        for jackpot_id, book in JACKPOTS.items():
            for number in range(TABLES_EACH):
                name = f"{casino}.{jackpot_id}.{number}"
                new = PlayingTable(name, casino, "caribbean-stud", jackpot_id)
                transact(engine, partial(add_table, act=act, new=new))
                yield Table(name, book.name, key)
