"""The audit trail: for auditors all of it, for operators what they did themselves."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields, validate

from jackpot_service.api.lists import PeriodQuerySchema, cursor, page, page_schema
from jackpot_service.api.reading import at_replica
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, look, principal
from jackpot_service.api.schemas import AnswerSchema, Moment, described, listed
from jackpot_service.auth.authenticator import allow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.journal import ACT_KINDS, EntryKind
from jackpot_service.domain.principals import Role
from jackpot_service.reports.audit import ActQuery, shown, visible_act, visible_acts
from jackpot_service.usecases.fields import Identifier, Text

READERS = (Role.OPERATOR, Role.AUDITOR)
"""An operator sees their own acts."""

KINDS = sorted(kind.value for kind in ACT_KINDS)

blueprint = Blueprint(
    "audit", __name__, url_prefix="/v1/audit", description="Every administrative act: who, when, why, before, after."
)


class AuditQuerySchema(PeriodQuerySchema):
    """Which acts; the period is that of their booking."""

    principal = Text(load_default=None, metadata={"description": "The principal who acted."})
    kind = fields.String(load_default=None, validate=validate.OneOf(KINDS))
    jackpot_id = Identifier(load_default=None)
    subject = Text(
        load_default=None, metadata={"description": "The object of the act, as the act names it: `casino c1`."}
    )
    casino_id = Identifier(
        load_default=None,
        metadata={
            "description": "The casino that the act is about. Acts about its claims and statements are found too."
        },
    )
    request_id = Identifier(
        load_default=None,
        metadata={"description": "The caller's id of an act; also finds what decided or did the change request of it."},
    )


class ActEffectSchema(AnswerSchema):
    """An entry that an act booked."""

    book = fields.String(required=True)
    seq = fields.Integer(required=True)
    kind = fields.String(required=True)
    recorded = fields.Dict(required=True)


class ActSchema(AnswerSchema):
    """An administrative act."""

    seq = described(fields.Integer, "Its number in the reference book: without gaps, in the order of commits.")
    kind = fields.String(required=True, validate=validate.OneOf(KINDS))
    principal = described(fields.String, "The principal who acted.")
    received_at = Moment(required=True)
    booked_at = Moment(required=True)
    request_id = described(fields.String, "The caller's id of the act.", allow_none=True)
    decides = described(fields.String, "The change request that it decides or carries out.", allow_none=True)
    is_emergency = described(fields.Boolean, "Whether one person alone approved that change request.")
    subject = described(fields.String, "The object of the act.")
    jackpot_id = fields.String(required=True, allow_none=True)
    reason = fields.String(required=True, allow_none=True)
    before = fields.Dict(required=True, allow_none=True)
    after = fields.Dict(required=True)
    effects = listed(ActEffectSchema, "Booked in jackpots' books.")


def query_of(values: Mapping[str, Any]) -> ActQuery:
    """Make the query of the values that its schema has read."""
    return ActQuery(
        principal=values["principal"],
        kind=None if values["kind"] is None else EntryKind(values["kind"]),
        jackpot_id=values["jackpot_id"],
        subject=values["subject"],
        casino_id=values["casino_id"],
        request_id=values["request_id"],
        booked_from=values["start"],
        booked_to=values["end"],
    )


@blueprint.route("", methods=["GET"])
@allow(*READERS)
@at_replica
@blueprint.arguments(AuditQuerySchema(), location="query")
@blueprint.response(200, page_schema(ActSchema, "Acts"))
def get_audit(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    List administrative acts, the latest first; `from` is included, `to` is not.

    An operator sees the acts of their own.
    """
    filters = query_of(query)

    def acts(session: Session, limit: int) -> list[Mapping[str, Any]]:
        listed_acts = visible_acts(session, principal(), filters, limit=limit, before=query["after"])
        return [shown(act) for act in listed_acts]

    return page(query, acts, lambda act: cursor(act["seq"]))


@blueprint.route("/<number:seq>", methods=["GET"])
@allow(*READERS)
@refused_with("act-unknown")
@blueprint.response(200, ActSchema())
def get_act(seq: int) -> Mapping[str, Any]:
    """Show an administrative act by its number; an operator sees the acts of their own."""
    return shown(look(lambda session: visible_act(session, principal(), seq)))
