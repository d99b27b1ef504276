from datetime import timedelta
from decimal import Decimal

import pytest

from jackpot_service.domain.accounts import AWARDS_HELD, METER_HOUSE, METER_PLAYERS, PRIZE_FUND, RESERVE
from jackpot_service.domain.money import total
from jackpot_service.domain.principals import Role
from tests.properties.profile import seeds
from tests.support.asking import only, report, rows, rows_of
from tests.support.bets import bet
from tests.support.chance import Chance
from tests.support.hands import FOUR_OF_A_KIND, ROYAL_FLUSH, STRAIGHT_FLUSH, THREE_OF_A_KIND, hand
from tests.support.house import CYBER, House
from tests.support.journal_sums import lines, moved


@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds())
def test_liability_equals_the_journal_and_the_awards(house: House, seed: int) -> None:
    history = Chance(house, seed)
    history.go_on(120)

    document = report(house, "liability")

    for jackpot_id in ("j1", "j2"):
        booked = lines(house, jackpot_id)
        item = {row["item"]: row for row in rows_of(document) if row["jackpot_id"] == jackpot_id}
        assert Decimal(item["meter"]["players"]) == moved(booked, METER_PLAYERS)
        assert Decimal(item["meter"]["house"]) == moved(booked, METER_HOUSE)
        assert Decimal(item["reserve"]["total"]) == moved(booked, RESERVE)
        assert Decimal(item["prize fund"]["total"]) == moved(booked, PRIZE_FUND)
        assert Decimal(item["held awards"]["total"]) == moved(booked, AWARDS_HELD)
        together = only(rows_of(document, "jackpots"), jackpot_id=jackpot_id)
        for column in ("players", "house", "total"):
            assert Decimal(together[column]) == total(Decimal(row[column]) for row in item.values())
        require_unpaid(house, document, jackpot_id)
    (whole,) = rows_of(document, "totals")
    assert Decimal(whole["total"]) == total(Decimal(row["total"]) for row in rows_of(document, "jackpots"))


def test_nothing_is_paid_before_it_was_awarded_whatever_the_clocks_say(house: House) -> None:
    """A server whose clock is ahead settles, one that is behind is told of the payment."""
    house.open(stripes=1)
    house.bet(bet())
    house.clock.advance(timedelta(minutes=10))
    house.settle(hand("1", THREE_OF_A_KIND))
    settled = house.clock.at
    house.clock.at = settled - timedelta(minutes=9)
    (award,) = house.get("/v1/awards?state=payable").ok()["items"]
    house.put(f"/v1/awards/{award['award_id']}/payment", {"request_id": "p1"}, key=house.key(Role.TABLE)).ok(201)
    between = house.clock()
    house.clock.at = settled + timedelta(minutes=1)

    for instant in (between, settled - timedelta(seconds=1), settled + timedelta(seconds=2)):
        assert rows(house, "liability", "unpaid", as_of=instant) == []
    paid = house.books.value("SELECT booked_at FROM entries WHERE kind = 'award_paid'")
    assert paid >= house.books.value("SELECT booked_at FROM entries WHERE kind = 'result'")


def require_unpaid(house: House, document: dict[str, object], jackpot_id: str) -> None:
    """The memorandum is what the list of awards says."""
    listed = house.get(f"/v1/awards?state=payable&jackpot_id={jackpot_id}&limit=100").ok()["items"]
    unpaid = [row for row in rows_of(document, "unpaid") if row["jackpot_id"] == jackpot_id]
    assert sum(row["awards"] for row in unpaid) == len(listed)
    assert total(Decimal(row["cost"]) for row in unpaid) == total(Decimal(award["cost"]) for award in listed)
    for row in unpaid:
        own = [award["amount_minor"] for award in listed if award["currency"] == row["currency"]]
        assert Decimal(row["amount"]) * 100 <= sum(own)


