"""A guess that was wrong is nothing that the database's operators have to read about."""

from datetime import timedelta

import pytest

from jackpot_service import embedded
from jackpot_service.records.standing import LIKELY_AFTER
from tests.support.bets import bet
from tests.support.house import House


def errors(durable: embedded.Cluster) -> list[str]:
    lines = (durable.directory / "server.log").read_text().splitlines()
    return [line for line in lines if any(word in line for word in ("ERROR:", "WARNING:", "FATAL:"))]


def test_a_wrong_guess_leaves_no_error_in_the_databases_log(
    durable: embedded.Cluster, subtests: pytest.Subtests
) -> None:
    house = House(durable.service_url())
    house.open(base_amount="1000")
    before = errors(durable)

    def expect_new_rounds(name: str) -> None:
        for number in range(LIKELY_AFTER + 1):
            house.bet(bet(), round_id=f"{name}-{number}")

    def publish() -> None:
        house.publish(GBP="1.20")
        house.clock.at += timedelta(seconds=1)

    for name, change in {
        "a known round": lambda: house.post_bets(bet("b1"), round_id="of-a-known-round", app=house.start()).ok(201),
        "another sheet": publish,
    }.items():
        with subtests.test(name):
            expect_new_rounds(name.replace(" ", "-"))
            change()
            booked = house.books.value("SELECT count(*) FROM entries WHERE kind = 'bets'")

            house.bet(bet("b2", hand="2"), round_id=f"of-{name.replace(' ', '-')}")

            assert house.books.value("SELECT count(*) FROM entries WHERE kind = 'bets'") == booked + 1
            assert errors(durable) == before
    assert house.books.mismatches() == ()
    house.engine.dispose()
