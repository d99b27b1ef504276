"""
Sums of a period of a jackpot's book: whole days as they are kept, partial days from the figures of their entries.

Every posting is counted once: those of bets by `bets`, all others by `postings`; `movements` adds both together.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, text

from jackpot_service.database.transactions import Session
from jackpot_service.domain import accounts
from jackpot_service.domain.accounts import Account
from jackpot_service.domain.figures import FigureKind
from jackpot_service.domain.journal import Movement
from jackpot_service.reports.finance import relations
from jackpot_service.reports.finance.period import BookPeriod
from jackpot_service.reports.finance.relations import EVERYWHERE
from jackpot_service.reports.questions import Filters


class Key(StrEnum):
    """
    The key of a sum. A day is of UTC, a gaming day the casino's.

    A cycle is the one that an entry stands after. Where an entry is of no round, its table is '', and its casino whose
    account it moves, or ''.
    """

    CYCLE = "cycle"
    DAY = "day"
    GAMING_DAY = "gaming_day"
    CASINO = "casino_id"
    TABLE = "table_id"
    CURRENCY = "currency"


@dataclass(frozen=True, slots=True)
class Stakes:
    """
    Bets accepted or refunded: their number, their stakes in units of their currency, their base value, and its parts.

    `adjustments` has the parts of meter and reserve of refunded bets whose cycle had been won.
    """

    key: Mapping[Key, Any]
    bets: int
    stakes: Decimal
    value: Decimal
    meter: Decimal
    reserve: Decimal
    prize_fund: Decimal
    house: Decimal
    adjustments: Decimal


@dataclass(frozen=True, slots=True)
class Moved:
    """The sum of the postings of a movement to an account, in one currency."""

    key: Mapping[Key, Any]
    account: Account
    currency: str
    movement: Movement
    amount: Decimal


def bets(session: Session, book: BookPeriod, *, by: Sequence[Key] = (), filters: Filters = EVERYWHERE) -> list[Stakes]:
    """Sum the bets of a period, in the order of the key."""
    return stakes(session, book, [FigureKind.BETS], by=by, filters=filters)


def refunds(
    session: Session, book: BookPeriod, *, by: Sequence[Key] = (), filters: Filters = EVERYWHERE
) -> list[Stakes]:
    """Sum the refunds of a period, less what corrections booked again, in the order of the key."""
    return stakes(session, book, relations.REFUNDS, by=by, filters=filters)


def stakes(
    session: Session,
    book: BookPeriod,
    kinds: Sequence[FigureKind],
    *,
    by: Sequence[Key] = (),
    filters: Filters = EVERYWHERE,
) -> list[Stakes]:
    """Sum bets or refunds of a period, in the order of the key."""
    statement = relations.summed(by, relations.SUMS_OF_STAKES, relations.stakes(by, kinds, book, filters=filters))
    return [
        Stakes(_key(by, row), int(row.bets), *(getattr(row, name) for name in relations.SUMS_OF_STAKES[1:]))
        for row in session.execute(text(statement), {**book.divided, **filters.in_sql})
        if row.bets is not None
    ]


def postings(
    session: Session, book: BookPeriod, *, by: Sequence[Key] = (), filters: Filters = EVERYWHERE
) -> list[Moved]:
    """Sum the postings of a period but those of bets, by account, currency and movement, in the order of the key."""
    keys = [*by, *(name for name in relations.MOVED if name not in by)]
    statement = text(relations.summed(keys, ["amount"], relations.postings(by, book, filters=filters)))
    return [
        Moved(_key(by, row), Account(row.account), row.currency, Movement(row.movement), row.amount)
        for row in session.execute(statement, {**book.divided, **filters.in_sql})
        if row.amount
    ]


def contributions(accepted: Iterable[Stakes], *, base: str, by: Sequence[Key] = ()) -> list[Moved]:
    """Return the postings of bets, made of their sums by casino and currency, in the order of the key."""
    return _added_up(
        Moved(
            {key: currency if key is Key.CURRENCY else bets.key[key] for key in by},
            account,
            currency,
            Movement.CONTRIBUTION,
            amount,
        )
        for bets in accepted
        for account, currency, amount in _posted(bets, base)
    )


def movements(
    session: Session, book: BookPeriod, *, by: Sequence[Key] = (), filters: Filters = EVERYWHERE
) -> list[Moved]:
    """Sum all postings of a period by account, currency and movement, in the order of the key."""
    keys = dict.fromkeys((*by, Key.CASINO, Key.CURRENCY))
    accepted = bets(session, book, by=list(keys), filters=filters)
    posted = postings(session, book, by=by, filters=filters)
    return _added_up([*posted, *contributions(accepted, base=book.base, by=by)])


def _posted(bets: Stakes, base: str) -> Iterator[tuple[Account, str, Decimal]]:
    """The accounts that bets of a casino in a currency moved, each with its currency and amount."""
    currency = bets.key[Key.CURRENCY]
    yield accounts.casino(bets.key[Key.CASINO]), currency, -bets.stakes
    if currency != base:
        yield accounts.exchange(currency), currency, bets.stakes
        yield accounts.exchange(base), base, -bets.value
    yield accounts.METER_PLAYERS, base, bets.meter
    yield accounts.RESERVE, base, bets.reserve
    yield accounts.PRIZE_FUND, base, bets.prize_fund
    yield accounts.HOUSE_MARGIN, base, bets.house


def _added_up(lines: Iterable[Moved]) -> list[Moved]:
    """Add up the amounts of each key, account, currency and movement, without those that come to nothing."""
    summed: dict[tuple[Any, ...], Moved] = {}
    for line in lines:
        key = (*line.key.values(), line.account, line.currency, line.movement)
        before = summed.get(key)
        summed[key] = line if before is None else replace(before, amount=before.amount + line.amount)
    return [summed[key] for key in sorted(summed) if summed[key].amount]


def _key(by: Sequence[Key], row: Row[Any]) -> dict[Key, str | int | date]:
    return dict(zip(by, row, strict=False))
