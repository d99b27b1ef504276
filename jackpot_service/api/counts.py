"""How many exceptions there are of each kind, and how many change requests in each state."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields, validate

from jackpot_service.api import changes, exceptions
from jackpot_service.api.exceptions import KINDS
from jackpot_service.api.reading import at_replica
from jackpot_service.api.request_context import Blueprint, look, now, principal
from jackpot_service.api.schemas import AnswerSchema, RequestSchema, described, listed
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.changes import ChangeState
from jackpot_service.records import changes as records
from jackpot_service.reports.audit import counted_exceptions
from jackpot_service.usecases.changes.registry import KINDS as KINDS_OF_CHANGE
from jackpot_service.usecases.fields import Flag, Identifier, Instant

blueprint = Blueprint(
    "counts", __name__, url_prefix="/v1", description="How many exceptions and change requests there are."
)


class ExceptionCountsQuerySchema(RequestSchema):
    """Of which exceptions; the period is that in which they happened."""

    jackpot_id = Identifier(load_default=None)
    casino_id = Identifier(load_default=None)
    table_id = Identifier(load_default=None)
    acknowledged = Flag(load_default=None)
    start = Instant(data_key="from", load_default=None)
    end = Instant(data_key="to", load_default=None)


class KindCountSchema(AnswerSchema):
    """How many exceptions there are of a kind."""

    kind = fields.String(required=True, validate=validate.OneOf(KINDS))
    exceptions = described(fields.Integer, "As many as `GET /v1/exceptions` lists.")
    acknowledged = described(fields.Integer, "So many of them were looked into.")
    refusals = described(fields.Integer, "The calls that they stand for: of a kind that is counted by the hour more.")


class ExceptionCountsSchema(AnswerSchema):
    """How many exceptions there are, by kind."""

    items = listed(KindCountSchema, "By kind; a kind without any is not there.")


class ChangeCountsQuerySchema(RequestSchema):
    """Of which change requests."""

    kind = fields.String(validate=validate.OneOf(list(KINDS_OF_CHANGE)), load_default=None)


class ChangeCountsSchema(AnswerSchema):
    """How many change requests there are, by state."""

    pending = fields.Integer(required=True)
    approved = fields.Integer(required=True)
    rejected = fields.Integer(required=True)
    expired = fields.Integer(required=True)


@blueprint.route("/exception-counts", methods=["GET"])
@allow(*exceptions.READERS)
@at_replica
@blueprint.arguments(ExceptionCountsQuerySchema(), location="query")
@blueprint.response(200, ExceptionCountsSchema())
def get_exception_counts(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """Count exceptions by kind; a key with a casino sees those of its casino. `to` is not included."""
    filters, before = exceptions.filters_of(query), exceptions.opened_before()
    return {"items": look(lambda session: counted_exceptions(session, principal(), filters, opened_before=before))}


@blueprint.route("/change-request-counts", methods=["GET"])
@allow(*changes.READERS)
@at_replica
@blueprint.arguments(ChangeCountsQuerySchema(), location="query")
@blueprint.response(200, ChangeCountsSchema())
def get_change_request_counts(query: Mapping[str, Any]) -> Mapping[ChangeState, int]:
    """Count change requests by state; a key with a casino sees none of the house's."""
    if principal().casino_id is not None:
        return dict.fromkeys(ChangeState, 0)
    return look(lambda session: records.counts(session, at=now(), kind=query["kind"]))
