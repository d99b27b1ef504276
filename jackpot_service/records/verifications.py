"""Where verifications stood: noted on the way and at the end, read by the next that goes on from there."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import insert, select

from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.money import plain
from jackpot_service.ledger.verified import Reached, Verified, VerifiedStripe
from jackpot_service.records.verifications_schema import VerificationRow


class VerificationUnreadable(Refused, code="verification-unreadable", title="The last verification cannot be read"):
    """What the last verification noted is not what verifications note."""


@dataclass(frozen=True, slots=True)
class NotedVerification:
    """Where a verification stood, at its end or on its way there."""

    number: int
    begun_at: datetime
    noted_at: datetime
    continues: int | None
    is_whole: bool
    books: Mapping[str, Verified]


def add(
    session: Session,
    reached: Reached,
    *,
    begun_at: datetime,
    noted_at: datetime,
    service_version: str,
    continues: int | None,
) -> int:
    """Note where a verification stands; returns the number of the note."""
    adding = insert(VerificationRow).values(
        begun_at=begun_at,
        noted_at=noted_at,
        service_version=service_version,
        continues=continues,
        is_whole=reached.is_whole,
        entries=reached.entries,
        rounds=reached.rounds,
        bets=reached.bets,
        awards=reached.awards,
        books={book: _document(verified) for book, verified in reached.books.items()},
    )
    return session.execute(adding.returning(VerificationRow.number)).scalar_one()


def last(session: Session) -> NotedVerification | None:
    """Where the last verification stood; None if there was none. Raises: VerificationUnreadable."""
    row = session.execute(
        select(VerificationRow.__table__).order_by(VerificationRow.number.desc()).limit(1)
    ).one_or_none()
    if row is None:
        return None
    try:
        books = {book: _verified(document) for book, document in row.books.items()}
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
        message = f"Verification {row.number} noted what none notes; begin at zero."
        raise VerificationUnreadable(message, number=row.number) from None
    return NotedVerification(row.number, row.begun_at, row.noted_at, row.continues, row.is_whole, books)


def _document(verified: Verified) -> dict[str, Any]:
    return {
        "stripes": [
            [number, one.seq, one.head.hex(), *(plain(amount) for amount in _amounts(one.pools))]
            for number, one in sorted(verified.stripes.items())
        ],
        "acts": verified.acts,
        "last_round_key": verified.last_round_key,
        "held": plain(verified.held),
        "is_whole": verified.is_whole,
        "reconciled_to": verified.reconciled_to.isoformat(),
    }


def _amounts(pools: Pools) -> tuple[Decimal, ...]:
    return pools.meter_players, pools.meter_house, pools.reserve, pools.prize_fund


def _verified(document: Mapping[str, Any]) -> Verified:
    return Verified(
        stripes={
            int(number): VerifiedStripe(int(seq), bytes.fromhex(head), Pools(*map(Decimal, amounts)))
            for number, seq, head, *amounts in document["stripes"]
        },
        acts=int(document["acts"]),
        last_round_key=int(document["last_round_key"]),
        held=Decimal(document["held"]),
        is_whole=bool(document["is_whole"]),
        reconciled_to=date.fromisoformat(document.get("reconciled_to", date.min.isoformat())),
    )
