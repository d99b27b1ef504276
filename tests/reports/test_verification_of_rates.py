"""The proof holds each sheet against what two people agreed on: each case changes rows as only a superuser can."""

import os
from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import psycopg
import pytest
import sqlalchemy
from psycopg import sql
from sqlalchemy import NullPool, text

from jackpot_service import db, embedded
from jackpot_service.db import Base, Session
from jackpot_service.domain.changes import ChangeKind, Outcome
from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.ledger.mismatches import Code
from jackpot_service.reports.verification.proof import verify
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.decide_change import DecideChange, decide_change
from jackpot_service.usecases.changes.request_change import RequestChange, request_change
from tests.reports import history

SOURCE: Final = {"name": "ecb", "date": "2026-01-05", "sha256": "ab" * 32}


def decide(
    casino: history.Casino,
    request_id: str,
    outcome: Outcome = Outcome.APPROVED,
    confirmed: Mapping[str, str] = MappingProxyType({}),
) -> None:
    act = Act(Principal("Bob", Role.RATES), casino.now, reason="as I see it")
    casino.act(partial(decide_change, command=DecideChange(act, request_id, outcome, dict(confirmed))))


def ask(casino: history.Casino, request_id: str, **payload: Any) -> None:
    act = Act(Principal("Ann", Role.RATES), casino.now, request_id=request_id, reason="the market moves")
    command = RequestChange(act, ChangeKind.RATE_SHEET, {"base": "EUR", **payload})
    casino.act(partial(request_change, command=command))


def write(engine: sqlalchemy.Engine) -> None:
    """Sheets: 1 published by one, 2 of single rates, 3 of the future, 4 for now, 5 whole, 6 without a currency."""
    casino = history.Casino(engine)
    casino.publish(GBP="1.17", SEK="0.0873", JPY="0.0061")
    ask(casino, "single", rates={"GBP": "1.18"}, source=SOURCE)
    decide(casino, "single")
    ask(casino, "future", rates={"SEK": "0.09"}, effective_at=instant(casino.now + timedelta(days=1)))
    decide(casino, "future")
    ask(casino, "unlikely", rates={"GBP": "0.85"})
    decide(casino, "unlikely", confirmed={"GBP:inverted": "0.85"})
    ask(casino, "whole", rates={"GBP": "0.86", "SEK": "0.0873"}, whole=True)
    decide(casino, "whole")
    ask(casino, "leaves", leaves=["SEK"])
    decide(casino, "leaves")
    ask(casino, "rejected", rates={"GBP": "0.87"})
    decide(casino, "rejected", Outcome.REJECTED)
    ask(casino, "first", base="USD", rates={"EUR": "1.05"})
    decide(casino, "first", confirmed={"EUR": "1.05"})
    ask(casino, "pending", rates={"GBP": "0.87"})


@pytest.fixture(scope="module")
def url(cluster: embedded.Cluster, administrator: psycopg.Connection[Any]) -> Iterator[str]:
    """Name a database with the history in it; tests undo what they change."""
    name = f"history_of_rates_{os.getpid()}"
    administrator.execute(sql.SQL("CREATE DATABASE {} TEMPLATE migrated").format(sql.Identifier(name)))
    try:
        with history.engine_of(cluster.url(name)) as engine:
            write(engine)
        yield cluster.url(name)
    finally:
        administrator.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def superuser(url: str) -> Iterator[Session]:
    """Open a session whose changes no trigger refuses, and which is rolled back."""
    engine = sqlalchemy.create_engine(url, isolation_level="REPEATABLE READ", poolclass=NullPool)
    with engine.connect() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        yield session


def codes(session: Session) -> set[Code]:
    return {mismatch.code for mismatch in verify(session).mismatches}


def test_the_books_of_an_untouched_history_are_right(url: str) -> None:
    with history.engine_of(url) as engine, db.snapshot(engine) as session:
        assert verify(session).mismatches == ()
        sheets = session.execute(text("SELECT base, max(number) FROM rate_sheets GROUP BY base ORDER BY base"))
        assert [tuple(row) for row in sheets] == [("EUR", 6), ("USD", 1)]


DIGEST, CHANGE, UNDOCUMENTED = Code.ENTRY_DIGEST, Code.SHEET_CHANGE, Code.DOCUMENT_WITHOUT_ENTRY
RECORD, DONE = Code.CHANGE_RECORD, Code.CHANGE_DONE


def _change(table: str, change: str, where: str) -> str:
    return f"UPDATE {table} SET {change} WHERE {where}"  # noqa: S608  constants of this module


def _payload(change: str, request_id: str = "single") -> str:
    return _change("change_requests", f"payload = payload {change}", f"request_id = '{request_id}'")


POUND, CROWN = "number = 2 AND currency = 'GBP'", "number = 2 AND currency = 'SEK'"
SINGLE, MADE = "request_id = 'single'", "decides = 'single' AND subject = 'rate sheet EUR 2'"

