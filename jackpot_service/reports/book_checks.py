"""How far the books are checked, as of an instant: the proof, the seal, and the age of a rate sheet."""

from dataclasses import dataclass
from datetime import datetime

from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.jobs import Job
from jackpot_service.ledger import instants
from jackpot_service.reports.checkpoints import (
    SealHead,
    VerificationHead,
    latest_seals,
    latest_verifications,
    standing_mismatches,
    zero_begun_at,
)
from jackpot_service.reports.gauges import SheetAge, sheet_age


@dataclass(frozen=True, slots=True)
class BookChecks:
    """
    The last whole proof and the last seal, each None if there is none; and a rate sheet.

    The proof goes back, perhaps over others, to one from zero that began at `zero_begun_at`. `found_wrong` is the
    verification that found something wrong, if that stands.
    """

    proof: VerificationHead | None
    zero_begun_at: datetime | None
    found_wrong: Job | None
    seal: SealHead | None
    sheet: SheetAge


def book_checks(session: Session, base: str, *, at: datetime) -> BookChecks:
    """Read the checks of the books as of an instant that is resolved in the reference book."""
    acts_end = sum(instants.at(session, REFERENCE_BOOK, at))
    proof = next(iter(latest_verifications(session, limit=1, is_whole=True, noted_by=at)), None)
    seals = latest_seals(session, limit=1, acts_end=acts_end)
    return BookChecks(
        proof=proof,
        zero_begun_at=None if proof is None else zero_begun_at(session, proof.number),
        found_wrong=standing_mismatches(session, by=at),
        seal=next(iter(seals), None),
        sheet=sheet_age(session, base, at=at, upto=acts_end),
    )
