"""An adjustment: a pool of a jackpot is corrected by a difference, which a document shows and the house bears."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from jackpot_service.database.transactions import Session
from jackpot_service.domain import life_facts
from jackpot_service.domain.adjustments import Adjustment, Cause, Pool, adjusted
from jackpot_service.domain.changes import ChangeKind
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import ZERO, product, total
from jackpot_service.records import lives, pinned
from jackpot_service.usecases import jackpot_acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.kinds import Applied, Kind, Subject
from jackpot_service.usecases.changes.payloads import Payload


@dataclass(frozen=True, slots=True)
class AdjustJackpot:
    """Which jackpot is adjusted, and how."""

    jackpot_id: str
    adjustment: Adjustment


def read(values: Mapping[str, Any]) -> AdjustJackpot:
    """Read `{"jackpot_id", "account", "amount", "document", "cause"}`. Raises: BadPayload."""
    payload = Payload(values)
    change = AdjustJackpot(
        payload.identifier("jackpot_id"),
        Adjustment(
            pool=Pool(payload.one_of("account", *Pool)),
            amount=payload.amount("amount"),
            document=payload.text("document"),
            cause=Cause(payload.one_of("cause", *Cause)),
        ),
    )
    payload.end()
    return change


def apply(session: Session, act: Act, change: AdjustJackpot) -> Applied:
    """Book the adjustment. Raises: UnknownJackpot, JackpotRetired, BadAmount, BelowZero, AboveLimit."""
    jackpot = jackpot_acts.hold_unretired(session, change.jackpot_id)
    pools = jackpot.books.pools
    postings = adjusted(
        change.adjustment,
        pools,
        limit=jackpot.rules.limit,
        base=jackpot.base,
        refundable=_refundable(session, change),
    )
    before = life_facts.of_pools(pools)
    recorded = life_facts.of_adjustment(
        change.adjustment, positions=jackpot.books.positions, after=pools + postings.pools()
    )
    effect = jackpot_acts.do(
        session, act, jackpot, EntryKind.ADJUSTMENT, before=before, recorded=recorded, postings=postings
    )
    return Applied(before, recorded, (effect,))


def _refundable(session: Session, change: AdjustJackpot) -> Decimal:
    """
    What refunds may still take back from the pool: of the reserve what live bets of open rounds put there.

    The other pools may fall below zero by a refund, and are made good in their own ways; the reserve never does.
    """
    if change.adjustment.pool is not Pool.RESERVE or change.adjustment.amount > ZERO:
        return ZERO
    weights = lives.open_weights(session, change.jackpot_id)
    return total(
        product(weight, pinned.rules(session, change.jackpot_id, version).split.reserve) for version, weight in weights
    )


KIND = Kind(
    name=ChangeKind.ADJUSTMENT,
    read=read,
    subject=lambda change: Subject(f"{change.adjustment.pool} of jackpot {change.jackpot_id}", change.jackpot_id),
    version=lambda session, change: jackpot_acts.money_version(session, change.jackpot_id),
    apply=apply,
)
