"""An adjustment: a pool of a jackpot is corrected by a difference, which a document shows and the house bears."""

from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from marshmallow import fields

from jackpot_service.database.transactions import Session
from jackpot_service.domain import accounts, posting_rules
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.journal import EntryKind, Postings
from jackpot_service.domain.money import ZERO, plain, product, total
from jackpot_service.domain.pools import Pools
from jackpot_service.records import lives, pinned
from jackpot_service.usecases.changes.jackpots import (
    JackpotKind,
    JackpotState,
    facts_of_pools,
    require_amount,
    require_within,
)
from jackpot_service.usecases.changes.kinds import Done, Subject
from jackpot_service.usecases.fields import Amount, Identifier, Text
from jackpot_service.usecases.payloads import Payload


class Pool(StrEnum):
    """What can be adjusted. Of the meter it is the players' part: the house's has its own ways in and out."""

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


class BelowZero(Refused):
    """The pool does not hold so much."""

    code = "below-zero"
    title = "The pool would fall below zero"


@dataclass(frozen=True, slots=True)
class AdjustJackpot:
    """A difference by which a jackpot's pool is corrected, the document that shows why, and the cause."""

    jackpot_id: str
    pool: Pool
    amount: Decimal
    document: str
    cause: Cause


class AdjustmentPayload(Payload):
    """A pool is corrected by a difference."""

    makes = AdjustJackpot

    jackpot_id = Identifier(required=True)
    pool = fields.Enum(Pool, by_value=True, required=True, data_key="account")
    amount = Amount(required=True)
    document = Text(required=True)
    cause = fields.Enum(Cause, by_value=True, required=True)


class Adjustment(JackpotKind[AdjustJackpot]):
    """Adjust a pool of a jackpot."""

    name = "adjustment"
    payload = AdjustmentPayload
    acts = {EntryKind.ADJUSTMENT: "jackpot.adjusted"}  # noqa: RUF012  declared in `Kind`

    def subject(self, request: AdjustJackpot) -> Subject:
        """Name the pool."""
        return Subject(f"{request.pool} of jackpot {request.jackpot_id}", request.jackpot_id)

    def look(self, session: Session, state: JackpotState, request: AdjustJackpot) -> JackpotState:
        """
        Look at what refunds may still take back from the reserve: what live bets of open rounds put there.

        The other pools may fall below zero by a refund, and are made good in their own ways; the reserve never does.
        """
        if request.pool is not Pool.RESERVE or request.amount > ZERO:
            return state
        weights = lives.open_weights(session, request.jackpot_id)
        parts = (
            product(weight, pinned.rules(session, request.jackpot_id, version).split.reserve)
            for version, weight in weights
        )
        return replace(state, refundable=total(parts))

    def decide(self, state: JackpotState, request: AdjustJackpot) -> Done:
        """
        Decide an adjustment; the house bears it. Players' money below zero is filled from the house's part first.

        A prize fund may be below zero, by an adjustment too.

        Raises: BadAmount; BelowZero if it takes more than there is; AboveLimit if it adds what the limit keeps off
        offer.

        Source: domain decisions 2 and 21 (docs/decisions/money-by-hand.md).
        """
        require_amount(request.amount)
        pools = state.pools
        filled = posting_rules.for_fill(pools.fill, base=state.base) if request.pool is Pool.METER else Postings()
        postings = filled + posting_rules.for_adjustment(_ACCOUNTS[request.pool], request.amount, base=state.base)
        after = pools + postings.pools()
        if request.pool is not Pool.PRIZE_FUND and request.amount < ZERO:
            _require_enough(request, before=pools + filled.pools(), after=after, state=state)
        if request.pool is Pool.METER and request.amount > ZERO:
            require_within(state.rules.limit, after, base=state.base)
        recorded = {
            "account": request.pool.value,
            "amount": plain(request.amount),
            "document": request.document,
            "cause": request.cause.value,
            **facts_of_pools(after),
            "positions": list(state.positions),
        }
        return Done(EntryKind.ADJUSTMENT, facts_of_pools(pools), recorded, postings)


def _require_enough(request: AdjustJackpot, *, before: Pools, after: Pools, state: JackpotState) -> None:
    if _held(after, request.pool) < state.refundable:
        kept = f", of which open rounds may take back {plain(state.refundable)}" if state.refundable else ""
        message = (
            f"{_ACCOUNTS[request.pool]} holds {plain(_held(before, request.pool))} {state.base}{kept}; "
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
