"""The page of a form: its fields under their titles, each error at its field, and what the change would do."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

import flask
from werkzeug.wrappers import Response

from jackpot_service.api.request_context import principal
from jackpot_service.domain.facts import Facts
from jackpot_service.pages.change_forms.fields import Field, Typed
from jackpot_service.pages.change_forms.form import ChangeForm, Sheet
from jackpot_service.pages.roles import WATCHERS
from jackpot_service.pages.shown_changes import differences, recorded
from jackpot_service.usecases.changes.effects import ChangeEffect

REASON: Final = "/reason"

NEEDED: Final = "is needed"

SETTINGS: Final = "/payload/settings"

NOTHING_CHANGED: Final = "Nothing is changed: every setting is as it was."

IN_A_FORM: Final[Mapping[str, str]] = {
    "Missing data for required field.": NEEDED,
    'must be a plain decimal number in a string, such as "-12.50"': "must be a plain decimal number, such as -12.50",
    "must be a time by RFC 3339, such as 2026-11-20T09:30:00Z": "must be a day and a time",
    "must be an object with at least one member": "must not be empty",
}
"""Sentences of the API that speak of JSON, as somebody reads them who fills in a form."""


def form_page(
    form: ChangeForm,
    sheet: Sheet,
    typed: Typed,
    *,
    request_id: str = "",
    errors: Mapping[str, str] | None = None,
    alert: str = "",
    effect: Mapping[str, Any] | None = None,
    status: int = HTTPStatus.OK,
) -> Response:
    """
    Show a form with its text, and where it was tried, its effect.

    Errors are by JSON pointer: each stands at its field, and one that is about no field at the head.
    """
    at_fields, rest = _placed(sheet.fields, errors or {})
    reason_error = rest.pop(REASON, "")
    names = [field.name for field in sheet.fields if field.name in at_fields]
    sentences = [_sentence(*each) for each in rest.items()]
    if not (names or reason_error or sentences):
        sentences = [alert]
    html = flask.render_template(
        "change_form.html",
        form=form,
        sheet=sheet,
        sections=_sections(sheet.fields),
        typed=typed,
        errors=at_fields,
        reason_error=reason_error,
        alert=" ".join(sentences),
        focus=names[0] if names else "",
        request_id=request_id or typed.get("request_id", ""),
        sees_rounds=principal().role in WATCHERS,
        start=flask.url_for("pages.show_new_change", kind=form.kind) if form.subject else "",
        **(effect or {"effect": None}),
    )
    return flask.Response(html, status)


def effect_shown(effect: ChangeEffect, *, left_to_booking: Facts) -> Mapping[str, Any]:
    """The values of a template that show what a change would do."""
    return {
        "effect": effect,
        "is_waiting": True,
        "differences": differences(effect, left_to_booking=left_to_booking),
        "recorded": recorded(effect),
    }


def _placed(fields: Sequence[Field], errors: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Put errors to their fields, by name; those that are about none are returned by pointer."""
    at_fields: dict[str, str] = {}
    rest: dict[str, str] = {}
    for pointer, detail in errors.items():
        name = next((field.name for field in fields if field.is_at(pointer)), None)
        if name is None:
            rest[pointer] = IN_A_FORM.get(detail, detail)
        else:
            at_fields.setdefault(name, IN_A_FORM.get(detail, detail))
    return at_fields, rest


def _sentence(pointer: str, detail: str) -> str:
    if pointer == SETTINGS:
        return NOTHING_CHANGED
    name = pointer.removeprefix("/payload").strip("/").replace("/", " ")
    return f"{name} {detail}".strip().rstrip(".") + "."


def _sections(fields: Sequence[Field]) -> Sequence[tuple[str, Sequence[Field]]]:
    """Put fields together that stand under one title."""
    sections: dict[str, list[Field]] = {}
    for field in fields:
        sections.setdefault(field.section, []).append(field)
    return list(sections.items())
