"""An act and what it books in jackpots' books have one time, so that no instant comes between them."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from jackpot_service.domain.principals import Role
from tests.support.bets import bet
from tests.support.house import House

AHEAD = timedelta(minutes=10)


def adjust(house: House) -> None:
    moved = {"account": "meter", "amount": "1", "document": "memo", "cause": "count-error"}
    house.change("adjustment", {"jackpot_id": "j1", **moved})


def suspend(house: House) -> None:
    body = {"request_id": "s1", "reason": "as agreed"}
    house.put("/v1/jackpots/j1/suspension", body, key=house.person("Ann", Role.OPERATOR)).ok(201)


def retire(house: House) -> None:
    house.change("retirement", {"jackpot_id": "j1", "to": "j2"})


def times(house: House, act: str) -> tuple[datetime, list[datetime]]:
    """When the act was booked, and when each of its effects."""
    (found,) = house.books.rows(
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
    return found["booked_at"], found["effects"]


@pytest.mark.parametrize(
    ("act", "kind", "effects"),
    [(adjust, "adjustment", 1), (suspend, "jackpot_suspended", 1), (retire, "jackpot_retired", 2)],
)
@pytest.mark.parametrize("ahead", ["j1", "j2", "the reference book"])
def test_an_act_and_its_effects_are_booked_at_one_time_whichever_book_is_ahead(
    house: House, act: Callable[[House], Any], kind: str, effects: int, ahead: str
) -> None:
    """A book is ahead of the clock where another process, whose clock is, booked in it last."""
    house.open(stripes=1)
    house.open(jackpot_id="j2", tables=("T2",), stripes=1)
    house.clock.advance(AHEAD)
    if ahead == "the reference book":
        house.publish(GBP="1.2")
    else:
        house.bet(bet(), table_id="T1" if ahead == "j1" else "T2")
        house.cancel(table_id="T1" if ahead == "j1" else "T2")
    house.clock.at -= AHEAD

    act(house)

    booked_at, of_effects = times(house, kind)
    assert of_effects == [booked_at] * effects
