"""The form of a new rate sheet: what somebody typed, as a request's payload, and errors at their fields."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from jackpot_service.domain.errors import FieldError
from jackpot_service.domain.money import plain
from jackpot_service.domain.rates import Rates
from jackpot_service.domain.shapes import CURRENCY

NEW_ROWS: Final = 3
"""Rows for currencies that the sheet before does not have."""

TABLE: Final = "table"
"""Under which an error stands that is about all rates."""


@dataclass(frozen=True, slots=True)
class Row:
    """
    A currency of the sheet before: its rate there, what stands in its field, and whether it is to leave.

    Both are empty for one that the sheet had when somebody opened the form, and has no more.
    """

    currency: str
    rate: str
    typed: str
    leaves: bool

    @property
    def is_touched(self) -> bool:
        """Whether somebody typed another rate."""
        return self.typed != self.rate


@dataclass(frozen=True, slots=True)
class SheetForm:
    """A new sheet as it was typed over the sheet before, whose number it carries."""

    base: str
    base_version: str
    rows: tuple[Row, ...]
    new: tuple[tuple[str, str], ...] = (("", ""),) * NEW_ROWS
    effective_at: str = ""
    reason: str = ""
    request_id: str = ""
    twice: frozenset[int] = field(default=frozenset())
    """Places of new rows whose currency a row before has already."""

    @property
    def payload(self) -> dict[str, Any]:
        """The payload of the request: only rates that somebody typed, so that nobody states what they left."""
        rates = {row.currency: row.typed for row in self.rows if row.is_touched and not row.leaves}
        rates |= {code: rate for place, (code, rate) in self._stated if place not in self.twice}
        removed = [row.currency for row in self.rows if row.leaves]
        return {
            "base": self.base,
            **({"rates": rates} if rates else {}),
            **({"removed_currencies": removed} if removed else {}),
            **({"effective_at": self.effective_at} if self.effective_at else {}),
        }

    def errors_by_field(self, errors: Mapping[str, str], *, currency: str = "") -> Mapping[str, str]:
        """
        Place errors, by their pointers into the request, at the fields of the form; what has none is left out.

        `currency` is the one that they are about, if they name one and point at no place of it.
        """
        return dict(self._placed(errors, currency)) | {
            f"new-{place}": "is in the table already: type its rate there" for place in self.twice
        }

    @property
    def _stated(self) -> list[tuple[int, tuple[str, str]]]:
        """The new rows in which something was typed, by place."""
        return [(place, row) for place, row in enumerate(self.new) if any(row)]

    def _placed(self, errors: Mapping[str, str], currency: str) -> Iterator[tuple[str, str]]:
        known = {row.currency for row in self.rows}
        new = {code: f"new-{place}" for place, (code, _) in reversed(self._stated)}
        odd = [place for code, place in new.items() if not CURRENCY.fullmatch(code)]
        removed = [row.currency for row in self.rows if row.leaves]
        for pointer, detail in errors.items():
            match pointer.removeprefix("/payload").split("/")[1:]:
                case ["rates", code] if code in known or code in new:
                    yield (f"rate-{code}" if code in known else new[code]), detail
                case ["rates"] if odd:
                    yield odd[-1], detail
                case ["removed_currencies", place] if place.isdigit() and int(place) < len(removed):
                    yield f"rate-{removed[int(place)]}", detail
                case ["rates" | "removed_currencies" | "base", *_]:
                    yield (f"rate-{currency}" if currency in known else TABLE), detail
                case ["effective_at" | "reason" as name]:
                    yield name, detail
                case _:
                    pass


def read_form(form: Mapping[str, str], base: str, in_force: Rates, *, number: int, request_id: str) -> SheetForm:
    """
    Read the form over the sheet in force; a field that was not sent is as it is there.

    `was-…` is the rate that somebody saw. Where they left it, the rate of the sheet in force stands, also if another
    sheet has come in between.
    """
    rows = []
    seen = {name.removeprefix("was-") for name in form if name.startswith("was-")}
    for code in sorted({*in_force, *filter(CURRENCY.fullmatch, seen)}):
        now = plain(in_force[code]) if code in in_force else ""
        typed = form.get(f"rate-{code}", now).strip()
        is_left = typed == form.get(f"was-{code}", now)
        rows.append(Row(code, now, now if is_left else typed, f"leaves-{code}" in form))
    new = tuple(
        (form.get(f"new-code-{place}", "").strip(), form.get(f"new-rate-{place}", "").strip())
        for place in range(NEW_ROWS)
    )
    codes = [code for code, _ in new]
    return SheetForm(
        base,
        form.get("base_version", str(number)),
        tuple(rows),
        new,
        form.get("effective_at", "").strip(),
        form.get("reason", "").strip(),
        form.get("request_id", request_id),
        frozenset(place for place, code in enumerate(codes) if code and code in {*in_force, *codes[:place]}),
    )


def details_of(field_errors: tuple[FieldError, ...]) -> Mapping[str, str]:
    """Return the sentences of field errors, by their pointers."""
    return {error.pointer: error.detail for error in field_errors}
