"""A recovery of house seed: the house takes back money of its own that the meter no longer needs; or puts some in."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from jackpot_service.database.transactions import Session
from jackpot_service.domain import life_facts
from jackpot_service.domain.adjustments import promised, recovered
from jackpot_service.domain.changes import ChangeKind
from jackpot_service.domain.journal import EntryKind
from jackpot_service.ledger import books
from jackpot_service.usecases import jackpot_acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.kinds import Applied, Kind, Subject
from jackpot_service.usecases.changes.payloads import Payload


@dataclass(frozen=True, slots=True)
class RecoverSeed:
    """How much the house takes back from which jackpot's meter; negative, how much it puts in."""

    jackpot_id: str
    amount: Decimal


def read(values: Mapping[str, Any]) -> RecoverSeed:
    """Read `{"jackpot_id", "amount"}`. Raises: BadPayload."""
    payload = Payload(values)
    change = RecoverSeed(payload.identifier("jackpot_id"), payload.amount("amount"))
    payload.end()
    return change


def apply(session: Session, act: Act, change: RecoverSeed) -> Applied:
    """Book the recovery. Raises: UnknownJackpot, JackpotRetired, BadAmount, SeedCommitted, AboveLimit."""
    jackpot = jackpot_acts.hold_unretired(session, change.jackpot_id)
    pools = jackpot.books.pools
    postings = recovered(
        change.amount,
        pools,
        limit=jackpot.rules.limit,
        promised=promised(
            jackpot.rules.reset_amount,
            base_amount=books.base_amount(session, change.jackpot_id),
            cycle=jackpot.books.cycle.cycle,
        ),
        base=jackpot.base,
    )
    before = life_facts.of_pools(pools)
    recorded = life_facts.of_amount(change.amount, positions=jackpot.books.positions, after=pools + postings.pools())
    effect = jackpot_acts.do(
        session, act, jackpot, EntryKind.SEED_RECOVERED, before=before, recorded=recorded, postings=postings
    )
    return Applied(before, recorded, (effect,))


KIND = Kind(
    name=ChangeKind.SEED_RECOVERY,
    read=read,
    subject=lambda change: Subject(f"seed of jackpot {change.jackpot_id}", change.jackpot_id),
    version=lambda session, change: jackpot_acts.money_version(session, change.jackpot_id),
    apply=apply,
)
