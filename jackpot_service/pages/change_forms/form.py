"""The form of a kind of change: what it is about, and the sheet with the fields that follow from that."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from werkzeug.datastructures import MultiDict

from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Principal
from jackpot_service.pages.change_forms.fields import Field, Reading, Typed, defaults, read_fields

BASE_VERSION: Final = "base_version"
"""The field of a form that carries the version that its sheet had."""

WAS: Final = "was-"
"""Before the name of a field: what it showed of the books when somebody opened the form."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Somebody who fills in a form, and when."""

    principal: Principal
    at: datetime


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that a form could be about: how people read it, and the query that names it."""

    label: str
    query: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Sheet:
    """
    A form whose subject is known.

    `payload` are the members that the subject gives, `facts` what the books hold of it, by name. `fields` are to be
    filled in. `parts` are values of further templates, by their names. Where the fields show what is in force,
    `version` names that state, and the form carries it: what somebody left is no change of what came meanwhile.
    """

    subject: str
    payload: Mapping[str, Any]
    fields: Sequence[Field]
    facts: Sequence[tuple[str, str]] = ()
    parts: Mapping[str, Any] = field(default_factory=dict)
    read: Callable[[Sequence[Field], Typed], Reading] = read_fields
    version: str | None = None

    def begun(self, query: Typed) -> Typed:
        """Return the text of the form that nobody has filled in yet but its address."""
        typed = defaults(self.fields, query)
        if self.version is not None:
            typed[BASE_VERSION] = self.version
            for each in self.fields:
                typed.setlist(f"{WAS}{each.name}", list(each.default) or [""])
        return typed

    def begun_again(self, before: Typed) -> Typed:
        """Return the text of a form that was opened over older books: fields that were left show those of now."""
        typed = self.begun(MultiDict())
        for each in self.fields:
            values = before.getlist(each.name)
            if _stated(values) != _stated(before.getlist(f"{WAS}{each.name}")):
                typed.setlist(each.name, values)
        for name in ("reason", "request_id"):
            typed[name] = before.get(name, "")
        return typed


def _stated(values: Sequence[str]) -> Sequence[str]:
    return sorted(filter(None, values))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeForm:
    """
    The form of a kind of change.

    `subject` names the fields of the address that say what it is about; the form of none is shown at once.
    `subject_fields` are shown where the address does not say it, and `candidates` lead to what it could be about.
    `sheet` makes the form, and raises what the subject is refused by.
    """

    kind: str
    group: str
    title: str
    about: str
    subject: Sequence[str] = ()
    subject_fields: Callable[[Session, Asker], Sequence[Field]] = lambda _session, _asker: ()
    candidates: Callable[[Session, Asker], Sequence[Candidate]] = lambda _session, _asker: ()
    sheet: Callable[[Session, Asker, Mapping[str, str]], Sheet]
