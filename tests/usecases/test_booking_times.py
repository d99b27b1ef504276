"""An act and what it books in jackpots' books have one time, so that no instant comes between them."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from jackpot_service.domain.principals import Role
from tests.support.bets import bet
from tests.support.world import World

pytestmark = pytest.mark.slow

AHEAD = timedelta(minutes=10)


def adjust(world: World) -> None:
    moved = {"account": "meter", "amount": "1", "document": "memo", "cause": "count-error"}
    world.change("adjustment", {"jackpot_id": "j1", **moved})


def suspend(world: World) -> None:
    body = {"request_id": "s1", "reason": "as agreed"}
    world.put("/v1/jackpots/j1/suspension", body, key=world.person("Ann", Role.OPERATOR)).ok(201)


def retire(world: World) -> None:
    world.change("retirement", {"jackpot_id": "j1", "to": "j2"})


def times(world: World, act: str) -> tuple[datetime, list[datetime]]:
    """When the act was booked, and when each of its effects."""
    (row,) = world.books.rows(
        """
        SELECT e.booked_at, array_agg(f.booked_at) AS effects
        FROM entries e
        JOIN acts a ON a.seq = e.seq
        CROSS JOIN LATERAL jsonb_to_recordset(a.effects) AS one (book text, seq bigint)
        JOIN entries f ON f.jackpot_id = one.book AND f.stripe_no = 0 AND f.seq = one.seq
        WHERE e.jackpot_id = '-' AND e.kind = :act
        GROUP BY e.booked_at
        """,
        act=act,
    )
    return row["booked_at"], row["effects"]


@pytest.mark.parametrize(
    ("act", "kind", "effects"),
    [(adjust, "adjustment", 1), (suspend, "jackpot_suspended", 1), (retire, "jackpot_retired", 2)],
)
@pytest.mark.parametrize("ahead", ["j1", "j2", "the reference book"])
def test_an_act_and_its_effects_are_booked_at_one_time_whichever_book_is_ahead(
    world: World, act: Callable[[World], Any], kind: str, effects: int, ahead: str
) -> None:
    """A book is ahead of the clock where another process, whose clock is, booked in it last."""
    world.open(stripes=1)
    world.open(jackpot_id="j2", tables=("T2",), stripes=1)
    world.clock.advance(AHEAD)
    if ahead == "the reference book":
        world.publish(GBP="1.2")
    else:
        world.bet(bet(), table_id="T1" if ahead == "j1" else "T2")
        world.cancel(table_id="T1" if ahead == "j1" else "T2")
    world.clock.at -= AHEAD

    act(world)

    booked_at, of_effects = times(world, kind)
    assert of_effects == [booked_at] * effects
