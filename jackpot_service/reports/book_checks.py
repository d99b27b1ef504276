"""How far the books are checked, as of an instant: the proof, the seal, and the age of a rate sheet."""

from dataclasses import dataclass
from datetime import datetime

from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.ledger import instants
from jackpot_service.records import rate_sheets
from jackpot_service.reports.checkpoints import SealHead, VerificationHead, latest_seals, latest_verifications
from jackpot_service.reports.gauges import SheetAge


@dataclass(frozen=True, slots=True)
class BookChecks:
    """The last whole proof, the last from zero and the last seal, each None if there is none; and a rate sheet."""

    proof: VerificationHead | None
    proof_from_zero: VerificationHead | None
    seal: SealHead | None
    sheet: SheetAge


def book_checks(session: Session, base: str, *, at: datetime) -> BookChecks:
    """Read the checks of the books as of an instant that is resolved in the reference book."""
    acts_end = sum(instants.at(session, REFERENCE_BOOK, at))
    proofs = latest_verifications(session, limit=1, is_whole=True, noted_by=at)
    from_zero = latest_verifications(session, limit=1, is_whole=True, is_from_zero=True, noted_by=at)
    seals = latest_seals(session, limit=1, acts_end=acts_end)
    return BookChecks(
        proof=next(iter(proofs), None),
        proof_from_zero=next(iter(from_zero), None),
        seal=next(iter(seals), None),
        sheet=SheetAge(base, rate_sheets.in_force(session, base, at=at, upto=acts_end)),
    )
