"""The proof finds whatever is changed in any table: each case changes rows as only a superuser can, and is undone."""

from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest
import sqlalchemy
from sqlalchemy import text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.exc import DBAPIError

from jackpot_service.database import snapshots
from jackpot_service.database.models import Base
from jackpot_service.database.transactions import Session
from jackpot_service.ledger import replay
from jackpot_service.ledger.mismatches import Code
from jackpot_service.ledger.verification import Progress
from jackpot_service.proof import awards, documents, positions, sequence_checks
from jackpot_service.proof.proof import verify
from tests.proof.corruption import Corruption, codes_after, mismatches_after_changing
from tests.proof.corruptions import CORRUPTIONS
from tests.support import history

pytestmark = pytest.mark.long

NOT_PROVED: Final = {
    "browser_sessions": "who is signed in at which browser, for a while; an act names the key, which is proved",
    "job_chunks": "files that were made from the books, for a while",
    "jobs": "how far files are made",
    "passkey_challenges": "what is to be signed, for a while; what was signed is in the decision, which is proved",
    "passkey_uses": "when passkeys were used last; the counters in decisions are proved",
    "keys.last_used_at": "noted for people, once a minute at most; nothing depends on it",
    "exception_counts.refusals": "how often calls were refused is counted, not booked",
    "open_awards": "what is left to do, as steps and payments say it, which are proved; see test_open_awards",
    "stripes.summed_to": "up to where entries are in days; what it hides is shown in test_days",
    "rounds.replays": "how often calls were repeated is counted, not booked",
    "verifications": "where proofs stood; one from zero believes none of it, one that goes on compares heads",
}
"""The tables and columns whose change the proof does not see, and why."""

PROVED_ELSEWHERE: Final = {
    "casino_claims": "test_claims",
    "change_decisions.authenticator_data": "test_passkeys",
    "change_decisions.client_data": "test_passkeys",
    "change_decisions.passkey_id": "test_passkeys",
    "change_decisions.signature": "test_passkeys",
    "change_decisions.signed_effect": "test_passkeys",
    "change_policies": "test_people",
    "closed_periods": "test_periods",
    "compensations": "test_awards",
    "corrections": "test_corrections",
    "days": "test_days",
    "emergency_switches": "test_people",
    "exception_acknowledgements": "test_exceptions",
    "exception_chain": "test_exceptions",
    "exception_counts": "test_exceptions",
    "exceptions": "test_exceptions",
    "passkey_revocations": "test_passkeys",
    "passkeys": "test_passkeys",
    "past_days": "test_reconciled_days",
    "payments": "test_payments",
    "reconciled_days": "test_reconciled_days",
    "seals": "test_seals",
    "slip_prints": "test_slips",
    "statement_settlements": "test_awards",
    "table_limits": "test_status_changes",
    "withholding_rules": "test_withholding",
}
"""The tables of which the history has no row, and the module that shows that a change of any column is found."""

NOT_SHOWN: Final = {
    Code.BOOKED_BEFORE_RECEIVED: "a CHECK refuses such a row even to a superuser; see the tests of the laws",
    Code.VERIFIED_HEAD: "found only where a verification goes on from another; see test_verification_from_last",
}


def write(url: str) -> None:
    with history.engine_of(url) as engine:
        history.write(engine)


def test_the_books_of_an_untouched_history_are_right(url: str) -> None:
    with history.engine_of(url) as engine, snapshots.snapshot(engine) as session:
        verification = verify(session)
    assert verification.mismatches == ()
    assert verification.is_clean
    assert (verification.books, verification.rounds, verification.bets) == (4, 25, 51)


def test_the_history_has_every_kind_of_movement_and_of_award(superuser: Session) -> None:
    movements = set(superuser.scalars(text("SELECT DISTINCT movement FROM postings")))
    assert movements == {"contribution", "reversal", "award", "overflow", "refill", "seed", "fill"}
    assert set(superuser.scalars(text("SELECT DISTINCT step FROM award_steps"))) == {"payable", "held"}
    assert superuser.scalar(text("SELECT sum(amount) FROM postings WHERE account = 'house:adjustments'")) < 0
    stripes = superuser.execute(text("SELECT jackpot_id, count(DISTINCT stripe_no) FROM entries GROUP BY 1 ORDER BY 1"))
    assert dict(stripes.all()) == {"-": 1, "capped": 3, "cyber": 2, "live": 3}


@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes


def test_every_table_is_corrupted_or_has_a_reason_not_to_be() -> None:
    shown = {corruption.table for corruption in CORRUPTIONS} | PROVED_ELSEWHERE.keys()
    assert shown | NOT_PROVED.keys() >= Base.metadata.tables.keys()


def test_every_code_is_shown() -> None:
    shown = {code for corruption in CORRUPTIONS for code in corruption.codes}
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        cases = getattr(import_module(f"tests.proof.{path.stem}"), "CORRUPTIONS", ())
        shown |= {code for corruption in cases for code in corruption.codes}
    assert shown == set(Code) - NOT_SHOWN.keys()


WHERE: Final = {
    "entries": "kind = 'bets'",
    "principals": "name = 'srv'",
    "rates": "currency = 'GBP'",
    "stripes": "jackpot_id = 'live'",
    "voids": "NOT is_tombstone",
}
"""Which row of a table is changed, where not every one would do."""

