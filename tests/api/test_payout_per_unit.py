"""A bettor's share of a royal flush, asked for at any time of a round: what the answer to the last bets said."""

from decimal import Decimal

import pytest

from jackpot_service.domain.principals import Role
from tests.support.answers import Answer
from tests.support.bets import bet
from tests.support.hands import NOTHING, hand
from tests.support.world import CYBER, World

READERS = (Role.TABLE, Role.FINANCE, Role.OPERATOR, Role.AUDITOR)


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="998.65")
    return world


def share(world: World, round_id: str = "r1", *, table_id: str = "T1", role: Role = Role.TABLE) -> Answer:
    return world.get(f"/v1/tables/{table_id}/rounds/{round_id}/payout-per-unit", role=role)


def test_it_is_what_the_answer_to_the_last_bets_said(opened: World) -> None:
    opened.bet(bet(), bet("b2", hand="2", currency="GBP"))
    answered = opened.bet(bet("b3", hand="3", currency="JPY", stake_minor=1000))

    shown = share(opened).ok()

    assert shown["payout_per_unit"] == answered["payout_per_unit"]
    assert shown["version"] == answered["meter"]["version"]
    assert shown["last_movement_at"] == answered["meter"]["last_movement_at"]
    assert (shown["jackpot_id"], shown["table_id"], shown["round_id"]) == ("j1", "T1", "r1")
    assert (shown["state"], shown["bet_count"]) == ("open", 3)


def test_it_follows_the_meter_and_the_live_bets(opened: World) -> None:
    opened.bet(bet(), bet("b2", hand="2"))
    opened.bet(bet(), round_id="r2")
    before = share(opened).ok()["payout_per_unit"]
    opened.void("b2")

    after = share(opened).ok()["payout_per_unit"]

    assert (before, after) == ("500", "999.55")
    assert Decimal(after) == Decimal(opened.meter()["amount_exact"])


def test_it_is_there_until_the_round_has_ended(opened: World) -> None:
    opened.bet(bet())
    opened.put_closing().ok(201)
    closed = share(opened).ok()
    opened.settle(hand("1", NOTHING))
    opened.bet(bet("c"), round_id="r2")
    opened.cancel(round_id="r2")

    assert (closed["state"], closed["payout_per_unit"]) == ("closed", "999.1")
    assert [share(opened, round_id).ok()["payout_per_unit"] for round_id in ("r1", "r2")] == [None, None]


def test_it_is_null_without_a_live_bet_and_where_a_hand_owns_its_prize(opened: World) -> None:
    opened.open(CYBER, jackpot_id="j2", tables=("C1",))
    opened.bet(bet())
    opened.void("b1")
    opened.bet(bet(), table_id="C1")

    assert share(opened).ok()["payout_per_unit"] is None
    assert share(opened, table_id="C1").ok()["payout_per_unit"] is None


def test_everybody_who_may_see_the_table_may_ask(opened: World) -> None:
    opened.bet(bet())
    opened.add_casino("c2")

    assert [share(opened, role=role).ok()["payout_per_unit"] for role in READERS] == ["999.1"] * len(READERS)
    share(opened, role=Role.RATES).problem(403, "role-forbidden")
    stranger = opened.key(Role.TABLE, casino_id="c2")
    opened.get("/v1/tables/T1/rounds/r1/payout-per-unit", key=stranger).problem(404, "table-unknown")


def test_the_key_of_a_display_sees_its_own_table_alone(opened: World) -> None:
    opened.add_table("T2", jackpot_id="j1")
    opened.bet(bet())
    opened.bet(bet(), table_id="T2")
    display = opened.key(Role.TABLE, casino_id="c1", table_ids=("T1",))

    own = opened.get("/v1/tables/T1/rounds/r1/payout-per-unit", key=display).ok()

    assert own["payout_per_unit"] == "999.55"
    opened.get("/v1/tables/T2/rounds/r1/payout-per-unit", key=display).problem(404, "table-unknown")


def test_what_is_not_there_is_unknown(opened: World) -> None:
    opened.add_table("T2")

    share(opened, "r9").problem(404, "round-unknown")
    share(opened, table_id="T2").problem(404, "round-unknown")
    share(opened, table_id="T9").problem(404, "table-unknown")
