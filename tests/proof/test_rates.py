"""The proof holds each sheet against what two people agreed on: each case changes rows as only a superuser can."""

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import pytest
import sqlalchemy
from sqlalchemy import text

from jackpot_service.database import snapshots
from jackpot_service.database.models import Base
from jackpot_service.database.transactions import Session
from jackpot_service.domain.changes import Outcome
from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.ledger.mismatches import Code
from jackpot_service.proof.proof import verify
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.requests import DecideChange, RequestChange, decide_change, request_change
from tests.proof.corruption import (
    Corruption,
    change,
    codes_after,
    forge,
    mismatches_after,
    mismatches_after_changing,
    remove,
)
from tests.support import history, people

SOURCE: Final = {"name": "ecb", "date": "2026-01-05", "sha256": "ab" * 32}


def decide(
    casino: history.Casino,
    request_id: str,
    outcome: Outcome = Outcome.APPROVED,
    confirmed: Mapping[str, str] = MappingProxyType({}),
) -> None:
    act = Act(Principal("Bob", Role.RATES), casino.now, reason="as I see it")
    people.enrolled(casino.engine, act)
    figures = {name: Decimal(figure) for name, figure in confirmed.items()}
    casino.act(partial(decide_change, command=DecideChange(act, request_id, outcome, figures)))


def ask(casino: history.Casino, request_id: str, **payload: Any) -> None:
    act = Act(Principal("Ann", Role.RATES), casino.now, request_id=request_id, reason="the market moves")
    people.enrolled(casino.engine, act)
    command = RequestChange(act, "rate-sheet", {"base": "EUR", **payload})
    casino.act(partial(request_change, command=command))


def write(url: str) -> None:
    """Sheets: 1 published by one, 2 of single rates, 3 of the future, 4 for now, 5 whole, 6 without a currency."""
    with history.engine_of(url) as engine:
        _play(history.Casino(engine))


def _play(casino: history.Casino) -> None:
    casino.publish(GBP="1.17", SEK="0.0873", JPY="0.0061")
    ask(casino, "single", rates={"GBP": "1.18"}, source=SOURCE)
    decide(casino, "single")
    ask(casino, "future", rates={"SEK": "0.09"}, effective_at=instant(casino.now + timedelta(days=1)))
    decide(casino, "future")
    ask(casino, "unlikely", rates={"GBP": "0.85"})
    decide(casino, "unlikely", confirmed={"GBP:inverted": "0.85"})
    ask(casino, "whole", rates={"GBP": "0.86", "SEK": "0.0873"}, replace_all=True)
    decide(casino, "whole")
    ask(casino, "leaves", removed_currencies=["SEK"])
    decide(casino, "leaves")
    ask(casino, "rejected", rates={"GBP": "0.87"})
    decide(casino, "rejected", Outcome.REJECTED)
    ask(casino, "first", base="USD", rates={"EUR": "1.05"})
    decide(casino, "first", confirmed={"EUR": "1.05"})
    ask(casino, "pending", rates={"GBP": "0.87"})


def test_the_books_of_an_untouched_history_are_right(url: str) -> None:
    with history.engine_of(url) as engine, snapshots.snapshot(engine) as session:
        assert verify(session).mismatches == ()
        sheets = session.execute(text("SELECT base, max(number) FROM rate_sheets GROUP BY base ORDER BY base"))
        assert [tuple(row) for row in sheets] == [("EUR", 6), ("USD", 1)]


UNDECIDED: Final = "entry-digest document-without-entry change-done"

AGREED: Final = "entry-digest sheet-change"
"""How the proof names a sheet that is not what two people agreed on."""


def payload(how: str, request_id: str = "single") -> Corruption:
    """Change what was asked for."""
    return change("change_requests", f"payload = payload {how}", f"request_id = '{request_id}'", AGREED)


POUND, CROWN = "number = 2 AND currency = 'GBP'", "number = 2 AND currency = 'SEK'"
SINGLE, MADE = "request_id = 'single'", "decides = 'single' AND subject = 'rate sheet EUR 2'"

