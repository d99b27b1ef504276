"""What bets contributed, by whatever one asks; what was taken back of it, and where that was charged."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from jackpot_service.domain.casinos import gaming_day
from jackpot_service.domain.money import ZERO
from jackpot_service.domain.principals import Role
from tests.properties.profile import seeds
from tests.reports.finance import journal
from tests.reports.finance.play import Play
from tests.support import story
from tests.support.asking import figures, only, report, report_answer, rows, rows_of
from tests.support.bets import bet
from tests.support.hands import NOTHING, ROYAL_FLUSH, dead, hand
from tests.support.world import CYBER, World

pytestmark = pytest.mark.slow

PARTS = ("meter", "reserve", "prize_fund", "house", "adjustments")

ACCOUNTS = ("pool:meter:players", "pool:reserve", "pool:prize_fund", "house:margin", "house:adjustments")


@pytest.fixture
def two_casinos(world: World) -> World:
    """One jackpot, a table of each of two casinos."""
    world.add_casino("c2")
    world.open(base_amount="1000")
    world.add_table("T2", jackpot_id="j1", casino_id="c2")
    return world


def test_bets_are_summed_by_casino_and_currency_unless_asked_otherwise(two_casinos: World) -> None:
    two_casinos.bet(bet("a"), bet("b", currency="GBP", stake_minor=250), bet("c", stake_minor=300))
    two_casinos.bet(bet("a", currency="SEK", stake_minor=1000), table_id="T2")

    document = report(two_casinos, "contributions")

    listed = rows_of(document)
    keys = [
        (row["casino_id"], row["currency"], row["base"], row["bets"], row["stakes"], row["value"]) for row in listed
    ]
    assert keys == [
        ("c1", "EUR", "EUR", 2, "4", "4"),
        ("c1", "GBP", "EUR", 1, "2.5", "2.925"),
        ("c2", "SEK", "EUR", 1, "10", "0.873"),
    ]
    assert [listed[2][part] for part in PARTS[:-1]] == ["0.39285", "0.04365", "0.2779632", "0.1585368"]
    (whole,) = rows_of(document, "totals")
    assert (whole["bets"], whole["value"], whole["net_meter"]) == (4, "7.798", "3.5091")
    assert "stakes" not in whole


def test_a_refund_stands_beside_what_it_takes_back_and_says_where_it_was_charged(two_casinos: World) -> None:
    two_casinos.bet(bet("early", stake_minor=10_000), round_id="early")
    two_casinos.bet(bet("void"), bet("dead", hand="2"), bet("stays"))
    two_casinos.void("void")
    two_casinos.settle(hand("1", ROYAL_FLUSH), dead("2"))
    two_casinos.cancel(round_id="early")

    (row,) = rows(two_casinos, "contributions")

    assert (row["bets"], row["reversed_bets"], row["net_bets"]) == (4, 3, 1)
    assert (row["stakes"], row["reversed_stakes"], row["net_stakes"]) == ("103", "102", "1")
    assert [row[f"reversed_{part}"] for part in PARTS] == ["0.9", "0.1", "32.4768", "18.5232", "50"]
    assert [row[f"net_{part}"] for part in PARTS] == ["45.45", "5.05", "0.3184", "0.1816", "-50"]


def test_a_stake_that_a_correction_books_again_is_not_taken_back_any_more(two_casinos: World) -> None:
    two_casinos.bet(bet())
    two_casinos.settle(dead("1"))
    then = two_casinos.clock()
    named = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1"}
    result = {"result": {"bet_count": 1, "hands": [hand("1", NOTHING)]}}
    two_casinos.change("round-correction", named | result)

    (before,), (now,) = rows(two_casinos, "contributions", as_of=then), rows(two_casinos, "contributions")

    assert (before["reversed_bets"], before["net_value"]) == (1, "0")
    assert (now["reversed_bets"], now["reversed_stakes"], now["net_value"]) == (0, "0", "1")


def test_jackpots_of_one_base_are_summed_and_of_two_are_not(two_casinos: World) -> None:
    two_casinos.publish("GBP", EUR="0.85")
    two_casinos.open(CYBER, jackpot_id="j2", tables=("C1",))
    two_casinos.open(jackpot_id="j3", base="GBP", tables=("G1",))
    for table_id in ("T1", "C1", "G1"):
        two_casinos.bet(bet(), table_id=table_id)

    by_currency = rows(two_casinos, "contributions", by="currency")
    by_jackpot = rows(two_casinos, "contributions", by="jackpot,table")

    assert [(row["base"], row["bets"], row["value"]) for row in by_currency] == [("EUR", 2, "2"), ("GBP", 1, "0.85")]
    assert [(row["jackpot_id"], row["table_id"], row["bets"]) for row in by_jackpot] == [
        ("j1", "T1", 1),
        ("j2", "C1", 1),
        ("j3", "G1", 1),
    ]
    assert len(rows(two_casinos, "contributions", "totals")) == 2


def test_days_and_months_are_told_apart(two_casinos: World) -> None:
    for day in (datetime(2026, 11, 30, 12, tzinfo=UTC), datetime(2026, 12, 1, 12, tzinfo=UTC)):
        two_casinos.clock.at = day
        two_casinos.bet(bet(), round_id=f"r{day.day}")
    two_casinos.cancel(round_id="r30")

    by_day = rows(two_casinos, "contributions", by="day")
    by_month = rows(two_casinos, "contributions", by="month,currency")

    assert [(row["day"], row["bets"], row["reversed_bets"]) for row in by_day] == [
        ("2026-11-30", 1, 0),
        ("2026-12-01", 1, 1),
    ]
    assert [(row["month"], row["currency"], row["net_stakes"]) for row in by_month] == [
        ("2026-11", "EUR", "1"),
        ("2026-12", "EUR", "0"),
    ]


def test_a_casinos_days_are_its_gaming_days_and_a_jackpots_are_of_utc(world: World) -> None:
    world.add_casino("riga", zone="Europe/Riga", day_starts="06:00")
    world.open(base_amount="1000", tables=())
    world.add_table("R1", jackpot_id="j1", casino_id="riga")
    world.clock.at = datetime(2026, 12, 2, 3, 30, tzinfo=UTC)  # Half past five on the wall, before the day starts.
    world.bet(bet("a"), bet("b"), table_id="R1")
    world.void("b", table_id="R1")

    of_jackpot = rows(world, "contributions", by="day")
    of_casino = rows(world, "contributions", by="casino,day")

    assert [(row["day"], row["bets"], row["reversed_bets"]) for row in of_jackpot] == [("2026-12-02", 2, 1)]
    assert [(row["day"], row["bets"], row["reversed_bets"]) for row in of_casino] == [("2026-12-01", 2, 1)]
    assert rows(world, "contributions", by="day", table_id="R1")[0]["day"] == "2026-12-01"


def test_a_period_takes_its_start_and_leaves_its_end(two_casinos: World) -> None:
    edges = []
    for number in range(3):
        edges.append(two_casinos.clock() + timedelta(seconds=1))
        two_casinos.bet(bet(), round_id=f"r{number}")

    listed = rows(two_casinos, "contributions", start=edges[1], end=edges[2])

    assert [row["bets"] for row in listed] == [1]


def test_a_casino_sees_its_own_and_no_other(two_casinos: World) -> None:
    two_casinos.bet(bet())
    two_casinos.bet(bet(), table_id="T2")
    own = two_casinos.key(Role.FINANCE, casino_id="c2")

    (row,) = rows_of(two_casinos.get("/v1/reports/contributions?by=casino,table", key=own).ok())

    assert (row["casino_id"], row["table_id"], row["bets"]) == ("c2", "T2", 1)
    two_casinos.get("/v1/reports/contributions?casino_id=c1", key=own).problem(404, "casino-unknown")
    two_casinos.get("/v1/reports/contributions?table_id=T1", key=own).problem(404, "table-unknown")
    two_casinos.get("/v1/reports/reconciliation", key=own).problem(403, "role-forbidden")


def test_what_cannot_be_asked_is_refused(two_casinos: World) -> None:
    report_answer(two_casinos, "contributions", by="cycle").problem(422, "question-invalid")
    report_answer(two_casinos, "contributions", by="day,day").problem(422, "validation")
    report_answer(two_casinos, "contributions", by="weekday").problem(422, "validation")
    report_answer(two_casinos, "contributions", table_id="T9").problem(404, "table-unknown")
    report_answer(two_casinos, "contributions", table_id="T2", casino_id="c1").problem(404, "table-unknown")
    report_answer(two_casinos, "contributions", as_of="2099-01-01T00:00:00Z").problem(422, "instant-ahead")


@pytest.mark.long
@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds(10))
def test_whatever_happens_its_figures_are_those_of_the_journal(world: World, seed: int) -> None:
    play = Play(world, seed)
    play.open()
    play.go_on(50)
    then = world.clock()
    before = {by: figures(report(world, "contributions", as_of=then, by=by)) for by in ("casino,currency", "table,day")}
    play.go_on(50)
    play.retire()
    story.require_whole(world)

    for by, document in before.items():
        assert figures(report(world, "contributions", as_of=then, by=by)) == document
    by_day = report(world, "contributions", by="casino,currency,day")
    assert_stakes_are_the_casinos(world, by_day)
    assert_parts_are_the_journals(world, report(world, "contributions", by="jackpot"))
    assert_bets_are_those_that_stand(world, by_day)
    for by in ("currency", "table", "casino,month", "jackpot,day,table"):
        assert_all_together(report(world, "contributions", by=by))
    split = [report(world, "contributions", **period) for period in ({"end": then}, {"start": then})]
    (whole,) = journal.numbers(by_day, "totals")
    parts = [row for document in split for row in journal.numbers(document, "totals")]
    assert {name: sum(map(Decimal, (row[name] for row in parts)), ZERO) for name in whole if name != "base"} == {
        name: Decimal(value) for name, value in whole.items() if name != "base"
    }


def assert_stakes_are_the_casinos(world: World, document: Mapping[str, Any]) -> None:
    """Net, the stakes of a casino's day are what its account was charged that day."""

    def charged(line: journal.Line) -> tuple[str, str, str] | None:
        if line["movement"] not in {"contribution", "reversal"} or not line["account"].startswith("casino:"):
            return None
        casino_id = line["account"].removeprefix("casino:")
        zone, starts = (ZoneInfo("Europe/Riga"), time(6)) if casino_id == "c2" else (UTC, time())
        return casino_id, line["currency"], gaming_day(line["booked_at"], zone, starts).isoformat()

    by_day = {
        (row["casino_id"], row["currency"], row["day"]): -row["net_stakes"]
        for row in journal.numbers(dict(document), "contributions")
    }
    assert {key: amount for key, amount in by_day.items() if amount} == {
        key: amount for key, amount in journal.sums(world, charged).items() if amount
    }


