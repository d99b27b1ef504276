"""Plays the demo's weeks before today, where the books are new: through the application, with a clock of its own."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, time, timedelta
from functools import partial
from typing import Final

import httpx
import sqlalchemy

from jackpot_client import JackpotClient
from jackpot_demo import scene
from jackpot_demo.office import Office
from jackpot_demo.past import Past, PastClock
from jackpot_service.app import create_app
from jackpot_service.cli.demo import house, key_file
from jackpot_service.cli.progress import OnCount, shown_progress
from jackpot_service.config.settings import Config
from jackpot_service.database.transactions import read
from jackpot_service.records import acts
from jackpot_service.telemetry import logs

_BASE_URL: Final = "http://ledger.invalid"
_A_CALL: Final = timedelta(seconds=4)

_ENDS_BEFORE: Final = timedelta(minutes=15)
"""How long before now the past is over: then what it still has to do is not ahead of the database's clock."""


def set_up(
    config: Config, engine: sqlalchemy.Engine, *, weeks: int, seed: int, stop: threading.Event
) -> dict[str, str]:
    """
    Set up the demo; if nothing is booked yet, play so many weeks before today. Returns the keys of tables by casino.

    Raises: DemoBug or ClientError for an answer that must not be.
    """
    now = datetime.now(UTC)
    if not weeks or read(engine, acts.last_seq):  # Nothing may be booked before what stands there.
        return key_file.keys_of_tables(house.set_up(config, engine, at=now))
    begins_at = datetime.combine(now.date(), time(), UTC) - timedelta(weeks=weeks)
    clock = PastClock(begins_at)
    keys = house.set_up(config, engine, at=begins_at)
    past = Past(begins_at=begins_at, ends_at=now - _ENDS_BEFORE, seed=seed)
    logs.configure("error")  # The demo provokes refusals all the time.
    try:
        with _lines(config, engine, keys, clock) as (tables, office), shown_progress() as on_count:
            past.play(tables, office, clock, on_round=partial(_show_rounds, on_count), stop=stop)
    finally:
        logs.configure(config.log_level)
    return key_file.keys_of_tables(keys)


def _show_rounds(on_count: OnCount, played: int, most: int) -> None:
    on_count(played, most, "rounds of the weeks before")


@contextmanager
def _lines(
    config: Config, engine: sqlalchemy.Engine, keys: Mapping[str, str], clock: PastClock
) -> Iterator[tuple[Mapping[str, JackpotClient], Office]]:
    """Yield the clients of the tables by casino, and the people, as they reach the application at that clock."""
    line = _Line(httpx.WSGITransport(create_app(config, engine, clock=clock, guards_clock=False)), clock)
    with ExitStack() as stack:
        tables = {
            casino_id: stack.enter_context(JackpotClient(_BASE_URL, key, transport=line))
            for casino_id, key in key_file.keys_of_tables(keys).items()
        }
        people = {
            variable: stack.enter_context(
                httpx.Client(base_url=_BASE_URL, headers={"Authorization": f"Bearer {keys[variable]}"}, transport=line)
            )
            for variable in map(key_file.variable_of, scene.PEOPLE)
        }
        yield tables, Office(people=people)


class _Line(httpx.BaseTransport):
    """Calls the application; each call takes some seconds of its clock."""

    def __init__(self, calls: httpx.BaseTransport, clock: PastClock) -> None:
        self._calls = calls
        self._clock = clock

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Call, a little later than the call before."""
        self._clock.move_to(self._clock() + _A_CALL)
        return self._calls.handle_request(request)
