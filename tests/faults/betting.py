"""Table servers that send a batch, wait for the answer, and note how long that took; what is refused is sent again."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx

LONGEST_WAIT_S = 60


@dataclass
class Answered:
    """What was answered, and how long it took; an answer that does not come is a failure."""

    acknowledged: set[tuple[str, str]] = field(default_factory=set)
    statuses: Counter[int] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    longest_s: float = 0
    failures: list[str] = field(default_factory=list)
    by_table: Counter[str] = field(default_factory=Counter)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def note(self, table_id: str, round_id: str, answer: httpx.Response, took_s: float) -> None:
        with self.changed:
            self.statuses[answer.status_code] += 1
            self.by_table[table_id] += 1
            self.longest_s = max(self.longest_s, took_s)
            if answer.is_success:
                self.acknowledged.add((table_id, round_id))
            else:
                self.codes[answer.json()["code"]] += 1
            self.changed.notify_all()

    def forget_longest(self) -> None:
        """Begin anew to note how long the longest answer took."""
        with self.changed:
            self.longest_s = 0

    def fail(self, reason: str) -> None:
        with self.changed:
            self.failures.append(reason)
            self.changed.notify_all()

    def wait_for_answers(self, tables: list[str], *, each: int = 1) -> None:
        """Wait until every table has been answered so many times more."""
        with self.changed:
            expected = {table_id: self.by_table[table_id] + each for table_id in tables}
            self._wait(lambda: all(self.by_table[table_id] >= count for table_id, count in expected.items()))

    def wait_for_acknowledgements(self, count: int) -> float:
        """Wait until so many more batches are acknowledged; returns how long that took."""
        began = time.monotonic()
        with self.changed:
            expected = len(self.acknowledged) + count
            self._wait(lambda: len(self.acknowledged) >= expected)
        return time.monotonic() - began

    def _wait(self, it_is_so: Callable[[], bool]) -> None:
        came = self.changed.wait_for(lambda: self.failures or it_is_so(), LONGEST_WAIT_S)
        assert came, f"answers do not come: {self.codes}, {self.by_table}"
        assert not self.failures, self.failures[:3]


@contextmanager
def betting(base_url: str, key: str, tables: list[str]) -> Iterator[Answered]:
    """Keep tables betting, each on a connection of its own; at the end each is answered once more."""
    answered, stop = Answered(), threading.Event()
    threads = [
        threading.Thread(target=_bet, args=(base_url, key, table_id, answered, stop), daemon=True)
        for table_id in tables
    ]
    for thread in threads:
        thread.start()
    try:
        yield answered
    finally:
        stop.set()
        for thread in threads:
            thread.join(LONGEST_WAIT_S)
    assert not any(thread.is_alive() for thread in threads)
    assert not answered.failures, answered.failures[:3]


def _bet(base_url: str, key: str, table_id: str, answered: Answered, stop: threading.Event) -> None:
    bet = {"bet_id": "b", "player_id": "p", "hand": "1", "currency": "EUR", "stake_minor": 100}
    headers = {"Authorization": f"Bearer {key}"}
    number = 0
    with httpx.Client(base_url=base_url, headers=headers, timeout=LONGEST_WAIT_S, trust_env=False) as client:
        while not stop.is_set():
            round_id, began = f"r{number}", time.monotonic()
            try:
                answer = client.post(f"/v1/tables/{table_id}/rounds/{round_id}/bets", json={"bets": [bet]})
                answered.note(table_id, round_id, answer, time.monotonic() - began)
            except Exception as error:  # noqa: BLE001  the test tells it
                answered.fail(f"{type(error).__name__}: {error}")
                return
            if answer.is_success:
                number += 1
            else:
                stop.wait(0.05)
