"""Betting closes: bets after it are refused and kept, voids need a reason, and its count is the ledger's."""

from datetime import timedelta
from functools import partial

import pytest

from jackpot_service.domain.rules import BadRules
from jackpot_service.records import lives
from tests.support.answers import Body
from tests.support.asking import rows
from tests.support.bets import bet
from tests.support.hands import NOTHING, ROYAL_FLUSH, hand
from tests.support.world import World
from tests.usecases.test_suspension import put

pytestmark = pytest.mark.slow

ROUND = "/v1/tables/T1/rounds/r1"


def closing(count: int = 1, **more: object) -> Body:
    return {"bet_count": count, **more}


@pytest.fixture
def betting(world: World) -> World:
    world.open(base_amount="1000")
    world.post_bets(bet("b1"))
    return world


def kinds(world: World) -> list[str]:
    return [item["kind"] for item in world.get("/v1/exceptions").ok()["items"]]


def test_a_closing_can_be_repeated_and_says_what_the_round_is_now(betting: World) -> None:
    betting.put_closing(bet_count=1).ok(201)
    assert betting.put_closing(bet_count=1).ok(200)["round"]["state"] == "closed"
    betting.settle(hand("1", NOTHING))
    assert betting.put_closing(bet_count=1).ok(200)["round"]["state"] == "settled"

    assert betting.books.value("SELECT count(*) FROM entries WHERE kind = 'closing'") == 1
    betting.put_closing(bet_count=2).problem(409, "closing-conflict")


def test_a_wrong_count_closes_nothing_and_names_the_ledgers(betting: World) -> None:
    problem = betting.put_closing(bet_count=2).problem(409, "bet-count-mismatch")

    assert (problem["bet_count"], problem["bet_ids"]) == (1, ["b1"])
    assert betting.round()["round"]["state"] == "open"
    assert kinds(betting) == ["bet-count-mismatch"]


def test_an_unknown_round_is_not_closed_and_not_opened(world: World) -> None:
    world.open(base_amount="1000")

    world.put_closing(bet_count=0).problem(404, "round-unknown")
    assert world.books.value("SELECT count(*) FROM rounds") == 0


@pytest.mark.parametrize("end", ["settle", "cancel"])
def test_a_round_that_has_ended_is_not_closed(betting: World, end: str) -> None:
    betting.settle(hand("1", NOTHING)) if end == "settle" else betting.cancel()

    betting.put_closing(bet_count=1).problem(409, "round-settled" if end == "settle" else "round-cancelled")


def test_a_void_after_the_closing_needs_a_reason_and_is_an_exception(betting: World) -> None:
    betting.bet(bet("b2", player_id="p2", hand="2"))
    betting.post_voids("b1").ok()
    betting.put_closing(bet_count=1).ok(201)

    betting.post_voids("b2").problem(409, "reason-required")
    done = betting.post_voids("b2", reason="dealt to the wrong seat").ok()
    assert (done["voided"], done["round"]["state"], done["round"]["bet_count"]) == (["b2"], "closed", 0)
    (noted,) = betting.get("/v1/exceptions").ok()["items"]
    assert (noted["kind"], noted["detail"]) == ("late-void", "Void after betting was closed: dealt to the wrong seat")


def test_the_record_of_a_round_shows_its_closing_and_why_bets_were_void(betting: World) -> None:
    betting.bet(bet("b2", player_id="p2", hand="2"))
    betting.put_closing(bet_count=2).ok(201)
    betting.post_voids("b2", reason="dealt to the wrong seat").ok()

    stated = {entry["kind"]: entry["stated"] for entry in betting.round()["entries"]}

    assert (stated["bets"], stated["closing"]["bet_count"]) == (None, 2)
    assert (stated["voids"]["voided"], stated["voids"]["reason"]) == (["b2"], "dealt to the wrong seat")


def test_a_void_is_repeated_as_it_was_before_the_closing_and_after_it(betting: World) -> None:
    betting.bet(bet("b2", player_id="p2", hand="2"))
    before = betting.post_voids("b1").ok()
    betting.put_closing(bet_count=1).ok(201)
    after = betting.post_voids("b2", reason="dealt to the wrong seat").ok()

    assert betting.post_voids("b1").ok() == before
    assert betting.post_voids("b2").ok() == after
    assert kinds(betting) == ["late-void"]


def test_a_closed_round_is_settled_or_cancelled_and_shares_the_jackpot(betting: World) -> None:
    betting.put_closing(bet_count=1).ok(201)
    assert betting.settle(hand("1", ROYAL_FLUSH))["awards"][0]["tier"] == "royal_flush"

    betting.bet(bet("b1"), round_id="r2")
    betting.put_closing(round_id="r2").ok(201)
    assert betting.cancel(round_id="r2")["round"]["state"] == "cancelled"


def test_rules_may_require_a_closing_before_the_result(world: World) -> None:
    world.open(base_amount="1000", settings={"close_required": "true"})
    world.bet(bet("b1"))

    world.put_result(hand("1", NOTHING)).problem(409, "closing-required")
    world.put_closing(bet_count=1).ok(201)
    world.put_result(hand("1", NOTHING)).ok(201)
    assert any("only after its betting was closed" in line for line in world.get("/v1/jackpots/j1/rules").ok()["text"])


@pytest.mark.parametrize("value", ["yes", "", "1", "True"])
def test_whether_a_closing_is_required_is_true_or_false(world: World, value: str) -> None:
    with pytest.raises(BadRules, match="true or false"):
        world.open(settings={"close_required": value})


