"""Whether documents and journal agree, as it is kept, over HTTP: by jackpot, as of any instant, and for whom."""

from datetime import timedelta
from functools import partial

import pytest

from jackpot_service.domain.principals import Role
from jackpot_service.reports.reconciling import reconcile_next
from tests.support.bets import bet
from tests.support.fixtures import books_verify
from tests.support.hands import FLUSH, hand
from tests.support.reading import past_the_service
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]


@pytest.fixture
def played(world: World) -> World:
    """Two jackpots that were opened on the 20th; it is the 22nd."""
    world.open(base_amount="1000")
    world.open(jackpot_id="j2", tables=("T2",))
    world.bet(bet("a"))
    world.settle(hand("1", FLUSH))
    world.clock.advance(timedelta(days=2))
    return world


def read_days(world: World) -> None:
    for _ in iter(partial(reconcile_next, world.engine, now=world.clock()), None):
        pass


def test_it_says_up_to_when_the_books_agree_and_which_day_waits(played: World) -> None:
    waiting = played.get("/v1/reconciliations").ok()["items"]
    assert [(each["jackpot_id"], each["agrees"], each["to"], each["waits_since"]) for each in waiting] == [
        ("j1", None, None, "2026-11-20"),
        ("j2", None, None, "2026-11-20"),
    ]
    before = played.clock()
    played.clock.advance(timedelta(minutes=1))
    read_days(played)

    (first, second) = played.get("/v1/reconciliations").ok()["items"]

    assert first["compared"] > second["compared"] > 0
    assert first | {"compared": 0, "read_at": ""} == {
        "jackpot_id": "j1",
        "currency": "EUR",
        "to": "2026-11-21T00:00:00.000000Z",
        "read_at": "",
        "compared": 0,
        "agrees": True,
        "variances": [],
        "waits_since": None,
    }
    as_of = before.isoformat().replace("+00:00", "Z")
    assert played.get(f"/v1/reconciliations?as_of={as_of}").ok()["items"] == waiting


def test_a_figure_that_differs_is_named(played: World, database_url: str) -> None:
    past_the_service(database_url, "UPDATE bets SET stake_minor = stake_minor + 1 WHERE bet_id = 'a'")
    read_days(played)

    (first, second) = played.get("/v1/reconciliations").ok()["items"]

    assert (first["agrees"], second["agrees"]) == (False, True)
    assert {
        "section": "accounts",
        "account": "casino:c1",
        "currency": "EUR",
        "rules_version": None,
        "movement": "contribution",
        "expected": "-1.01",
        "booked": "-1",
        "variance": "0.01",
    } in first["variances"]
    past_the_service(database_url, "UPDATE bets SET stake_minor = stake_minor - 1 WHERE bet_id = 'a'")
    past_the_service(database_url, "DELETE FROM reconciled_days")


def test_jackpots_are_listed_in_pages(played: World) -> None:
    first = played.get("/v1/reconciliations?limit=1").ok()
    assert [each["jackpot_id"] for each in first["items"]] == ["j1"]
    second = played.get(f"/v1/reconciliations?limit=1&after={first['next']}").ok()
    assert ([each["jackpot_id"] for each in second["items"]], second["next"]) == (["j2"], None)


def test_an_instant_that_has_not_come_is_refused(played: World) -> None:
    played.get("/v1/reconciliations?as_of=2026-11-23T00:00:00Z").problem(422, "instant-ahead")


def test_it_is_the_houses(played: World) -> None:
    played.get("/v1/reconciliations", key=played.key(Role.FINANCE, casino_id="c1")).problem(403, "role-forbidden")
    for role in (Role.FINANCE, Role.OPERATOR, Role.AUDITOR):
        played.get("/v1/reconciliations", role=role).ok()
    for role in set(Role) - {Role.FINANCE, Role.OPERATOR, Role.AUDITOR}:
        played.get("/v1/reconciliations", role=role).problem(403, "role-forbidden")
