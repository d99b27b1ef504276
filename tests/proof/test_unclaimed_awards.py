"""The proof finds an exception of an unclaimed award that was none; an award may wait for the job that notes it."""

from datetime import timedelta
from typing import Final

import pytest
from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.principals import Role
from jackpot_service.proof.proof import verify
from tests.proof.corruption import Corruption, change, codes_after, forge, remove
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow


def write(url: str) -> None:
    """Note two unclaimed awards, one of them part-paid; pay it afterwards, give all more time, stop the other."""
    world = World(url)
    world.open(base_amount="1000", stripes=1)
    world.change("casino-claims", {"casino_id": "c1", "claim_days": 30}, request_id="thirty")
    for round_id in ("part", "whole", "later"):
        world.clock.advance(timedelta(days=1))
        world.bet(bet("b1"), bet("b2", hand="2"), round_id=round_id)
        world.settle(hand("1", FLUSH), hand("2"), round_id=round_id)
    pay(world, "first", 1000)
    world.clock.advance(timedelta(days=29, hours=12))
    world.post("/v1/unclaimed-awards", {}, key=world.key(Role.FINANCE)).ok()
    pay(world, "second", 500)
    world.change("casino-claims", {"casino_id": "c1", "claim_days": 90}, request_id="ninety")
    stop = {"request_id": "stop", "reason": "the hand is looked at"}
    world.put(f"/v1/awards/{award_of(world, 'whole')}/stop", stop, key=world.key(Role.FINANCE)).ok(201)
    world.close()


def award_of(world: World, round_id: str) -> str:
    [award] = world.round(round_id)["settlement"]["awards"]
    award_id: str = award["award_id"]
    return award_id


def pay(world: World, reference: str, minor: int) -> None:
    body = {"request_id": reference, "reference": reference, "amount_minor": minor}
    world.put(f"/v1/awards/{award_of(world, 'part')}/payment", body, key=world.key(Role.TABLE)).ok(201)


NOTED: Final = "kind = 'award-unclaimed' AND round_id"
PART: Final = f"{NOTED} = 'part'"
WHOLE: Final = f"{NOTED} = 'whole'"
FOUND: Final = "award-unclaimed exception-chain"


def stating(name: str, value: str) -> str:
    return f"detail = jsonb_set(detail, '{{request,{name}}}', {value})"


CORRUPTIONS: Final = (
    change("exceptions", "round_id = 'later'", WHOLE, FOUND),
    change("exceptions", "round_id = 'part'", WHOLE, FOUND),
    change("exceptions", "detail = '{}'", WHOLE, FOUND),
    change("exceptions", stating("award_id", "'\"another\"'"), WHOLE, FOUND),
    change("exceptions", stating("bet_id", "'\"b2\"'"), WHOLE, FOUND),
    change("exceptions", stating("currency", "'\"GBP\"'"), WHOLE, FOUND),
    change("exceptions", stating("unpaid_minor", "'999'"), PART, FOUND),
    change("exceptions", stating("unpaid_minor", "'0'"), PART, FOUND),
    change("exceptions", stating("claimable_until", "'\"2026-01-01T00:00:00.000000Z\"'"), WHOLE, FOUND),
    change("exceptions", stating("claimable_until", "'null'"), WHOLE, FOUND),
    change("exceptions", "noticed_at = noticed_at - interval '13 hours'", WHOLE, FOUND),
    forge(
        "exceptions",
        "'0' || exception_id, kind, table_id, round_id, sha256(digest), jackpot_id, principal, noticed_at, detail,"
        " number + 9, head",
        f"exceptions WHERE {WHOLE}",
        FOUND,
    ),
    # The job may not have come by yet, for all that the books say.
    remove("exceptions", WHOLE, "exception-chain"),
)
"""What somebody with every right might change, and every code by which the proof names it."""


def test_what_was_unclaimed_when_it_was_noted_is_right_whatever_came_later(superuser: Session) -> None:
    assert superuser.scalars(text(f"SELECT round_id FROM exceptions WHERE {NOTED} > '' ORDER BY 1")).all() == [  # noqa: S608  constants
        "part",
        "whole",
    ]
    assert verify(superuser).mismatches == ()


@pytest.mark.long
@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=str)
def test_every_corruption_is_found_under_its_name(superuser: Session, corruption: Corruption) -> None:
    assert codes_after(superuser, corruption) == corruption.codes
