"""Whatever stands in a column of JSON or of an array, the proof goes on to its end, and names what it cannot read."""

import json
import os
import random
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from jackpot_service.database.transactions import Session
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.proof.proof import verify
from tests.support import everything, history

pytestmark = pytest.mark.long

COLUMNS: Final[Mapping[str, str]] = {
    "acts.after": "jsonb",
    "acts.request": "jsonb",
    "acts.before": "jsonb",
    "acts.effects": "jsonb",
    "change_decisions.confirmed": "jsonb",
    "change_decisions.signed_effect": "jsonb",
    "change_policies.requested_by": "text[]",
    "change_policies.decided_by": "text[]",
    "change_requests.payload": "jsonb",
    "change_requests.to_confirm": "jsonb",
    "closed_periods.reports": "jsonb",
    "cycles.cut": "bigint[]",
    "entries.accounts": "text[]",
    "entries.amounts": "numeric[]",
    "entries.currencies": "text[]",
    "entries.facts": "jsonb",
    "entries.figures": "figure[]",
    "entries.movements": "text[]",
    "exceptions.detail": "jsonb",
    "jobs.request": "jsonb",
    "jobs.parameters": "jsonb",
    "jobs.position": "jsonb",
    "keys.table_ids": "text[]",
    "passkey_challenges.effect": "jsonb",
    "rate_sheets.source": "jsonb",
    "reconciled_days.ends": "bigint[]",
    "reconciled_days.starts": "bigint[]",
    "reconciled_days.sums": "jsonb",
    "rules_versions.document": "jsonb",
    "table_limits.document": "jsonb",
    "statement_settlements.positions": "bigint[]",
    "verifications.books": "jsonb",
}
"""Every column of JSON or of an array, with its type."""

NOT_PROVED: Final = {
    "jobs.request",
    "jobs.parameters",
    "jobs.position",
    "passkey_challenges.effect",
    "verifications.books",
}
"""The columns whose change the proof does not see; it goes on to its end."""

DEEP: Final = "[" * 3000 + "]" * 3000

JSON: Final = tuple(
    f"'{document}'"
    for document in (
        "null",
        "1",
        "true",
        '"x"',
        "1.5",
        "1e400",
        "1" + "0" * 5000,
        "[null]",
        "[[]]",
        "[1]",
        '["x"]',
        "[{}]",
        '{"x": 1}',
        '[{"x": 1}]',
        '[{"book": [], "seq": {}, "kind": 1, "recorded": []}]',
        DEEP,
    )
)

ARRAYS: Final = {
    "text[]": ("'{}'", "{0} || NULL::text", "'{{NULL}}'", "{0} || 'x'::text", "ARRAY[{0}, {0}]", "{0} || ''::text"),
    "bigint[]": (
        "'{}'",
        "{0} || NULL::bigint",
        "'{{NULL}}'",
        "'{{1, NULL, 3}}'",
        "ARRAY[{0}, {0}]",
        "'{{-1}}'",
        "{0} || 9223372036854775807",
        "{0} || (-9223372036854775808)",
    ),
    "numeric[]": (
        "{0}[2:] || NULL::numeric",
        "array_fill(NULL::numeric, ARRAY[cardinality({0})])",
        "{0}[2:] || 'NaN'::numeric",
        "{0}[2:] || 'Infinity'::numeric",
        "{0}[2:] || '-Infinity'::numeric",
        "{0}[2:] || 1e131071",
        "{0}[2:] || 1e-16000",
        "array_fill(9e131071, ARRAY[cardinality({0})])",
    ),
    "figure[]": (
        "'{{}}'",
        "array_fill(NULL::figure, ARRAY[2])",
        "{0} || NULL::figure",
        "ARRAY[ROW('', '', '', '', '', 'infinity', 1, 1, 'NaN')::figure]",
        "{0} || ROW('x', 'EUR', '', '', '', '-infinity', -1, -1, 'Infinity')::figure",
        "{0} || ROW(NULL, NULL, NULL, NULL, NULL, NULL, 9223372036854775807, 9e131071, 9e131071)::figure",
    ),
}

INSIDE: Final = (
    "null",
    "1",
    "-1",
    "1.0",
    "true",
    '"x"',
    '""',
    '"NaN"',
    "[]",
    "{}",
    "[null]",
    '{"x": 1}',
    "1e400",
    DEEP,
)
"""What is put in the place of a value inside of a document."""


def write(url: str) -> None:
    with history.engine_of(url) as engine:
        everything.write(engine)


def test_the_books_are_right_before(superuser: Session) -> None:
    assert verify(superuser).mismatches == ()


def test_every_column_of_json_or_of_an_array_is_listed(superuser: Session) -> None:
    columns = superuser.execute(
        text(
            """
            SELECT relname || '.' || attname, format_type(atttypid, atttypmod)
            FROM pg_attribute
            JOIN pg_class ON pg_class.oid = attrelid
            WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
              AND attnum > 0 AND NOT attisdropped
              AND (atttypid IN ('json'::regtype, 'jsonb'::regtype) OR atttypid IN (SELECT typarray FROM pg_type))
            """
        )
    )
    assert dict(map(tuple, columns)) == COLUMNS


@pytest.mark.parametrize("column", COLUMNS)
def test_a_malformed_value_is_a_named_mismatch(superuser: Session, column: str) -> None:
    table, _, name = column.partition(".")
    longest = f"SELECT ctid::text FROM {table} ORDER BY length({name}::text) DESC NULLS LAST LIMIT 1"  # noqa: S608
    row = superuser.scalar(text(longest))
    for value in (form.format(name) for form in ARRAYS[COLUMNS[column]]) if COLUMNS[column] in ARRAYS else JSON:
        mismatches_ = _found_after(superuser, column, row, value)
        assert mismatches_ is None or column in NOT_PROVED or _is_named(mismatches_), f"{value[:80]}: {mismatches_}"


