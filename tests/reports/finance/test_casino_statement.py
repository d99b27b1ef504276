"""What a casino owes, as its statement says: positive where it owes, day by day, with what was settled."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final

import pytest

from jackpot_service.domain.money import ZERO
from jackpot_service.domain.principals import Role
from tests.properties.profile import CASES, seeds
from tests.reports.finance import journal
from tests.reports.finance.play import Play
from tests.support import correcting, story
from tests.support.asking import figures, only, report, report_answer, rows, rows_of
from tests.support.bets import bet
from tests.support.hands import FLUSH, NOTHING, STRAIGHT, STRAIGHT_FLUSH, hand
from tests.support.payouts import held_from
from tests.support.world import World

pytestmark = pytest.mark.slow

MOVEMENTS: Final = {
    "contribution": "stakes",
    "reversal": "refunds",
    "award": "awards",
    "release": "releases",
    "compensation": "compensations",
    "correction": "corrections",
    "withholding": "withheld",
    "forfeiture": "forfeitures",
    "payment": "settled",
}

SECTIONS: Final = ("accounts", "days", "settled")


def statement(world: World, casino_id: str = "c1", section: str = "accounts", **query: object) -> list[dict[str, Any]]:
    return journal.numbers(report(world, "casino-statement", casino_id=casino_id, **query), section)


def settled(world: World, request_id: str, **stated: str) -> None:
    paid = {"jackpot_id": "j1", "casino_id": "c1", "currency": "EUR", "amount": "3.00", "reference": request_id}
    period = {"from": "2026-10-01T00:00:00Z", "to": "2026-11-01T00:00:00Z"}
    world.change("statement-settlement", {**paid, **period, **stated}, request_id=request_id)


def test_stakes_are_owed_and_awards_refunds_and_payments_are_not(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"), bet("b", stake_minor=250), bet("c", currency="GBP", stake_minor=700, hand="2"))
    world.void("b")
    settled(world, "2026-10")
    world.settle(hand("1", STRAIGHT), hand("2", NOTHING))

    euro, pound = statement(world)

    assert (euro["currency"], pound["currency"]) == ("EUR", "GBP")
    assert {name: euro[name] for name in ("opening", "stakes", "refunds", "awards", "net", "settled", "closing")} == {
        "opening": 0,
        "stakes": Decimal("3.5"),
        "refunds": Decimal("-2.5"),
        "awards": -10,
        "net": -9,
        "settled": -3,
        "closing": -12,
    }
    assert (pound["stakes"], pound["closing"]) == (7, 7)


def test_held_awards_are_told_and_owed_by_nobody_until_they_are_released(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("200")})
    world.bet(bet(currency="GBP"))
    world.settle(hand("1", STRAIGHT_FLUSH))
    then = world.clock()
    (before,) = statement(world, as_of=then)
    named = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1"}
    world.change("held-awards", named | {"decision": "approve"})
    (after,) = statement(world)

    assert (before["held_awards"], before["held"], before["closing"]) == (1, -2500, 1)
    assert (after["held_awards"], after["held"], after["releases"], after["closing"]) == (0, 0, -2500, -2499)
    assert statement(world, as_of=then) == [before]


def test_a_casino_whose_awards_are_all_held_is_listed_by_them(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("200")})
    world.bet(bet())
    world.settle(hand("1", STRAIGHT_FLUSH))

    assert [(row["currency"], row["held"]) for row in statement(world)] == [("EUR", -2500)]


def test_compensations_and_corrections_stand_by_themselves(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"), round_id="cancelled")
    world.cancel(round_id="cancelled")
    compensation = {"jackpot_id": "j1", "table_id": "T1", "round_id": "cancelled", "bet_id": "a", "document": "memo"}
    world.change("compensation", compensation | {"amount_minor": 900, "currency": "EUR"}, request_id="q0")
    world.bet(bet())
    world.settle(hand("1", FLUSH))
    correcting.correct(world, hand("1", STRAIGHT))

    (row,) = statement(world)

    assert (row["awards"], row["corrections"], row["compensations"], row["closing"]) == (-25, 15, -9, -18)


def test_settled_statements_are_listed_with_the_balance_before(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet(stake_minor=500))
    then = world.clock()
    settled(world, "first")
    settled(world, "second", amount="-1")

    listed = statement(world, section="settled")

    shown = [(row["reference"], row["balance_before"], row["settled"], row["period_from"]) for row in listed]
    assert shown == [("first", 5, -3, "2026-10-01T00:00:00Z"), ("second", 2, 1, "2026-10-01T00:00:00Z")]
    assert statement(world, section="settled", as_of=then) == []
    assert len(statement(world, section="settled", start=then)) == 2


def test_a_payment_has_one_sign_in_every_section(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet(stake_minor=500))
    settled(world, "paid", amount="3")

    shown = {section: [row["settled"] for row in statement(world, section=section)] for section in SECTIONS}

    assert shown == {"accounts": [-3], "days": [-3], "settled": [-3]}


def test_a_held_award_has_the_sign_of_its_release(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("200")})
    world.bet(bet())
    world.settle(hand("1", STRAIGHT_FLUSH))
    (held,) = statement(world)
    world.change("held-awards", {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "decision": "approve"})
    (released,) = statement(world)

    assert held["held"] == released["releases"] < 0


def test_days_go_on_from_one_to_the_next(world: World) -> None:
    world.open(base_amount="1000")
    start = world.clock()
    for number in range(3):
        world.bet(bet(stake_minor=100 * (number + 1)), round_id=f"r{number}")
        world.clock.advance(timedelta(days=1))

    days = statement(world, section="days", start=start)

    assert [(row["gaming_day"], row["opening"], row["stakes"], row["closing"]) for row in days] == [
        ("2026-11-20", 0, 1, 1),
        ("2026-11-21", 1, 2, 3),
        ("2026-11-22", 3, 3, 6),
    ]


def test_days_are_the_casinos_gaming_days_for_payments_too(world: World) -> None:
    world.add_casino("riga", zone="Europe/Riga", day_starts="06:00")
    world.open(base_amount="1000", tables=())
    world.add_table("R1", jackpot_id="j1", casino_id="riga")
    world.clock.at = datetime(2026, 12, 2, 3, 30, tzinfo=UTC)  # Half past five on the wall, before the day starts.
    world.bet(bet(), table_id="R1")
    settled(world, "early", casino_id="riga")

    (day,) = statement(world, "riga", section="days")

    assert (day["gaming_day"], day["stakes"], day["settled"], day["closing"]) == ("2026-12-01", 1, -3, -2)


def test_it_needs_a_casino_and_a_casinos_key_has_one(world: World) -> None:
    world.open()
    world.add_casino("c2")
    world.bet(bet())
    own = world.key(Role.FINANCE, casino_id="c1")

    report_answer(world, "casino-statement").problem(422, "question-invalid")
    report_answer(world, "casino-statement", casino_id="c9").problem(404, "casino-unknown")
    report_answer(world, "casino-statement", casino_id="c1", table_id="T1").problem(422, "question-invalid")
    (row,) = rows_of(world.get("/v1/reports/casino-statement", key=own).ok())
    assert row["closing"] == "1"
    world.get("/v1/reports/casino-statement?casino_id=c2", key=own).problem(404, "casino-unknown")
    assert rows(world, "casino-statement", casino_id="c2") == []


@pytest.mark.long
@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds(20))
def test_whatever_happens_it_is_the_casinos_account_turned_round(world: World, seed: int) -> None:
    play = Play(world, seed)
    play.open()
    play.go_on(50)
    then, waiting_then = world.clock(), [held_in_minor_units(world, casino) for casino in ("c1", "c2")]
    assert CASES or any(waiting_then), "the seed of each day holds an award"
    before = [figures(report(world, "casino-statement", casino_id=casino, as_of=then)) for casino in ("c1", "c2")]
    play.go_on(60)
    play.retire()
    story.require_whole(world)

    for casino_id, document, waiting in zip(("c1", "c2"), before, waiting_then, strict=True):
        assert figures(report(world, "casino-statement", casino_id=casino_id, as_of=then)) == document
        assert_it_is_the_account(world, casino_id, statement(world, casino_id))
        earlier, later = statement(world, casino_id, end=then), statement(world, casino_id, start=then)
        assert_one_goes_on_from_the_other(earlier, later)
        assert_days_add_up(statement(world, casino_id, start=then, section="days"), later)
        assert shown_in_minor_units(statement(world, casino_id, as_of=then)) == waiting
        assert shown_in_minor_units(statement(world, casino_id)) == held_in_minor_units(world, casino_id)


def assert_it_is_the_account(world: World, casino_id: str, listed: list[dict[str, Any]]) -> None:
    def key_of_casino(line: Mapping[str, Any]) -> tuple[str, str, str] | None:
        is_its = line["account"] == f"casino:{casino_id}"
        return (line["jackpot_id"], line["currency"], line["movement"]) if is_its else None

    booked = journal.sums(world, key_of_casino)
    assert {key[:2] for key in booked} <= {(row["jackpot_id"], row["currency"]) for row in listed}
    for row in listed:
        for movement, column in MOVEMENTS.items():
            assert -row[column] == booked.get((row["jackpot_id"], row["currency"], movement), ZERO), (row, movement)
        assert_it_balances(row)


def assert_it_balances(row: Mapping[str, Any]) -> None:
    net = sum((row[column] for column in MOVEMENTS.values() if column != "settled"), ZERO)
    assert row["net"] == net
    assert row["opening"] + row["net"] + row["settled"] == row["closing"]


def assert_one_goes_on_from_the_other(earlier: list[dict[str, Any]], later: list[dict[str, Any]]) -> None:
    closed = {(row["jackpot_id"], row["currency"]): row["closing"] for row in earlier}
    for row in later:
        assert row["opening"] == closed.pop((row["jackpot_id"], row["currency"]), ZERO)
    assert not any(closed.values())


def assert_days_add_up(days: list[dict[str, Any]], whole: list[dict[str, Any]]) -> None:
    for row in whole:
        of_account = [
            day for day in days if (day["jackpot_id"], day["currency"]) == (row["jackpot_id"], row["currency"])
        ]
        for earlier, later in pairwise(of_account):
            assert earlier["closing"] == later["opening"]
            assert earlier["gaming_day"] < later["gaming_day"]
        for day in of_account:
            assert_it_balances(day)
        if of_account:
            assert (of_account[0]["opening"], of_account[-1]["closing"]) == (row["opening"], row["closing"])


Held = Mapping[tuple[str, str], tuple[int, int]]
"""How many awards are held, and how many minor units of their currency they are, by jackpot and currency."""


def held_in_minor_units(world: World, casino_id: str) -> Held:
    """Add up the list of the awards about which nobody has decided."""
    numbers, minor = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for award in world.get(f"/v1/awards?state=held&casino_id={casino_id}&limit=200").ok()["items"]:
        key = award["jackpot_id"], award["currency"]
        numbers[key] += 1
        minor[key] += award["amount_minor"]
    return {key: (number, minor[key]) for key, number in numbers.items()}


def shown_in_minor_units(listed: list[dict[str, Any]]) -> Held:
    """The memoranda of a statement, which shows what the casino might have to pay as negative."""
    held = {(row["jackpot_id"], row["currency"]): (row["held_awards"], row["held"]) for row in listed}
    return {
        key: (int(number), int(-amount * (1 if key[1] == "JPY" else 100)))
        for key, (number, amount) in held.items()
        if number or amount
    }


def test_rows_are_found_by_jackpot(world: World) -> None:
    world.open()
    world.open(jackpot_id="j2", tables=("T2",))
    for table_id in ("T1", "T2"):
        world.bet(bet(), table_id=table_id)

    listed = rows(world, "casino-statement", casino_id="c1")

    assert only(listed, jackpot_id="j2")["stakes"] == "1"
    assert rows(world, "casino-statement", casino_id="c1", jackpot_id="j2") == [only(listed, jackpot_id="j2")]
