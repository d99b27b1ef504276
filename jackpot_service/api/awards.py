"""Awards: what was won, whether it may be paid, and that it was."""

import re
from collections.abc import Mapping
from typing import Any

import flask
from marshmallow import Schema, ValidationError, fields, validate

from jackpot_service.api import answers, schemas
from jackpot_service.api.lists import DEFAULT_LISTED, Limit
from jackpot_service.api.request_context import Blueprint, act, answer, look, now, principal
from jackpot_service.api.schemas import AwardSchema, RequestSchema, described
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.awards import AwardState, AwardStep
from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import Role
from jackpot_service.records import awards as records
from jackpot_service.records.awards import AwardRecord, Position, Wanted
from jackpot_service.usecases.acknowledge_payment import AcknowledgePayment, acknowledge_payment
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.fields import Identifier, Instant, ReadField, Text

READERS = (Role.TABLE, Role.FINANCE, Role.OPERATOR, Role.AUDITOR)
PAYERS = (Role.TABLE, Role.FINANCE, Role.OPERATOR)

blueprint = Blueprint(
    "awards",
    __name__,
    url_prefix="/v1/awards",
    description="Awards. Held ones are decided by two people: a change request of kind `held-awards`.",
)

_CURSOR = re.compile(r"k([0-9a-f]{1,16})\.([A-Za-z0-9._:-]{1,64})")


class AwardCursor(ReadField[Position]):
    """Where the list of awards goes on: what `next` of the page before said."""

    described = {"type": "string"}  # noqa: RUF012  as the base

    def read(self, value: object) -> Position:
        """Raises: ValidationError."""
        found = _CURSOR.fullmatch(value) if isinstance(value, str) else None
        if found and int(found[1], 16) < 2**63:
            return Position(int(found[1], 16), found[2])
        message = "must be the `next` of a page of this list"
        raise ValidationError(message)


class AwardsQuerySchema(RequestSchema):
    """Which awards."""

    state = fields.Enum(AwardState, by_value=True, load_default=None)
    jackpot_id = Identifier(load_default=None)
    casino_id = Identifier(load_default=None)
    limit = Limit(load_default=DEFAULT_LISTED)
    after = AwardCursor(load_default=None)


class PaymentRequestSchema(RequestSchema):
    """That an award was paid to its player."""

    request_id = schemas.request_id()
    reference = Text(load_default=None, metadata={"description": "The casino's own."})
    paid_at = Instant(load_default=None, metadata={"description": "When the player was paid."})


class PaymentSchema(Schema):
    """What the casino said of having paid."""

    reference = fields.String(required=True, allow_none=True)
    paid_at = fields.DateTime(required=True, allow_none=True)


class StepSchema(Schema):
    """A step that an award took."""

    step = fields.String(required=True, validate=validate.OneOf([step.value for step in AwardStep]))
    taken_at = fields.DateTime(required=True)
    act = described(fields.Integer, "The act that took it: its seq; null for the settlement's.", allow_none=True)


class AwardRecordSchema(AwardSchema):
    """An award with its round, and what became of it."""

    jackpot_id = fields.String(required=True)
    casino_id = fields.String(required=True)
    table_id = fields.String(required=True)
    round_id = fields.String(required=True)
    funded_by = described(fields.String, "Which pool paid it: `prize_fund` or `meter`.")
    steps = fields.List(fields.Nested(StepSchema()), required=True)
    payment = fields.Nested(PaymentSchema(), required=True, allow_none=True)


class AwardsSchema(Schema):
    """A page of awards, those of the latest rounds first."""

    items = fields.List(fields.Nested(AwardRecordSchema()), required=True)
    next = fields.String(required=True, allow_none=True)


@blueprint.route("", methods=["GET"])
@allow(*READERS)
@blueprint.arguments(AwardsQuerySchema(), location="query")
@blueprint.response(200, AwardsSchema())
def get_awards(query: Mapping[str, Any]) -> flask.Response:
    """List awards, those of the latest rounds first; a key with a casino sees that casino's."""
    wanted = Wanted(query["state"], query["jackpot_id"], query["casino_id"], query["after"])
    limit = query["limit"]
    found = look(lambda session: records.latest(session, principal(), wanted, limit=limit + 1))
    page, more = found[:limit], found[limit:]
    return answer({"items": [_shown(record) for record in page], "next": _cursor(page[-1].position) if more else None})


@blueprint.route("/<id:award_id>", methods=["GET"])
@allow(*READERS)
@blueprint.response(200, AwardRecordSchema())
def get_award(award_id: str) -> flask.Response:
    """Show an award."""
    return answer(_shown(look(lambda session: records.visible(session, principal(), award_id))))


@blueprint.route("/<id:award_id>/payment", methods=["PUT"])
@allow(*PAYERS)
@blueprint.arguments(PaymentRequestSchema())
@blueprint.response(201, AwardRecordSchema())
@blueprint.alt_response(200, schema=AwardRecordSchema(), description="It was said before.")
def put_payment(body: Mapping[str, Any], award_id: str) -> flask.Response:
    """
    Acknowledge that the casino paid an award to its player.

    Not by who made a key by which the round was played, nor by a key that the same person made: 403 `key-maker`.
    """
    command = AcknowledgePayment(
        Act(principal(), now(), request_id=body["request_id"]), award_id, body["reference"], body["paid_at"]
    )
    done = act(lambda session: acknowledge_payment(session, command))
    return answer(_shown(done.record), 200 if done.is_replay else 201)


def _cursor(position: Position) -> str:
    return f"k{position.round_key:x}.{position.award_id}"


def _shown(record: AwardRecord) -> dict[str, Any]:
    return {
        **answers.of_award(record.award),
        "jackpot_id": record.jackpot_id,
        "casino_id": record.casino_id,
        "table_id": record.table_id,
        "round_id": record.round_id,
        "funded_by": record.award.funded_by,
        "steps": [
            {"step": taken.step.value, "taken_at": instant(taken.taken_at), "act": taken.act_seq}
            for taken in record.steps
        ],
        "payment": record.payment,
    }
