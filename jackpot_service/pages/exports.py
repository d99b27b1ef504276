"""Exports: files that are made in the background, how far each is, and the forms by which one is begun or ended."""

from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final

import flask
from marshmallow import ValidationError
from werkzeug.wrappers import Response

from jackpot_service.api.jobs import JobRequestSchema, JobsQuerySchema, JobView, created_by, file_answered, jobs_page
from jackpot_service.api.problems import problem_of
from jackpot_service.api.request_context import act, look, now, principal
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.jobs import JobState
from jackpot_service.exports.accounting import FORMS
from jackpot_service.exports.jobs.journal import journal
from jackpot_service.exports.jobs.requests import FILES, REQUESTERS, cancel
from jackpot_service.pages import chips, figures
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.pages.figures import label
from jackpot_service.pages.form_errors import errors_in, in_words
from jackpot_service.pages.forms import new_request_id
from jackpot_service.pages.links import page_address
from jackpot_service.pages.lists import read_place
from jackpot_service.pages.problems import DEFINITE
from jackpot_service.pages.report_forms import PARAMETERS
from jackpot_service.records import references
from jackpot_service.reports.finance.registry import REPORTS

JOURNAL: Final = journal().name

CHIPS: Final = {
    JobState.QUEUED: chips.QUIET,
    JobState.RUNNING: chips.GOLD,
    JobState.DONE: chips.GOOD,
    JobState.FAILED: chips.WRONG,
    JobState.CANCELLED: chips.QUIET,
}

EDGES: Final = frozenset({"from", "to", "as_of"})

SHOWN: Final = EDGES | {
    "section",
    "account",
    "currency",
    "movement",
    *(name for name in PARAMETERS if name[-3:] == "_id"),
}
"""The parameters of a job that its card shows."""


@blueprint.route("/exports", methods=["GET"])
@people(*REQUESTERS)
def show_exports() -> str:
    """List exports, the latest first; the page reads its list again while an export is not over."""
    return _page()


@blueprint.route("/exports/progress", methods=["GET"])
@people(*REQUESTERS, is_poll=True)
def show_progress_of_exports() -> str:
    """Show the list alone: the part of the page that is read again while an export is not over."""
    return flask.render_template("_exports.html", **_listed())


@blueprint.route("/exports", methods=["POST"])
@people(*REQUESTERS)
def begin_export() -> Response:
    """Begin an export, of a report or of a journal; the same form again is the same export."""
    form = flask.request.form
    try:
        body = JobRequestSchema().load(
            {
                "request_id": form.get("request_id", ""),
                "kind": form.get("kind", ""),
                "parameters": _parameters(form),
            }
        )
        job_id = created_by(body).job.job_id
    except ValidationError as error:
        wrong = ", ".join(f"{label(at.strip('/'))} {detail}" for at, detail in errors_in(error).items())
        return flask.Response(_page(alert=f"Nothing was begun. {wrong}."), HTTPStatus.UNPROCESSABLE_ENTITY)
    except DEFINITE as error:
        return flask.Response(_page(alert=_in_words(error)), problem_of(error, instance=flask.request.path).status)
    return flask.redirect(flask.url_for("pages.show_exports", _anchor=f"job-{job_id}"), HTTPStatus.SEE_OTHER)


@blueprint.route("/exports/<id:job_id>/file", methods=["GET"])
@people(*REQUESTERS)
def send_export(job_id: str) -> flask.Response:
    """Send the file of an export: the bytes that the API answers. Raises: as `GET /v1/jobs/{job}/file`."""
    return file_answered(job_id)


@blueprint.route("/exports/<id:job_id>/cancellation", methods=["POST"])
@people(*REQUESTERS)
def cancel_export(job_id: str) -> Response:
    """End an export; one that is over stays as it is. Raises: UnknownJob."""
    act(lambda session: cancel(session, principal(), job_id, now=now()))
    return flask.redirect(flask.url_for("pages.show_exports", _anchor=f"job-{job_id}"), HTTPStatus.SEE_OTHER)


def _parameters(form: Mapping[str, str]) -> dict[str, Any]:
    """Return the parameters of a job, as the form states them in the words of the API."""
    taken = ("jackpot_id", "format", "as_of") if form.get("kind") == JOURNAL else ("name", "format", *PARAMETERS)
    stated: dict[str, Any] = {name: form[name].strip() for name in taken if form.get(name, "").strip()}
    if "by" in stated:
        stated["by"] = stated["by"].split(",")
    return stated


def _in_words(error: LedgerError) -> str:
    """Return what is refused, and at which fields of the form."""
    named = [f"{label(each.place.rpartition('/')[2])} {in_words(each.detail)}" for each in error.field_errors]
    return "Nothing was begun. " + (f"{', '.join(named)}." if named else error.detail)


def _page(alert: str = "") -> str:
    is_of_house = principal().casino_id is None
    return flask.render_template(
        "exports.html",
        **_listed(),
        alert=alert,
        states=JobState,
        jackpots=look(references.jackpot_ids) if is_of_house else (),
        forms=FORMS,
        form=flask.request.form,
        request_id=new_request_id(),
    )


def _listed() -> Mapping[str, Any]:
    """Read a page of the list; verifications have a page of their own."""
    query = read_place(JobsQuerySchema(), "state")
    state = query.typed.get("state", "")
    listed = jobs_page(query.values, kinds=FILES.keys())
    views = [_shown(view) for view in listed["items"]]
    return {
        "jobs": views,
        "goes_on": any(not shown["job"].is_over for shown in views),
        "progress": page_address("pages.show_progress_of_exports", **query.typed),
        "here_again": page_address("pages.show_exports", **query.typed),
        "state": state,
        "next_page": listed["next"] and page_address("pages.show_exports", state=state, after=listed["next"]),
        "first_page": page_address("pages.show_exports", state=state) if "after" in query.typed else None,
    }


def _shown(view: JobView) -> Mapping[str, Any]:
    job, parameters = view.job, view.job.parameters
    report = REPORTS.get(parameters.get("name", ""))
    return {
        "job": job,
        "view": view,
        "chip": CHIPS[job.state],
        "title": f"Journal of {parameters.get('jackpot_id')}" if report is None else report.title,
        "facts": [
            (name, figures.moment(datetime.fromisoformat(value)) if name in EDGES else value)
            for name, value in parameters.items()
            if name in SHOWN and value
        ],
    }
