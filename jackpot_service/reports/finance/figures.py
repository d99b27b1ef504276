"""
Sums of what was booked in a part of a jackpot's book: whole days as they are kept, the rest from entries' figures.

Every posting is counted once: those of bets by `bets`, all others by `postings`; `movements` puts both together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import Account
from jackpot_service.domain.figures import FigureKind
from jackpot_service.domain.journal import Movement
from jackpot_service.reports.finance import parts, relations
from jackpot_service.reports.finance.frame import Stand


class Key(StrEnum):
    """
    What sums are kept apart by. A day is of UTC, a gaming day the casino's.

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
class Of:
    """Whose figures: of all casinos and tables, or of one."""

    casino_id: str | None = None
    table_id: str | None = None

    @property
    def stated(self) -> list[Key]:
        """Which of them is meant."""
        values = {Key.CASINO: self.casino_id, Key.TABLE: self.table_id}
        return [key for key, value in values.items() if value is not None]


EVERYWHERE = Of()


@dataclass(frozen=True, slots=True)
class Stakes:
    """
    Bets accepted or refunded: how many, their stakes in units of their currency, their base value, where its parts go.

    `adjustments` bears the parts of meter and reserve of refunded bets whose cycle had been won.
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
    """What postings of a movement put into an account, in one currency, and how many they were."""

    key: Mapping[Key, Any]
    account: Account
    currency: str
    movement: Movement
    amount: Decimal


def bets(session: Session, stand: Stand, *, by: Sequence[Key] = (), of: Of = EVERYWHERE) -> list[Stakes]:
    """Sum what the bets of a part contributed, in the order of the key."""
    return stakes(session, stand, [FigureKind.BETS], by=by, of=of)


def refunds(session: Session, stand: Stand, *, by: Sequence[Key] = (), of: Of = EVERYWHERE) -> list[Stakes]:
    """Sum what was refunded in a part, less what corrections booked again, in the order of the key."""
    return stakes(session, stand, relations.REFUNDS, by=by, of=of)


def stakes(
    session: Session, stand: Stand, kinds: Sequence[FigureKind], *, by: Sequence[Key] = (), of: Of = EVERYWHERE
) -> list[Stakes]:
    """Sum bets or refunds of a part, in the order of the key."""
    summed = relations.stakes(by, kinds, stated=of.stated, has_beside=bool(stand.span.beside))
    question = relations.united(by, relations.SUMS_OF_STAKES, [summed])
    found = session.execute(text(question), parameters(stand, of))
    return [
        Stakes(_key(by, row), int(row.bets), *(getattr(row, name) for name in relations.SUMS_OF_STAKES[1:]))
        for row in found
        if row.bets is not None
    ]


def postings(session: Session, stand: Stand, *, by: Sequence[Key] = (), of: Of = EVERYWHERE) -> list[Moved]:
    """Sum the postings of a part but those of bets, by account, currency and movement, in the order of the key."""
    summed = relations.postings(by, stated=of.stated, has_beside=bool(stand.span.beside))
    return _moved(session, stand, [summed], by, of)


def movements(session: Session, stand: Stand, *, by: Sequence[Key] = (), of: Of = EVERYWHERE) -> list[Moved]:
    """Sum all postings of a part by account, currency and movement, in the order of the key."""
    summed = [
        relation(by, stated=of.stated, has_beside=bool(stand.span.beside))
        for relation in (relations.postings, relations.contributions)
    ]
    return _moved(session, stand, summed, by, of)


def _moved(session: Session, stand: Stand, summed: Sequence[str], by: Sequence[Key], of: Of) -> list[Moved]:
    keys = [*by, *(name for name in relations.MOVED if name not in by)]
    found = session.execute(text(relations.united(keys, ["amount"], summed)), parameters(stand, of))
    return [
        Moved(_key(by, row), Account(row.account), row.currency, Movement(row.movement), row.amount)
        for row in found
        if row.amount
    ]


def parameters(stand: Stand, of: Of = EVERYWHERE) -> dict[str, Any]:
    """The parameters of questions of `relations` about a part."""
    return {**parts.divided(stand), "of_casino_id": of.casino_id, "of_table_id": of.table_id}


def _key(by: Sequence[Key], row: Row[Any]) -> dict[Key, str | int | date]:
    return dict(zip(by, row, strict=False))
