"""Jobs: long exports and verifications, created, watched, fetched as files."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain, islice
from typing import Any

import flask
from marshmallow import fields, validate

from jackpot_service.api.lists import Cursor, ListQuerySchema, matching, page, page_schema
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.reports import FILES
from jackpot_service.api.request_context import Blueprint, act, context, look, now, principal
from jackpot_service.api.schemas import AnswerSchema, Moment, RequestSchema, described, word
from jackpot_service.auth.authenticator import allow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.jobs import JOB_ID, Job, JobState
from jackpot_service.exports.jobs import requests
from jackpot_service.exports.jobs.kinds import Requester
from jackpot_service.exports.jobs.requests import KINDS, REQUESTERS, CreateJob, JobCreated
from jackpot_service.records import jobs as records
from jackpot_service.usecases.fields import Identifier, JsonObject

blueprint = Blueprint(
    "jobs",
    __name__,
    url_prefix="/v1/jobs",
    description="Long exports and verifications, done in the background. Their files are kept for some days.",
)


class JobsQuerySchema(ListQuerySchema):
    """A query for jobs."""

    list_name = "jobs"

    after = Cursor(matching(JOB_ID))
    state = fields.Enum(JobState, by_value=True, load_default=None)


class JobRequestSchema(RequestSchema):
    """A request for a job."""

    request_id = Identifier(
        required=True, metadata={"description": "The caller's own id: the same again is the same job."}
    )
    kind = fields.String(required=True, validate=validate.OneOf(sorted(KINDS)))
    parameters = JsonObject(
        required=True,
        metadata={
            "description": (
                "Of `journal`: `jackpot_id`, `format` (`beancount` or `hledger`), and perhaps the end of the journal. "
                "That is `positions`, seqs of the jackpot's stripes, or `as_of`, a booking time; otherwise all that is "
                "committed by now. Of `report`: its `name`, `format` (`csv` or `xlsx`), and the other parameters of "
                "`GET /v1/reports/{name}`, `by` as a list. It is made as of the time of the request, or of `to` or "
                "`as_of` if that is earlier. Of `verification`, for auditors: `from`, which is `zero`, or `last` to go "
                "on from the last note."
            )
        },
    )


class JobCancellationSchema(RequestSchema):
    """An empty object."""


@dataclass(frozen=True, slots=True)
class JobView:
    """A job, and the time for which its file is kept."""

    job: Job
    kept_for: timedelta

    @property
    def has_file(self) -> bool:
        """Whether its file is there to be read."""
        return self.job.state is JobState.DONE and self.job.removed_at is None

    @property
    def kept_until(self) -> datetime | None:
        """When its file is removed; None until it is done."""
        return None if self.job.ended_at is None else self.job.ended_at + self.kept_for


class Rate(fields.Float):
    """A rate per second, to a tenth."""

    def _serialize(self, value: Any, *_: Any, **__: Any) -> float | None:  # noqa: ANN401  as the base
        return None if value is None else round(value, 1)


class Seconds(fields.Integer):
    """A duration in whole seconds."""

    def _serialize(self, value: Any, *_: Any, **__: Any) -> int | None:  # noqa: ANN401  as the base
        return None if value is None else round(value.total_seconds())


class ProgressSchema(AnswerSchema):
    """The progress of a job."""

    done = described(
        fields.Integer,
        "In what the kind counts: of `journal` entries, of `report` rows, of `verification` looks at entries.",
    )
    total = described(fields.Integer, "Null where nobody knows before it is begun.", allow_none=True)
    rate_per_second = described(Rate, "Of the present attempt.", attribute="per_second", allow_none=True)
    remaining_seconds = described(Seconds, "At that rate.", attribute="remaining", allow_none=True)
    heartbeat_at = described(Moment, "The last sign of life of its worker.", allow_none=True)
    attempts = described(fields.Integer, "The attempts since the last chunk that it goes on from.")


class JobFileSchema(AnswerSchema):
    """A file that is there to be read."""

    name = fields.String(required=True, attribute="job.file_name")
    media_type = fields.String(required=True, attribute="job.media_type")
    size = described(fields.Integer, "In bytes.", attribute="job.size")
    kept_until = Moment(required=True)

    def get_attribute(self, obj: JobView, attr: str, default: Any) -> Any:  # noqa: ANN401  as the base
        """Add how long files are kept."""
        if attr == "kept_until":
            return obj.kept_until
        return super().get_attribute(obj, attr, default)


class JobSchema(AnswerSchema):
    """A job."""

    job_id = fields.String(required=True)
    kind = fields.String(required=True)
    parameters = described(fields.Dict, "In full, as they were settled when it was created.")
    request_id = fields.String(required=True)
    principal = described(fields.String, "The principal who created it.")
    created_at = Moment(required=True)
    state = word(JobState)
    progress = fields.Nested(ProgressSchema(), required=True)
    ended_at = Moment(required=True, allow_none=True)
    error = described(fields.String, "Why it failed: a code, and a sentence.", allow_none=True)
    cancelled_by = fields.String(required=True, allow_none=True)
    file = fields.Nested(JobFileSchema(), required=True, allow_none=True)

    def get_attribute(self, obj: JobView, attr: str, default: Any) -> Any:  # noqa: ANN401  as the base
        """Show the file only while it is there to be read."""
        if attr == "file":
            return obj if obj.has_file else None
        return obj.job if attr == "progress" else super().get_attribute(obj.job, attr, default)


@blueprint.route("", methods=["POST"])
@allow(*REQUESTERS)
@refused_with(
    "casino-unknown",
    "instant-ahead",
    "instant-not-resolved",
    "jackpot-unknown",
    "job-conflict",
    "job-forbidden",
    "job-under-way",
    "jobs-waiting",
    "payload-invalid",
    "positions-unknown",
    "question-invalid",
    "report-took-too-long",
    "report-unknown",
    "round-unknown",
    "table-unknown",
    "unknown-currency",
)
@blueprint.arguments(JobRequestSchema())
@blueprint.response(201, JobSchema(), description="It waits for its turn.")
@blueprint.alt_response(200, schema=JobSchema(), description="The same request again.")
def post_job(body: Mapping[str, Any]) -> tuple[JobView, int]:
    """
    Create a job. A key with a casino may create reports of its own casino, not a jackpot's whole journal.

    A verification is for auditors, one at a time. It reads one instant of the books, and no call waits for it.
    """
    created = created_by(body)
    return _shown(created.job), 200 if created.is_replay else 201


def created_by(body: Mapping[str, Any]) -> JobCreated:
    """Create the job that a request states. Raises: as `post_job` answers."""
    requester = Requester(principal(), now(), context().config.longest_open)
    command = CreateJob(requester, body["request_id"], KINDS[body["kind"]], body["parameters"])
    return requests.create(context().engine, command)


@blueprint.route("", methods=["GET"])
@allow(*REQUESTERS)
@blueprint.arguments(JobsQuerySchema(), location="query")
@blueprint.response(200, page_schema(JobSchema, "Jobs"))
def get_jobs(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """List jobs, the latest first; a key with a casino sees those of its casino's keys."""
    return jobs_page(query)


