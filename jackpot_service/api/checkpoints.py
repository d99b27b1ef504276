"""Checkpoints of the books: verifications, seals, closed periods, and how far each book is reconciled."""

from collections.abc import Mapping
from typing import Any

import flask
from marshmallow import fields, validate

from jackpot_service.api.lists import Cursor, ListQuerySchema, cursor, cursor_at, page, page_schema, place_in
from jackpot_service.api.periods import ClosedPeriodSchema
from jackpot_service.api.reading import at_replica
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, look, principal
from jackpot_service.api.schemas import AnswerSchema, Moment, described, listed
from jackpot_service.auth.authenticator import allow, require_house
from jackpot_service.domain.principals import Role
from jackpot_service.domain.seals import FORMAT
from jackpot_service.reports.checkpoints import (
    Checkpoints,
    last_checkpoints,
    latest_seals,
    latest_verifications,
    seal_content,
    stripe_heads,
)

READERS = (Role.FINANCE, Role.OPERATOR, Role.AUDITOR)
"""Of finance only keys that are bound to no casino."""

OF_SEALS = (Role.OPERATOR, Role.AUDITOR)

blueprint = Blueprint(
    "checkpoints",
    __name__,
    url_prefix="/v1",
    description=(
        "Checkpoints of the books. Seals are made on the machine, by `jackpot seal`; verifications there, by "
        "`jackpot verify`, or by a job of kind `verification`."
    ),
)


class StripeHeadsQuerySchema(ListQuerySchema):
    """How much of the list of stripes, and from where."""

    after = Cursor(place_in)


class VerificationSchema(AnswerSchema):
    """
    The note of a verification that had found nothing wrong until then.

    A verification notes now and then how far it is, and its end. One that finds a mismatch notes nothing more.
    """

    number = fields.Integer(required=True)
    begun_at = Moment(required=True)
    noted_at = Moment(required=True)
    is_whole = described(fields.Boolean, "Whether it had ended.")
    continues = described(fields.Integer, "The note from which it went on; null for one from zero.", allow_none=True)
    service_version = fields.String(required=True)
    entries = described(fields.Integer, "How many it had looked at, since it began.")
    rounds = fields.Integer(required=True)
    bets = fields.Integer(required=True)
    awards = fields.Integer(required=True)


class SealHeadSchema(AnswerSchema):
    """A seal of the books, without what it seals."""

    number = fields.Integer(required=True)
    sha256 = described(fields.String, "Of the seal's bytes, as its act says it; the next seal names it.")
    public_key_id = described(fields.String, "The key that signed it: the SHA-256 of its 32 bytes.")
    public_key = described(fields.String, "Its 32 bytes as the ledger kept them, in hexadecimal.")
    principal = described(fields.String, "The principal who made it.")
    booked_at = Moment(required=True)
    act = described(fields.Integer, "Its act's place in the audit trail.")


class SealLinkSchema(AnswerSchema):
    """The seal before."""

    number = fields.Integer(required=True)
    sha256 = described(fields.String, "Of its bytes.")


class SealSchema(AnswerSchema):
    """A seal, as docs/seals.md says."""

    format = fields.String(required=True, validate=validate.OneOf([FORMAT]))
    number = fields.Integer(required=True)
    sealed_at = Moment(required=True)
    service_version = fields.String(required=True)
    previous = fields.Nested(SealLinkSchema(), required=True, allow_none=True)
    stripes = fields.List(
        fields.List(fields.Raw(metadata={"type": ["string", "integer"]})),
        required=True,
        metadata={"description": "Of each the book, its number, the seq of its last entry, and the head after it."},
    )
    public_key_id = described(fields.String, "The key that signed it: the SHA-256 of its 32 bytes.")
    signature = described(fields.String, "Ed25519, in hexadecimal.")


class BookEndSchema(AnswerSchema):
    """The end of a jackpot's book."""

    jackpot_id = fields.String(required=True)
    positions = fields.List(
        fields.Integer(), required=True, metadata={"description": "The seq of each stripe's last entry, by stripe."}
    )
    reconciled_to = described(
        fields.Date, "The last UTC day that was reconciled, at least in part; null if none was.", allow_none=True
    )


class StripeHeadSchema(AnswerSchema):
    """The end of a stripe's chain."""

    book = described(fields.String, "The jackpot, or `-`.")
    stripe = described(fields.Integer, "Its number in the book.", attribute="stripe_no")
    seq = described(fields.Integer, "Of its last entry; 0 if it has none.")
    head = described(fields.String, "The hash over all of its entries, in hexadecimal.")
    booked_at = described(Moment, "When its last entry was booked.")


class CheckpointsSchema(AnswerSchema):
    """The last checkpoint of each kind, and the end of each jackpot's book."""

    last_verification = fields.Nested(VerificationSchema(), required=True, allow_none=True, attribute="verification")
    last_whole_verification = fields.Nested(
        VerificationSchema(),
        required=True,
        allow_none=True,
        attribute="whole_verification",
        metadata={"description": "The last one that came to its end."},
    )
    last_seal = fields.Nested(SealHeadSchema(), required=True, allow_none=True, attribute="seal")
    last_closed_period = fields.Nested(ClosedPeriodSchema(), required=True, allow_none=True, attribute="closed_period")
    books = listed(BookEndSchema, "By jackpot.")


@blueprint.route("/checkpoints", methods=["GET"])
@allow(*READERS)
@blueprint.response(200, CheckpointsSchema())
def get_checkpoints() -> Checkpoints:
    """Show the last verification, the last seal and the last closed period, and how far each book is reconciled."""
    require_house(principal())
    return look(last_checkpoints)


@blueprint.route("/verifications", methods=["GET"])
@allow(*READERS)
@at_replica
@blueprint.arguments(ListQuerySchema(), location="query")
@blueprint.response(200, page_schema(VerificationSchema, "Verifications"))
def get_verifications(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """List the notes of verifications, the latest first."""
    require_house(principal())
    return page(
        query,
        lambda session, limit: latest_verifications(session, limit=limit, before=query["after"]),
        lambda note: cursor(note.number),
    )


@blueprint.route("/stripe-heads", methods=["GET"])
@allow(*READERS)
@at_replica
@blueprint.arguments(StripeHeadsQuerySchema(), location="query")
@blueprint.response(200, page_schema(StripeHeadSchema, "StripeHeads"))
def get_stripe_heads(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """List where the chain of every stripe ends now, by book and stripe; a page is of one instant."""
    require_house(principal())
    return page(
        query,
        lambda session, limit: stripe_heads(session, limit=limit, after=query["after"]),
        lambda head: cursor_at(head.stripe_no, head.book),
    )


@blueprint.route("/seals", methods=["GET"])
@allow(*OF_SEALS)
@at_replica
@blueprint.arguments(ListQuerySchema(), location="query")
@blueprint.response(200, page_schema(SealHeadSchema, "Seals"))
def get_seals(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """List the seals of the books, the latest first."""
    return page(
        query,
        lambda session, limit: latest_seals(session, limit=limit, before=query["after"]),
        lambda seal: cursor(seal.number),
    )


@blueprint.route("/seals/<number:number>", methods=["GET"])
@allow(*OF_SEALS)
@refused_with("seal-unknown")
@blueprint.response(200, SealSchema(), description="The seal, byte by byte as its file has it.")
def get_seal(number: int) -> flask.Response:
    """Read a seal whole: a flat JSON object, signed, whose bytes the next seal names by their SHA-256."""
    return flask.Response(look(lambda session: seal_content(session, number)), mimetype="application/json")
