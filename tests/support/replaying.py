"""The story of the contract's examples, told to a running service: what is answered is what is printed."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any, Final

import httpx
from cryptography.hazmat.primitives.asymmetric import ec

from jackpot_service.api.contract.examples import SAME, Exchange
from tests.support.authenticator import Authenticator, body_of_assertion, body_of_credential
from tests.support.contract import DOCUMENT, METHODS

TIMES: Final = re.compile(r"\w+_at|time|kept_until")
"""Names of times, which are those of the replay."""

IDS: Final = frozenset({"exception_id", "job_id", "key_id", "passkey_id"})
"""Names of ids that the service makes by chance: each printed one stands for the one of the replay."""

MADE: Final = frozenset(
    {
        *("challenge", "client_data", "digest", "head", "head_before", "kept_sha256", "key", "next", "public_key"),
        *("public_key_id", "sha256", "signature", "stripes", "version"),
    }
)
"""Names of hashes over times and ids, also in the stripes of a seal; of the key that is shown once; of cursors."""

NUMBERS: Final = frozenset({"attempts", "rate_per_second", "remaining_seconds", "round_key"})
"""Names of numbers that depend on the machine, or on the time."""

TIME_IN_NAME: Final = re.compile(r"\d{8}T\d{6}Z")
"""The time in the name of a file."""

CHANCE: Final = re.compile(r'(?<=_age_seconds{base="EUR"} ).*$', re.MULTILINE)
"""What a text holds that depends on the time: an age."""

PERHAPS: Final = frozenset({"heartbeat_at"})
"""Names of times that are there or not: somebody may have taken up a job that was cancelled an instant later."""

CLOSING: Final = "postClosedPeriod"

OVER: Final = frozenset({"done", "failed", "cancelled"})

Send = Callable[[str, str, Mapping[str, Any]], httpx.Response]

PATHS: Final = {
    operation["operationId"]: (method.upper(), path)
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
    if method in METHODS
}


class Replay:
    """
    A replay of the story: what the printed ids stand for, and the answers that came, as they would be printed.

    Printed times stay where some came, unless it `takes_times`: then they are those that came.
    """

    def __init__(self, client: httpx.Client, key_of: Callable[[str], str], *, takes_times: bool = False) -> None:
        self._client = client
        self._takes_times = takes_times
        self._key_of = key_of
        self._meant: dict[str, str] = {}
        self._last: dict[str, str] = {}
        self._authenticator = Authenticator(
            credential_id=b"passkey-of-Fay", key=ec.derive_private_key(7, ec.SECP256R1())
        )
        self._options: dict[str, Any] = {}
        self._answered_before: dict[str, Any] = {}
        self.refused: list[str] = []
        self.differences: list[str] = []

    def play(self, exchange: Exchange) -> Exchange:
        """Send the request, twice where it says so, and compare; returns the exchange as it was."""
        exchange = replace(exchange, path={name: self._named(value) for name, value in exchange.path.items()})
        if exchange.operation == CLOSING:
            exchange = self._closing_now(exchange)
        came = self._answered(exchange)
        if came.status_code != exchange.status:
            self.refused.append(f"{exchange.name}: {came.status_code} {came.text[:500]}")
            return exchange
        if exchange.text is not None:
            return replace(exchange, text=self._text_of(exchange, came))
        if not came.headers["Content-Type"].startswith(("application/json", "application/problem+json")):
            return exchange
        answer = self._printed(exchange, exchange.answer, came.json())
        dated = retimed(answer, came.json()) if self._takes_times else answer
        if exchange.again is None:
            return replace(exchange, answer=dated)
        again = self._answered(exchange)
        if again.status_code != httpx.codes.OK:
            self.refused.append(f"{exchange.name} again: {again.status_code} {again.text[:500]}")
        printed = answer if exchange.again == SAME else exchange.again
        written = self._printed(exchange, printed, again.json(), of="again")
        if written == answer:
            return replace(exchange, answer=dated, again=SAME)
        return replace(exchange, answer=dated, again=retimed(written, again.json()) if self._takes_times else written)

    def _text_of(self, exchange: Exchange, came: httpx.Response) -> str:
        """Compare the lines that are printed with the first ones that came; returns what to print."""
        printed = exchange.text or ""
        first = "".join(came.text.splitlines(keepends=True)[: len(printed.splitlines())]).replace("\r\n", "\n")
        media_type = came.headers["Content-Type"].partition(";")[0]
        if (media_type, CHANCE.sub("", first)) != (exchange.media_type, CHANCE.sub("", printed)):
            self.differences.append(f"{exchange.name}: {printed!r} is printed, {media_type} {first!r} came")
        elif not self._takes_times:
            return printed
        return first

    def _answered(self, exchange: Exchange) -> httpx.Response:
        method, path = PATHS[exchange.operation]
        request = self._client.build_request(
            method,
            path.format(**{name: self._sent(value) for name, value in exchange.path.items()}),
            params={name: self._sent(value) for name, value in exchange.query.items()},
            json=self._signed(exchange.body),
            headers={} if exchange.caller is None else {"Authorization": f"Bearer {self._key_of(exchange.caller)}"},
        )
        while True:
            came = self._client.send(request)
            if exchange.operation.endswith("Options"):
                self._options = came.json().get("publicKey", {})
            if exchange.operation != "getJob" or came.json()["state"] in OVER:
                return came

    def _closing_now(self, exchange: Exchange) -> Exchange:
        """Let the printed end of a period stand for now: the replay begins the books, so an earlier end is refused."""
        now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
        body = dict(exchange.body or {})
        if self._takes_times:
            body["to"] = now
        self._meant.setdefault(body["to"], now)
        return replace(exchange, body=body)

    def _signed(self, body: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """
        A body as it is sent.

        Where an authenticator's answer is printed, it has that to the options that came last, and the end of a period
        is the one that the printed end stands for.
        """
        if body is not None and "to" in body:
            return {**body, "to": self._sent(body["to"])}
        if body is not None and "credential" in body:
            return {**body, "credential": self._answers(body_of_credential, self._authenticator.make)}
        if body is not None and "assertion" in body:
            return {**body, "assertion": self._answers(body_of_assertion, self._authenticator.sign)}
        return body

    def _answers(self, write: Callable[[Any], dict[str, Any]], answer: Callable[[dict[str, Any]], Any]) -> Any:
        """The answer to the options that came last: the same to the same."""
        challenge = self._options["challenge"]
        if challenge not in self._answered_before:
            self._answered_before[challenge] = write(answer(self._options))
        return self._answered_before[challenge]

    def _named(self, value: Any) -> Any:
        """A printed value; `$job_id` is the last one that came, where the story is told for the first time."""
        return self._last.get(value[1:], value) if isinstance(value, str) and value.startswith("$") else value

    def _sent(self, value: Any) -> str:
        return self._meant.get(str(value), str(value).lower() if isinstance(value, bool) else str(value))

    def _printed(self, exchange: Exchange, printed: Any, came: Any, *, of: str = "answer") -> Any:
        shortened = {name: came[name][:count] for name, count in exchange.shown.items()}
        return self._compared(printed, {**came, **shortened}, (f"{exchange.name} {of}",))

    def _compared(self, printed: Any, came: Any, at: tuple[str, ...]) -> Any:
        """Compare what came with what is printed; returns what to print, which is the same if nothing differs."""
        name = next(name for name in reversed(at) if not name.isdigit())
        if name in IDS and isinstance(came, str):
            self._last[name] = came
            known = {came: printed_id for printed_id, came in self._meant.items()}
            if isinstance(printed, str) and came not in known:
                self._meant.setdefault(printed, came)
            came = next((printed_id for printed_id, meant in self._meant.items() if meant == came), came)
        elif self._is_alike(name, printed, came):
            return printed
        elif isinstance(came, dict):
            known = printed if isinstance(printed, dict) else {}
            if known.keys() != came.keys():
                self.differences.append(f"{'/'.join(at)}: {sorted(known.keys() ^ came.keys())}")
            return {key: self._compared(known.get(key), value, (*at, key)) for key, value in came.items()}
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
        if name in PERHAPS and None in {printed, came}:
            return True
        if not isinstance(printed, str) or not isinstance(came, str):
            return False
        if TIMES.fullmatch(name):
            return all(datetime.fromisoformat(moment).tzinfo is not None for moment in (printed, came))
        if name in MADE:
            return re.sub(r"[\w-]+", "x", printed) == re.sub(r"[\w-]+", "x", came)
        for printed_id, meant in self._meant.items():  # A sentence may name what has an id.
            printed = printed.replace(printed_id, meant)
        return TIME_IN_NAME.sub("", printed) == TIME_IN_NAME.sub("", came)


def retimed(printed: Any, came: Any) -> Any:
    """Return what is printed with the times that came, so that all times of a story are of one replay."""
    if isinstance(printed, dict) and isinstance(came, dict):
        return {
            name: came[name] if TIMES.fullmatch(name) and isinstance(value, str) else retimed(value, came[name])
            for name, value in printed.items()
        }
    if isinstance(printed, list) and isinstance(came, list):
        return [retimed(*pair) for pair in zip(printed, came, strict=False)]
    return printed


def played(replay: Replay, exchanges: Iterable[Exchange], before: Mapping[str, Callable[[], object]]) -> list[Exchange]:
    """Play exchanges in order, but those of an outage; before the first of some operations, something else is done."""
    steps = dict(before)
    written = []
    for exchange in exchanges:
        steps.pop(exchange.operation, lambda: None)()
        written.append(exchange if exchange.outage else replay.play(exchange))
    return written