CORRUPTIONS: Final = (
    change("rates", "base_per_unit = 1.19", POUND, AGREED),
    change("rates", "base_per_unit = 0.0874", CROWN, AGREED),
    change("rates", "exponent = 1", POUND, "entry-digest"),
    remove("rates", "number = 5 AND currency = 'SEK'", AGREED),
    forge(
        "rates",
        "base, 6, currency, 0.09, exponent",
        "rates WHERE number = 5 AND currency = 'SEK'",
        AGREED,
    ),
    change("rate_sheets", "source = NULL", "number = 2", AGREED),
    change("rate_sheets", """source = source || '{"name": "ecbb"}'""", "number = 2", AGREED),
    change("rate_sheets", """source = '{"name": "ecb"}'""", "number = 1 AND base = 'EUR'", "entry-digest"),
    change("rate_sheets", "effective_at = effective_at + interval '1 us'", "number = 3", AGREED),
    change("rate_sheets", "effective_at = effective_at + interval '1 us'", "number = 4", AGREED),
    payload("""|| '{"rates": {"GBP": "1.19"}}'"""),
    payload("""|| '{"rates": {"GBP": "x"}}'"""),
    payload("""|| '{"rates": 7}'"""),
    payload("- 'base'"),
    payload("- 'source'"),
    payload("- 'replace_all'", "whole"),
    payload("- 'removed_currencies'", "leaves"),
    payload("- 'effective_at'", "future"),
    change("change_requests", "base_version = '9'", SINGLE, AGREED),
    change("change_requests", "base_version = 'x'", SINGLE, AGREED),
    change("change_requests", "base_version = '2'", "request_id = 'leaves'", AGREED),
    change("change_requests", "kind = 'rules'", SINGLE, "entry-digest change-principal change-done act-principal"),
    change("change_requests", "to_confirm = '{}'", "request_id = 'unlikely'", "entry-digest"),
    remove("change_requests", "request_id = 'single'", "entry-digest change-record change-done"),
    change("change_decisions", "outcome = 'rejected'", SINGLE, UNDECIDED),
    change("change_decisions", "outcome = 'approved'", "request_id = 'rejected'", UNDECIDED),
    remove("change_decisions", "request_id = 'single'", "entry-digest change-done"),
    change("acts", "decides = NULL", MADE, "entry-digest change-done act-principal"),
    change("acts", "decides = NULL, before = NULL", MADE, "entry-digest change-done act-principal"),
    change("acts", "jackpot_id = 'j1'", MADE, "entry-digest change-done"),
    change("acts", "decides = 'pending'", MADE, f"{AGREED} change-done"),
    change("acts", "decides = 'nothing'", MADE, "entry-digest change-done"),
    change("acts", "after = after - 'source'", MADE, "entry-digest"),
    change("acts", "before = NULL", MADE, "entry-digest"),
)


@pytest.mark.long
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


def test_a_sheet_that_was_forged_with_its_act_is_not_what_was_asked_for(superuser: Session) -> None:
    """Who changes the sheet and the act that shows it has still to change what Ann asked for, and every digest."""
    act = "UPDATE acts SET after = replace(after::text, '1.18', '1.19')::jsonb WHERE subject = 'rate sheet EUR 2'"
    superuser.execute(text(act))
    rate = f"UPDATE rates SET base_per_unit = 1.19 WHERE {POUND}"  # noqa: S608  constants
    codes_ = {(mismatch.code, mismatch.place) for mismatch in mismatches_after(superuser, rate)}

    assert (Code.SHEET_CHANGE, "rate sheet EUR 2") in codes_
    assert {code for code, _ in codes_} == {Code.ENTRY_DIGEST, Code.SHEET_CHANGE}


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

COLUMNS: Final = [column for name in ("rate_sheets", "rates") for column in Base.metadata.tables[name].columns]


@pytest.mark.long
@pytest.mark.parametrize("column", COLUMNS, ids=str)
def test_a_change_of_any_column_is_found(superuser: Session, column: sqlalchemy.Column[Any]) -> None:
    pound = " AND currency = 'GBP'" if column.table.name == "rates" else ""
    where = f"base = 'EUR' AND number = 2{pound}"
    assert mismatches_after_changing(superuser, column, CHANGES[str(column)], where=where)
