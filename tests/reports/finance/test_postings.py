"""The postings of a period: each of them is listed, and they sum to the movements and balances of their accounts."""

from decimal import Decimal
from itertools import combinations

import pytest

from tests.properties.profile import seeds
from tests.reports.finance.play import Play
from tests.support import equations, story
from tests.support.asking import only, report, report_answer, rows
from tests.support.bets import bet
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.world import World


@pytest.mark.long
@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds(10))
def test_every_posting_is_listed_once_whatever_the_period(world: World, seed: int) -> None:
    play = Play(world, seed)
    play.open()
    edges = [world.clock()]
    for _ in range(3):
        play.go_on(21)
        edges.append(world.clock())
    story.require_whole(world)
    booked = world.books.rows("TABLE postings")
    for start, end in combinations(edges, 2):
        document = report(world, "postings", start=start, end=end)
        equations.require("postings", {section["name"]: section["rows"] for section in document["sections"]})
        listed = sorted(
            (row["jackpot_id"], row["entry"], row["account"], row["currency"], row["movement"], Decimal(row["amount"]))
            for row in document["sections"][2]["rows"]
        )
        assert listed == sorted(
            (
                line["jackpot_id"],
                f"{line['stripe_no']}.{line['seq']}",
                line["account"],
                line["currency"],
                line["movement"],
                line["amount"],
            )
            for line in booked
            if start <= line["booked_at"] < end
        )


@pytest.fixture
def played(world: World) -> World:
    """A hit: the meter is paid out and refilled; and an adjustment by an act."""
    world.open(base_amount="1000")
    world.bet(bet("a"), bet("g", hand="2", currency="GBP"))
    world.settle(hand("1", ROYAL_FLUSH), hand("2"))
    adjustment = {"jackpot_id": "j1", "account": "reserve", "amount": "2", "document": "memo", "cause": "count-error"}
    world.change("adjustment", adjustment)
    return world


def test_postings_are_narrowed_to_an_account_a_currency_and_a_movement(played: World) -> None:
    whole = rows(played, "postings", "postings")
    for query in (
        {"account": "pool:reserve"},
        {"currency": "GBP"},
        {"movement": "award"},
        {"account": "casino:c1", "currency": "EUR", "movement": "contribution"},
    ):
        narrowed = rows(played, "postings", "postings", **query)
        assert narrowed
        assert narrowed == [row for row in whole if query.items() <= row.items()]


def test_the_meter_is_both_of_its_parts(played: World) -> None:
    shown = rows(played, "postings", "accounts", account="pool:meter")
    assert [row["account"] for row in shown] == ["pool:meter:house", "pool:meter:players"]


def test_balances_are_those_of_the_account_whatever_the_movement(played: World) -> None:
    balance = only(rows(played, "trial-balance"), account="pool:reserve")
    shown = only(rows(played, "postings", account="pool:reserve", movement="adjustment"))
    assert (shown["opening"], shown["closing"]) == (balance["opening"], balance["closing"])
    moved = only(rows(played, "postings", "movements", account="pool:reserve", movement="adjustment"))
    assert moved["amount"] == "2"


def test_a_posting_names_its_round_or_its_act(played: World) -> None:
    bets = only(rows(played, "postings", "postings", account="pool:reserve", movement="contribution"))
    assert (bets["table_id"], bets["round_id"], bets["act"]) == ("T1", "r1", None)
    by_hand = only(rows(played, "postings", "postings", account="pool:reserve", movement="adjustment"))
    assert (by_hand["round_id"], by_hand["kind"]) == (None, "adjustment")
    acts = played.get("/v1/audit?kind=adjustment").ok()["items"]
    assert by_hand["act"] == acts[0]["seq"]


def test_what_is_no_currency_movement_or_account_is_refused(played: World) -> None:
    report_answer(played, "postings", currency="XXX").problem(422, "unknown-currency")
    report_answer(played, "postings", currency="eur").problem(422, "validation", "?currency")
    report_answer(played, "postings", movement="theft").problem(422, "validation", "?movement")
    report_answer(played, "postings", account="pool reserve").problem(422, "validation", "?account")
    report_answer(played, "trial-balance", account="pool:reserve").problem(422, "question-invalid")
