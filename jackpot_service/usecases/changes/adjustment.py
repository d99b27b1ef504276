"""An adjustment: a pool of a jackpot is corrected by a difference, which a document shows and the house bears."""

from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, ClassVar

from marshmallow import fields

from jackpot_service.database.transactions import Session
from jackpot_service.domain import accounts, posting_rules
from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.change_policy import MONEY_BY_HAND
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.journal import EntryKind, Postings
from jackpot_service.domain.money import ZERO, plain
from jackpot_service.records import immutable, lives
from jackpot_service.usecases.acts import Act, Done
from jackpot_service.usecases.changes.jackpots import (
    JackpotKind,
    JackpotState,
    moved,
    require_amount,
    require_within,
)
from jackpot_service.usecases.fields import Amount, Text


class Pool(StrEnum):
    """The pools that can be adjusted. Of the meter it is the players' part: the house's has its own ways in and out."""

    METER = "meter"
    RESERVE = "reserve"
    PRIZE_FUND = "prize_fund"


class Cause(StrEnum):
    """Why a pool is adjusted: a closed list, so that adjustments can be counted by it."""

    EQUIPMENT_MALFUNCTION = "equipment-malfunction"
    COUNT_ERROR = "count-error"
    PROMOTIONAL_CONTRIBUTION = "promotional-contribution"
    REGULATOR_ORDER = "regulator-order"
    REVERSED_ADJUSTMENT = "reversed-adjustment"
    OTHER_DOCUMENTED = "other-documented"


class BelowZero(Refused, code="below-zero", title="The pool would fall below zero"):
    """The pool does not hold so much."""


@dataclass(frozen=True, kw_only=True)
class AdjustJackpot(JackpotKind):
    """A pool of a jackpot is corrected by a difference, which a document shows, for one of the causes."""

    name = "adjustment"
    about = "{0.pool} of jackpot {0.jackpot_id}"
    acts: ClassVar = {EntryKind.ADJUSTMENT: "jackpot.adjusted"}
    policy = MONEY_BY_HAND

    pool: Annotated[Pool, fields.Enum(Pool, by_value=True, data_key="account")]
    amount: Annotated[Decimal, Amount()]
    document: Annotated[str, Text()]
    cause: Annotated[Cause, fields.Enum(Cause, by_value=True)]

    def state(self, session: Session, act: Act) -> JackpotState:
        """
        Read the jackpot, and what refunds may take back from the reserve: what live bets of open rounds put there.

        The other pools may fall below zero by a refund, and are made good in their own ways; the reserve never does.
        """
        state = super().state(session, act)
        if self.pool is not Pool.RESERVE or self.amount > ZERO:
            return state
        parts = (
            weight * immutable.rules(session, self.jackpot_id, version).split.reserve
            for version, weight in lives.open_weights(session, self.jackpot_id)
        )
        return replace(state, refundable=sum(parts, ZERO))

    def decide(self, state: JackpotState) -> Done:
        """
        Decide an adjustment; the house bears it. Players' money below zero is filled from the house's part first.

        A prize fund may be below zero, by an adjustment too.

        Raises: BadAmount; BelowZero if it takes more than there is; AboveLimit if it adds what the limit keeps off
        offer.

        Source: domain decisions 2 and 21 (docs/decisions/money-by-hand.md).
        """
        require_amount(self.amount)
        pools = state.pools
        filled = posting_rules.for_fill(pools.fill, base=state.base) if self.pool is Pool.METER else Postings()
        postings = filled + posting_rules.for_adjustment(_ACCOUNTS[self.pool], self.amount, base=state.base)
        after = pools + postings.pools()
        if self.pool is not Pool.PRIZE_FUND and self.amount < ZERO:
            _require_enough(self, before=pools + filled.pools(), after=after, state=state)
        if self.pool is Pool.METER and self.amount > ZERO:
            require_within(state.rules.limit, after, base=state.base)
        recorded = {
            "account": self.pool.value,
            "amount": plain(self.amount),
            "document": self.document,
            "cause": self.cause.value,
        }
        return moved(EntryKind.ADJUSTMENT, state, postings, recorded)


def _require_enough(request: AdjustJackpot, *, before: Pools, after: Pools, state: JackpotState) -> None:
    if _held(after, request.pool) < state.refundable:
        reserved = f", of which open rounds may take back {plain(state.refundable)}" if state.refundable else ""
        message = (
            f"{_ACCOUNTS[request.pool]} holds {plain(_held(before, request.pool))} {state.base}{reserved}; "
            f"it cannot be adjusted by {plain(request.amount)}."
        )
        raise BelowZero(message)


_ACCOUNTS = {
    Pool.METER: accounts.METER_PLAYERS,
    Pool.RESERVE: accounts.RESERVE,
    Pool.PRIZE_FUND: accounts.PRIZE_FUND,
}


def _held(pools: Pools, pool: Pool) -> Decimal:
    return {Pool.METER: pools.meter_players, Pool.RESERVE: pools.reserve, Pool.PRIZE_FUND: pools.prize_fund}[pool]
