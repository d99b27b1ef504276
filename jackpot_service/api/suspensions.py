"""Suspending a jackpot, and resuming it: one operator does it."""

from collections.abc import Callable, Mapping
from typing import Any

from marshmallow import fields

from jackpot_service.api import schemas
from jackpot_service.api.request_context import Blueprint, act, now, principal
from jackpot_service.api.schemas import AnswerSchema, RequestSchema, word
from jackpot_service.auth.authenticator import allow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.lives import Life
from jackpot_service.domain.principals import Role
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.fields import Text
from jackpot_service.usecases.jackpots import ChangeSuspension, SuspensionChanged, resume_jackpot, suspend_jackpot

blueprint = Blueprint(
    "suspensions", __name__, url_prefix="/v1/jackpots", description="Suspending jackpots, and resuming them."
)


class SuspensionRequestSchema(RequestSchema):
    """Why, under the caller's id."""

    request_id = schemas.request_id()
    reason = Text(required=True)


class JackpotStateSchema(AnswerSchema):
    """How the jackpot stood after the request; of a replay, as it did then."""

    jackpot_id = fields.String(required=True)
    state = word(Life, attribute="life")


@blueprint.route("/<id:jackpot_id>/suspension", methods=["PUT"])
@allow(Role.OPERATOR)
@blueprint.arguments(SuspensionRequestSchema())
@blueprint.response(201, JackpotStateSchema(), description="It takes no bets from now on.")
@blueprint.alt_response(200, schema=JackpotStateSchema(), description="The same request again.")
def put_suspension(body: Mapping[str, Any], jackpot_id: str) -> tuple[SuspensionChanged, int]:
    """Refuse a jackpot's bets from now on; all else goes on. A service account may do it too."""
    return _answer(body, jackpot_id, suspend_jackpot)


@blueprint.route("/<id:jackpot_id>/resumption", methods=["PUT"])
@allow(Role.OPERATOR)
@blueprint.arguments(SuspensionRequestSchema())
@blueprint.response(201, JackpotStateSchema(), description="It takes bets from now on.")
@blueprint.alt_response(200, schema=JackpotStateSchema(), description="The same request again.")
def put_resumption(body: Mapping[str, Any], jackpot_id: str) -> tuple[SuspensionChanged, int]:
    """Take a jackpot's bets again. A user does it; a retired jackpot is never resumed."""
    return _answer(body, jackpot_id, resume_jackpot)


def _answer(
    body: Mapping[str, Any], jackpot_id: str, use_case: Callable[[Session, ChangeSuspension], SuspensionChanged]
) -> tuple[SuspensionChanged, int]:
    command = ChangeSuspension(
        Act(principal(), now(), request_id=body["request_id"], reason=body["reason"]), jackpot_id
    )
    done = act(lambda session: use_case(session, command))
    return done, 200 if done.is_replay else 201
