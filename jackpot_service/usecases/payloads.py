"""The parts of a request that others read: the payload of a change, the parameters of a job, hands and cards."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING
from functools import cache
from itertools import islice
from typing import Annotated, Any, ClassVar, Final, get_origin, get_type_hints

from marshmallow import ValidationError, fields, missing, post_load, validate
from marshmallow.exceptions import SCHEMA

from jackpot_service.domain.cards import BadCard, Card, parse_card
from jackpot_service.domain.errors import FieldError, Refused
from jackpot_service.domain.outcomes import Hand, HandStatus
from jackpot_service.usecases.fields import (
    IS_MISSING,
    LONGEST_TEXT,
    Identifier,
    OfMember,
    ReadField,
    StrictSchema,
    each,
)

MOST_ERRORS: Final = 100
"""How many field errors a refusal holds; an object of nonsense has hundreds of thousands."""

_IN_OUR_WORDS: Final[Mapping[str, str]] = {
    "Missing data for required field.": IS_MISSING,
    "Field may not be null.": "must not be null",
    "Not a valid string.": "must be a text",
    "Not a valid boolean.": "must be true or false",
    "Not a valid list.": "must be a list",
    "Not a valid integer.": "must be a whole number",
}
_ONE_OF: Final = "Must be one of: "
"""Sentences of marshmallow. Ours end a sentence that begins with the place, and so do these in our words."""


class BadPayload(Refused, code="payload-invalid", title="Invalid payload"):
    """The payload does not say what such a change needs."""


class Payload(StrictSchema):
    """The schema of a payload; `makes` turns its fields, by name, into the value that it stands for."""

    makes: ClassVar[Callable[..., Any]]

    @post_load
    def _made(self, data: Mapping[str, Any], **_: object) -> object:
        return self.makes(**data)


@cache
def schema_of(made: type, *, name: str) -> type[Payload]:
    """Make the schema of a dataclass's payload, of the fields that are annotated with what reads them."""
    hints = get_type_hints(made, include_extras=True)
    read_by: dict[str, fields.Field[Any]] = {}
    for declared in dataclasses.fields(made):
        if get_origin(hints[declared.name]) is Annotated:
            reader = read_by[declared.name] = hints[declared.name].__metadata__[0]
            has_default = declared.default is not MISSING or declared.default_factory is not MISSING
            reader.required = not has_default and reader.load_default is missing
    return type(name, (Payload,), {**read_by, "makes": made, "__doc__": made.__doc__})


def load(schema: type[Payload], values: Any, *, at: str = "/payload") -> Any:  # noqa: ANN401  JSON; what it stands for
    """Read a payload; `at` points to it in the request. Raises: BadPayload, and what the schema's own checks raise."""
    try:
        return _instance(schema).load(values)
    except ValidationError as error:
        field_errors = tuple(
            sorted(
                islice(field_errors_in(error.messages, at), MOST_ERRORS),
                key=lambda error: error.pointer,
            )
        )
        raise _refusal(field_errors) from None


@cache
def _instance(schema: type[Payload]) -> Payload:
    """Make a schema once: to make one takes longer than to read a payload, and the proof reads all of them."""
    return schema()


def bad_field(field: str, wrong: str) -> BadPayload:
    """A refusal that points to a field of the payload, and says what is wrong with it."""
    return _refusal((FieldError(f"/payload/{field}", BadPayload.code, wrong),))


def _refusal(field_errors: tuple[FieldError, ...]) -> BadPayload:
    errors = "; ".join(f"{error.place} {error.detail.rstrip('.')}" for error in field_errors[:3])
    return BadPayload(f"{errors[:LONGEST_TEXT]}.", field_errors=field_errors)


def field_errors_in(messages: Any, pointer: str, *, code: str = BadPayload.code) -> Iterator[FieldError]:  # noqa: ANN401
    """Flatten marshmallow's messages: a mapping goes one level down, a list holds the sentences."""
    if isinstance(messages, Mapping):
        for name, inner in messages.items():
            escaped = str(name).replace("~", "~0").replace("/", "~1")
            is_of_object = name == SCHEMA and not _is_of_member(inner)
            yield from field_errors_in(inner, pointer if is_of_object else f"{pointer}/{escaped}", code=code)
    elif isinstance(messages, list):
        for message in messages:
            yield from field_errors_in(message, pointer, code=code)
    else:
        yield FieldError(pointer, code, _in_our_words(str(messages)))


def _in_our_words(message: str) -> str:
    if message.startswith(_ONE_OF):
        return f"must be one of: {message.removeprefix(_ONE_OF).rstrip('.')}"
    return _IN_OUR_WORDS.get(message, message)


def _is_of_member(messages: Any) -> bool:  # noqa: ANN401  as `field_errors_in`
    return isinstance(messages, Mapping) or any(isinstance(message, OfMember) for message in messages)


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
        return tuple(each(_card, enumerate(value)).values())


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
