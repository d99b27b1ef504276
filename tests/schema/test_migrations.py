"""The schema's way up and down, and what becomes of the books on it."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
import sqlalchemy
from psycopg.rows import dict_row

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import read, snapshot, transact
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.changes import Outcome
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, PrincipalConflict, Role
from jackpot_service.ledger import instants, recent_bets
from jackpot_service.ledger.mismatches import Code
from jackpot_service.proof.proof import verify
from jackpot_service.records import awards
from jackpot_service.records.rounds import RoundName
from jackpot_service.reports import resolving
from jackpot_service.schema import migrate
from jackpot_service.usecases.acknowledge_payment import AcknowledgePayment, acknowledge_payment
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.decide_change import DecideChange, decide_change
from jackpot_service.usecases.changes.request_change import RequestChange, request_change
from jackpot_service.usecases.jackpots import AddStripes, add_stripes
from jackpot_service.usecases.keys import create_key
from tests.races import books, scene
from tests.support import everything, former, people, rolling
from tests.support.logins import service_url

BETS_BY_DAY = """
SELECT jackpot_id, stripe_no, day, cycle, gaming_day, casino_id, table_id, currency, rules_version,
       sum(bets) AS bets, sum(stakes_minor) AS stakes_minor, sum(value) AS value
FROM bets_by_day
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
"""

STRAIGHT = "9h 8d 7h 6s 5h"


def test_revisions_import_nothing_of_the_application() -> None:
    files = sorted(migrate.SCRIPTS.rglob("*.py"))
    imported = {name for file in files for name in re.findall(r"(?m)^\s*(?:import|from) (\w+)", file.read_text())}
    assert len(files) > 20
    assert "sqlalchemy" in imported
    assert "jackpot_service" not in imported


def test_the_schema_goes_up_down_and_up_again(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    first = _catalogue(empty_database_url)
    assert first

    migrate.downgrade(empty_database_url, "base")
    assert [row for row in _catalogue(empty_database_url) if row[0] != "alembic_version"] == []

    migrate.upgrade(empty_database_url)
    assert _catalogue(empty_database_url) == first


def test_each_revision_can_be_taken_back_by_itself(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    whole = _catalogue(empty_database_url)
    migrate.downgrade(empty_database_url, "-1")
    assert _catalogue(empty_database_url) != whole
    migrate.upgrade(empty_database_url, "+1")
    assert _catalogue(empty_database_url) == whole


def test_the_migrated_schema_is_that_of_the_models(database_url: str) -> None:
    assert migrate.differences(database_url) == []


def test_a_database_knows_whether_it_is_current(empty_database_url: str) -> None:
    engine = sqlalchemy.create_engine(empty_database_url, poolclass=sqlalchemy.NullPool)
    assert not migrate.is_current(engine)
    migrate.upgrade(empty_database_url, "0001")
    assert not migrate.is_current(engine)
    migrate.upgrade(empty_database_url)
    assert migrate.is_current(engine)


def test_exceptions_of_before_get_the_ids_that_they_would_have_now(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    engine = create_engine(Config(), service_url(empty_database_url))
    everything.play(engine, now=datetime.now(UTC))
    engine.dispose()
    with psycopg.connect(_plain(empty_database_url)) as owner:
        before = owner.execute("SELECT kind, exception_id FROM exceptions ORDER BY kind").fetchall()

    migrate.downgrade(empty_database_url, "0008")
    migrate.upgrade(empty_database_url)

    with psycopg.connect(_plain(empty_database_url)) as owner:
        assert before == owner.execute("SELECT kind, exception_id FROM exceptions ORDER BY kind").fetchall() != []


def test_days_of_before_are_kept_by_the_cycles_that_their_entries_stand_after(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    engine = create_engine(Config(), service_url(empty_database_url))
    everything.play(engine, now=datetime.now(UTC))
    scene.open_live(engine, "narrow", tables=["T9"], stripes=1)
    for round_id in ("r1", "r2"):
        scene.bet(engine, "T9", round_id, scene.euro("b1"), scene.euro("b2"))
        scene.void(engine, "T9", round_id, "b2")
        scene.settle(engine, "T9", round_id, 1, {"1": scene.ROYAL})
    engine.dispose()
    whole = _days(empty_database_url)

    migrate.downgrade(empty_database_url, "0017")
    before = _days(empty_database_url)
    migrate.upgrade(empty_database_url)

    assert whole["daily_payments"]
    assert _days(empty_database_url) == whole
    for table, figures in {"daily_bets": ("bets", "value"), "daily_postings": ("lines", "amount")}.items():
        assert len(before[table]) < len(whole[table])
        for figure in figures:
            assert sum(row[figure] for row in before[table]) == sum(row[figure] for row in whole[table])


def test_payments_of_before_are_kept_by_what_was_paid_and_when_it_was_made(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    engine = create_engine(Config(), service_url(empty_database_url))
    scene.found(engine)
    scene.open_live(engine, "live", tables=["T1"], base_amount="1000")
    for number, cards in enumerate((scene.FLUSH, STRAIGHT, scene.FLUSH)):
        scene.bet(engine, "T1", f"r{number}", scene.euro("b1"))
        scene.settle(engine, "T1", f"r{number}", 1, {"1": cards})
    scene.correct(engine, "live", RoundName("T1", "r2"), 1, {"1": STRAIGHT})
    for award_id in _payable(engine):
        paid = AcknowledgePayment(Act(SYSTEM_OPERATOR, scene.now(), request_id=award_id), award_id)
        transact(engine, partial(acknowledge_payment, command=paid))
    engine.dispose()
    whole = _days(empty_database_url)["daily_payments"]

    migrate.downgrade(empty_database_url, "0020")
    before = _days(empty_database_url)["daily_payments"]
    migrate.upgrade(empty_database_url)

    assert _days(empty_database_url)["daily_payments"] == whole
    assert sorted((row["tier"], row["awards"]) for row in whole) == [("flush", 1), ("straight", 2)]
    assert [row["awards"] for row in before] == [3]
    for figure in ("amount_minor", "cost"):
        assert sum(row[figure] for row in before) == sum(row[figure] for row in whole)


def test_awards_of_before_are_kept_by_casino_and_table(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    engine = create_engine(Config(), service_url(empty_database_url))
    scene.found(engine)
    scene.open_live(engine, "live", tables=["T1", "T2"], base_amount="1000", stripes=1)
    for table_id, rounds in (("T1", 2), ("T2", 1)):
        for number in range(rounds):
            scene.bet(engine, table_id, f"r{number}", scene.euro("b1"))
            scene.settle(engine, table_id, f"r{number}", 1, {"1": scene.FLUSH})
    scene.correct(engine, "live", RoundName("T2", "r0"), 1, {"1": STRAIGHT})
    for award_id in _payable(engine):
        paid = AcknowledgePayment(Act(SYSTEM_OPERATOR, scene.now(), request_id=award_id), award_id)
        transact(engine, partial(acknowledge_payment, command=paid))
    engine.dispose()
    whole = _days(empty_database_url)

    migrate.downgrade(empty_database_url, "0021")
    before = _days(empty_database_url)
    migrate.upgrade(empty_database_url)

    assert _days(empty_database_url) == whole
    by_table = {
        table: sorted((row["casino_id"], row["table_id"], row["tier"], row["awards"]) for row in whole[table])
        for table in ("daily_awards", "daily_payments")
    }
    assert by_table == {
        "daily_awards": [("c1", "T1", "flush", 2), ("c1", "T2", "flush", 1)],
        "daily_payments": [("c1", "T1", "flush", 2), ("c1", "T2", "straight", 1)],
    }
    assert [(row["tier"], row["awards"]) for row in before["daily_awards"]] == [("flush", 3)]
    assert sorted((row["tier"], row["awards"]) for row in before["daily_payments"]) == [("flush", 2), ("straight", 1)]
    for table in by_table:
        for figure in ("amount_minor", "cost"):
            assert sum(row[figure] for row in before[table]) == sum(row[figure] for row in whole[table])


def test_bets_of_before_are_kept_by_the_rules_that_tell_where_they_go(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    engine = create_engine(Config(), service_url(empty_database_url))
    scene.found(engine)
    scene.open_live(engine, "live", tables=["T1"], base_amount="1000", stripes=1)
    scene.bet(engine, "T1", "r0", scene.euro("b0"))
    _change_rules(engine, {"split.meter": "0.40"})
    scene.bet(engine, "T1", "r1", scene.euro("b1"))
    scene.settle(engine, "T1", "r1", 1, {"1": scene.ROYAL})
    scene.bet(engine, "T1", "r0", scene.euro("b2"))
    scene.bet(engine, "T1", "r2", scene.euro("b3"), scene.euro("b4"))
    engine.dispose()
    whole = _days(empty_database_url)["daily_bets"]

    migrate.downgrade(empty_database_url, "0024")
    before = _days(empty_database_url)["daily_bets"]
    migrate.upgrade(empty_database_url)

    assert _days(empty_database_url)["daily_bets"] == whole
    assert sorted((row["cycle"], row["rules_version"], row["value"]) for row in whole) == [
        (1, 1, 2),
        (2, 1, 1),
        (2, 2, 2),
    ]
    split = ("value", "meter", "reserve", "prize_fund", "house")
    assert sorted(tuple(map(str, (row["cycle"], *(row[name] for name in split)))) for row in before) == [
        ("1", "2", "0.9", "0.1", "0.6368", "0.3632"),
        ("2", "3", "1.25", "0.15", "0.9552", "0.6448"),
    ]


def test_recent_bets_are_rolled_up_when_their_table_is_taken_away(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    engine = create_engine(Config(), service_url(empty_database_url))
    scene.found(engine)
    scene.open_live(engine, "live", tables=["T1"], stripes=1)
    scene.bet(engine, "T1", "r0", scene.euro("b1"))
    rolling.roll_up(engine)
    recent_bets.CHANCE.seed(1)
    scene.bet(engine, "T1", "r1", scene.euro("b1"), scene.euro("b2"))
    scene.bet(engine, "T1", "r2", scene.euro("b1"))
    engine.dispose()
    whole = _days(empty_database_url)["daily_bets"]
    with psycopg.connect(_plain(empty_database_url)) as owner:
        groups = owner.execute("SELECT count(*) FROM recent_bets").fetchall()
        assert (groups, [row["bets"] for row in whole]) == ([(2,)], [4])

    migrate.downgrade(empty_database_url, "0026")

    assert _days(empty_database_url)["daily_bets"] == whole


LIKE_ANN = "\N{CYRILLIC CAPITAL LETTER A}nn"


def test_names_of_before_are_kept_also_those_that_look_alike(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url, "0027")
    names = ("Ann", LIKE_ANN, "\N{CHEROKEE LETTER GO}va", "c\N{CYRILLIC SMALL LETTER PALOCHKA}i", "Bob")
    with psycopg.connect(_plain(empty_database_url)) as owner:
        for seq, name in enumerate(names, 1):
            owner.execute("INSERT INTO principals VALUES (%s, 'auditor', NULL, false, %s)", [name, seq])

    migrate.upgrade(empty_database_url)

    with psycopg.connect(_plain(empty_database_url)) as owner:
        found = owner.execute("SELECT name FROM principals WHERE NOT precedes_name_rules ORDER BY entry_seq").fetchall()
        assert [name for (name,) in found] == ["cli", "Ann", "Bob"]
    engine = create_engine(Config(), empty_database_url)
    for name in names:  # Who has a name keeps it, and gets further keys.
        principal = Principal(name, Role.AUDITOR)
        transact(engine, partial(create_key, act=Act(SYSTEM_OPERATOR, scene.now()), principal=principal))
    for name in ("ANN", "B0b"):
        with pytest.raises(PrincipalConflict):
            transact(
                engine,
                partial(create_key, act=Act(SYSTEM_OPERATOR, scene.now()), principal=Principal(name, Role.AUDITOR)),
            )
    engine.dispose()
    migrate.downgrade(empty_database_url, "0027")
    with psycopg.connect(_plain(empty_database_url)) as owner:
        assert owner.execute("SELECT name FROM principals ORDER BY entry_seq").fetchall() == [(one,) for one in names]


def test_what_was_done_before_is_right_by_the_rules_of_then(empty_database_url: str) -> None:
    """Olga made the key of a server, and was then recorded as paying what it won."""
    migrate.upgrade(empty_database_url)
    engine = create_engine(Config(), empty_database_url)
    scene.found(engine)
    scene.open_live(engine, "live", tables=["T1"], base_amount="1000", stripes=1)
    olga = people.enrolled(engine, Act(Principal("Olga", Role.OPERATOR), scene.now()))
    transact(engine, partial(create_key, act=olga, principal=scene.SERVER))
    scene.bet(engine, "T1", "r1", scene.euro("b1"))
    scene.settle(engine, "T1", "r1", 1, {"1": scene.FLUSH})
    (award_id,) = _payable(engine)
    migrate.downgrade(empty_database_url, "0027")
    paid = AcknowledgePayment(replace(olga, now=scene.now()), award_id)
    with psycopg.connect(_plain(empty_database_url)) as owner:  # The version before had no such rule.
        owner.execute(
            "CREATE FUNCTION is_key_maker_on_both_sides(text, bigint, text, timestamptz) "
            "RETURNS boolean LANGUAGE sql AS 'SELECT false'"
        )
    transact(engine, partial(acknowledge_payment, command=paid))
    with psycopg.connect(_plain(empty_database_url)) as owner:
        owner.execute("DROP FUNCTION is_key_maker_on_both_sides")

    migrate.upgrade(empty_database_url)

    books.require_clean(engine)
    engine.dispose()


def test_books_in_which_the_emergency_path_was_switched_are_not_taken_back(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    people.switch(empty_database_url, Act(SYSTEM_OPERATOR, scene.now(), reason="a storm"), is_on=True)

    with pytest.raises(sqlalchemy.exc.DBAPIError, match="emergency approvals were switched"):
        migrate.downgrade(empty_database_url, "0027")


def _change_rules(engine: sqlalchemy.Engine, settings: dict[str, Any]) -> None:
    named = [Principal(name, Role.OPERATOR) for name in "ab"]
    acts = [people.enrolled(engine, Act(one, scene.now(), request_id="q1", reason="as agreed")) for one in named]
    asked = RequestChange(acts[0], "rules", {"jackpot_id": "live", "settings": settings})
    transact(engine, lambda session: request_change(session, asked))
    decided = DecideChange(replace(acts[1], request_id=None), "q1", Outcome.APPROVED)
    transact(engine, lambda session: decide_change(session, decided))


def _payable(engine: sqlalchemy.Engine) -> list[str]:
    wanted = awards.Wanted(AwardState.PAYABLE)
    found = transact(engine, lambda session: awards.latest(session, SYSTEM_OPERATOR, wanted, limit=9))
    return [record.award.award_id for record in found]


def _days(url: str) -> dict[str, list[dict[str, Any]]]:
    with psycopg.connect(_plain(url), row_factory=dict_row) as owner:
        tables = ("daily_bets", "daily_postings", "daily_awards", "daily_payments")
        questions = {table: f"SELECT * FROM {table}" for table in tables if _is_there(owner, table)}  # noqa: S608  four
        if _is_there(owner, "recent_bets"):
            questions["daily_bets"] = BETS_BY_DAY
        return {table: sorted(owner.execute(asked), key=str) for table, asked in questions.items()}


def _is_there(owner: psycopg.Connection[dict[str, Any]], table: str) -> bool:
    return owner.execute("SELECT FROM pg_tables WHERE tablename = %s", [table]).rowcount > 0


def test_instants_of_before_are_forgotten_unless_they_would_be_found_otherwise(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url, "0027")
    engine = create_engine(Config(), empty_database_url)
    scene.found(engine)
    scene.open_live(engine, "live", tables=["T1"], stripes=2)
    scene.bet(engine, "T1", "r1", scene.euro("b1"))
    wrong = scene.now()
    plain, padded = wrong - timedelta(microseconds=2), wrong - timedelta(microseconds=1)
    for book in (REFERENCE_BOOK, "live"):
        resolving.resolve(engine, book, wrong, now=wrong)
        transact(engine, partial(former.write_down, book=book, instant=plain))
    more = AddStripes(Act(SYSTEM_OPERATOR, scene.now()), "live", 4)
    transact(engine, partial(add_stripes, command=more))
    transact(engine, partial(former.write_down, book="live", instant=padded))
    with psycopg.connect(_plain(empty_database_url)) as owner:
        owner.execute("INSERT INTO instants VALUES ('live', %s, '{7,7}')", [wrong])
        told = {at: read(engine, partial(instants.at, book="live", instant=at)) for at in (plain, padded)}

    migrate.upgrade(empty_database_url)

    left = books.ask(engine, "SELECT instant, positions FROM instants ORDER BY instant")
    assert left == [(padded, [*told[padded]]), (wrong, [7, 7])]
    assert (len(told[plain]), len(told[padded])) == (2, 4)
    for at, positions in told.items():
        assert read(engine, partial(instants.at, book="live", instant=at)) == positions
    with snapshot(engine) as session:
        assert {mismatch.code for mismatch in verify(session).mismatches} == {Code.INSTANT_POSITIONS}
    engine.dispose()


def test_what_closed_periods_stand_on_is_written_down_for_a_version_before(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    engine = create_engine(Config(), empty_database_url)
    everything.play(engine, now=datetime.now(UTC))
    periods = (
        "SELECT ends_at FROM closed_periods UNION SELECT starts_at FROM closed_periods WHERE starts_at IS NOT NULL"
    )
    edges = [at for (at,) in books.ask(engine, periods)]
    jackpots = [book for (book,) in books.ask(engine, "SELECT jackpot_id FROM jackpots")]
    found = {
        (book, at): positions
        for book in (REFERENCE_BOOK, *jackpots)
        for at in edges
        if (positions := read(engine, partial(instants.at, book=book, instant=at)))
    }

    migrate.downgrade(empty_database_url, "0027")

    rows = books.ask(engine, "SELECT jackpot_id, instant, positions FROM instants")
    assert {(book, at): tuple(positions) for book, at, positions in rows} == found
    assert all(found.values())
    migrate.upgrade(empty_database_url)
    assert books.ask(engine, "SELECT FROM instants") == []
    books.require_clean(engine)
    engine.dispose()


@pytest.mark.parametrize(
    ("done", "downgraded_to", "message"),
    [
        (everything.close_a_period, "0014", "periods of this database are closed"),
        (everything.seal, "0015", "the books .* are sealed"),
    ],
)
def test_what_acts_in_the_chain_speak_of_is_not_taken_away(
    empty_database_url: str, done: Callable[[sqlalchemy.Engine, datetime], None], downgraded_to: str, message: str
) -> None:
    migrate.upgrade(empty_database_url)
    engine = create_engine(Config(), service_url(empty_database_url))
    scene.found(engine)
    done(engine, datetime.now(UTC))
    with pytest.raises(sqlalchemy.exc.DBAPIError, match=message):
        migrate.downgrade(empty_database_url, downgraded_to)

    migrate.upgrade(empty_database_url)
    books.require_clean(engine)
    engine.dispose()


def _catalogue(url: str) -> list[tuple[Any, ...]]:
    """List every relation, column, constraint, index, trigger, function and grant of the database."""
    questions = (
        "SELECT relname, relkind::text, reloptions::text, relacl::text FROM pg_class WHERE relnamespace = {0}",
        """
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull::text, a.attacl::text
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = {0} AND a.attnum > 0 AND NOT a.attisdropped
        """,
        """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = {0}
        """,
        "SELECT tablename::text, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
        """
        SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(t.oid)
        FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = {0} AND NOT tgisinternal
        """,
        "SELECT proname, prosrc, proconfig::text FROM pg_proc WHERE pronamespace = {0}",
        "SELECT viewname::text, definition FROM pg_views WHERE schemaname = 'public'",
    )
    with psycopg.connect(_plain(url)) as connection:
        found = [
            tuple(row)
            for question in questions
            for row in connection.execute(question.format("'public'::regnamespace"))
        ]
    return sorted((row for row in found if "alembic_version" not in str(row[0])), key=str)


def _plain(url: str) -> str:
    return url.replace("+psycopg", "")
