"""A suspended jackpot refuses new bets, and still settles, refunds and reports. Decision 22."""

import orjson
import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.support.answers import Answer
from tests.support.bets import bet
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.world import World
from tests.usecases.test_stripes import spread

pytestmark = pytest.mark.slow


def put(world: World, what: str, request_id: str, *, key: str | None = None, jackpot_id: str = "j1") -> Answer:
    body = {"request_id": request_id, "reason": "as agreed"}
    path = f"/v1/jackpots/{jackpot_id}/{what}"
    return world.call("PUT", path, key=key or world.person("Ann", Role.OPERATOR), data=orjson.dumps(body))


@pytest.fixture
def suspended(world: World) -> World:
    """A jackpot with an open round, suspended since."""
    world.open(base_amount="1000")
    world.bet(bet("b1"))
    put(world, "suspension", "s1").ok(201)
    return world


def test_a_suspended_jackpot_refuses_a_bet_and_books_nothing(suspended: World) -> None:
    before, pools = suspended.books.counts_but_exceptions(), suspended.books.pools("j1")

    problem = suspended.post_bets(bet("b2")).problem(409, "jackpot-suspended")
    suspended.post_bets(bet("b2"), round_id="new").problem(409, "jackpot-suspended")

    assert problem["jackpot_id"] == "j1"
    assert suspended.books.counts_but_exceptions() == before
    assert suspended.books.pools("j1") == pools


def test_a_suspended_jackpot_answers_a_replay(suspended: World) -> None:
    assert suspended.post_bets(bet("b1")).ok(200)["replayed"] == 1


def test_a_suspended_jackpot_settles_what_was_open(suspended: World) -> None:
    settlement = suspended.settle(hand("1", ROYAL_FLUSH))

    assert [award["amount_minor"] for award in settlement["awards"]] == [100_045]


def test_a_suspended_jackpot_refunds(suspended: World) -> None:
    assert suspended.void("b1")["voided"] == ["b1"]
    assert suspended.cancel()["round"]["state"] == "cancelled"


def test_a_suspended_jackpot_says_so(suspended: World) -> None:
    shown = suspended.get("/v1/jackpots/j1").ok()
    assert (shown["state"], shown["is_accepting"]) == ("suspended", False)
    assert suspended.meter()["amount"] == "1000.45"


def test_another_jackpot_goes_on(suspended: World) -> None:
    suspended.open(jackpot_id="j2", tables=("T2",))

    assert suspended.bet(bet(), table_id="T2")["accepted"] == 1
    assert suspended.get("/v1/jackpots/j2").ok()["is_accepting"] is True


def test_one_person_resumes_it_and_bets_are_taken_again(suspended: World) -> None:
    assert put(suspended, "resumption", "s2").ok(201) == {"jackpot_id": "j1", "state": "open"}

    assert suspended.bet(bet("b2"), round_id="r2")["accepted"] == 1
    assert suspended.get("/v1/jackpots/j1").ok()["state"] == "open"


def test_the_same_request_again_changes_nothing_also_after_the_opposite(suspended: World) -> None:
    put(suspended, "resumption", "s2").ok(201)
    before = suspended.books.counts()

    assert put(suspended, "suspension", "s1").ok(200)["state"] == "suspended"
    assert suspended.books.counts() == before
    assert suspended.get("/v1/jackpots/j1").ok()["state"] == "open"


def test_a_request_id_stands_for_one_request(suspended: World) -> None:
    put(suspended, "resumption", "s1").problem(409, "request-conflict")
    put(suspended, "suspension", "s1", key=suspended.person("Bob", Role.OPERATOR)).problem(409, "request-conflict")


def test_a_second_suspension_is_recorded_and_books_nothing(suspended: World) -> None:
    before = suspended.books.counts()

    assert put(suspended, "suspension", "s3").ok(201)["state"] == "suspended"

    after = suspended.books.counts()
    assert {table for table in before if after[table] != before[table]} == {"acts", "entries"}
    assert suspended.books.value("SELECT count(*) FROM entries WHERE kind = 'jackpot_suspended'") == 3
    assert suspended.books.value("SELECT effects FROM acts WHERE request_id = 's3'") == []


def test_a_machine_suspends_and_a_person_resumes(world: World) -> None:
    world.open()
    robot = Principal("alarm", Role.OPERATOR, is_automaton=True)
    key = world.key_of(robot)

    put(world, "suspension", "s1", key=key).ok(201)
    put(world, "resumption", "s2", key=key).problem(403, "user-required")
    put(world, "resumption", "s2").ok(201)


def test_stripes_added_to_a_suspended_jackpot_take_no_bets_until_it_is_resumed(suspended: World) -> None:
    spread(suspended, 64)
    for number in range(5):
        suspended.post_bets(bet("b"), round_id=f"no{number}").problem(409, "jackpot-suspended")

    put(suspended, "resumption", "s2").ok(201)
    for number in range(5):
        suspended.bet(bet("b"), round_id=f"yes{number}")


def test_what_is_suspended_is_named_why_and_for_whom(world: World) -> None:
    key = world.person("Ann", Role.OPERATOR)
    put(world, "suspension", "s1", jackpot_id="j9").problem(404, "jackpot-unknown")
    world.call("PUT", "/v1/jackpots/j1/suspension", key=key, data=b'{"request_id": "s1"}').problem(422, "validation")
    put(world, "suspension", "s1", key=world.key(Role.FINANCE)).problem(403, "role-forbidden")