AHEAD = "2026-11-20T23:00:00Z"
EARLIER = "2026-11-20T08:00:00Z"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "r1/bets", {"bets": [{**bet("b2"), "occurred_at": AHEAD}]}),
        ("POST", "r1/voids", {"bet_ids": ["b1"], "occurred_at": AHEAD}),
        ("PUT", "r1/closing", closing(occurred_at=AHEAD)),
        ("PUT", "r1/result", {"bet_count": 1, "hands": [hand("1", NOTHING)], "occurred_at": AHEAD}),
        ("PUT", "r1/cancellation", {"reason": "misdeal", "occurred_at": AHEAD}),
    ],
)
def test_a_time_ahead_of_the_ledgers_clock_is_refused(betting: World, method: str, path: str, body: Body) -> None:
    betting.send(method, "T1", path, body).problem(422, "occurred-in-future")
    assert betting.books.value("SELECT steps FROM rounds") == 1


@pytest.mark.parametrize("path", ["r1/closing", "r1/result"])
def test_a_round_does_not_end_before_its_bets(world: World, path: str) -> None:
    world.open(base_amount="1000")
    world.bet({**bet("b1"), "occurred_at": "2026-11-20T08:00:01Z"})
    body = closing(occurred_at=EARLIER) | ({"hands": [hand("1", NOTHING)]} if path == "r1/result" else {})

    assert world.send("PUT", "T1", path, body).problem(409, "dated-before-bet")["bet_ids"] == ["b1"]
    assert kinds(world) == ["dated-before-bet"]
    assert world.send("PUT", "T1", path, body | {"occurred_at": "2026-11-20T08:00:01Z"}).ok(201)


@pytest.mark.parametrize("count", [-1, 1.0, "1", None, 2**40])
def test_a_count_that_is_none_is_refused(betting: World, count: object) -> None:
    betting.send("PUT", "T1", "r1/closing", {"bet_count": count}).problem(422, "validation")


def test_a_closed_round_is_still_an_exception_when_it_waits_too_long(betting: World) -> None:
    betting.put_closing(bet_count=1).ok(201)
    betting.clock.advance(timedelta(minutes=20))

    assert kinds(betting) == ["round-open"]


def test_a_count_for_an_unknown_round_is_answered_and_kept_as_a_results_is(world: World) -> None:
    world.open(base_amount="1000")

    assert world.put_closing(bet_count=2).problem(409, "bet-count-mismatch")["bet_count"] == 0
    assert kinds(world) == ["bet-count-mismatch"]
    assert world.books.value("SELECT count(*) FROM rounds") == 0


def test_a_round_without_bets_is_settled_also_where_a_closing_is_required(world: World) -> None:
    world.open(base_amount="1000", settings={"close_required": "true"})

    assert world.put_result(hand("1", NOTHING)).ok(201)["round"]["state"] == "settled"


def test_the_time_of_a_void_bet_keeps_no_round_open(betting: World) -> None:
    betting.bet({**bet("b2"), "occurred_at": "2026-11-20T08:00:01Z"})
    betting.post_voids("b2").ok()

    assert betting.send("PUT", "T1", "r1/closing", closing(occurred_at=EARLIER)).ok(201)


def test_a_late_void_names_only_the_bets_that_it_made_void(betting: World) -> None:
    betting.bet(bet("b2", player_id="p2", hand="2"))
    betting.post_voids("b1").ok()
    betting.put_closing(bet_count=1).ok(201)

    betting.post_voids("b1", "b2", "unheard", reason="misdealt").ok()

    (noted,) = betting.get("/v1/exceptions").ok()["items"]
    assert noted["facts"] == {
        "call": "voids",
        "bet_ids": ["b2", "unheard"],
        "occurred_at": None,
        "reason": "misdealt",
    }


def test_betting_closes_while_the_jackpot_is_suspended(betting: World) -> None:
    put(betting, "suspension", "s1").ok(201)
    betting.post_bets(bet("b2")).problem(409, "jackpot-suspended")

    assert betting.put_closing(bet_count=1).ok(201)["round"]["state"] == "closed"


def test_a_closed_round_keeps_its_jackpot_in_play_and_is_in_the_report_of_rounds(betting: World) -> None:
    betting.put_closing(bet_count=1).ok(201)

    betting.open(jackpot_id="j2", tables=("T2",))
    betting.ask("retirement", {"jackpot_id": "j1", "to": "j2"}).problem(409, "jackpot-in-play")
    betting.clock.advance(timedelta(hours=1))
    assert [row["state"] for row in rows(betting, "rounds", start="2026-11-20T00:00:00Z")] == ["closed"]


def test_closed_rounds_count_among_the_stakes_at_play_and_a_closed_round_shares_the_whole_jackpot(
    world: World,
) -> None:
    world.open(base_amount="1000")
    for bet_id, hand_id, stake in (("b1", "1", 100), ("b2", "2", 300)):
        world.bet(bet(bet_id, hand=hand_id, stake_minor=stake))
    world.put_closing(bet_count=2).ok(201)

    assert [weight for _, weight in world.transact(partial(lives.open_weights, jackpot_id="j1"))] == [4]
    awards = world.settle(hand("1", ROYAL_FLUSH), hand("2", NOTHING))["awards"]
    assert [(award["bet_id"], award["amount_minor"]) for award in awards] == [("b1", 25045), ("b2", 75135)]
