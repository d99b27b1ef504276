"""Noting the awards that nobody claimed, for a timer or a person: each is an exception once."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields

from jackpot_service.api.awards import position_in
from jackpot_service.api.lists import LIST, ContinuedSchema, Cursor, cursor_at, with_checksum
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, act, now, principal
from jackpot_service.api.schemas import AnswerSchema, described
from jackpot_service.auth.authenticator import allow, require_house
from jackpot_service.domain.principals import Role
from jackpot_service.usecases.note_unclaimed import note_unclaimed

blueprint = Blueprint(
    "unclaimed-awards",
    __name__,
    url_prefix="/v1/unclaimed-awards",
    description="Awards that nobody claimed. `GET /v1/awards?state=unclaimed` lists them.",
)


class NotingSchema(ContinuedSchema):
    """Where to go on."""

    after = Cursor(position_in)


class NotedSchema(AnswerSchema):
    """How many awards were looked at, and where to go on."""

    unclaimed = described(fields.Integer, "Of this call.")
    new = described(fields.Integer, "So many of them are exceptions since this call; the others were before.")
    next = described(fields.String, "Send it as `after` until it is null.", allow_none=True)


@blueprint.route("", methods=["POST"])
@allow(Role.FINANCE, Role.OPERATOR)
@refused_with("history-took-too-long")
@blueprint.arguments(NotingSchema())
@blueprint.response(200, NotedSchema())
def post_unclaimed_awards(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    Keep an exception of each of the next unclaimed awards, once; one that was kept before stays as it is.

    A call looks at a hundred of them. To be repeated daily, from the beginning.
    """
    require_house(principal())
    noted = act(lambda session: note_unclaimed(session, principal(), now=now(), after=body["after"]))
    following = None if noted.after is None else with_checksum(cursor_at(*noted.after), body[LIST])
    return {"unclaimed": noted.unclaimed, "new": noted.new, "next": following}
