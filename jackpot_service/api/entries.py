"""Entries of the books, by their places."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields

from jackpot_service.api.recorded_facts import (
    BetsFactsSchema,
    CancellationFactsSchema,
    ResultFactsSchema,
    StatedCountSchema,
    VoidsFactsSchema,
)
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, look, principal
from jackpot_service.api.schemas import AnswerSchema, Moment, WrittenSchema, decimal, described, listed, word
from jackpot_service.api.written import AnyWritten
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.figures import FigureKind
from jackpot_service.domain.journal import EntryKind, Movement
from jackpot_service.domain.principals import Role
from jackpot_service.reports.entries import ShownEntry, entry_at

READERS = (Role.TABLE, Role.FINANCE, Role.OPERATOR, Role.AUDITOR)

blueprint = Blueprint(
    "entries",
    __name__,
    url_prefix="/v1/entries",
    description="Entries of the books. A book is a jackpot's, by its id, or the reference book `-` with the acts.",
)


class PostingSchema(AnswerSchema):
    """An amount on an account. A balance is the amount that the ledger owes to the account's owner."""

    account = fields.String(required=True)
    currency = fields.String(required=True)
    amount = decimal("In units of the currency, exact; below zero it lowers the balance.")
    movement = word(Movement, "The reason, such as `contribution`.")


class FigureSchema(AnswerSchema):
    """A number or an amount that reports sum; null where its kind has none."""

    kind = word(FigureKind)
    currency = fields.String(required=True, allow_none=True)
    tier = fields.String(required=True, allow_none=True)
    account = fields.String(required=True, allow_none=True)
    detail = fields.String(required=True, allow_none=True)
    made_on = described(fields.Date, "The UTC day on which the award was made, of its steps.", allow_none=True)
    number = described(fields.Integer, "How many.", allow_none=True)
    minor = described(fields.Integer, "In whole minor units of the currency.", allow_none=True)
    value = decimal("In the base currency, exact.", allow_none=True)


class EntryRoundSchema(AnswerSchema):
    """The round of an entry."""

    table_id = fields.String(required=True)
    round_id = fields.String(required=True)
    step = described(fields.Integer, "The round's own count of its entries, from 1.")


class BookEntrySchema(WrittenSchema):
    """An entry of a book."""

    @staticmethod
    def write(entry: ShownEntry) -> dict[str, Any]:
        """Write an entry: empty ids as null, hashes in hexadecimal."""
        lines = [dict(zip(("account", "currency", "amount", "movement"), line, strict=True)) for line in entry.postings]
        name = entry.round_name
        return {
            "book": entry.book,
            "stripe": entry.stripe_no,
            "seq": entry.seq,
            "kind": entry.kind,
            "principal": entry.principal,
            "received_at": entry.received_at,
            "booked_at": entry.booked_at,
            "round": None if name is None else {**name._asdict(), "step": entry.step},
            "casino_id": entry.casino_id or None,
            "table_id": entry.table_id or None,
            "rules_version": entry.rules_version or None,
            "postings": lines,
            "figures": [_figure(figure) for figure in entry.figures],
            "facts": entry.facts,
            "digest": entry.digest.hex(),
            "head": entry.head.hex(),
            "head_before": entry.head_before.hex(),
        }

    book = described(fields.String, "The jackpot, or `-`.")
    stripe = fields.Integer(required=True)
    seq = described(fields.Integer, "Its number on the stripe: without gaps, in the order of commits.")
    kind = word(EntryKind)
    principal = described(
        fields.String,
        "The principal whose call booked it; for a casino's key null where it is an act of the house.",
        allow_none=True,
    )
    received_at = Moment(required=True)
    booked_at = Moment(required=True)
    round = fields.Nested(EntryRoundSchema(), required=True, allow_none=True)
    casino_id = fields.String(required=True, allow_none=True)
    table_id = fields.String(required=True, allow_none=True)
    rules_version = fields.Integer(required=True, allow_none=True)
    postings = listed(PostingSchema, "They sum to zero in each currency.")
    figures = listed(FigureSchema)
    facts = AnyWritten(
        ResultFactsSchema,
        CancellationFactsSchema,
        StatedCountSchema,
        VoidsFactsSchema,
        BetsFactsSchema,
        metadata={
            "description": "By `kind`: what a result, a cancellation, a closing or voids stated and came to, and what "
            "bets recorded besides themselves. Null where there is nothing, and of all other kinds."
        },
    )
    digest = described(fields.String, "The SHA-256 over everything that it wrote.")
    head = described(
        fields.String,
        "The SHA-256 over `head_before`, `digest` and `booked_at` in microseconds since 1970, as 64 bits, big-endian.",
    )
    head_before = described(fields.String, "The head of the entry before it on the stripe.")


def _figure(figure: Mapping[str, Any]) -> Mapping[str, Any]:
    minor = figure["minor"]
    return {**figure, "minor": None if minor is None else int(minor)}


@blueprint.route("/<id:book>/<number:stripe>/<number:seq>", methods=["GET"])
@allow(*READERS)
@refused_with("entry-unknown")
@blueprint.response(200, BookEntrySchema())
def get_entry(book: str, stripe: int, seq: int) -> ShownEntry:
    """
    Show the entry at a place: its postings and figures, and its link in the stripe's chain.

    A key with a casino or with tables sees entries of its own rounds. The reference book is for auditors.
    """
    return look(lambda session: entry_at(session, principal(), book=book, stripe_no=stripe, seq=seq))
