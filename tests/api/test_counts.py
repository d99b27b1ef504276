"""How many exceptions there are by kind, and how many change requests by state: as many as their lists hold."""

from collections import Counter
from datetime import timedelta
from typing import Any, Final

import pytest

from jackpot_service.domain.principals import Role
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.fixtures import books_verify
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]

COUNTS: Final = "/v1/exception-counts"
CHANGES: Final = "/v1/change-request-counts"


@pytest.fixture
def troubled(world: World) -> World:
    """Late bets at two casinos, one of them looked into; refusals that are one line an hour; a round left open."""
    world.open(base_amount="1000", tables=("T1",))
    world.add_casino("c2")
    world.add_table("T2", jackpot_id="j1", casino_id="c2")
    for table_id in ("T1", "T2"):
        world.cancel(round_id="late", table_id=table_id)
        world.post_bets(bet("b"), round_id="late", table_id=table_id).problem(409, "round-cancelled")
    for number in range(3):
        world.post_bets(bet(f"z{number}", currency="PLN"), round_id="zloty").problem(422, "no-rate")
    (late,) = world.get("/v1/exceptions?kind=late-bet&table_id=T1").ok()["items"]
    path = f"/v1/exceptions/{late['exception_id']}/acknowledgement"
    world.post(path, {"request_id": "a1", "reason": "seen"}, key=world.person("Ann", Role.OPERATOR)).ok(201)
    world.bet(bet(), round_id="open")
    world.clock.advance(timedelta(minutes=16))
    return world


def counted(world: World, query: str = "", **caller: Any) -> dict[str, tuple[int, int, int]]:
    items: list[Body] = world.get(f"{COUNTS}{query}", **caller).ok()["items"]
    return {item["kind"]: (item["exceptions"], item["acknowledged"], item["refusals"]) for item in items}


def test_exceptions_are_counted_by_kind(troubled: World) -> None:
    assert counted(troubled) == {"late-bet": (2, 1, 2), "no-rate": (1, 0, 3), "round-open": (1, 0, 1)}


def test_the_counts_are_those_of_the_list_whatever_is_asked_for(troubled: World, subtests: pytest.Subtests) -> None:
    since = troubled.get("/v1/exceptions?kind=no-rate").ok()["items"][0]["noticed_at"]
    stranger = troubled.key(Role.FINANCE, casino_id="c2")
    for query in (
        "",
        "?acknowledged=true",
        "?acknowledged=false",
        "?casino_id=c2",
        "?casino_id=c1",
        "?table_id=T1&acknowledged=false",
        "?jackpot_id=j1",
        "?jackpot_id=j9",
        f"?from={since}",
        f"?to={since}",
    ):
        for key in (troubled.key(Role.AUDITOR), stranger):
            with subtests.test(f"{query} {'of c2' if key == stranger else ''}"):
                items = troubled.get(f"/v1/exceptions{query}", key=key).ok()["items"]
                counts = {kind: count for kind, (count, _, _) in counted(troubled, query, key=key).items()}
                assert counts == Counter(item["kind"] for item in items)


def test_a_key_of_a_casino_counts_that_casinos(troubled: World) -> None:
    assert counted(troubled, key=troubled.key(Role.FINANCE, casino_id="c2")) == {"late-bet": (1, 0, 1)}


def test_a_day_without_exceptions_has_none(world: World) -> None:
    assert counted(world) == {}


def test_change_requests_are_counted_by_state(world: World) -> None:
    nothing = {"pending": 0, "approved": 0, "rejected": 0, "expired": 0}
    assert world.get(CHANGES).ok() == nothing
    world.open(base_amount="1000")
    rates = {"base": "EUR", "rates": {"GBP": "1.18"}}
    for request_id in ("q1", "q2"):
        world.ask("rate-sheet", rates, request_id=request_id, role=Role.RATES).ok(201)
    world.approve("q1", role=Role.RATES).ok()
    rejection = {"reason": "not agreed"}
    world.post("/v1/change-requests/q2/rejection", rejection, key=world.person("Bob", Role.RATES)).ok()
    rules = {"jackpot_id": "j1", "settings": {"limit": "9000"}}
    world.ask("rules", rules, request_id="q4", by="Olga", role=Role.OPERATOR).ok(201)

    assert world.get(CHANGES).ok() == nothing | {"pending": 1, "approved": 1, "rejected": 1}
    assert world.get(f"{CHANGES}?kind=rate-sheet").ok() == nothing | {"approved": 1, "rejected": 1}
    world.clock.advance(timedelta(days=400))
    assert world.get(CHANGES).ok() == nothing | {"expired": 1, "approved": 1, "rejected": 1}
    for state in nothing:
        listed = world.get(f"/v1/change-requests?state={state}").ok()["items"]
        assert world.get(CHANGES).ok()[state] == len(listed)
    assert world.get(CHANGES, key=world.key(Role.FINANCE, casino_id="c1")).ok() == nothing


@pytest.mark.parametrize(
    ("path", "member"),
    [
        (f"{COUNTS}?kind=late-bet", "kind"),
        (f"{COUNTS}?acknowledged=1", "acknowledged"),
        (f"{COUNTS}?from=yesterday", "from"),
        (f"{CHANGES}?kind=nonsense", "kind"),
        (f"{CHANGES}?state=pending", "state"),
    ],
)
def test_a_wrong_query_is_refused_by_the_name_of_what_is_wrong(world: World, path: str, member: str) -> None:
    world.get(path).problem(422, "validation", f"?{member}")


def test_each_is_for_those_who_see_its_list(world: World) -> None:
    for path, of_list in ((COUNTS, "/v1/exceptions"), (CHANGES, "/v1/change-requests")):
        for role in Role:
            assert world.get(path, role=role).status == world.get(of_list, role=role).status
