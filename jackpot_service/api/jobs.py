"""Jobs: long exports, asked for, watched, fetched as files."""

from collections.abc import Mapping
from typing import Any, ClassVar

import flask
from marshmallow import Schema, ValidationError, fields, validate

from jackpot_service.api.lists import ListQuerySchema
from jackpot_service.api.request_context import Blueprint, act, answer, context, look, now, principal
from jackpot_service.api.schemas import RequestSchema, described
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.jobs import JOB_ID, Job, JobState
from jackpot_service.exports.jobs import asking
from jackpot_service.exports.jobs.asking import ASKERS, AskJob
from jackpot_service.exports.jobs.kinds import Asker
from jackpot_service.exports.jobs.registry import KINDS
from jackpot_service.exports.jobs.shown import shown
from jackpot_service.records import jobs as records
from jackpot_service.usecases.fields import Identifier, JsonObject, ReadField

blueprint = Blueprint(
    "jobs",
    __name__,
    url_prefix="/v1/jobs",
    description="Long exports, done beside the calls, one at a time. Their files are kept for some days.",
)


class JobCursor(ReadField[str]):
    """Where the list goes on: what `next` of the page before said."""

    described: ClassVar = {"type": "string"}

    def read(self, value: object) -> str:
        """Raises: ValidationError."""
        if isinstance(value, str) and JOB_ID.fullmatch(value):
            return value
        message = "must be the `next` of a page of this list"
        raise ValidationError(message)


class JobsQuerySchema(ListQuerySchema):
    """Which jobs."""

    after = JobCursor(load_default=None)
    state = fields.Enum(JobState, by_value=True, load_default=None)


class JobRequestSchema(RequestSchema):
    """What to do."""

    request_id = Identifier(
        required=True, metadata={"description": "The caller's own id: the same again is the same job."}
    )
    kind = fields.String(required=True, validate=validate.OneOf(sorted(KINDS)))
    parameters = JsonObject(
        required=True,
        metadata={
            "description": (
                "Of `journal`: `jackpot_id`, `format` (`beancount` or `hledger`), and perhaps `positions`, the seqs of "
                "the jackpot's stripes up to which it is written, or `as_of`, the time before which it was booked; "
                "otherwise everything committed by now. Of `report`: its `name`, `format` (`csv` or `xlsx`), and what "
                "`GET /v1/reports/{name}` takes besides, `by` as a list; it is made as of the time at which it is "
                "asked for, or earlier if `to` or `as_of` say so."
            )
        },
    )


class JobCancellationSchema(RequestSchema):
    """Nothing has to be said."""


class ProgressSchema(Schema):
    """How far a job is."""

    done = described(fields.Integer, "In what the kind counts: of `journal` entries, of `report` rows.")
    total = described(fields.Integer, "Null where nobody knows before it is begun.", allow_none=True)
    rate_per_second = described(fields.Float, "Of the present attempt.", allow_none=True)
    remaining_seconds = described(fields.Integer, "At that rate.", allow_none=True)
    heartbeat_at = described(fields.DateTime, "When its runner was last heard of.", allow_none=True)
    attempts = described(fields.Integer, "How often it was taken up since the last chunk that it goes on from.")


class JobFileSchema(Schema):
    """A file that is there to be read."""

    name = fields.String(required=True)
    media_type = fields.String(required=True)
    size = described(fields.Integer, "In bytes.")
    kept_until = fields.DateTime(required=True)


class JobSchema(Schema):
    """A job."""

    job_id = fields.String(required=True)
    kind = fields.String(required=True)
    parameters = described(fields.Dict, "In full, as they were settled when it was asked for.")
    request_id = fields.String(required=True)
    principal = described(fields.String, "Who asked.")
    asked_at = fields.DateTime(required=True)
    state = fields.String(required=True, validate=validate.OneOf([state.value for state in JobState]))
    progress = fields.Nested(ProgressSchema(), required=True)
    ended_at = fields.DateTime(required=True, allow_none=True)
    error = described(fields.String, "Why it failed: a code, and a sentence.", allow_none=True)
    cancelled_by = fields.String(required=True, allow_none=True)
    file = fields.Nested(JobFileSchema(), required=True, allow_none=True)


class JobsSchema(Schema):
    """A page of jobs, the latest first."""

    items = fields.List(fields.Nested(JobSchema()), required=True)
    next = fields.String(required=True, allow_none=True)


@blueprint.route("", methods=["POST"])
@allow(*ASKERS)
@blueprint.arguments(JobRequestSchema())
@blueprint.response(201, JobSchema(), description="It waits for its turn.")
@blueprint.alt_response(200, schema=JobSchema(), description="It was asked for before.")
def post_job(body: Mapping[str, Any]) -> flask.Response:
    """Ask for a job. A key with a casino may ask for reports of its own casino, not for a jackpot's whole journal."""
    asker = Asker(principal(), now(), context().config.longest_open)
    command = AskJob(asker, body["request_id"], KINDS[body["kind"]], body["parameters"])
    asked = asking.ask(context().engine, command)
    return answer(_shown(asked.job), 200 if asked.is_replay else 201)


@blueprint.route("", methods=["GET"])
@allow(*ASKERS)
@blueprint.arguments(JobsQuerySchema(), location="query")
@blueprint.response(200, JobsSchema())
def get_jobs(query: Mapping[str, Any]) -> flask.Response:
    """List jobs, the latest first; a key with a casino sees those that keys of its casino asked for."""
    found = look(
        lambda session: records.latest(
            session, principal(), limit=query["limit"] + 1, before=query["after"], state=query["state"]
        )
    )
    page, more = found[: query["limit"]], found[query["limit"] :]
    return answer({"items": [_shown(job) for job in page], "next": page[-1].job_id if more else None})


@blueprint.route("/<id:job_id>", methods=["GET"])
@allow(*ASKERS)
@blueprint.response(200, JobSchema())
def get_job(job_id: str) -> flask.Response:
    """Show a job: how far it is, at which rate, and how long it will still take."""
    return answer(_shown(_visible(job_id)))


@blueprint.route("/<id:job_id>/file", methods=["GET"])
@allow(*ASKERS)
@blueprint.response(200, {"type": "string", "format": "binary"}, content_type="*/*", description="The whole file.")
def get_job_file(job_id: str) -> flask.Response:
    """Read the file of a job that is done, under its name and media type; 409 until then, 404 when it was removed."""
    job = _visible(job_id)
    asking.require_file(job)
    response = flask.Response(asking.file_of(context().engine, job), content_type=job.media_type)
    response.headers["Content-Disposition"] = f'attachment; filename="{job.file_name}"'
    response.content_length = job.size
    return response


@blueprint.route("/<id:job_id>/cancellation", methods=["POST"])
@allow(*ASKERS)
@blueprint.arguments(JobCancellationSchema())
@blueprint.response(200, JobSchema())
def post_job_cancellation(_body: Mapping[str, Any], job_id: str) -> flask.Response:
    """End a job. One that is over stays as it is, and the answer says how that is."""
    return answer(_shown(act(lambda session: asking.cancel(session, principal(), job_id, now=now()))))


def _visible(job_id: str) -> Job:
    return look(lambda session: asking.visible(session, principal(), job_id))


def _shown(job: Job) -> dict[str, Any]:
    return shown(job, kept=context().config.files_kept)
