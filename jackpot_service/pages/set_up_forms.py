"""Forms of set-up: each reads as the API reads a body, and a refusal stands at the field that it is about."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

import flask
from marshmallow import ValidationError
from werkzeug.wrappers import Response

from jackpot_service.api.problems import problem_of
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.principals import Role
from jackpot_service.pages.form_errors import errors_in
from jackpot_service.pages.forms import new_request_id
from jackpot_service.pages.problems import DEFINITE

ACTORS: Final = (Role.OPERATOR,)
READERS: Final = (Role.OPERATOR, Role.AUDITOR)
"""Auditors see who and what there is, as with the API, and change nothing of it."""

USED: Final = "This form was sent before, with other values. Check the list, and send the form again if needed."

_FIELDS_OF: Final[Mapping[str, Sequence[str]]] = {
    "already-exists": ("subject", "table_id", "jackpot_id", "casino_id"),
    "casino-unknown": ("casino_id",),
    "game-invalid": ("game",),
    "jackpot-unknown": ("jackpot_id",),
    "key-forbidden": ("role",),
    "key-limit-reached": ("principal",),
    "principal-conflict": ("principal",),
    "rules-invalid": ("settings",),
    "setting-unknown": ("settings",),
    "stripes-out-of-range": ("stripes",),
    "table-unknown": ("table_ids",),
    "unknown-currency": ("currency",),
    "zone-unknown": ("zone",),
}
"""By the code of a refusal, the fields that it can be about: the first of them that the form has."""


@dataclass(frozen=True, slots=True)
class Field:
    """
    A field of a form, by its name in the API; what `read` turns what was typed into is what the API is sent.

    A field that was left empty is not sent. With `options` it is a choice, with `suggested` a text with suggestions.
    """

    name: str
    label: str
    hint: str = ""
    kind: str = "text"
    options: Mapping[str, str] = field(default_factory=dict)
    suggested: Sequence[str] = ()
    is_required: bool = True
    most: int = 64
    initial: str = ""
    read: Callable[[str], Any] = str


REASON: Final = Field("reason", "Reason", "It is kept in the audit trail.", most=500)


@dataclass(frozen=True, slots=True)
class Form:
    """A form of set-up, as its template shows it."""

    title: str
    sentence: str
    button: str
    fields: Sequence[Field]
    back: str
    tab: str
    is_grave: bool = False


def read_form(fields: Iterable[Field]) -> dict[str, Any]:
    """Return what was typed into some fields, and the form's request id, as the API's body."""
    typed = flask.request.form
    body = {each.name: each.read(text) for each in fields if (text := typed.get(each.name, "").strip())}
    return {**body, "request_id": typed.get("request_id", "")}


def sent(form: Form, do: Callable[[], Response]) -> Response:
    """Do what a form says; where that is refused, show it again as it was typed, and what is wrong with it."""
    try:
        return do()
    except ValidationError as error:
        errors = {_field_at(pointer): detail for pointer, detail in errors_in(error).items()}
        return shown(form, errors, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    except DEFINITE as error:
        status = problem_of(error, instance=flask.request.path).status
        if error.code == "request-conflict":
            return shown(form, {}, alert=USED, request_id=new_request_id(), status=status)
        places = _errors_of(form, error)
        return shown(form, places, alert="" if places else error.detail, status=status)


def shown(
    form: Form,
    errors: Mapping[str, str] | None = None,
    *,
    alert: str = "",
    request_id: str = "",
    status: int = HTTPStatus.OK,
) -> Response:
    """Show a form: new, or as it was typed with its errors by field."""
    typed: Mapping[str, str] = flask.request.form if status != HTTPStatus.OK else {}
    errors = errors or {}
    rest = [text for name, text in errors.items() if name not in {each.name for each in form.fields}]
    html = flask.render_template(
        "set_up_form.html",
        form=form,
        value_of=lambda each: typed.get(each.name, "") if typed else each.initial,
        errors=errors,
        first_wrong=next((each.name for each in form.fields if each.name in errors), None),
        alert=" ".join([*([alert] if alert else []), *rest]),
        request_id=request_id or typed.get("request_id") or new_request_id(),
    )
    return flask.Response(html, status)


def _errors_of(form: Form, error: LedgerError) -> Mapping[str, str]:
    stated = {_field_at(each.pointer): each.detail for each in error.field_errors}
    if stated:
        return stated
    names = {each.name for each in form.fields}
    at = next((name for name in _FIELDS_OF.get(error.code, ()) if name in names), None)
    return {} if at is None else {at: error.detail}


def _field_at(pointer: str) -> str:
    """Return the name of the field in which a JSON pointer leads; of none for the form itself."""
    return pointer.partition("/")[2].partition("/")[0]


def is_yes(typed: str) -> bool:
    """Read a box that was ticked."""
    return typed == "true"


def whole(typed: str) -> int | str:
    """Read a whole number; anything else is left as it is, for the API to refuse."""
    return int(typed) if typed.isascii() and typed.isdigit() and len(typed) <= len("999999999") else typed


def words(typed: str) -> list[str]:
    """Read ids with spaces or commas between."""
    return typed.replace(",", " ").split()
