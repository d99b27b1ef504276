"""A timer may note unclaimed awards over HTTP: each is an exception once, a hundred a call."""

from datetime import timedelta
from typing import Final

import pytest

from jackpot_service.domain.principals import Role
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.fixtures import books_verify
from tests.support.hands import FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]

NOTING: Final = "/v1/unclaimed-awards"


def note(world: World, body: Body | None = None, *, role: Role = Role.OPERATOR) -> Body:
    return world.post(NOTING, body or {}, key=world.key(role)).ok()


def noted(world: World) -> list[Body]:
    items: list[Body] = world.get("/v1/exceptions?kind=award-unclaimed&limit=200").ok()["items"]
    return items


@pytest.fixture
def won(world: World) -> World:
    """A round with 150 awards at a casino that sets a claim period of one day, which is over."""
    world.open(base_amount="1000")
    world.bet(*(bet(f"b{number:03}") for number in range(150)))
    world.settle(hand("1", FLUSH))
    world.change("casino-claims", {"casino_id": "c1", "claim_days": 1}, request_id="claims")
    world.clock.advance(timedelta(days=2))
    return world


def test_each_unclaimed_award_is_noted_once_however_often_it_is_asked_for(won: World) -> None:
    first = note(won)
    rest = note(won, {"after": first["next"]}, role=Role.FINANCE)

    assert (first["unclaimed"], first["new"]) == (100, 100)
    assert rest == {"unclaimed": 50, "new": 50, "next": None}
    assert len({exception["facts"]["award_id"] for exception in noted(won)}) == 150
    again = note(won)
    assert (again["unclaimed"], again["new"]) == (100, 0)
    assert len(noted(won)) == 150


def test_without_unclaimed_awards_nothing_is_noted(world: World) -> None:
    before = world.books.counts()

    assert note(world) == {"unclaimed": 0, "new": 0, "next": None}
    assert world.books.counts()["exceptions"] == before["exceptions"]


def test_it_is_for_finance_and_operators_of_the_house(world: World) -> None:
    for role in (Role.TABLE, Role.RATES, Role.AUDITOR):
        world.post(NOTING, {}, key=world.key(role)).problem(403, "role-forbidden")
    world.post(NOTING, {}, key=world.key(Role.FINANCE, casino_id="c1")).problem(403, "role-forbidden")


@pytest.mark.parametrize("after", ["zzz", "k1", "k1.a b", 5, ["k1.a"]])
def test_a_tampered_cursor_is_refused(world: World, after: object) -> None:
    world.post(NOTING, {"after": after}, key=world.key(Role.OPERATOR)).problem(422, "validation", "/after")
