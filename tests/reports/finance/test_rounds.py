"""The rounds and bets behind any figure: their sums are those figures, of any period, casino and table."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final

import pytest

from jackpot_service.database.reads import Reads
from jackpot_service.domain.accounts import POOL_ACCOUNTS
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.reports.documents import Section
from jackpot_service.reports.finance import figures as sums
from jackpot_service.reports.finance.figures import Key
from jackpot_service.reports.finance.frame import Report, Scope
from jackpot_service.reports.finance.registry import report_of
from jackpot_service.reports.making import made
from jackpot_service.reports.questions import Parameters
from tests.properties.profile import seeds
from tests.reports.finance.play import Play
from tests.support import story
from tests.support.asking import figures, report, report_answer, rows
from tests.support.bets import bet
from tests.support.hands import FLUSH, ROYAL_FLUSH, dead, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

Rows = list[Mapping[str, Any]]

FILTERS: Final = ((("casino_id",), None), (("table_id",), None), (("round_id",), 3), (("table_id", "round_id"), 2))
"""What is asked for together, and of how many of them."""

PARTS: Final = ("value", "meter", "reserve", "prize_fund", "house")


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000", stripes=2)
    return world


def test_a_round_is_told_with_what_its_entries_did(opened: World) -> None:
    opened.bet(bet("a", currency="GBP"), bet("b", hand="2"))
    opened.bet(bet("c", hand="3", stake_minor=250))
    opened.void("c")
    opened.settle(hand("1", FLUSH), dead("2"), hand("3"))

    pounds, euros = (dict(row) for row in sorted(rows(opened, "rounds"), key=lambda row: row["currency"] == "EUR"))

    assert euros["entries"] == pounds["entries"]
    assert len(euros["entries"].split()) == 4
    assert euros["opened_at"] < euros["ended_at"]
    shown = ("state", "bets", "stakes", "value", "refunds", "refunds_value", "awards", "awarded", "awards_cost")
    assert [euros[name] for name in shown] == ["settled", 2, "3.5", "3.5", "3.5", "3.5", 0, "0", "0"]
    assert [pounds[name] for name in shown] == ["settled", 1, "1", "1.17", "0", "0", 1, "25", "29.25"]
    assert (euros["rules_version"], euros["rate_sheet"], euros["casino_id"]) == (1, 1, "c1")


def test_a_bet_is_told_with_each_part_of_it(opened: World) -> None:
    opened.bet(bet("b", currency="SEK", stake_minor=1000))

    (row,) = rows(opened, "rounds", "bets")

    assert [row[name] for name in ("stake", *PARTS)] == ["10", "0.873", "0.39285", "0.04365", "0.2779632", "0.1585368"]
    assert (row["player_id"], row["hand"], row["refunded_at"], row["refunded_by"]) == ("player-of-b", "1", None, None)
    stripe_no, seq = row["accepted_by"].split(".")
    entry = {"kind": "bets", "stripe_no": int(stripe_no), "seq": int(seq)}
    assert entry in opened.books.rows("SELECT kind, stripe_no, seq FROM entries")


def test_a_bet_belongs_to_the_period_in_which_it_was_accepted_and_its_refund_to_its_own(opened: World) -> None:
    opened.bet(bet("a"), bet("b", hand="2"))
    between = opened.clock()
    opened.void("a")

    before, after = {"end": between}, {"start": between}

    assert [row["bet_id"] for row in rows(opened, "rounds", "bets", **before)] == ["a", "b"]
    assert [row["refunded_at"] for row in rows(opened, "rounds", "bets", **before)] == [None, None]
    assert rows(opened, "rounds", "refunds", **before) == rows(opened, "rounds", "bets", **after) == []
    (refunded,) = rows(opened, "rounds", "refunds", **after)
    assert (refunded["bet_id"], refunded["stake"], refunded["accepted_at"] < refunded["refunded_at"]) == (
        "a",
        "1",
        True,
    )
    assert [(row["bets"], row["refunds"]) for row in rows(opened, "rounds", **before)] == [(2, "0")]
    assert [(row["bets"], row["refunds"]) for row in rows(opened, "rounds", **after)] == [(0, "1")]


def test_a_round_stands_as_it_stood_then(opened: World) -> None:
    opened.bet(bet())
    edges = [opened.clock()]
    opened.settle(hand("1", ROYAL_FLUSH))
    edges.append(opened.clock())
    opened.cancel(round_id="r2")
    edges.append(opened.clock())
    seen = [report(opened, "rounds", as_of=edge) for edge in edges]

    states = [[row["state"] for row in document["sections"][0]["rows"]] for document in seen]
    assert states == [["open"], ["settled"], ["settled", "cancelled"]]
    assert [figures(report(opened, "rounds", as_of=edge)) for edge in edges] == [*map(figures, seen)]


def test_a_round_without_a_bet_is_told_without_a_currency(opened: World) -> None:
    opened.void("never", round_id="tombstone")
    opened.cancel(round_id="unseen")

    by_round = {row["round_id"]: row for row in rows(opened, "rounds")}

    assert [(name, row["state"], row["currency"], row["bets"], row["stakes"]) for name, row in by_round.items()] == [
        ("tombstone", "open", None, 0, None),
        ("unseen", "cancelled", None, 0, None),
    ]
    assert rows(opened, "rounds", "bets") == rows(opened, "rounds", "refunds") == []


def test_one_round_can_be_asked_for_also_without_its_table(opened: World) -> None:
    opened.add_table("T2", jackpot_id="j1")
    for table_id in ("T1", "T2"):
        for round_id in ("r1", "r2"):
            opened.bet(bet(), round_id=round_id, table_id=table_id)

    def listed_by(**query: object) -> list[tuple[str, str]]:
        bets = rows(opened, "rounds", "bets", **query)
        assert [row["round_key"] for row in bets] == [row["round_key"] for row in rows(opened, "rounds", **query)]
        return [(row["table_id"], row["round_id"]) for row in bets]

    assert listed_by(round_id="r2", table_id="T2") == [("T2", "r2")]
    assert listed_by(round_id="r2") == [("T1", "r2"), ("T2", "r2")]
    assert listed_by(table_id="T1") == [("T1", "r1"), ("T1", "r2")]
    assert listed_by(round_id="r1", casino_id="c1", jackpot_id="j1") == [("T1", "r1"), ("T2", "r1")]


def test_a_round_that_no_table_asked_about_has_is_unknown(opened: World) -> None:
    opened.add_casino("c2")
    opened.add_table("T2", jackpot_id="j1", casino_id="c2")
    opened.open(jackpot_id="j2", tables=("T3",))
    opened.bet(bet())
    opened.person("Fay", Role.FINANCE)
    before = opened.books.counts()

    for elsewhere in ({}, {"table_id": "T1"}, {"casino_id": "c1"}, {"jackpot_id": "j1"}):
        problem = report_answer(opened, "rounds", round_id="none", end=opened.clock(), **elsewhere).problem(
            404, "round-unknown"
        )
        assert problem["round_id"] == "none"
    for elsewhere in (
        {"table_id": "T2"},
        {"casino_id": "c2"},
        {"jackpot_id": "j2"},
        {"table_id": "T1", "jackpot_id": "j2"},
    ):
        report_answer(opened, "rounds", round_id="r1", end=opened.clock(), **elsewhere).problem(404, "round-unknown")

    assert opened.books.counts() == before


def test_a_round_that_did_nothing_in_the_period_is_known(opened: World) -> None:
    opened.bet(bet())
    opened.clock.advance(timedelta(hours=1))
    opened.void("never", round_id="tombstone")

    for period in ({"end": datetime.fromisoformat("2026-01-01T00Z")}, {"start": opened.clock()}):
        assert [section["rows"] for section in report(opened, "rounds", round_id="r1", **period)["sections"]] == [
            []
        ] * 4
    assert rows(opened, "rounds", "bets", round_id="tombstone") == []


def test_a_casinos_key_is_told_of_its_own_rounds_only(opened: World) -> None:
    opened.add_casino("c2")
    opened.add_table("T2", jackpot_id="j1", casino_id="c2")
    for table_id in ("T1", "T2"):
        opened.bet(bet(f"of-{table_id}"), table_id=table_id)
    own = opened.key_of(Principal("Carl", Role.FINANCE, "c2"))

    for path in ("/v1/reports/rounds", "/v1/reports/rounds?round_id=r1", "/v1/reports/rounds?jackpot_id=j1"):
        sections = [section["rows"] for section in opened.get(path, key=own).ok()["sections"]]
        assert [[row["table_id"] for row in rows] for rows in sections] == [["T2"], ["T2"], [], []]
    assert opened.get("/v1/reports/rounds?casino_id=c1", key=own).problem(404, "casino-unknown")
    opened.bet(bet(), round_id="of-c1", table_id="T1")
    refused, unknown = (
        opened.get(f"/v1/reports/rounds?round_id={round_id}", key=own).problem(404, "round-unknown")["detail"]
        for round_id in ("of-c1", "of-c9")
    )
    assert refused == unknown.replace("of-c9", "of-c1")


def test_what_acts_booked_stands_beside_rounds_and_a_casino_sees_what_is_its_own(opened: World) -> None:
    opened.add_casino("c2")
    opened.bet(bet())
    paid = {"jackpot_id": "j1", "casino_id": "c1", "currency": "EUR", "amount": "1", "reference": "2026-11"}
    opened.change("statement-settlement", paid | {"from": "2026-11-01T00:00:00Z", "to": "2026-11-20T00:00:00Z"})
    opening, *settled = rows(opened, "rounds", "acts")[1:]
    owed = {"account": "casino:c1", "movement": "payment", "amount": "1", "kind": "statement_settled"}

    assert (opening["account"], opening["movement"], opening["amount"]) == ("pool:meter:house", "seed", "1000")
    assert owed.items() <= settled[1].items()
    assert settled[1]["act"] == opened.books.value("SELECT max(seq) FROM acts WHERE jackpot_id = 'j1'")
    for casino_id, expected in (("c1", [settled[1]]), ("c2", [])):
        own = opened.key_of(Principal(f"Carl of {casino_id}", Role.FINANCE, casino_id))
        assert opened.get("/v1/reports/rounds?section=acts", key=own).ok()["sections"][0]["rows"] == expected
    assert rows(opened, "rounds", "acts", round_id="r1") == rows(opened, "rounds", "acts", table_id="T1") == []


# What chance brings about, against the sums that other reports are made of.


def summed(
    rows_: Iterable[Mapping[str, Any]], by: tuple[str, ...], *names: str
) -> dict[tuple[Any, ...], list[Decimal]]:
    result: defaultdict[tuple[Any, ...], list[Decimal]] = defaultdict(lambda: [Decimal(0)] * len(names))
    for row in rows_:
        key = tuple(row[name] for name in by)
        result[key] = [held + Decimal(row[name] or 0) for held, name in zip(result[key], names, strict=True)]
    return {key: amounts for key, amounts in result.items() if any(amounts)}


BY: Final = ("casino_id", "table_id", "currency")
KEYS: Final = (Key.CASINO, Key.TABLE, Key.CURRENCY)


def taken_back(refunds: Rows, acts: Rows) -> dict[tuple[Any, ...], list[Decimal]]:
    """The stakes of the bets that rounds refunded, and of those that corrections did, less those booked again."""
    of_stakes = {Movement.REVERSAL, Movement.CONTRIBUTION}
    by_corrections = [
        {**row, "stake": row["amount"]}
        for row in acts
        if row["movement"] in of_stakes and row["account"] == f"casino:{row['casino_id']}"
    ]
    return summed([*refunds, *by_corrections], BY, "stake")


def expected_parts(world: World, jackpot_id: str, start: datetime | None, end: datetime | None) -> dict[str, Any]:
    """What the figures that reports are made of say of a period."""
    expected: dict[str, Any] = {}

    def look(session: Any, scope: Scope) -> tuple[Section, ...]:
        (book,) = scope.books
        expected["bets"] = {
            tuple(bet.key[key] for key in KEYS): [
                Decimal(bet.bets),
                bet.stakes,
                *(bet.value, bet.meter, bet.reserve, bet.prize_fund, bet.house),
            ]
            for bet in sums.bets(session, book, by=KEYS)
        }
        moved = sums.postings(session, book, by=KEYS)
        in_rounds = [sum_ for sum_ in moved if sum_.key[Key.TABLE]]
        expected["refunds"] = {
            tuple(posting.key[key] for key in KEYS): [posting.amount]
            for posting in in_rounds
            if posting.movement is Movement.REVERSAL and posting.account.startswith("casino:")
        }
        by_acts = [
            {"account": sum_.account, "currency": sum_.currency, "movement": sum_.movement, "amount": sum_.amount}
            for sum_ in moved
            if not sum_.key[Key.TABLE]
        ]
        expected["taken back"] = {
            tuple(refund.key[key] for key in KEYS): [refund.stakes]
            for refund in sums.refunds(session, book, by=KEYS)
            if refund.stakes
        }
        expected["acts"] = summed(by_acts, ("account", "currency", "movement"), "amount")
        expected["awards"] = -sum(
            (
                posting.amount
                for posting in in_rounds
                if posting.movement is Movement.AWARD and posting.account in POOL_ACCOUNTS
            ),
            Decimal(0),
        )
        return ()

    asking = Parameters(jackpot_id=jackpot_id, start=start, end=end)
    with made(Reads(world.engine), Report("due", "Due", look), asking, now=world.clock()):
        return expected


@pytest.mark.long
@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds())
def test_the_sums_of_its_columns_are_the_figures_of_the_others(world: World, seed: int) -> None:
    play = Play(world, seed)
    play.open()
    edges: list[datetime | None] = [None]
    for _ in range(3):
        play.go_on(35)
        world.clock.advance(timedelta(hours=7))
        edges.append(world.clock())
    play.go_on(20)
    edges.append(None)
    story.require_whole(world)

    for start, end in [*pairwise(edges), (None, None)]:
        period = {name: edge for name, edge in (("start", start), ("end", end)) if edge is not None}
        for jackpot_id in ("j1", "cyber"):
            rounds, bets, refunds, acts = (
                section["rows"] for section in report(world, "rounds", jackpot_id=jackpot_id, **period)["sections"]
            )
            expected = expected_parts(world, jackpot_id, start, end)
            names = ("stakes", "value")
            assert summed(rounds, BY, "bets", *names) == {key: sums[:3] for key, sums in expected["bets"].items()}
            one_each = [{**row, "bets": 1} for row in bets]
            assert summed(one_each, BY, "bets", "stake", *PARTS) == expected["bets"]
            assert summed(rounds, BY, "refunds") == summed(refunds, BY, "stake") == expected["refunds"]
            assert summed(rounds, BY, "refunds_value") == summed(refunds, BY, "value")
            assert taken_back(refunds, acts) == expected["taken back"]
            assert summed(acts, ("account", "currency", "movement"), "amount") == expected["acts"]
            assert summed(rounds, (), "awards_cost").get((), [Decimal(0)]) == [expected["awards"]]
            require_its_entries(world, rounds, jackpot_id, start, end)
            sections = {"rounds": rounds, "bets": bets, "refunds": refunds}
            require_parts(world, sections, jackpot_id=jackpot_id, **period)
            for table_id in ("T1", "T2"):
                of_table = [row for row in acts if row["table_id"] == table_id]
                assert rows(world, "rounds", "acts", jackpot_id=jackpot_id, table_id=table_id, **period) == of_table


def require_its_entries(
    world: World, rounds: Rows, jackpot_id: str, start: datetime | None, end: datetime | None
) -> None:
    """All entries of rounds that were booked in the period are told, each with its round, and no other."""
    places_ = {(row["round_key"], place) for row in rounds for place in row["entries"].split()}
    entries = world.books.rows("SELECT * FROM entries WHERE jackpot_id = :j AND round_key IS NOT NULL", j=jackpot_id)
    assert places_ == {
        (str(row["round_key"]), f"{row['stripe_no']}.{row['seq']}")
        for row in entries
        if (start is None or row["booked_at"] >= start) and (end is None or row["booked_at"] < end)
    }


def require_parts(world: World, parts_: Mapping[str, Rows], **period: object) -> None:
    """What is told of each casino and table, and of some rounds, is what is told of them among all."""
    for names, most in FILTERS:
        for values in sorted({tuple(row[name] for name in names) for row in parts_["rounds"]})[:most]:
            stated = dict(zip(names, values, strict=True))
            sections = report(world, "rounds", **period, **stated)["sections"][: len(parts_)]
            assert {section["name"]: section["rows"] for section in sections} == {
                name: [row for row in rows_ if stated.items() <= row.items()] for name, rows_ in parts_.items()
            }


@pytest.mark.parametrize("name", ["rounds", "awards"])
def test_lists_as_long_as_the_books_are_not_kept_when_a_period_is_closed(name: str) -> None:
    assert not report_of(name).is_kept
