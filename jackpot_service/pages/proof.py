"""
The proof of the books: what the last verifications found, where every chain ends, the seals, and closed periods.

An auditor starts a verification, which the job worker does; the page shows how far it is.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, Final

import flask
from marshmallow import ValidationError
from werkzeug.exceptions import BadRequest
from werkzeug.wrappers import Response

from jackpot_service.api.checkpoints import OF_SEALS, READERS
from jackpot_service.api.jobs import file_answered
from jackpot_service.api.lists import cursor, cursor_at, key_in, place_in, with_checksum, without_checksum
from jackpot_service.api.problems import problem_of
from jackpot_service.api.request_context import act, context, look, now, principal
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.jobs import Job, JobState
from jackpot_service.domain.principals import Role
from jackpot_service.exports.jobs import requests
from jackpot_service.exports.jobs.kinds import Requester
from jackpot_service.exports.jobs.requests import KINDS, CreateJob, JobUnderWay
from jackpot_service.exports.jobs.runner import LEASE
from jackpot_service.exports.jobs.verification import LAST, NAME, ZERO
from jackpot_service.ledger.mismatches import Code
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.forms import new_request_id
from jackpot_service.pages.shown_proof import shown_proof
from jackpot_service.records import checkpoints
from jackpot_service.reports.checkpoints import StripeHead, latest_seals, seal_content, seal_keys, stripe_heads
from jackpot_service.usecases.readers import identifier

HEADS_A_PAGE: Final = 50
SEALS_A_PAGE: Final = 20
PERIODS_A_PAGE: Final = 12

STARTERS: Final = (Role.AUDITOR,)
OF_PERIODS: Final = (Role.FINANCE, Role.AUDITOR)

STARTS: Final = {ZERO: "From zero", LAST: "From the last note"}


@blueprint.route("/proof", methods=["GET"])
@people(*READERS, of_house=True)
def show_proof_of_books() -> Response:
    """Show what the last verifications found, heads, seals and closed periods."""
    return _page()


@blueprint.route("/proof/progress", methods=["GET"])
@people(*READERS, of_house=True, is_poll=True)
def show_progress() -> Response:
    """Show how far a verification is: the part of the page that is read again; with its end the page is new."""
    state = _state()
    response = flask.Response(flask.render_template("_proof_progress.html", **state))
    if not state["is_under_way"]:
        response.headers["HX-Refresh"] = "true"
    return response


@blueprint.route("/proof", methods=["POST"])
@people(*STARTERS, of_house=True)
def start_proof() -> Response:
    """Start a verification; the second of two people is shown the one that is under way."""
    form = flask.request.form
    start = form.get("from", ZERO)
    if start not in STARTS:
        return _page(alert="Choose where the verification begins.", status=HTTPStatus.UNPROCESSABLE_ENTITY)
    requester = Requester(principal(), now(), context().config.longest_open)
    request_id = _identifier("request_id")
    try:
        requests.create(context().engine, CreateJob(requester, request_id, KINDS[NAME], {"from": start}))
    except JobUnderWay:
        return _page(alert="A verification is under way already. Its progress is below.", status=HTTPStatus.CONFLICT)
    except Conflict as error:
        return _page(alert=error.detail, status=problem_of(error, instance=flask.request.path).status)
    return flask.redirect(flask.url_for("pages.show_proof_of_books"), HTTPStatus.SEE_OTHER)


@blueprint.route("/proof/end", methods=["POST"])
@people(*STARTERS, of_house=True)
def end_proof() -> Response:
    """End the verification that is under way; one that is over stays as it is. Raises: UnknownJob."""
    job_id = _identifier("job_id")
    act(lambda session: requests.cancel(session, principal(), job_id, now=now()))
    return flask.redirect(flask.url_for("pages.show_proof_of_books"), HTTPStatus.SEE_OTHER)


@blueprint.route("/proof/runs/<id:job_id>", methods=["GET"])
@people(*READERS, of_house=True)
def fetch_findings(job_id: str) -> Response:
    """Send the file of a verification, which names its mismatches. Raises: UnknownJob; as `file_answered`."""
    job = look(lambda session: requests.visible(session, principal(), job_id))
    if job.kind != NAME:
        message = f"There is no verification {job_id}."
        raise requests.UnknownJob(message)
    return file_answered(job_id)


@blueprint.route("/proof/seals/<number:number>", methods=["GET"])
@people(*OF_SEALS)
def fetch_seal(number: int) -> Response:
    """Send a seal, byte by byte as its file has it. Raises: UnknownSeal."""
    content = look(lambda session: seal_content(session, number))
    response = flask.Response(content, mimetype="application/json")
    response.headers["Content-Disposition"] = f'attachment; filename="seal-{number:04d}.json"'
    return response


def _identifier(name: str) -> str:
    """Return the id in a field of the form. Raises: BadRequest."""
    try:
        return identifier(flask.request.form.get(name, ""))
    except ValidationError:
        message = "This form is not as its page made it."
        raise BadRequest(message) from None


def _page(*, alert: str = "", status: int = HTTPStatus.OK) -> Response:
    role = principal().role
    html = flask.render_template(
        "proof.html",
        **_state(),
        alert=alert,
        starts=STARTS,
        request_id=new_request_id(),
        heads=_heads(),
        seals=_seals() if role in OF_SEALS else None,
        periods=_periods() if role in OF_PERIODS else None,
        sees_acts=role is Role.AUDITOR,
    )
    return flask.Response(html, status)


def _state() -> Mapping[str, Any]:
    proof, at = look(shown_proof), now()
    job = None if proof.run is None else proof.run.job
    return {
        "proof": proof,
        "job": job,
        "is_under_way": job is not None and not job.is_over,
        "silent_for": None if job is None else _silence(job, at),
        "meanings": {code.value: code.meaning for code in Code},
        "may_start": principal().role in STARTERS,
        "at": at,
    }


def _silence(job: Job, at: datetime) -> timedelta | None:
    """For how long nothing was heard of a job that runs; None if that is usual."""
    if job.state is not JobState.RUNNING or job.heartbeat_at is None:
        return None
    silence = at - job.heartbeat_at
    return silence if silence > LEASE else None


def _heads() -> Mapping[str, Any]:
    after = place_in(without_checksum(flask.request.args.get("heads", ""), "heads") or "")
    rows = look(lambda session: stripe_heads(session, limit=HEADS_A_PAGE + 1, after=after))
    last = rows[HEADS_A_PAGE - 1] if len(rows) > HEADS_A_PAGE else None
    return {
        "rows": rows[:HEADS_A_PAGE],
        "next": last and _heads_after(last),
        "first": flask.url_for("pages.show_proof_of_books") if after else None,
    }


def _heads_after(last: StripeHead) -> str:
    heads = with_checksum(cursor_at(last.stripe_no, last.book), "heads")
    return flask.url_for("pages.show_proof_of_books", heads=heads)


def _seals() -> Mapping[str, Any]:
    before = key_in(without_checksum(flask.request.args.get("seals", ""), "seals") or "")
    rows = look(lambda session: latest_seals(session, limit=SEALS_A_PAGE + 1, before=before))
    last = rows[SEALS_A_PAGE - 1] if len(rows) > SEALS_A_PAGE else None
    return {
        "rows": rows[:SEALS_A_PAGE],
        "next": last and flask.url_for("pages.show_proof_of_books", seals=with_checksum(cursor(last.number), "seals")),
        "first": flask.url_for("pages.show_proof_of_books") if before is not None else None,
        "keys": look(seal_keys),
    }


def _periods() -> Mapping[str, Any]:
    rows = look(lambda session: checkpoints.latest_periods(session, limit=PERIODS_A_PAGE + 1))
    return {"rows": rows[:PERIODS_A_PAGE], "are_more": len(rows) > PERIODS_A_PAGE}
