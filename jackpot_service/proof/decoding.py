"""
The contents of columns of JSON and of arrays, read as strictly as the ledger writes them.

A value that the ledger never writes becomes a mismatch that names its table, its row and its column. In its place
stands an empty one, so that everything else is still proved.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

import orjson
import psycopg
from psycopg.types.json import set_json_loads
from sqlalchemy import Row
from sqlalchemy.exc import DataError

from jackpot_service.database.models import Base
from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.errors import LedgerError
from jackpot_service.ledger.mismatches import Code, Found, Mismatch

LONGEST_SHOWN: Final = 200

EFFECT_KEYS: Final = {"book", "seq", "kind", "recorded"}


UNDERIVABLE: Final = (LedgerError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError)
"""The errors that the domain raises of rows and documents that are not what the ledger wrote."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A JSON document that no digest covers: with a fraction, a number beyond 64 bits, or nested too deeply."""

    begins: str


@contextmanager
def strictly(session: Session) -> Iterator[None]:
    """Read JSON strictly in the block: see `Unreadable`. By itself the driver fails on such documents, or rounds."""
    connection = session.connection.driver_connection
    assert isinstance(connection, psycopg.Connection)  # noqa: S101  narrows a type; the engine is made for psycopg only
    set_json_loads(_json, connection)
    try:
        yield
    finally:
        set_json_loads(json.loads, connection)


def _json(content: str | bytes) -> object:
    """Read a document, if a digest could cover it."""
    text = content.encode() if isinstance(content, str) else content
    try:
        value = _STRICT.decode(text.decode()) if _may_hold_a_float(text) else orjson.loads(text)
        orjson.dumps(value)  # As every digest does; it refuses large numbers, and what is nested too deeply.
    except (ValueError, TypeError, RecursionError):
        return Unreadable(str(content[:LONGEST_SHOWN]))
    return value


def _refuse(literal: str) -> None:
    raise ValueError(literal)


_STRICT: Final = json.JSONDecoder(parse_float=_refuse)

_FRACTION: Final = re.compile(rb"\.\d+(?:[],}]|$)")
_DIGITS_ALIKE: Final = bytes.maketrans(b"123456789", b"000000000")
_TOO_LONG: Final = b"0" * 19


def _may_hold_a_float(text: bytes) -> bool:
    """
    Whether the faster reader might make a float of a number: of a fraction, or of one that 64 bits may not hold.

    PostgreSQL writes numbers of a document without exponent, and a comma or a bracket follows them at once. A text that
    looks like one is read by the slower reader for nothing.
    """
    return _FRACTION.search(text) is not None or _TOO_LONG in text.translate(_DIGITS_ALIKE)


def is_written_alike(one: object, other: object) -> bool:
    """Return whether two facts are written alike: to Python 1 equals true."""
    return one == other and orjson.dumps(one, option=orjson.OPT_SORT_KEYS) == orjson.dumps(
        other, option=orjson.OPT_SORT_KEYS
    )


def unless_refused(session: Session, mismatches: Found, of: Callable[[str], Mismatch]) -> Found:
    """Yield what a question finds; if the database cannot figure with what a column holds, a mismatch that says so."""
    try:
        with session.begin_nested():
            yield from mismatches
    except DataError as error:
        yield of(f"cannot be figured: {error.orig}")


class Decoder:
    """Reads rows, and finds what is unreadable in them, each value once."""

    def __init__(self) -> None:
        self._unreadable: dict[Mismatch, None] = {}
        self._taken = 0

    def rows(self, table: str, rows: Iterable[Row[Any]]) -> Iterable[Any]:
        """Read rows of a table, with all its columns; each value that is unreadable is replaced."""
        shapes = SHAPES.get(table)
        return rows if shapes is None else self._decoded(table, shapes, rows)

    def _decoded(self, table: str, shapes: Mapping[str, "Shape"], rows: Iterable[Row[Any]]) -> Iterator[Any]:
        for row in rows:
            wrong = [name for name, shape in shapes.items() if not shape.fits(getattr(row, name))]
            yield self._replaced(table, row, wrong) if wrong else row

    def take(self) -> list[Mismatch]:
        """Return what was found since this was called last."""
        fresh = list(self._unreadable)[self._taken :]
        self._taken += len(fresh)
        return fresh

    def _replaced(self, table: str, row: Row[Any], wrong: Iterable[str]) -> SimpleNamespace:
        values = dict(row._mapping)  # noqa: SLF001  its public name; the underscore keeps columns apart
        key = {column.name: values[column.name] for column in Base.metadata.tables[table].primary_key}
        book = key.pop("jackpot_id", REFERENCE_BOOK)
        place = f"{table}, {', '.join(f'{name} {value}' for name, value in key.items())}"
        for name in wrong:
            detail = f"{name} holds {str(values[name])[:LONGEST_SHOWN]}"
            self._unreadable.setdefault(Mismatch(Code.RECORD_UNREADABLE, book, place, detail))
            values[name] = SHAPES[table][name].empty()
        return SimpleNamespace(**values)


@dataclass(frozen=True, slots=True)
class Shape:
    """Whether a value is as the ledger writes it, and how an empty one is made."""

    fits: Callable[[Any], bool]
    empty: Callable[[], Any]


def is_vector(value: object) -> bool:
    """Return whether a value is a list of whole numbers, as positions and cuts are."""
    return isinstance(value, list) and {*map(type, value)} <= {int}


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_object_or_null(value: object) -> bool:
    return value is None or isinstance(value, dict)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and {*map(type, value)} <= {str}


def _are_objects(value: object) -> bool:
    return isinstance(value, list) and {*map(type, value)} <= {dict}


def _are_figures(value: object) -> bool:
    return isinstance(value, dict) and {*map(type, value.values())} <= {str}


def _are_effects(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(effect, dict)
        and effect.keys() == EFFECT_KEYS
        and [type(effect[name]) for name in ("book", "seq", "kind", "recorded")] == [str, int, str, dict]
        for effect in value
    )


def _are_reports(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(report, dict)
        and report.keys() == _REPORT
        and (type(report["report_version"]), type(report["sha256"])) == (int, str)
        for report in value.values()
    )


def _none() -> None:
    return None


_REPORT: Final = {"report_version", "sha256"}

_OBJECT: Final = Shape(_is_object, dict)
_OBJECT_OR_NULL: Final = Shape(_is_object_or_null, _none)
_FIGURES: Final = Shape(_are_figures, dict)
_TEXTS: Final = Shape(_are_texts, list)
_VECTOR: Final = Shape(is_vector, list)

SHAPES: Final = {
    "acts": {
        "request": _OBJECT_OR_NULL,
        "before": _OBJECT_OR_NULL,
        "after": _OBJECT,
        "effects": Shape(_are_effects, list),
    },
    "change_decisions": {"confirmed": _FIGURES, "signed_effect": _OBJECT_OR_NULL},
    "change_policies": {"requested_by": _TEXTS, "decided_by": _TEXTS},
    "change_requests": {"payload": _OBJECT, "to_confirm": _FIGURES},
    "closed_periods": {"reports": Shape(_are_reports, dict)},
    "exceptions": {"detail": _OBJECT},
    "keys": {"table_ids": _TEXTS},
    "rate_sheets": {"source": _OBJECT_OR_NULL},
    "statement_settlements": {"positions": _VECTOR},
}
"""The columns of JSON and of arrays, by table. The laws of the books look at those of entries and cycles."""
