"""Totals of open awards, of which something is still to be paid or decided: by state, currency and age."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields, validate

from jackpot_service.api.reading import at_replica
from jackpot_service.api.request_context import Blueprint, look, now, principal
from jackpot_service.api.schemas import AnswerSchema, RequestSchema, described, listed
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.principals import Role
from jackpot_service.records import open_awards
from jackpot_service.records.award_filters import AwardFilters
from jackpot_service.usecases.fields import Identifier

READERS = (Role.FINANCE, Role.OPERATOR, Role.AUDITOR)

blueprint = Blueprint(
    "award-totals",
    __name__,
    url_prefix="/v1/award-totals",
    description="Totals of open awards. `GET /v1/awards?open=true` lists them.",
)


class AwardTotalsQuerySchema(RequestSchema):
    """Of which awards."""

    jackpot_id = Identifier(load_default=None)
    casino_id = Identifier(load_default=None)


class AwardTotalSchema(AnswerSchema):
    """The open awards of a state, a currency and an age."""

    state = fields.String(required=True, validate=validate.OneOf(sorted(open_awards.STATES)))
    currency = fields.String(required=True)
    age = fields.String(
        required=True,
        validate=validate.OneOf(open_awards.AGES),
        metadata={"description": "Whole days of 24 hours since the award's last step."},
    )
    awards = described(fields.Integer, "As many as there are.")
    unpaid_minor = described(fields.Integer, "Their unpaid part, in minor units of the currency.")


class AwardTotalsSchema(AnswerSchema):
    """The totals of open awards."""

    items = listed(AwardTotalSchema, "By state, currency and age; what there is none of is not there.")


@blueprint.route("", methods=["GET"])
@allow(*READERS)
@at_replica
@blueprint.arguments(AwardTotalsQuerySchema(), location="query")
@blueprint.response(200, AwardTotalsSchema())
def get_award_totals(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """Sum up awards of which something is still to be paid or decided; a key with a casino sees that casino's."""
    filters = AwardFilters(jackpot_id=query["jackpot_id"], casino_id=query["casino_id"], is_open=True)
    return {"items": look(lambda session: open_awards.totals(session, principal(), filters, now=now()))}
