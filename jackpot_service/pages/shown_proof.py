"""The state of the proof as people read it: the last verification that ended well, and those that were started."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from jackpot_service.api.verification_runs import VerificationRun, latest_runs
from jackpot_service.database.transactions import Session
from jackpot_service.exports.jobs.verification import outcome_of
from jackpot_service.reports.checkpoints import (
    VerificationHead,
    latest_verifications,
    standing_mismatches,
    zero_begun_at,
)

LOOKED_AT: Final = 20
"""Runs among which the last that came to its end is looked for: others were cancelled, or have failed."""


@dataclass(frozen=True, slots=True)
class ShownProof:
    """
    The note of the last verification that ended and found nothing wrong, and the last run, each None without one.

    That verification goes back, perhaps over others, to one from zero that began at `zero_begun_at`. `ended` is the
    last run that came to its end, whatever it found; `wrong` the one whose findings stand.
    """

    whole: VerificationHead | None
    zero_begun_at: datetime | None
    run: VerificationRun | None
    ended: VerificationRun | None
    wrong: VerificationRun | None


def shown_proof(session: Session) -> ShownProof:
    """Read the state of the proof, each of its parts at an instant of its own."""
    notes = latest_verifications(session, limit=1, is_whole=True)
    runs = latest_runs(session, limit=LOOKED_AT)
    job = standing_mismatches(session)
    return ShownProof(
        whole=notes[0] if notes else None,
        zero_begun_at=zero_begun_at(session, notes[0].number) if notes else None,
        run=runs[0] if runs else None,
        ended=next((run for run in runs if run.outcome is not None), None),
        wrong=None if job is None else VerificationRun(job, outcome_of(job)),
    )
