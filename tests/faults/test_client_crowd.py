"""More displays than the service has places for, all of the client: they wait for a place, and bets wait for none."""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from typing import Final

import pytest

from jackpot_client import AsyncJackpotClient, Bet, Retry
from jackpot_service.database import embedded
from tests.faults.load import client_for
from tests.faults.service import Service, served

pytestmark = pytest.mark.long

PLACES: Final = 60
DISPLAYS: Final = 100
LONGEST_S: Final = 120.0


@pytest.fixture
def small_service(standing_cluster: embedded.Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Serve by one worker that has few places for listeners."""
    log = tmp_path_factory.mktemp("small") / "service.log"
    settings = {"JACKPOT_LISTENERS": str(PLACES)}
    with served(standing_cluster.service_url(), log, starts=False, settings=settings) as service:
        service.workers = 1
        service.start()
        yield service


class Crowd:
    """Displays that show the feed until each is asked to leave."""

    def __init__(self, client: AsyncJackpotClient) -> None:
        self.client = client
        self.shown: dict[int, int] = {}
        self.grown = asyncio.Condition()
        self.tasks = {number: asyncio.create_task(self._show(number)) for number in range(DISPLAYS)}

    async def _show(self, number: int) -> None:
        async with aclosing(self.client.feed(jackpot_id="live")) as states:
            async for state in states:
                async with self.grown:
                    self.shown[number] = state.frame.amounts[0].amount_minor
                    self.grown.notify_all()

    async def until(self, count: int) -> None:
        """Wait until so many displays have shown something."""
        async with self.grown:
            await asyncio.wait_for(self.grown.wait_for(lambda: len(self.shown) >= count), LONGEST_S)

    async def until_shown(self, amount_minor: int, numbers: set[int]) -> None:
        """Wait until these show an amount."""
        async with self.grown:
            waiting = self.grown.wait_for(lambda: all(self.shown[number] == amount_minor for number in numbers))
            await asyncio.wait_for(waiting, LONGEST_S)

    async def leave(self, numbers: set[int]) -> None:
        for number in numbers:
            self.tasks[number].cancel()
        await asyncio.wait([self.tasks[number] for number in numbers])


def bet(service: Service, table_key: str) -> int:
    """Place a bet of EUR 1, and return the meter after it."""
    with client_for(service.base_url, table_key) as client:
        bet = Bet(bet_id="b", player_id="p", currency="EUR", stake_minor=100)
        return client.place_bets(table_id="T1", round_id="crowded", bets=[bet]).meter.amount_minor


def test_displays_without_a_place_get_one_when_others_leave(small_service: Service, table_key: str) -> None:
    retries: list[Retry] = []

    async def play() -> None:
        async with AsyncJackpotClient(small_service.base_url, table_key, on_retry=retries.append) as client:
            crowd = Crowd(client)
            await crowd.until(PLACES)
            seated = set(crowd.shown)
            meter = await asyncio.to_thread(bet, small_service, table_key)
            await crowd.until_shown(meter, seated)
            assert len(crowd.shown) == PLACES

            await crowd.leave(seated)
            await crowd.until(DISPLAYS)
            assert all(crowd.shown[number] == meter for number in crowd.tasks)
            await crowd.leave(crowd.tasks.keys() - seated)

    asyncio.run(play())
    assert {retry.reason.split(":")[0] for retry in retries} == {"status 503 busy"}
    assert len(retries) >= DISPLAYS - PLACES
