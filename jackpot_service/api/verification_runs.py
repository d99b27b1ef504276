"""Runs of verifications: those that somebody started as a job, how far each is, and what it has found."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from marshmallow import fields, validate

from jackpot_service.api.checkpoints import READERS
from jackpot_service.api.jobs import ProgressSchema
from jackpot_service.api.lists import Cursor, ListQuerySchema, matching, page, page_schema
from jackpot_service.api.request_context import Blueprint, principal
from jackpot_service.api.schemas import AnswerSchema, Moment, WrittenSchema, described, listed, word
from jackpot_service.auth.authenticator import allow, require_house
from jackpot_service.database.transactions import Session
from jackpot_service.domain.jobs import JOB_ID, Job, JobState
from jackpot_service.exports.jobs.verification import LAST, NAME, ZERO, Outcome, outcome_of
from jackpot_service.ledger.mismatches import Code
from jackpot_service.records import jobs as records

blueprint = Blueprint(
    "verification-runs",
    __name__,
    url_prefix="/v1/verification-runs",
    description="Verifications that were started as jobs: `POST /v1/jobs` of kind `verification`.",
)


@dataclass(frozen=True, slots=True)
class VerificationRun:
    """A job that verifies the books, and what it has found; None until it has come to its end."""

    job: Job
    outcome: Outcome | None


class VerificationRunsQuerySchema(ListQuerySchema):
    """How much of the list of runs, and from where."""

    after = Cursor(matching(JOB_ID))


class MismatchSchema(AnswerSchema):
    """A finding of a verification."""

    code = fields.String(required=True, validate=validate.OneOf([code.value for code in Code]))
    book = described(fields.String, "The jackpot, or `-`.")
    place = described(fields.String, "The entry, round, award, day or document.")
    detail = described(fields.String, "How it differs from what was expected.")


class VerificationOutcomeSchema(WrittenSchema):
    """The findings of a verification."""

    @staticmethod
    def write(outcome: Outcome) -> dict[str, Any]:
        """Write an outcome, its mismatches counted and the first of them named."""
        return {
            "is_clean": outcome.is_clean,
            "service_version": outcome.service_version,
            "continues": outcome.continues,
            "note": outcome.note,
            "books": outcome.books,
            "entries": outcome.entries,
            "rounds": outcome.rounds,
            "bets": outcome.bets,
            "awards": outcome.awards,
            "mismatches": outcome.mismatches,
            "first_mismatches": outcome.first,
        }

    is_clean = described(fields.Boolean, "Whether nothing is wrong.")
    service_version = fields.String(required=True)
    continues = described(fields.Integer, "The note from which it went on; null for one from zero.", allow_none=True)
    note = described(fields.Integer, "The note of its end; null if something is wrong.", allow_none=True)
    books = described(fields.Integer, "How many books it verified.")
    entries = described(fields.Integer, "How many it looked at, since it went on.")
    rounds = fields.Integer(required=True)
    bets = fields.Integer(required=True)
    awards = fields.Integer(required=True)
    mismatches = described(fields.Integer, "How many there are.")
    first_mismatches = listed(MismatchSchema, "The first 50; the file of the job has more.")


class VerificationRunSchema(WrittenSchema):
    """A verification that was started as a job."""

    @staticmethod
    def write(run: VerificationRun) -> dict[str, Any]:
        """Write a run: its job without its file, and its outcome."""
        job = run.job
        return {
            "job_id": job.job_id,
            "start": job.parameters["from"],
            "principal": job.principal,
            "created_at": job.created_at,
            "state": job.state,
            "progress": job,
            "ended_at": job.ended_at,
            "error": job.error,
            "cancelled_by": job.cancelled_by,
            "outcome": run.outcome,
        }

    job_id = fields.String(required=True)
    start = fields.String(required=True, data_key="from", validate=validate.OneOf([ZERO, LAST]))
    principal = described(fields.String, "The principal who started it.")
    created_at = Moment(required=True)
    state = word(JobState)
    progress = fields.Nested(ProgressSchema(), required=True)
    ended_at = Moment(required=True, allow_none=True)
    error = described(fields.String, "Why it failed: a code, and a sentence.", allow_none=True)
    cancelled_by = fields.String(required=True, allow_none=True)
    outcome = fields.Nested(
        VerificationOutcomeSchema(),
        required=True,
        allow_none=True,
        metadata={"description": "Null until it has come to its end."},
    )


def latest_runs(session: Session, *, limit: int, before: str | None = None) -> list[VerificationRun]:
    """List the runs that the caller may see, the latest first: those before one."""
    latest = records.latest(session, principal(), limit=limit, before=before, kinds=(NAME,))
    return [VerificationRun(job, outcome_of(job)) for job in latest]


@blueprint.route("", methods=["GET"])
@allow(*READERS)
@blueprint.arguments(VerificationRunsQuerySchema(), location="query")
@blueprint.response(200, page_schema(VerificationRunSchema, "VerificationRuns"))
def get_verification_runs(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """List the verifications that were started as jobs, the latest first: how far each is, and what it has found."""
    require_house(principal())
    return page(
        query,
        lambda session, limit: latest_runs(session, limit=limit, before=query["after"]),
        lambda run: run.job.job_id,
    )
