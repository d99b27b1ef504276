"""What a request holds for somebody else to read: the payload of a change, the parameters of a job."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar, Final

from marshmallow import ValidationError, post_load

from jackpot_service.domain.errors import Flaw, Refused
from jackpot_service.usecases.fields import LONGEST_TEXT, StrictSchema

MOST_FLAWS: Final = 100
"""How many flaws a refusal holds; an object of nonsense has hundreds of thousands."""


class BadPayload(Refused):
    """The payload does not say what such a change needs."""

    code = "payload-invalid"
    title = "The payload cannot be"


class Payload(StrictSchema):
    """The schema of a payload; `makes` turns its fields, by name, into the value that it stands for."""

    makes: ClassVar[Callable[..., Any]]

    @post_load
    def _made(self, data: Mapping[str, Any], **_: object) -> object:
        return self.makes(**data)


def load(schema: type[Payload], values: Any, *, at: str = "/payload") -> Any:  # noqa: ANN401  JSON; what it stands for
    """Read a payload; `at` points to it in the request. Raises: BadPayload, and what the schema's own checks raise."""
    try:
        return schema().load(values)
    except ValidationError as error:
        flaws = tuple(sorted(islice(flaws_in(error.messages, at), MOST_FLAWS), key=lambda flaw: flaw.pointer))
        raise _refusal(flaws) from None


def flawed(field: str, wrong: str) -> BadPayload:
    """A refusal that points to a field of the payload, and says what is wrong with it."""
    return _refusal((Flaw(f"/payload/{field}", BadPayload.code, wrong),))


def _refusal(flaws: tuple[Flaw, ...]) -> BadPayload:
    said = "; ".join(f"{flaw.pointer.removeprefix('/')} {flaw.detail.rstrip('.')}" for flaw in flaws[:3])
    return BadPayload(f"{said[:LONGEST_TEXT]}.", flaws=flaws)


def flaws_in(messages: Any, pointer: str, *, code: str = BadPayload.code) -> Iterator[Flaw]:  # noqa: ANN401
    """Flatten marshmallow's messages: a mapping goes one level down, a list holds the sentences."""
    if isinstance(messages, Mapping):
        for name, inner in messages.items():
            escaped = str(name).replace("~", "~0").replace("/", "~1")
            yield from flaws_in(inner, pointer if name == "_schema" else f"{pointer}/{escaped}", code=code)
    elif isinstance(messages, list):
        for message in messages:
            yield from flaws_in(message, pointer, code=code)
    else:
        yield Flaw(pointer, code, str(messages))
