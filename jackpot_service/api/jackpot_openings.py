"""Opening jackpots, and spreading them over more stripes: what one operator does alone."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields, validate

from jackpot_service.api.jackpots import JackpotSchema
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, act, context, look, now, signed
from jackpot_service.api.schemas import AnswerSchema, ReasonedSchema, described
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.principals import Role
from jackpot_service.domain.rulebooks import RULEBOOK_IDS
from jackpot_service.ledger.stripes import MOST_STRIPES
from jackpot_service.reports.jackpots import JackpotState, jackpot_state
from jackpot_service.usecases.fields import Amount, CurrencyCode, Identifier, ObjectOf, Whole
from jackpot_service.usecases.jackpots import AddStripes, OpenJackpot, add_stripes, open_jackpot
from jackpot_service.usecases.setting_values import SettingValue

blueprint = Blueprint(
    "jackpot-openings",
    __name__,
    url_prefix="/v1/jackpots",
    description="Opening jackpots, and spreading them over more stripes.",
)


class NewJackpotSchema(ReasonedSchema):
    """A jackpot to open: a published rulebook in a base currency, with some settings changed."""

    jackpot_id = Identifier(required=True)
    rulebook = fields.String(required=True, validate=validate.OneOf(RULEBOOK_IDS))
    currency = CurrencyCode(required=True, metadata={"description": "The base currency, for good."})
    base_amount = Amount(
        load_default=None,
        metadata={"description": "The start of the first cycle, paid by the house. Without it the reset amount."},
    )
    settings = ObjectOf(
        SettingValue(),
        load_default=dict,
        metadata={"description": "Settings by name, as in a change of kind `rules`; the rulebook states the others."},
    )
    stripes = Whole(
        least=1,
        most=MOST_STRIPES,
        load_default=None,
        metadata={"description": "So many of its entries can be committed at once. Without it as configured."},
    )


class StripesRequestSchema(ReasonedSchema):
    """The number of stripes that a jackpot is to have."""

    stripes = Whole(least=1, most=MOST_STRIPES, required=True)


class StripesSchema(AnswerSchema):
    """The number of stripes of a jackpot."""

    jackpot_id = fields.String(required=True)
    stripes = described(fields.Integer, "How many it has.")


@blueprint.route("", methods=["POST"])
@allow(Role.OPERATOR)
@refused_with(
    "already-exists",
    "request-conflict",
    "rules-invalid",
    "setting-unknown",
    "stripes-out-of-range",
    "unknown-currency",
)
@blueprint.arguments(NewJackpotSchema())
@blueprint.response(201, JackpotSchema(), description="It takes bets.")
@blueprint.alt_response(
    200, schema=JackpotSchema(), description="The same request again: the jackpot as it stands by now."
)
def post_jackpot(body: Mapping[str, Any]) -> tuple[JackpotState, int]:
    """Open a jackpot from a published rulebook. One operator does it alone; the house pays the base amount in."""
    command = opening(body)
    done = act(lambda session: open_jackpot(session, command))
    state = look(lambda session: jackpot_state(session, command.jackpot_id, at=now()))
    return state, 200 if done.is_replay else 201


def opening(body: Mapping[str, Any]) -> OpenJackpot:
    """Return the command of a body; the configuration says how many stripes there are, where the body does not."""
    return OpenJackpot(
        act=signed(body),
        jackpot_id=body["jackpot_id"],
        rulebook=body["rulebook"],
        base=body["currency"],
        base_amount=body["base_amount"],
        settings=body["settings"],
        stripes=body["stripes"] or context().config.stripes,
        states_stripes=body["stripes"] is not None,
    )


@blueprint.route("/<id:jackpot_id>/stripes", methods=["PUT"])
@allow(Role.OPERATOR)
@refused_with("jackpot-retired", "jackpot-unknown", "request-conflict", "stripes-out-of-range")
@blueprint.arguments(StripesRequestSchema())
@blueprint.response(201, StripesSchema(), description="It is spread over so many stripes now.")
@blueprint.alt_response(200, schema=StripesSchema(), description="It had so many already.")
def put_stripes(body: Mapping[str, Any], jackpot_id: str) -> tuple[Mapping[str, Any], int]:
    """Spread a jackpot over more stripes, while bets go on: so many of its entries can be committed at once."""
    command = AddStripes(signed(body), jackpot_id, body["stripes"])
    before = act(lambda session: add_stripes(session, command))
    return {"jackpot_id": jackpot_id, "stripes": command.stripes}, 200 if before == command.stripes else 201
