"""Errors of forms: sentences of the API that speak to programs, as somebody reads them who fills in a form."""

from collections.abc import Mapping
from typing import Final

from marshmallow import ValidationError

from jackpot_service.usecases.fields import IS_MISSING, NO_DECIMAL
from jackpot_service.usecases.payloads import field_errors_in

NEEDED: Final = "is needed"

IN_WORDS: Final[Mapping[str, str]] = {
    IS_MISSING: NEEDED,
    NO_DECIMAL: "must be a plain decimal number, such as -12.50",
    "must be an object with at least one member": "must not be empty",
}


def in_words(detail: str) -> str:
    """Return what the API says of a field as a person reads it."""
    return IN_WORDS.get(detail, detail)


def errors_in(error: ValidationError) -> dict[str, str]:
    """Return what is wrong with a body, by pointers."""
    return {each.pointer: in_words(each.detail) for each in field_errors_in(error.messages, "")}
