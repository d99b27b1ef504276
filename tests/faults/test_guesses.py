"""A guess that was wrong, or a bet that comes too late, is nothing that the database's operators have to read about."""

from datetime import timedelta

import pytest

from jackpot_service.database import embedded
from jackpot_service.records.settings_in_force import LIKELY_AFTER
from tests.support.bets import bet
from tests.support.world import World
from tests.usecases.test_suspension import put

pytestmark = pytest.mark.long


def errors(durable: embedded.Cluster) -> list[str]:
    lines = (durable.directory / "server.log").read_text().splitlines()
    return [line for line in lines if any(word in line for word in ("ERROR:", "WARNING:", "FATAL:"))]


def test_a_wrong_guess_leaves_no_error_in_the_databases_log(
    durable: embedded.Cluster, subtests: pytest.Subtests
) -> None:
    world = World(durable.service_url())
    world.open(base_amount="1000")
    before = errors(durable)

    def expect_new_rounds(name: str) -> None:
        for number in range(LIKELY_AFTER + 1):
            world.bet(bet(), round_id=f"{name}-{number}")

    def publish() -> None:
        world.publish(GBP="1.20")
        world.clock.at += timedelta(seconds=1)

    for name, change in {
        "a known round": lambda: world.post_bets(bet("b1"), round_id="of-a-known-round", app=world.start()).ok(201),
        "another sheet": publish,
    }.items():
        with subtests.test(name):
            expect_new_rounds(name.replace(" ", "-"))
            change()
            booked = world.books.value("SELECT count(*) FROM entries WHERE kind = 'bets'")

            world.bet(bet("b2", hand="2"), round_id=f"of-{name.replace(' ', '-')}")

            assert world.books.value("SELECT count(*) FROM entries WHERE kind = 'bets'") == booked + 1
            assert errors(durable) == before
    assert world.books.mismatches() == ()
    world.close()


def test_bets_of_a_suspended_jackpot_leave_no_error_in_the_databases_log(durable: embedded.Cluster) -> None:
    world = World(durable.service_url())
    world.open(base_amount="1000")
    for number in range(LIKELY_AFTER + 1):
        world.bet(bet("b1"), round_id=f"before-{number}")
    before = errors(durable)
    put(world, "suspension", "s1").ok(201)

    for number in range(2):  # The first is expected to be taken, the second is not.
        world.post_bets(bet("b1"), round_id=f"new-{number}").problem(409, "jackpot-suspended")
    world.post_bets(bet("b2"), round_id="before-0").problem(409, "jackpot-suspended")
    assert world.post_bets(bet("b1"), round_id="before-0").ok(200)["replayed"] == 1

    assert errors(durable) == before
    assert world.books.mismatches() == ()
    world.close()