CORRUPTIONS: Final = (
    (_change("rates", "base_per_unit = 1.19", POUND), {DIGEST, CHANGE}),
    (_change("rates", "base_per_unit = 0.0874", CROWN), {DIGEST, CHANGE}),
    (_change("rates", "exponent = 1", POUND), {DIGEST}),
    ("DELETE FROM rates WHERE number = 5 AND currency = 'SEK'", {DIGEST, CHANGE}),
    (
        "INSERT INTO rates SELECT base, 6, currency, 0.09, exponent FROM rates WHERE number = 5 AND currency = 'SEK'",
        {DIGEST, CHANGE},
    ),
    (_change("rate_sheets", "source = NULL", "number = 2"), {DIGEST, CHANGE}),
    (_change("rate_sheets", """source = source || '{"name": "ecbb"}'""", "number = 2"), {DIGEST, CHANGE}),
    (_change("rate_sheets", """source = '{"name": "ecb"}'""", "number = 1 AND base = 'EUR'"), {DIGEST}),
    (_change("rate_sheets", "effective_at = effective_at + interval '1 us'", "number = 3"), {DIGEST, CHANGE}),
    (_change("rate_sheets", "effective_at = effective_at + interval '1 us'", "number = 4"), {DIGEST, CHANGE}),
    (_payload("""|| '{"rates": {"GBP": "1.19"}}'"""), {DIGEST, CHANGE}),
    (_payload("""|| '{"rates": {"GBP": "x"}}'"""), {DIGEST, CHANGE}),
    (_payload("""|| '{"rates": 7}'"""), {DIGEST, CHANGE}),
    (_payload("- 'base'"), {DIGEST, CHANGE}),
    (_payload("- 'source'"), {DIGEST, CHANGE}),
    (_payload("- 'whole'", "whole"), {DIGEST, CHANGE}),
    (_payload("- 'leaves'", "leaves"), {DIGEST, CHANGE}),
    (_payload("- 'effective_at'", "future"), {DIGEST, CHANGE}),
    (_change("change_requests", "base_version = '9'", SINGLE), {DIGEST, CHANGE}),
    (_change("change_requests", "base_version = 'x'", SINGLE), {DIGEST, CHANGE}),
    (_change("change_requests", "base_version = '2'", "request_id = 'leaves'"), {DIGEST, CHANGE}),
    (_change("change_requests", "kind = 'rules'", SINGLE), {DIGEST, DONE}),
    (_change("change_requests", "to_confirm = '{}'", "request_id = 'unlikely'"), {DIGEST}),
    ("DELETE FROM change_requests WHERE request_id = 'single'", {DIGEST, RECORD, DONE}),
    (_change("change_decisions", "outcome = 'rejected'", SINGLE), {DIGEST, UNDOCUMENTED, DONE}),
    (_change("change_decisions", "outcome = 'approved'", "request_id = 'rejected'"), {DIGEST, UNDOCUMENTED, DONE}),
    ("DELETE FROM change_decisions WHERE request_id = 'single'", {DIGEST, DONE}),
    (_change("acts", "decides = NULL", MADE), {DIGEST, DONE}),
    (_change("acts", "decides = NULL, before = NULL", MADE), {DIGEST, DONE}),
    (_change("acts", "decides = 'pending'", MADE), {DIGEST, DONE, CHANGE}),
    (_change("acts", "decides = 'nothing'", MADE), {DIGEST, DONE}),
    (_change("acts", "jackpot_id = 'j1'", MADE), {DIGEST, DONE}),
    (_change("acts", "after = after - 'source'", MADE), {DIGEST}),
    (_change("acts", "before = NULL", MADE), {DIGEST}),
)


@pytest.mark.parametrize(("statement", "expected"), CORRUPTIONS, ids=[statement for statement, _ in CORRUPTIONS])
def test_every_corruption_is_found_under_its_name(superuser: Session, statement: str, expected: set[Code]) -> None:
    changed: Any = superuser.execute(text(statement))
    assert changed.rowcount == 1
    assert codes(superuser) == expected


def test_a_sheet_that_was_forged_with_its_act_is_not_what_was_asked_for(superuser: Session) -> None:
    """Who changes the sheet and the act that shows it has still to change what Ann asked for, and every digest."""
    for statement in (
        _change("rates", "base_per_unit = 1.19", POUND),
        _change("acts", "after = replace(after::text, '1.18', '1.19')::jsonb", "subject = 'rate sheet EUR 2'"),
    ):
        superuser.execute(text(statement))

    found = {(mismatch.code, mismatch.place) for mismatch in verify(superuser).mismatches}

    assert (CHANGE, "rate sheet EUR 2") in found
    assert {code for code, _ in found} == {DIGEST, CHANGE}


CHANGES: Final = {
    "rate_sheets.base": "'CHF'",
    "rate_sheets.number": "number + 10",
    "rate_sheets.effective_at": "effective_at - interval '1 day'",
    "rate_sheets.source": "'{}'",
    "rate_sheets.entry_seq": "entry_seq + 1",
    "rates.base": "'CHF'",
    "rates.number": "number + 10",
    "rates.currency": "'CHF'",
    "rates.base_per_unit": "base_per_unit + 1",
    "rates.exponent": "exponent + 1",
}


@pytest.mark.parametrize("column", CHANGES)
def test_a_change_of_any_column_is_found(superuser: Session, column: str) -> None:
    table, name = column.split(".")
    row = f"SELECT ctid FROM {table} WHERE base = 'EUR' AND number = 2 ORDER BY ctid DESC LIMIT 1"  # noqa: S608  constants
    statement = f"UPDATE {table} SET {name} = {CHANGES[column]} WHERE ctid = ({row})"  # noqa: S608  as above
    changed: Any = superuser.execute(text(statement))
    assert changed.rowcount == 1
    assert codes(superuser)


def test_every_column_of_sheets_and_rates_is_changed() -> None:
    tables = [Base.metadata.tables[name] for name in ("rate_sheets", "rates")]
    assert CHANGES.keys() == {str(column) for table in tables for column in table.columns}
