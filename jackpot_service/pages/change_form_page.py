"""The page of a form: its fields under their titles, each error at its field, and what the change would do."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import flask
from werkzeug.wrappers import Response

from jackpot_service.api.request_context import principal
from jackpot_service.domain.facts import Facts
from jackpot_service.pages.change_forms.fields import Field, Typed
from jackpot_service.pages.change_forms.form import ChangeForm, Sheet
from jackpot_service.pages.form_errors import in_words
from jackpot_service.pages.roles import WATCHERS
from jackpot_service.pages.shown_changes import differences, recorded
from jackpot_service.usecases.changes.effects import ChangeEffect

REASON: Final = "/reason"

SETTINGS: Final = "/payload/settings"

NOTHING_CHANGED: Final = "You changed nothing: every setting is as before."


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
        sections=_sections(sheet.fields, typed, at_fields),
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
            rest[pointer] = in_words(detail)
        else:
            at_fields.setdefault(name, in_words(detail))
    return at_fields, rest


def _sentence(pointer: str, detail: str) -> str:
    if pointer == SETTINGS:
        return NOTHING_CHANGED
    name = pointer.removeprefix("/payload").strip("/").replace("/", " ")
    return f"{name} {detail}".strip().rstrip(".") + "."


@dataclass(frozen=True, slots=True)
class Section:
    """Fields that stand under one title; it is folded if they are spare ones that are empty."""

    title: str
    fields: Sequence[Field]
    is_spare: bool
    is_open: bool


def _sections(fields: Sequence[Field], typed: Typed, errors: Collection[str]) -> Sequence[Section]:
    """Put fields together that stand under one title."""
    sections: dict[str, list[Field]] = {}
    for field in fields:
        sections.setdefault(field.section, []).append(field)
    return [
        Section(
            title,
            own,
            all(field.is_spare for field in own),
            any(field.name in errors or any(typed.getlist(field.name)) for field in own),
        )
        for title, own in sections.items()
    ]
