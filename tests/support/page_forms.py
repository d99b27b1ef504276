"""The forms of a page, as a browser without scripts has them: what they would send as they stand."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser

Pairs = list[tuple[str, str]]
"""The fields that a form sends; a field may be there more than once."""


@dataclass
class PageForm:
    """A form: where it is sent, and the fields that are filled in."""

    action: str
    method: str
    fields: Pairs = field(default_factory=list)
    choices: dict[str, list[str]] = field(default_factory=dict)
    """The values of each select and of each group of boxes."""

    def value(self, name: str) -> str:
        """The value of a field; empty if it would not be sent."""
        return next((value for each, value in self.fields if each == name), "")

    def values(self, name: str) -> list[str]:
        """All values of a field."""
        return [value for each, value in self.fields if each == name]

    def filled(self, values: Mapping[str, str | Sequence[str]]) -> Pairs:
        """The fields to send once somebody has filled in some: of boxes a list of those that are checked."""
        rest = [(name, value) for name, value in self.fields if name not in values]
        return [*rest, *((name, each) for name, value in values.items() for each in _listed(value))]


def _listed(value: str | Sequence[str]) -> Iterator[str]:
    yield from [value] if isinstance(value, str) else value


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[PageForm] = []
        self._form: PageForm | None = None
        self._select: tuple[str, list[tuple[str, bool]]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        stated = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._form = PageForm(stated.get("action", ""), stated.get("method", "get"))
            self.forms.append(self._form)
        elif self._form is not None and tag == "input" and "name" in stated:
            self._input(self._form, stated)
        elif self._form is not None and tag == "select":
            self._select = stated["name"], []
        elif self._select is not None and tag == "option":
            self._select[1].append((stated.get("value", ""), "selected" in stated))

    def _input(self, form: PageForm, stated: Mapping[str, str]) -> None:
        name, value = stated["name"], stated.get("value", "")
        is_box = stated.get("type") in {"checkbox", "radio"}
        if is_box:
            form.choices.setdefault(name, []).append(value)
        if not is_box or "checked" in stated:
            form.fields.append((name, value))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        elif tag == "select" and self._select is not None and self._form is not None:
            name, options = self._select
            chosen = [value for value, is_selected in options if is_selected] or [value for value, _ in options[:1]]
            self._form.choices[name] = [value for value, _ in options]
            self._form.fields.extend((name, value) for value in chosen)
            self._select = None


def forms_in(page: str) -> list[PageForm]:
    """The forms of a page, in their order."""
    reader = _Reader()
    reader.feed(page)
    return reader.forms


def form_to(page: str, path: str) -> PageForm:
    """The form of a page that is posted to an address."""
    posted = [form for form in forms_in(page) if form.method == "post" and form.action.partition("?")[0] == path]
    assert len(posted) == 1, page
    return posted[0]