CHANGES: Final = {
    "acts.effects": """effects || '{"x": 1}'""",
    "acts.seq": "seq + 1000",
    "award_steps.act_seq": "1",
    "award_steps.step": "'reversed'",
    "awards.funded_by": "CASE funded_by WHEN 'meter' THEN 'prize_fund' ELSE 'meter' END",
    "casinos.day_starts": "day_starts + interval '1 hour'",
    "casinos.zone": "'Asia/Tokyo'",
    "change_decisions.is_emergency": "NOT is_emergency, checker = maker",
    "change_decisions.outcome": "'rejected'",
    "change_requests.approvals_due": "approvals_due + 1",
    "entries.accounts": "accounts[2:] || accounts[1]",
    "entries.currencies": "array_append(currencies[2:], 'XXX')",
    "entries.amounts": "amounts[2:] || amounts[1]",
    "entries.movements": "array_append(movements[2:], 'gift')",
    "entries.figures": "figures[2:]",
    "entries.received_at": "received_at - interval '1 day'",
    "keys.role": "'auditor'",
    "keys.casino_id": "'c2'",
    "rate_sheets.source": "'{}'",
    "keys.secret_hash": "sha256(secret_hash)",
    "keys.issuer": "'x', subject = 'y', secret_hash = NULL",
    "keys.subject": "'y', issuer = 'x', secret_hash = NULL",
    "principals.role": "CASE role WHEN 'operator' THEN 'auditor' ELSE 'finance' END",
    "principals.casino_id": "'c2'",
    "rates.exponent": "exponent - 1",
    "rounds.state": "CASE state WHEN 'open' THEN 'settled' ELSE 'open' END",
    "stripes.booked_at": "booked_at - interval '1 day'",
}
"""How a column is changed whose constraints take no arbitrary value."""


BY_TYPE: Final = (
    (JSONB, """coalesce({}, '{{}}') || '{{"x": 1}}'"""),
    (sqlalchemy.DateTime, "coalesce({}, now()) + interval '1 day'"),
    (sqlalchemy.Boolean, "NOT {}"),
    (sqlalchemy.LargeBinary, "sha256({})"),
    (sqlalchemy.Text, "coalesce({}, '') || 'x'"),
    (sqlalchemy.Numeric, "{} + 10"),
    (sqlalchemy.Integer, "{} + 10"),
)
"""How any other column is changed; an array, by one more item."""


def _changed(column: sqlalchemy.Column[Any]) -> str:
    if str(column) in CHANGES:
        return CHANGES[str(column)]
    if isinstance(column.type, ARRAY):
        item = "1" if isinstance(column.type.item_type, sqlalchemy.Integer) else "'x'"
        return f"array_append({column.name}, {item})"
    return next(change for kind, change in BY_TYPE if isinstance(column.type, kind)).format(column.name)


COLUMNS: Final = [
    column
    for table in Base.metadata.sorted_tables
    for column in table.columns
    if not {table.name, str(column)} & (NOT_PROVED.keys() | PROVED_ELSEWHERE.keys())
]


@pytest.mark.parametrize("column", COLUMNS, ids=str)
def test_a_change_of_any_column_is_found(superuser: Session, column: sqlalchemy.Column[Any]) -> None:
    where = WHERE.get(column.table.name, "true")
    assert mismatches_after_changing(superuser, column, _changed(column), where=where)


def test_what_is_not_proved_is_not_seen(superuser: Session) -> None:
    superuser.execute(text("UPDATE keys SET last_used_at = now()"))
    superuser.execute(text("UPDATE rounds SET replays = replays + 1"))
    assert verify(superuser).is_clean


def test_pages_and_marks_of_any_size_prove_the_same(superuser: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, size in (
        (replay, "PAGE", 2),
        (documents, "PAGE", 3),
        (documents, "MOST_BETS", 4),
        (awards, "PAGE", 1),
        (positions, "ENTRIES_AT_ONCE", 2),
        (positions, "KEPT_BLOCKS_OF_POOLS", 1),
        (sequence_checks, "PAGE", 1),
        (positions, "ROWS_AT_ONCE", 2),
        (positions, "KEPT_BLOCKS_OF_ROWS", 1),
    ):
        monkeypatch.setattr(module, name, size)
    seen: list[Progress] = []
    assert verify(superuser, on_progress=seen.append).is_clean
    assert [progress.entries for progress in seen] == sorted(progress.entries for progress in seen)
    assert seen[-1].book == "live"


def test_a_database_without_anything_in_it_is_right(database_url: str) -> None:
    with history.engine_of(database_url) as engine, snapshots.snapshot(engine) as session:
        verification = verify(session)
    assert (verification.books, verification.entries, verification.mismatches) == (1, 0, ())


def test_a_snapshot_sees_one_instant_whatever_is_booked_meanwhile(database_url: str) -> None:
    with history.engine_of(database_url) as engine, snapshots.snapshot(engine) as session:
        assert verify(session).entries == 0
        history.open_casino(history.Casino(engine))
        assert verify(session).entries == 0
        with snapshots.snapshot(engine) as later:
            assert verify(later).entries == 18


def test_a_snapshot_cannot_write_and_leaves_its_connection_as_it_was(database_url: str) -> None:
    with history.engine_of(database_url) as engine:
        with snapshots.snapshot(engine) as session, pytest.raises(DBAPIError, match="read-only"):
            session.execute(text("INSERT INTO casinos VALUES ('c', 'C', 1)"))
        with engine.connect() as session:
            assert session.scalar(text("SHOW transaction_read_only")) == "off"
            assert session.scalar(text("SHOW transaction_isolation")) == "read committed"
            assert session.scalar(text("SHOW statement_timeout")) != "0"


def test_a_reader_without_a_limit_may_pause_and_one_with_a_limit_may_not(database_url: str) -> None:
    shown = text("SELECT current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout')")
    with history.engine_of(database_url) as engine:
        with snapshots.snapshot(engine) as session:
            assert tuple(session.execute(shown).one()) == ("6h", "0")
        with snapshots.snapshot(engine, longest_s=20) as session:
            assert tuple(session.execute(shown).one()) == ("20s", "1min")
