"""Hands and cards as a table server writes them."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from marshmallow import ValidationError, fields, validate

from jackpot_service.domain.cards import BadCard, Card, parse_card
from jackpot_service.domain.outcomes import Hand, HandStatus
from jackpot_service.usecases.fields import Identifier, ReadField, StrictSchema

MOST_CARDS = 52


class Cards(ReadField[tuple[Card, ...]]):
    """A list of cards such as "As" or "Td"; messages are keyed by index."""

    described: ClassVar = {
        "type": "array",
        "maxItems": MOST_CARDS,
        "items": {"type": "string", "pattern": "^[2-9TJQKA][shdc]$"},
        "default": [],
    }

    def read(self, value: object) -> tuple[Card, ...]:
        """Raises: ValidationError."""
        if type(value) is not list or len(value) > MOST_CARDS:
            message = f"must be a list of at most {MOST_CARDS} cards"
            raise ValidationError(message)
        cards: list[Card] = []
        field_errors: dict[int, list[str]] = {}
        for index, text in enumerate(value):
            try:
                cards.append(_card(text))
            except ValidationError as error:
                field_errors[index] = [str(message) for message in error.messages]
        if field_errors:
            raise ValidationError(field_errors)
        return tuple(cards)


def _card(text: object) -> Card:
    if type(text) is not str:
        message = "must be a card's two letters"
        raise ValidationError(message)
    try:
        return parse_card(text)
    except BadCard as error:
        raise ValidationError(error.detail) from None


class HandSchema(StrictSchema):
    """A hand of a round. A dealt hand has its five cards; dead and forfeited ones need none."""

    hand = Identifier(required=True)
    status = fields.String(load_default="dealt", validate=validate.OneOf([status.value for status in HandStatus]))
    cards = Cards(load_default=(), metadata={"description": "Rank 23456789TJQKA, suit shdc."})


def hands_of(loaded: Iterable[Mapping[str, Any]]) -> tuple[Hand, ...]:
    """Turn loaded hands into the domain's."""
    return tuple(Hand(hand["hand"], HandStatus(hand["status"]), hand["cards"]) for hand in loaded)
