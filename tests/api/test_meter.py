"""The meter: shown in any currency of the sheet, with an ETag that changes exactly when the meter may."""

from decimal import Decimal

import pytest

from jackpot_service.domain.principals import READERS
from tests.support.answers import Answer
from tests.support.bets import bet
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.world import CYBER, World


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000")
    return world


def look(world: World, etag: str | None = None, *, query: str = "", jackpot_id: str = "j1") -> Answer:
    headers = {} if etag is None else {"If-None-Match": etag}
    return world.get(f"/v1/jackpots/{jackpot_id}/meter{query}", headers=headers)


def test_a_meter_that_has_not_changed_is_not_sent_again(opened: World) -> None:
    first = look(opened)

    again = look(opened, first.headers["ETag"])

    assert (again.status, again.text) == (304, "")
    assert again.headers["ETag"] == first.headers["ETag"]
    assert not first.headers["ETag"].startswith("W/")


def test_one_of_several_tags_is_enough(opened: World) -> None:
    etag = look(opened).headers["ETag"]

    assert look(opened, f'"other", {etag}').status == 304
    assert look(opened, "*").status == 304
    assert look(opened, '"other"').status == 200
    assert look(opened, 'garbage,,"').status == 200


def test_a_bet_changes_the_tag(opened: World) -> None:
    etag = look(opened).headers["ETag"]
    opened.bet(bet())

    changed = look(opened, etag)

    assert changed.ok()["amount"] == "1000.45"
    assert changed.headers["ETag"] != etag


def test_a_bet_that_changes_nothing_in_the_end_changes_the_tag(opened: World) -> None:
    etag = look(opened).headers["ETag"]
    opened.bet(bet())
    opened.void("b1")

    assert look(opened, etag).ok()["amount"] == "1000.00"


def test_a_hit_changes_the_tag(opened: World) -> None:
    opened.bet(bet())
    etag = look(opened).headers["ETag"]
    opened.settle(hand("1", ROYAL_FLUSH))

    assert look(opened, etag).ok()["cycle"] == 2


def test_a_replay_does_not_change_the_tag(opened: World) -> None:
    opened.bet(bet())
    etag = look(opened).headers["ETag"]
    opened.post_bets(bet()).ok(200)

    assert look(opened, etag).status == 304


def test_a_new_sheet_changes_the_tag(opened: World) -> None:
    pounds = look(opened, query="?currency=GBP")
    opened.publish(GBP="1.25")

    changed = look(opened, pounds.headers["ETag"], query="?currency=GBP")

    assert (pounds.body["amount"], changed.ok()["amount"]) == ("854.70", "800.00")


def test_each_currency_and_each_jackpot_has_a_tag_of_its_own(opened: World) -> None:
    opened.open(CYBER, jackpot_id="j2", base_amount="1000", tables=())
    tags = {
        look(opened).headers["ETag"],
        look(opened, query="?currency=GBP").headers["ETag"],
        look(opened, query="?currency=SEK").headers["ETag"],
        look(opened, jackpot_id="j2").headers["ETag"],
    }

    assert len(tags) == 4
    assert look(opened, query="?currency=EUR").headers["ETag"] == look(opened).headers["ETag"]


@pytest.mark.parametrize(
    ("currency", "amount", "amount_minor"),
    [
        ("EUR", "1000.00", 100_000),
        ("GBP", "854.70", 85_470),
        ("SEK", "11454.75", 1_145_475),
        ("JPY", "163934", 163_934),
    ],
)
def test_a_meter_is_shown_rounded_down_in_a_currencys_own_decimals(
    opened: World, currency: str, amount: str, amount_minor: int
) -> None:
    meter = opened.meter(currency=currency)

    assert (meter["currency"], meter["amount"], meter["amount_minor"]) == (currency, amount, amount_minor)
    assert Decimal(meter["amount_exact"]) == 1000
    assert Decimal(meter["overflow"]) == 0


@pytest.mark.parametrize("call", ["meter", "paytable"])
def test_the_rate_and_the_sheet_by_which_amounts_are_shown_are_named(opened: World, call: str) -> None:
    opened.publish(GBP="1.25")

    shown = {code: opened.get(f"/v1/jackpots/j1/{call}?currency={code}").ok() for code in ("EUR", "GBP")}
    usual = opened.get(f"/v1/jackpots/j1/{call}").ok()

    assert {code: (amount["rate"], amount["rate_sheet"]) for code, amount in shown.items()} == {
        "EUR": ("1", 2),
        "GBP": ("1.25", 2),
    }
    assert usual == shown["EUR"]


def test_without_a_sheet_in_force_the_base_currency_is_shown_by_no_sheet(world: World) -> None:
    world.open(base="USD", jackpot_id="j2", tables=())

    meter = world.meter("j2", "USD")
    listed = world.get("/v1/jackpots/j2").ok()["meter"]

    (shown,) = meter.pop("amounts")
    assert (meter["rate"], meter["rate_sheet"]) == ("1", None)
    assert meter == listed
    assert shown.items() <= meter.items()


def test_several_currencies_are_shown_in_one_call_as_each_by_itself(opened: World) -> None:
    meter = opened.meter(currency="GBP,EUR,JPY")

    assert [shown["currency"] for shown in meter["amounts"]] == ["GBP", "EUR", "JPY"]
    for shown in meter["amounts"]:
        alone = opened.meter(currency=shown["currency"])
        assert alone["amounts"] == [shown]
        assert shown.items() <= alone.items()
    assert meter["currency"] == "GBP"


def test_a_meter_is_as_of_its_last_movement(opened: World) -> None:
    before = opened.meter()
    opened.meter()
    opened.bet(bet())
    after = opened.meter()

    assert opened.meter()["last_movement_at"] == after["last_movement_at"]
    assert after["last_movement_at"] > before["last_movement_at"]
    assert after["version"] != before["version"]


def test_everybody_sees_the_same_meter(opened: World) -> None:
    opened.bet(bet())

    seen = [opened.get("/v1/jackpots/j1/meter", role=role).ok() for role in sorted(READERS)]

    assert all(meter == seen[0] for meter in seen)
    assert opened.get("/v1/jackpots/j1/meter?max_age=1").ok() == seen[0]


def test_the_share_of_a_unit_is_told_while_a_round_of_shared_rules_is_open(world: World) -> None:
    world.open(base_amount="998.65")
    world.open(CYBER, jackpot_id="j2", tables=("C1",))

    shared = world.bet(bet(), bet("b2"), bet("b3"))
    owned = world.bet(bet(), table_id="C1")
    world.void("b1", "b2", "b3")
    empty = world.post_bets(bet()).ok(200)
    world.bet(bet("b4"))
    world.settle(hand("1"))
    over = world.post_bets(bet("b4")).ok(200)

    assert shared["payout_per_unit"] == "333.3333333333"
    assert (owned["payout_per_unit"], empty["payout_per_unit"], over["payout_per_unit"]) == (None, None, None)
