"""Noting where a verification of the books stands, so that another can go on from there."""

from dataclasses import dataclass
from datetime import datetime

from jackpot_service.database.transactions import Session
from jackpot_service.ledger.verified import Reached
from jackpot_service.records import verifications


@dataclass(frozen=True, slots=True)
class NoteVerification:
    """A verification that began then, and went on from a noted one or from zero, has come so far now."""

    reached: Reached
    begun_at: datetime
    now: datetime
    service_version: str
    continues: int | None


def note_verification(session: Session, command: NoteVerification) -> int:
    """Note it; returns the number of the note. It is no act of anybody's, and nothing in the books depends on it."""
    return verifications.add(
        session,
        command.reached,
        begun_at=command.begun_at,
        noted_at=command.now,
        service_version=command.service_version,
        continues=command.continues,
    )
