"""A house with more than one casino: eight, in four time zones, each with four tables that play for one jackpot."""

from collections.abc import Mapping
from datetime import datetime, time
from decimal import Decimal
from functools import partial
from types import MappingProxyType

import sqlalchemy
from sqlalchemy import URL

from bench.databases import url_of_service
from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import transact
from jackpot_service.domain.payout_tiers import PayoutTier
from jackpot_service.domain.principals import SYSTEM_OPERATOR
from jackpot_service.records.immutable import Table
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.casinos import add_casino, add_table
from jackpot_service.usecases.jackpots import OpenJackpot, open_jackpot
from jackpot_service.usecases.publish_rates import PublishRates, publish_first_sheet

JACKPOT = "house"
CASINOS = tuple(f"house-{number}" for number in range(1, 9))
CASINO_OF: Mapping[str, str] = MappingProxyType(
    {f"{casino_id}-{number}": casino_id for casino_id in CASINOS for number in range(1, 5)}
)

_ZONES = ("UTC", "Europe/Riga", "Europe/London", "Asia/Manila")
DAY_STARTS = time(6)
_HELD_FROM = Decimal(2000)
_RATES = {"GBP": Decimal("1.17"), "SEK": Decimal("0.0873")}
_PATIENCE_MS = 60_000


def set_up(url: URL, *, now: datetime) -> None:
    """Publish the rates, add the casinos and their tables, and open the jackpot, whose large awards are held."""
    act = Act(SYSTEM_OPERATOR, now, reason="to be measured")
    opening = OpenJackpot(
        act=act,
        jackpot_id=JACKPOT,
        rulebook="live-caribbean-stud",
        base="EUR",
        base_amount=None,
        settings={"payout_tiers": (PayoutTier(_HELD_FROM),)},
        stripes=Config().stripes,
    )
    sheet = PublishRates(act, "EUR", _RATES, effective_at=now)
    connected = engine(url)
    try:
        transact(connected, partial(publish_first_sheet, command=sheet))
        for number, casino_id in enumerate(CASINOS):
            add = partial(add_casino, act=act, casino_id=casino_id, name=casino_id)
            transact(connected, partial(add, zone=_ZONES[number % len(_ZONES)], day_starts=DAY_STARTS))
        transact(connected, partial(open_jackpot, command=opening))
        for table_id, casino_id in CASINO_OF.items():
            table = Table(table_id, casino_id, "caribbean-stud", JACKPOT)
            transact(connected, partial(add_table, act=act, new=table))
    finally:
        connected.dispose()


def engine(url: URL) -> sqlalchemy.Engine:
    """Connect as the service does, but wait longer than a table would; whoever asks lets go of the connections."""
    patient = Config(
        statement_timeout_ms=_PATIENCE_MS, lock_timeout_ms=_PATIENCE_MS, request_timeout_s=_PATIENCE_MS / 1000
    )
    return create_engine(patient, url_of_service(url).render_as_string(hide_password=False))