def test_a_held_jackpot_is_split_by_whose_money_it_took(house: House) -> None:
    house.open(base_amount="1000", settings={"held_threshold": "200"})
    house.bet(bet("b1", stake_minor=10_000))
    before = house.clock()
    house.settle(hand("1", ROYAL_FLUSH))

    held = only(rows(house, "liability"), item="held awards")
    assert (held["players"], held["house"], held["total"]) == ("45", "1000", "1045")
    assert only(rows(house, "liability", as_of=before), item="held awards")["total"] == "0"

    decided = house.clock()
    house.change("held-awards", {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "decision": "approve"})
    assert only(rows(house, "liability"), item="held awards")["total"] == "0"
    assert only(rows(house, "liability", as_of=decided), item="held awards")["total"] == "1045"
    assert rows(house, "liability", "unpaid", as_of=decided) == []
    (unpaid,) = rows(house, "liability", "unpaid")
    assert (unpaid["paid_from"], unpaid["awards"], unpaid["amount"], unpaid["cost"]) == ("meter", 1, "1045", "1045")


def test_what_a_prize_fund_held_for_players_is_the_players_money(house: House) -> None:
    house.open(settings={"held_threshold": "200"})
    house.bet(bet())
    house.settle(hand("1", FOUR_OF_A_KIND))

    items = {row["item"]: row for row in rows(house, "liability")}

    assert (items["held awards"]["players"], items["held awards"]["house"]) == ("250", "0")
    assert (items["prize fund"]["players"], items["prize fund"]["house"]) == ("0", "-249.6816")
    assert only(rows(house, "liability", "jackpots"))["players"] == "250.5"


def test_players_money_below_zero_stands_as_it_is(house: House) -> None:
    house.open(CYBER, tables=("C1",), base_amount="20000", settings={"reset_amount": "10000"})
    house.bet(bet(), round_id="refunded", table_id="C1")
    house.bet(bet(), table_id="C1")
    house.settle(hand("1", STRAIGHT_FLUSH), table_id="C1")
    house.cancel(round_id="refunded", table_id="C1")

    meter = only(rows(house, "liability"), item="meter")

    assert (meter["players"], meter["house"], meter["total"]) == ("-0.7", "18001.26", "18000.56")


def test_an_award_waits_until_its_casino_says_that_it_paid(house: House) -> None:
    house.open()
    house.bet(bet(currency="GBP"))
    house.settle(hand("1", THREE_OF_A_KIND))
    unpaid_then = house.clock()
    (award,) = house.round()["settlement"]["awards"]
    body = {"request_id": "p1"}
    house.put(f"/v1/awards/{award['award_id']}/payment", body, key=house.key(Role.TABLE)).ok(201)

    assert rows(house, "liability", "unpaid") == []
    (unpaid,) = rows(house, "liability", "unpaid", as_of=unpaid_then)
    assert {name: unpaid[name] for name in ("paid_from", "currency", "amount", "base", "cost")} == {
        "paid_from": "prize fund",
        "currency": "GBP",
        "amount": "3",
        "base": "EUR",
        "cost": "3.51",
    }


def test_payments_count_from_their_act_on_whatever_the_day_and_whoever_owns_the_jackpot(house: House) -> None:
    """Whole days of payments are summed, and those of the day that the instant lies in are looked up."""
    house.open(tables=("T1",))
    house.open(jackpot_id="j2", tables=("T2",))
    for table_id in ("T1", "T2"):
        for number in range(4):
            house.bet(bet(), round_id=f"r{number}", table_id=table_id)
            house.settle(hand("1", THREE_OF_A_KIND), round_id=f"r{number}", table_id=table_id)
    first = house.clock().replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    told = [first + timedelta(hours=hours) for hours in (1, 23, 25, 48)]
    for number, house.clock.at in enumerate(told):
        (award,) = house.round(f"r{number}")["settlement"]["awards"]
        body = {"request_id": f"p{number}"}
        house.put(f"/v1/awards/{award['award_id']}/payment", body, key=house.key(Role.TABLE)).ok(201)
    house.clock.at = told[-1] + timedelta(hours=30)

    for hours, unpaid in ((0, 4), (1.5, 3), (24, 2), (24.5, 2), (26, 1), (48, 1), (50, 0), (72, 0), (75, 0)):
        listed = rows(house, "liability", "unpaid", as_of=first + timedelta(hours=hours))
        counts = {row["jackpot_id"]: (row["awards"], row["amount"], row["cost"]) for row in listed}
        due = {"j1": unpaid, "j2": 4}
        assert counts == {key: (awards, str(3 * awards), str(3 * awards)) for key, awards in due.items() if awards}
