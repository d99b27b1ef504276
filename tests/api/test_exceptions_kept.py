"""Refusals that finance must see are kept: one row for each kind, table, round and content."""

import pytest

from jackpot_service.domain.principals import Role
from tests.support.answers import Answer
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.world import CYBER, World


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000", tables=("T1", "T2"))
    return world


def kinds(world: World) -> list[str]:
    return [exception["kind"] for exception in world.books.exceptions()]


def late_bet(world: World) -> Answer:
    world.cancel()
    return world.post_bets(bet("late"))


def bet_conflict(world: World) -> Answer:
    world.bet(bet())
    return world.post_bets(bet(stake_minor=200))


def bet_count_mismatch(world: World) -> Answer:
    world.bet(bet())
    return world.put_result(hand("1"), bet_count=2)


def result_conflict(world: World) -> Answer:
    world.bet(bet())
    world.settle(hand("1"))
    return world.put_result(hand("1", FLUSH))


def cancellation_conflict(world: World) -> Answer:
    world.cancel()
    return world.put_cancellation(reason="power cut")


def round_cancelled(world: World) -> Answer:
    world.cancel()
    return world.put_result(hand("1"), bet_count=0)


def round_settled(world: World) -> Answer:
    world.settle(hand("1"))
    return world.post_voids("b1")


def bet_after_the_closing(world: World) -> Answer:
    world.bet(bet())
    world.put_closing().ok(201)
    return world.post_bets(bet("b2", hand="2"))


def closing_conflict(world: World) -> Answer:
    world.bet(bet())
    world.put_closing().ok(201)
    return world.put_closing(bet_count=2)


@pytest.mark.parametrize(
    ("refused", "kind", "status", "code"),
    [
        (bet_after_the_closing, "late-bet", 409, "betting-closed"),
        (closing_conflict, "closing-conflict", 409, "closing-conflict"),
        (late_bet, "late-bet", 409, "round-cancelled"),
        (bet_conflict, "bet-conflict", 409, "bet-conflict"),
        (bet_count_mismatch, "bet-count-mismatch", 409, "bet-count-mismatch"),
        (result_conflict, "result-conflict", 409, "result-conflict"),
        (cancellation_conflict, "cancellation-conflict", 409, "cancellation-conflict"),
        (round_cancelled, "round-cancelled", 409, "round-cancelled"),
        (round_settled, "round-settled", 409, "round-settled"),
    ],
)
def test_a_refusal_that_finance_must_see_is_kept(
    opened: World, refused: object, kind: str, status: int, code: str
) -> None:
    assert callable(refused)
    refused(opened).problem(status, code)

    (exception,) = opened.books.exceptions()
    assert (exception["kind"], exception["jackpot_id"], exception["table_id"], exception["round_id"]) == (
        kind,
        "j1",
        "T1",
        "r1",
    )
    assert exception["principal"] == "a table"
    assert exception["detail"]["request"]["call"] in {"bets", "voids", "closing", "result", "cancellation"}
    assert exception["detail"]["detail"]


def test_the_same_call_refused_again_is_kept_once(opened: World) -> None:
    opened.cancel()

    for _ in range(3):
        opened.post_bets(bet("a"), bet("b")).problem(409, "round-cancelled")
    opened.post_bets(bet("b"), bet("a")).problem(409, "round-cancelled")

    assert kinds(opened) == ["late-bet"]


def test_another_content_round_or_table_is_kept_beside_it(opened: World) -> None:
    opened.cancel()
    opened.cancel(round_id="r2")
    opened.cancel(table_id="T2")

    opened.post_bets(bet("a")).problem(409, "round-cancelled")
    opened.post_bets(bet("a", stake_minor=1)).problem(409, "round-cancelled")
    opened.post_bets(bet("a"), round_id="r2").problem(409, "round-cancelled")
    opened.post_bets(bet("a"), table_id="T2").problem(409, "round-cancelled")

    assert kinds(opened) == ["late-bet"] * 4


def test_a_token_of_another_value_is_kept(world: World) -> None:
    world.open(CYBER)

    world.post_bets(bet(stake_minor=99)).problem(422, "stake-out-of-range", "/bets/0/stake_minor")

    assert kinds(world) == ["stake-out-of-range"]


def test_what_was_asked_can_be_read_in_what_is_kept(opened: World) -> None:
    opened.post_bets(bet("big", currency="GBP", stake_minor=9999)).problem(422, "stake-out-of-range")

    (exception,) = opened.books.exceptions()
    assert exception["detail"]["request"]["bets"] == [["big", "player-of-big", "1", "GBP", 9999, None]]


def test_a_plain_mistake_is_not_kept(opened: World) -> None:
    opened.post_bets(bet(stake_minor=0)).problem(422, "validation")
    opened.post_bets(bet(currency="XXX")).problem(422, "unknown-currency")
    opened.post_bets(bet("a"), bet("a")).problem(422, "duplicate-bet")
    opened.put_result(hand("1", FLUSH[:4]), bet_count=0).problem(422, "hands-invalid")
    opened.post_bets(bet(), table_id="T9").problem(404, "table-unknown")
    opened.send("POST", "T1", "r1/bets", {"bets": [bet()]}, key=opened.key(Role.FINANCE)).problem(403, "role-forbidden")

    assert kinds(opened) == []


def test_the_order_in_which_wrong_things_are_noticed(opened: World) -> None:
    """Shape, then identity, then the round's state, then meaning: currency, rate, stake, hands."""
    opened.bet(bet("known"))
    different, late = bet("known", stake_minor=1), bet("late", currency="XXX")

    opened.post_bets(different, bet("x", stake_minor=0)).problem(422, "validation")
    opened.post_bets(different, late).problem(409, "bet-conflict")
    opened.post_bets(bet("a", stake_minor=10_001), bet("b", currency="CHF")).problem(422, "no-rate")
    opened.post_bets(bet("a", stake_minor=10_001), bet("b", player_id="player-of-a")).problem(422, "stake-out-of-range")
    opened.cancel()
    opened.post_bets(late).problem(409, "round-cancelled")
    opened.post_bets(different, late).problem(409, "bet-conflict")
    assert opened.post_bets(bet("known")).ok(200)["replayed"] == 1