def assert_parts_are_the_journals(world: World, document: Mapping[str, Any]) -> None:
    """Net, what went where is what was posted there."""

    def staked(line: journal.Line) -> tuple[str, str] | None:
        is_staked = line["movement"] in {"contribution", "reversal"}
        return (line["jackpot_id"], line["account"]) if is_staked else None

    posted = journal.sums(world, staked)
    for row in journal.numbers(dict(document), "contributions"):
        for part, account in zip(PARTS, ACCOUNTS, strict=True):
            assert row[f"net_{part}"] == posted.get((row["jackpot_id"], account), ZERO), (row["jackpot_id"], part)


def assert_bets_are_those_that_stand(world: World, document: Mapping[str, Any]) -> None:
    """Net, the bets are those that no void, no cancellation and no dead hand of the verdict in force took back."""
    live_bets = world.books.value(
        """
        SELECT count(*)
        FROM bets b
        JOIN rounds r USING (jackpot_id, round_key)
        LEFT JOIN voids v USING (jackpot_id, round_key, bet_id)
        LEFT JOIN hands h USING (jackpot_id, round_key, hand)
        LEFT JOIN LATERAL (
            SELECT a.after -> 'refunds' AS refunds
            FROM corrections c JOIN acts a ON a.seq = c.act_seq
            WHERE c.jackpot_id = b.jackpot_id AND c.round_key = b.round_key
            ORDER BY c.number DESC
            LIMIT 1
        ) AS last ON true
        WHERE r.state <> 'cancelled' AND v.bet_id IS NULL
          AND NOT coalesce(last.refunds ? b.bet_id, h.status = 'dead', false)
        """
    )
    (whole,) = rows_of(dict(document), "totals")
    assert whole["net_bets"] == live_bets
    assert whole["bets"] == world.books.value("SELECT count(*) FROM bets")


