"""The meaning of each code, at the address that is the type of its problems: as JSON, or as a page."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from http import HTTPStatus
from typing import Any, Final

import flask
from marshmallow import fields

from jackpot_service.api import pages
from jackpot_service.api.problem_catalogue.catalogue import ROWS, SECTIONS, require_row
from jackpot_service.api.problem_catalogue.rows import Row, Section
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint
from jackpot_service.api.schemas import AnswerSchema, described, listed
from jackpot_service.auth.authenticator import anyone

blueprint = Blueprint(
    "problems", __name__, url_prefix="/problems", description="The meaning of each code of a problem; no key."
)

TEMPLATE: Final = "problems.html"
JSON: Final = "application/json"

_PAGE: Final = {"schema": {"type": "string"}}
_VARIES: Final = {"Vary": "Accept"}

Shown = tuple[flask.Response | Mapping[str, Any], HTTPStatus, Mapping[str, str]]


class ProblemMemberSchema(AnswerSchema):
    """A member of a problem besides the standard ones."""

    name = fields.String(required=True)
    schema = described(fields.Dict, "JSON Schema.")
    description = fields.String(required=True)
    always = described(fields.Boolean, "Whether each problem of the code has it.")


class ProblemTypeSchema(AnswerSchema):
    """The meaning of a code, and the remedy."""

    type = described(fields.String, "Where this stands, relative to the service's address.")
    code = fields.String(required=True)
    status = fields.Integer(required=True)
    title = fields.String(required=True)
    section = described(fields.String, "The subject.")
    meaning = fields.String(required=True)
    remedy = described(fields.String, "The caller's next step.")
    retryable = described(fields.Boolean, "Whether the same call may be sent again.")
    members = listed(ProblemMemberSchema, "Besides those of every problem.")


class ProblemTypesSchema(AnswerSchema):
    """All codes, by subject."""

    items = listed(ProblemTypeSchema, "In the order of their subjects.")


def _described(schema: type[AnswerSchema]) -> Mapping[str, Any]:
    """Describe an answer that is JSON or a page."""
    return {"200": {"description": "OK", "content": {JSON: {"schema": schema}, pages.HTML: _PAGE}}}


@blueprint.route("", methods=["GET"])
@anyone
@blueprint.response(200, ProblemTypesSchema())
@blueprint.doc(responses=_described(ProblemTypesSchema))
def get_problems() -> Shown:
    """List every code that the service answers with, as JSON or, to a browser, as a page to print."""
    if _wants_page():
        return pages.answer(_page(None)), HTTPStatus.OK, _VARIES
    return {"items": [_catalogue_entry(row) for row in ROWS.values()]}, HTTPStatus.OK, _VARIES


@blueprint.route("/<id:code>", methods=["GET"])
@anyone
@refused_with("problem-unknown")
@blueprint.response(200, ProblemTypeSchema())
@blueprint.doc(responses=_described(ProblemTypeSchema))
def get_problem(code: str) -> Shown:
    """Describe one code, as JSON or, to a browser, as a page."""
    row = require_row(code)
    if _wants_page():
        return pages.answer(_page(row.code)), HTTPStatus.OK, _VARIES
    return _catalogue_entry(row), HTTPStatus.OK, _VARIES


def _wants_page() -> bool:
    return flask.request.accept_mimetypes.best_match((JSON, pages.HTML)) == pages.HTML


@cache  # A page is the same for ever, and takes longer to write than all else of its answer.
def _page(code: str | None) -> str:
    sections = [_with_rows(section, code) for section in SECTIONS]
    return flask.render_template(
        TEMPLATE,
        title="Problems" if code is None else f"Problem {code}",
        sections=[section for section in sections if section.rows],
    )


def _with_rows(section: Section, code: str | None) -> Section:
    """Keep of a section the row of one code, or all of them."""
    return replace(section, rows=tuple(row for row in section.rows if code in {None, row.code}))


def _catalogue_entry(row: Row) -> Mapping[str, Any]:
    (section,) = (section.title for section in SECTIONS if row in section.rows)
    return {
        "type": row.type,
        "code": row.code,
        "status": row.status,
        "title": row.title,
        "section": section,
        "meaning": row.meaning,
        "remedy": row.remedy,
        "retryable": row.retryable,
        "members": [
            {"name": name, "schema": member.schema, "description": member.description, "always": member.is_always}
            for name, member in row.members.items()
        ],
    }
