"""The story of the contract's examples, told to a running service: what is answered is what is printed."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest
from typing import Any, Final

import httpx

from jackpot_service.api.contract.examples import SAME, Exchange
from tests.support.contract import DOCUMENT, METHODS

TIMES: Final = re.compile(r"\w+_at|time|kept_until")
"""Names of times, which are those of the replay."""

IDS: Final = frozenset({"exception_id", "job_id", "key_id"})
"""Names of ids that the service makes by chance: each printed one stands for the one of the replay."""

MADE: Final = frozenset(
    {"digest", "head", "head_before", "key", "next", "public_key_id", "sha256", "signature", "stripes", "version"}
)
"""Names of hashes over times and ids, also in the stripes of a seal; of the key that is shown once; of cursors."""

NUMBERS: Final = frozenset({"rate_per_second", "remaining_seconds", "round_key"})
"""Names of numbers that depend on the machine, or on the time."""

OVER: Final = frozenset({"done", "failed", "cancelled"})

Send = Callable[[str, str, Mapping[str, Any]], httpx.Response]

PATHS: Final = {
    operation["operationId"]: (method.upper(), path)
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
    if method in METHODS
}


class Replay:
    """A replay of the story: what the printed ids stand for, and the answers that came, as they would be printed."""

    def __init__(self, client: httpx.Client, key_of: Callable[[str], str]) -> None:
        self._client = client
        self._key_of = key_of
        self._meant: dict[str, str] = {}
        self._last: dict[str, str] = {}
        self.refused: list[str] = []
        self.differences: list[str] = []

    def play(self, told: Exchange) -> Exchange:
        """Send the request, twice where it says so, and compare; returns the exchange as it was."""
        told = replace(told, path={name: self._named(value) for name, value in told.path.items()})
        came = self._answered(told)
        if came.status_code != told.status:
            self.refused.append(f"{told.name}: {came.status_code} {came.text[:500]}")
            return told
        if not came.headers["Content-Type"].startswith(("application/json", "application/problem+json")):
            return told
        answer = self._printed(told, told.answer, came.json())
        if told.again is None:
            return replace(told, answer=answer)
        again = self._answered(told)
        if again.status_code != httpx.codes.OK:
            self.refused.append(f"{told.name} again: {again.status_code} {again.text[:500]}")
        printed = answer if told.again == SAME else told.again
        written = self._printed(told, printed, again.json(), of="again")
        return replace(told, answer=answer, again=SAME if written == answer else written)

    def _answered(self, told: Exchange) -> httpx.Response:
        method, path = PATHS[told.operation]
        request = self._client.build_request(
            method,
            path.format(**{name: self._sent(value) for name, value in told.path.items()}),
            params={name: self._sent(value) for name, value in told.query.items()},
            json=told.body,
            headers={} if told.caller is None else {"Authorization": f"Bearer {self._key_of(told.caller)}"},
        )
        while True:
            came = self._client.send(request)
            if told.operation != "getJob" or came.json()["state"] in OVER:
                return came

    def _named(self, value: Any) -> Any:
        """A printed value; `$job_id` is the last one that came, where the story is told for the first time."""
        return self._last.get(value[1:], value) if isinstance(value, str) and value.startswith("$") else value

    def _sent(self, value: Any) -> str:
        return self._meant.get(str(value), str(value).lower() if isinstance(value, bool) else str(value))

    def _printed(self, told: Exchange, printed: Any, came: Any, *, of: str = "answer") -> Any:
        shortened = {name: came[name][:count] for name, count in told.shown.items()}
        return self._compared(printed, {**came, **shortened}, (f"{told.name} {of}",))

    def _compared(self, printed: Any, came: Any, at: tuple[str, ...]) -> Any:
        """Compare what came with what is printed; returns what to print, which is the same if nothing differs."""
        name = next(name for name in reversed(at) if not name.isdigit())
        if name in IDS and isinstance(came, str):
            self._last[name] = came
            known = {came: one for one, came in self._meant.items()}
            if isinstance(printed, str) and came not in known:
                self._meant.setdefault(printed, came)
            came = next((one for one, meant in self._meant.items() if meant == came), came)
        elif self._is_alike(name, printed, came):
            return printed
        elif isinstance(came, dict):
            known = printed if isinstance(printed, dict) else {}
            if known.keys() != came.keys():
                self.differences.append(f"{'/'.join(at)}: {sorted(known.keys() ^ came.keys())}")
            return {one: self._compared(known.get(one), value, (*at, one)) for one, value in came.items()}
        elif isinstance(came, list):
            items = printed if isinstance(printed, list) else []
            if len(items) != len(came):
                self.differences.append(f"{'/'.join(at)}: {len(items)} are printed, {len(came)} came")
            pairs = zip_longest(items[: len(came)], came)
            return [self._compared(*pair, (*at, str(place))) for place, pair in enumerate(pairs)]
        if printed != came:
            self.differences.append(f"{'/'.join(at)}: {printed!r} is printed, {came!r} came")
        return came

    def _is_alike(self, name: str, printed: Any, came: Any) -> bool:
        if name in NUMBERS:
            return type(printed) is type(came)
        if not isinstance(printed, str) or not isinstance(came, str):
            return False
        if TIMES.fullmatch(name):
            return all(datetime.fromisoformat(one).tzinfo is not None for one in (printed, came))
        if name in MADE:
            return re.sub(r"[\w-]+", "x", printed) == re.sub(r"[\w-]+", "x", came)
        for one, meant in self._meant.items():  # A sentence may name what has an id.
            printed = printed.replace(one, meant)
        return bool(printed == came)


def played(replay: Replay, exchanges: Iterable[Exchange], before: Mapping[str, Callable[[], object]]) -> list[Exchange]:
    """Play exchanges in order; before the first one of some operations, something else is done."""
    due = dict(before)
    written = []
    for told in exchanges:
        due.pop(told.operation, lambda: None)()
        written.append(replay.play(told))
    return written
