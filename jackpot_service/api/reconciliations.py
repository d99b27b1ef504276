"""The last reconciliation of each book: kept by the days that a job worker read, so that no document is read for it."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields

from jackpot_service.api.jackpots import JackpotsQuerySchema
from jackpot_service.api.lists import page, page_schema
from jackpot_service.api.reading import at_replica
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, now, principal
from jackpot_service.api.schemas import AnswerSchema, Moment, decimal, described, listed
from jackpot_service.auth.authenticator import allow, require_house
from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Role
from jackpot_service.reports.last_reconciliations import Reconciliation, reconciliations
from jackpot_service.reports.making import require_past
from jackpot_service.usecases.fields import Instant

READERS = (Role.FINANCE, Role.OPERATOR, Role.AUDITOR)
"""Of finance only keys that are bound to no casino."""

blueprint = Blueprint(
    "reconciliations",
    __name__,
    url_prefix="/v1/reconciliations",
    description="The last reconciliation of each book, as it is kept; the report of that name reads it anew.",
)


class ReconciliationsQuerySchema(JackpotsQuerySchema):
    """Of which jackpots, and as it was known when."""

    as_of = Instant(load_default=None, metadata={"description": "As it was known at this instant; now unless stated."})


class VarianceSchema(AnswerSchema):
    """A figure that documents and journal do not agree about."""

    section = described(fields.String, "The section of the report `reconciliation` that has this row.")
    account = fields.String(required=True)
    currency = fields.String(required=True)
    rules_version = described(fields.Integer, "Null where the section does not divide by it.", allow_none=True)
    movement = described(fields.String, "Null where the section does not divide by it.", allow_none=True)
    expected = decimal("The sum of the documents.")
    booked = decimal("The sum of the postings.")
    variance = decimal("Booked less expected.")


class ReconciliationSchema(AnswerSchema):
    """The last reconciliation of a jackpot's book, from its beginning."""

    jackpot_id = fields.String(required=True)
    currency = described(fields.String, "The base currency.", attribute="base")
    end = described(Moment, "Not included; null if no day was read yet.", data_key="to", allow_none=True)
    read_at = described(Moment, "When the last of its days was read; null if none was.", allow_none=True)
    compared = described(fields.Integer, "How many figures were compared.")
    agrees = described(fields.Boolean, "Whether no figure differs; null if none was compared.", allow_none=True)
    variances = listed(VarianceSchema, "The figures that differ.")
    waits_since = described(
        fields.Date,
        "The first UTC day that is over and not read as a whole; null if there is none.",
        allow_none=True,
    )


@blueprint.route("", methods=["GET"])
@allow(*READERS)
@at_replica
@refused_with("instant-ahead")
@blueprint.arguments(ReconciliationsQuerySchema(), location="query")
@blueprint.response(200, page_schema(ReconciliationSchema, "Reconciliations"))
def get_reconciliations(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    List by jackpot whether documents and journal agree, up to the last day that was read.

    The figures are those of the report `reconciliation` with this `to`. A job worker reads three hours at a time.
    """
    require_house(principal())
    at = now() if query["as_of"] is None else query["as_of"]
    require_past(at, now=now())

    def rows(session: Session, limit: int) -> list[Reconciliation]:
        return reconciliations(session, at=at, limit=limit, after=query["after"])

    return page(query, rows, lambda row: row.jackpot_id)
