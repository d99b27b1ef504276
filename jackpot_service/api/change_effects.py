"""The effect of a change as it is shown: what it did, or what it would do now."""

from decimal import Decimal
from typing import Any

from marshmallow import fields

from jackpot_service.api.entries import PostingSchema
from jackpot_service.api.schemas import AnswerSchema, Moment, WrittenSchema, described, listed, word
from jackpot_service.domain import currencies
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import from_minor, has_decimals, plain
from jackpot_service.domain.shapes import LARGEST_MINOR
from jackpot_service.ledger.replay import Line
from jackpot_service.usecases.changes.effects import ChangeEffect


class BookedEntrySchema(AnswerSchema):
    """An entry that a change booked, or would book."""

    book = fields.String(required=True)
    seq = described(fields.Integer, "Its number on stripe 0; null of one that is not booked.", allow_none=True)
    kind = word(EntryKind)
    recorded = fields.Dict(required=True)


class EffectPostingSchema(PostingSchema):
    """An amount on an account, in a jackpot's book."""

    book = described(fields.String, "The jackpot.")
    amount_minor = described(
        fields.Integer,
        "The same in minor units, where it is a whole number of them; null of a more exact one.",
        allow_none=True,
    )


class EffectProblemSchema(AnswerSchema):
    """The reason why a change cannot be made now."""

    code = described(fields.String, "As its approval would be refused by; `busy` if there was no time to figure it.")
    title = fields.String(required=True)
    detail = fields.String(required=True)


class EffectSchema(WrittenSchema):
    """The effect of a change that was made, or would be."""

    @staticmethod
    def write(effect: ChangeEffect) -> dict[str, Any]:
        """Write an effect: the postings of all its entries in one list."""
        return {
            "figured_at": effect.figured_at,
            "problem": effect.problem,
            "currency": effect.currency,
            "before": effect.before,
            "after": effect.after,
            "postings": [_posting(entry.book, line) for entry in effect.entries for line in entry.lines],
            "entries": effect.entries,
        }

    figured_at = described(
        Moment, "When it was figured, of the books as they were then. Null of what was done.", allow_none=True
    )
    problem = fields.Nested(
        EffectProblemSchema(),
        required=True,
        allow_none=True,
        metadata={"description": "Why it cannot be done now, if so; then all but `figured_at` is null or empty."},
    )
    currency = described(
        fields.String,
        "That of amounts in `before`, `after` and `entries` that name none; null where there are no such.",
        allow_none=True,
    )
    before = described(fields.Dict, "The state before; null if there was none.", allow_none=True)
    after = described(
        fields.Dict, "The state after it. A time that only its booking says is null until then.", allow_none=True
    )
    postings = listed(EffectPostingSchema, "All that its entries move, in their order; none of a change of settings.")
    entries = listed(BookedEntrySchema, "Booked in jackpots' books.")


def _posting(book: str, line: Line) -> dict[str, Any]:
    account, currency, amount, movement = line
    return {
        "book": book,
        "account": account,
        "currency": currency,
        "amount": amount,
        "amount_minor": _minor(amount, currency),
        "movement": movement,
    }


def _minor(amount: Decimal, currency: str) -> int | None:
    amount, exponent = Decimal(plain(amount)), currencies.known(currency).exponent
    if not has_decimals(amount, exponent) or abs(amount) > from_minor(LARGEST_MINOR, exponent):
        return None
    return int(amount.scaleb(exponent))