@pytest.mark.parametrize("column", sorted(name for name, kind in COLUMNS.items() if kind == "jsonb"))
def test_a_malformed_value_inside_of_a_document_is_a_named_mismatch(superuser: Session, column: str) -> None:
    """Some of the ways to put something else in the place of something, drawn anew by another seed."""
    chance = random.Random(f"{column} {os.environ.get('JACKPOT_TEST_SEED', '1')}")
    table, _, name = column.partition(".")
    rows = superuser.execute(text(f"SELECT ctid::text, {name}::text FROM {table} WHERE {name} IS NOT NULL"))  # noqa: S608
    changes = [(row, change) for row, content in rows for change in _changes(json.loads(content))]
    for row, change in chance.sample(changes, min(len(changes), int(os.environ.get("JACKPOT_TEST_CASES", "10")))):
        mismatches_ = _found_after(superuser, column, row, "'{}'".format(change.replace("'", "''")))
        assert mismatches_ is None or column in NOT_PROVED or _is_named(mismatches_), f"{change[:2000]}: {mismatches_}"


def test_a_word_that_its_check_would_refuse_ends_no_proof(superuser: Session, subtests: pytest.Subtests) -> None:
    """Columns whose words the schema lists: states, steps and kinds."""
    checks = superuser.execute(
        text(
            """
            SELECT relname, attname, conname
            FROM pg_constraint
            JOIN pg_class ON pg_class.oid = conrelid
            JOIN pg_attribute ON attrelid = conrelid AND ARRAY[attnum] = conkey
            WHERE contype = 'c' AND relnamespace = 'public'::regnamespace AND NOT relispartition
              AND atttypid = 'text'::regtype AND pg_get_constraintdef(pg_constraint.oid) LIKE '%= ANY%ARRAY[%'
            ORDER BY 1, 2, 3
            """
        )
    ).all()
    assert ("award_steps", "step") in {(check.relname, check.attname) for check in checks}
    refused: set[str] = set()
    for table, name, check in checks:
        with subtests.test(f"{table}.{name}"), superuser.begin_nested() as change:
            superuser.execute(text(f"ALTER TABLE {table} DROP CONSTRAINT {check}"))
            row = superuser.scalar(text(f"SELECT ctid::text FROM {table} WHERE {name} IS NOT NULL LIMIT 1"))  # noqa: S608
            mismatches_ = _found_after(superuser, f"{table}.{name}", row, "'x'")
            if mismatches_ is None:
                refused.add(f"{table}.{name}")
            else:  # Open awards are derived by the database itself, and not proved.
                assert mismatches_ or table == "open_awards"
            change.rollback()
    assert refused == {"jobs.state", "principals.role"}  # By another check as well.


def test_arrays_of_an_entry_that_are_not_of_one_length_end_no_proof(
    superuser: Session, subtests: pytest.Subtests
) -> None:
    checks = text("SELECT conname FROM pg_constraint WHERE conrelid = 'entries'::regclass AND contype = 'c'")
    with superuser.begin_nested() as change:
        for check in superuser.scalars(checks).all():
            superuser.execute(text(f"ALTER TABLE entries DROP CONSTRAINT {check}"))
        row = superuser.scalar(text("SELECT ctid::text FROM entries WHERE cardinality(accounts) > 3 LIMIT 1"))
        for name in ("accounts", "amounts", "currencies", "movements"):
            with subtests.test(name):
                assert _found_after(superuser, f"entries.{name}", row, f"{name}[2:]")
        change.rollback()


def _found_after(session: Session, column: str, row: Any, value: str) -> tuple[Mismatch, ...] | None:
    """What the proof finds after a change, which is taken back; None if the database refuses it, or it is none."""
    table, _, name = column.partition(".")
    changing = f"UPDATE {table} SET {name} = {value} WHERE ctid = '{row}'"  # noqa: S608
    changing += f" AND coalesce({name}::text, 'null') <> coalesce(({value})::text, 'null')"
    with session.begin_nested() as change:
        try:
            with session.begin_nested():
                changed = session.exec_driver_sql(changing.replace("%", "%%")).rowcount
        except DBAPIError:
            return None
        try:
            return verify(session).mismatches if changed else None
        finally:
            change.rollback()


def _is_named(mismatches: tuple[Mismatch, ...]) -> bool:
    """Whether something is named, and not only that something cannot be derived."""
    return bool({mismatch.code for mismatch in mismatches} - {Code.ENTRY_UNDERIVABLE})


def _changes(document: Any) -> Iterator[str]:
    """Other documents: something of it replaced, removed, repeated or added."""
    for path in _paths(document):
        here = _at(document, path)
        variants = [*INSIDE, json.dumps({**here, "x": 1}) if isinstance(here, dict) else "[1, 2]"]
        if isinstance(here, list):
            variants += [json.dumps([*here, *here]), json.dumps(here[1:])]
        elif isinstance(here, dict) and here:
            variants.append(json.dumps(dict(list(here.items())[1:])))
        yield from (_with(document, path, other) for other in variants)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _paths(inner, (*path, key))


def _at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


def _with(document: Any, path: tuple[Any, ...], other: str) -> str:
    if not path:
        return other
    changed = json.loads(json.dumps(document))
    _at(changed, path[:-1])[path[-1]] = "HERE IT WAS"
    return json.dumps(changed).replace('"HERE IT WAS"', other)
