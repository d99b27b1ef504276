"""A true-up of a prize fund: the house pays what it lacks, or takes what it has too much."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from jackpot_service.database.transactions import Session
from jackpot_service.domain import life_facts
from jackpot_service.domain.accounts import PRIZE_FUND
from jackpot_service.domain.adjustments import trued_up
from jackpot_service.domain.changes import ChangeKind
from jackpot_service.domain.journal import EntryKind
from jackpot_service.usecases import jackpot_acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.kinds import Applied, Kind, Subject
from jackpot_service.usecases.changes.payloads import Payload


@dataclass(frozen=True, slots=True)
class TrueUp:
    """By how much a prize fund is moved towards zero; None is exactly to zero, whatever it holds when approved."""

    jackpot_id: str
    amount: Decimal | None


def read(values: Mapping[str, Any]) -> TrueUp:
    """Read `{"jackpot_id", "amount"?}`. Raises: BadPayload."""
    payload = Payload(values)
    change = TrueUp(payload.identifier("jackpot_id"), payload.amount("amount") if payload.has("amount") else None)
    payload.end()
    return change


def apply(session: Session, act: Act, change: TrueUp) -> Applied:
    """Book the true-up. Raises: UnknownJackpot, JackpotRetired, BadAmount."""
    jackpot = jackpot_acts.hold_unretired(session, change.jackpot_id)
    pools = jackpot.books.pools
    postings = trued_up(change.amount, pools, base=jackpot.base)
    before = life_facts.of_pools(pools)
    recorded = life_facts.of_amount(
        postings.moved(PRIZE_FUND), positions=jackpot.books.positions, after=pools + postings.pools()
    )
    effect = jackpot_acts.do(
        session, act, jackpot, EntryKind.PRIZE_FUND_TRUED_UP, before=before, recorded=recorded, postings=postings
    )
    return Applied(before, recorded, (effect,))


KIND = Kind(
    name=ChangeKind.PRIZE_FUND_TRUE_UP,
    read=read,
    subject=lambda change: Subject(f"prize fund of jackpot {change.jackpot_id}", change.jackpot_id),
    version=lambda session, change: jackpot_acts.money_version(session, change.jackpot_id),
    apply=apply,
)