def assert_all_together(document: Mapping[str, Any]) -> None:
    """The rows sum to the totals; in each row, parts sum to the value, and the net is the first less the second."""
    listed = journal.numbers(dict(document), "contributions")
    (whole,) = journal.numbers(dict(document), "totals")
    for row in (*listed, whole):
        assert_it_adds_up(row)
    for name, value in whole.items():
        if name != "base":
            assert sum((Decimal(row[name]) for row in listed), ZERO) == value, name


def assert_it_adds_up(row: Mapping[str, Any]) -> None:
    assert sum((row[part] for part in PARTS[:-1]), ZERO) == row["value"]
    for prefix in ("reversed", "net"):
        assert _sum(row, [f"{prefix}_{part}" for part in PARTS]) == row[f"{prefix}_value"]
    for name in ("bets", "value", *PARTS[:-1]):
        assert Decimal(row[name]) - Decimal(row[f"reversed_{name}"]) == row[f"net_{name}"]


def _sum(row: Mapping[str, Any], names: Sequence[str]) -> Decimal:
    return sum((row[name] for name in names), ZERO)


def test_one_row_of_a_table_is_found_by_its_name(two_casinos: World) -> None:
    two_casinos.bet(bet())
    two_casinos.bet(bet(), table_id="T2")

    listed = rows(two_casinos, "contributions", by="table")

    assert only(listed, table_id="T2")["bets"] == 1
    assert rows(two_casinos, "contributions", table_id="T2", by="table") == [only(listed, table_id="T2")]
