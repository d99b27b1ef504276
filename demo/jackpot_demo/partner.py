"""
A second process that posts bets to a table's rounds, at the same moment as the table's own.

The parent talks to it in lines of JSON; the end of its input is the end of the process, whatever became of the parent.
"""

import json
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from queue import SimpleQueue
from types import TracebackType
from typing import IO, Any, Final, Self

from jackpot_client import Bet, ClientError, JackpotClient, Refusal
from jackpot_demo.errors import DemoBug, Stopped, TurnedAway

_LONGEST_WAIT_SECONDS: Final = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """Counts of what became of the batches that the partner posted."""

    accepted: int
    replayed: int
    retries: int


class Partner:
    """The parent's end; one thread uses it, and only one posting is under way at a time."""

    def __init__(self, base_url: str, key: str, *, halt: threading.Event) -> None:
        """Start the process. It is in a session of its own: a Ctrl-C at the terminal is the parent's to handle."""
        self._halt = halt
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "jackpot_demo.partner"],  # -P: nothing is imported from where it is started.
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._say({"base_url": base_url, "key": key})

    def __enter__(self) -> Self:
        """Return the partner, whose process ends with the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process: first by ending its input, then by force."""
        self._input.close()
        try:
            self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._output.close()

    def begin(self, *, table_id: str, round_id: str, batches: tuple[tuple[Bet, ...], ...]) -> None:
        """Have the batches posted, and return at once."""
        posting = [[bet.as_json() for bet in batch] for batch in batches]
        self._say({"table_id": table_id, "round_id": round_id, "batches": posting})

    def finish(self) -> Posted:
        """Wait for what `begin` began. Raises: TurnedAway if the service refused, Stopped if the demo is to stop."""
        give_up_at = time.monotonic() + _LONGEST_WAIT_SECONDS
        while not select.select([self._output], [], [], 0.1)[0]:
            if self._halt.is_set():
                raise Stopped("asked to stop while the partner posts")
            if time.monotonic() > give_up_at:
                raise DemoBug("the partner does not answer")
        answer = json.loads(self._output.readline() or b'{"failure": "the partner ended"}')
        if "failure" in answer:
            message = f"the partner: {answer['failure']}"
            raise TurnedAway(message, code=answer["refusal"]) if answer.get("refusal") else DemoBug(message)
        return Posted(**answer)

    @property
    def _input(self) -> IO[bytes]:
        return _there(self._process.stdin)

    @property
    def _output(self) -> IO[bytes]:
        return _there(self._process.stdout)

    def _say(self, content: dict[str, Any]) -> None:
        self._input.write(json.dumps(content).encode() + b"\n")
        self._input.flush()


def _there(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise DemoBug("the partner was started without pipes")
    return pipe


def _serve(lines: Iterator[bytes], out: IO[bytes]) -> None:
    """Post what each line asks for until there are no more."""
    start = json.loads(next(lines))
    retries: list[object] = []
    with JackpotClient(start["base_url"], start["key"], on_retry=retries.append) as client:
        for line in lines:
            retries.clear()
            try:
                answer: dict[str, object] = {**_post(client, json.loads(line)), "retries": len(retries)}
            except ClientError as error:
                refusal = error.code if isinstance(error, Refusal) else None
                answer = {"failure": f"{type(error).__name__}: {error}", "refusal": refusal}
            out.write(json.dumps(answer).encode() + b"\n")
            out.flush()


def _post(client: JackpotClient, posting: dict[str, Any]) -> dict[str, int]:
    accepted = replayed = 0
    for batch in posting["batches"]:
        bets = [Bet(**bet) for bet in batch]
        placed = client.place_bets(table_id=posting["table_id"], round_id=posting["round_id"], bets=bets)
        accepted += placed.accepted
        replayed += placed.replayed
    return {"accepted": accepted, "replayed": replayed}


if __name__ == "__main__":
    requested: SimpleQueue[bytes] = SimpleQueue()
    serving = (iter(requested.get, b""), sys.stdout.buffer)
    threading.Thread(target=_serve, args=serving, daemon=True).start()  # It may be waiting for a service that is gone.
    for line in sys.stdin.buffer:
        requested.put(line)