def jobs_page(query: Mapping[str, Any], *, kinds: Collection[str] | None = None) -> Mapping[str, Any]:
    """Read a page of the list of jobs that the caller may see, perhaps only those of some kinds."""

    def rows(session: Session, limit: int) -> list[JobView]:
        latest = records.latest(
            session, principal(), limit=limit, before=query["after"], state=query["state"], kinds=kinds
        )
        return [_shown(job) for job in latest]

    return page(query, rows, lambda view: view.job.job_id)


@blueprint.route("/<id:job_id>", methods=["GET"])
@allow(*REQUESTERS)
@refused_with("job-unknown")
@blueprint.response(200, JobSchema())
def get_job(job_id: str) -> JobView:
    """Show a job: how far it is, at which rate, and how long it will still take."""
    return _shown(_visible(job_id))


@blueprint.route("/<id:job_id>/file", methods=["GET"])
@allow(*REQUESTERS)
@refused_with("chunk-damaged", "job-file-removed", "job-not-done", "job-unknown")
@blueprint.response(
    200,
    {"type": "string"},
    content_type="text/plain",
    description="The whole file: a journal as plain text, a report as CSV or XLSX, a verification as JSON.",
    headers={"Content-Disposition": {"$ref": "#/components/headers/FileName"}},
)
@blueprint.doc(
    responses={
        200: {"content": {**FILES, "application/json": {"schema": {"type": "object", "additionalProperties": True}}}}
    }
)
def get_job_file(job_id: str) -> flask.Response:
    """Read the file of a job that is done, under its name and media type; 409 until then, 404 when it was removed."""
    return file_answered(job_id)


def file_answered(job_id: str) -> flask.Response:
    """Answer the file of a job that is done. Raises: UnknownJob; JobNotDone; JobFileRemoved; ChunkDamaged."""
    job = _visible(job_id)
    requests.require_file(job)
    pieces = requests.file_of(context().engine, job)
    first = list(islice(pieces, 1))  # If it is damaged, that is answered; if a later one is, the file breaks off.
    response = flask.Response(chain(first, pieces), content_type=job.media_type)
    response.headers["Content-Disposition"] = f'attachment; filename="{job.file_name}"'
    response.content_length = job.size
    return response


@blueprint.route("/<id:job_id>/cancellation", methods=["POST"])
@allow(*REQUESTERS)
@refused_with("job-forbidden", "job-unknown")
@blueprint.arguments(JobCancellationSchema())
@blueprint.response(200, JobSchema())
def post_job_cancellation(_body: Mapping[str, Any], job_id: str) -> JobView:
    """End a job. One that is over stays as it is, and the answer has its state. Auditors alone end a verification."""
    return _shown(act(lambda session: requests.cancel(session, principal(), job_id, now=now())))


def _visible(job_id: str) -> Job:
    return look(lambda session: requests.visible(session, principal(), job_id))


def _shown(job: Job) -> JobView:
    return JobView(job, context().config.files_kept)
