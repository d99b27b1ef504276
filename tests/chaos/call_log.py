"""
The file in which a process of table servers notes each call before it is sent, and each answer as it comes.

A line is one write to the end of the file, so a process that is killed loses nothing that it wrote: the kernel has it.
At most its last line is cut short. Each process writes a file of its own.
"""

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from tests.chaos.calls import Attempt, Call, Content, Kind, RoundName, content_of

SUFFIX = ".calls"


def now_s() -> float:
    """Read the clock that all processes of the machine share."""
    return time.monotonic()


class CallLog:
    """The file of one process; its threads may write at once."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def sent(self, call_id: str, server: str, content: Content, *, attempt: int, must_refuse: str = "") -> None:
        """Note an attempt that is about to be sent; the first with all that the call says."""
        line: dict[str, Any] = {"call": call_id, "try": attempt, "sent": now_s()}
        if attempt == 1:
            line |= {"server": server, "kind": content.kind, "round": list(content.round), "body": content.body()}
            line["refuse"] = must_refuse
        self._write(line)

    def ended(self, call_id: str, *, attempt: int, status: int, answer: object, why: str, is_sent: bool) -> None:
        """Note how an attempt ended."""
        line = {"call": call_id, "try": attempt, "ended": now_s(), "status": status, "answer": answer}
        self._write(line | {"why": why, "reached": is_sent})

    def _write(self, line: Mapping[str, Any]) -> None:
        os.write(self._file, orjson.dumps(line) + b"\n")


@dataclass
class _Noted:
    """A call as far as its lines have been read."""

    server: str
    content: Content
    must_refuse: str
    attempts: list[Attempt] = field(default_factory=list)


@dataclass
class CallReader:
    """Reads the files of a directory as they grow."""

    directory: Path
    _noted: dict[str, _Noted] = field(default_factory=dict)
    _read_to: dict[Path, int] = field(default_factory=dict)

    def update(self) -> None:
        """Read what has been written since; half a line waits for its other half."""
        for path in sorted(self.directory.glob(f"*{SUFFIX}")):
            with path.open("rb") as file:
                file.seek(self._read_to.get(path, 0))
                whole, end, _ = file.read().rpartition(b"\n")
            self._read_to[path] = self._read_to.get(path, 0) + len(whole) + len(end)
            for line in whole.splitlines():
                self._take(orjson.loads(line))

    def calls(self, *, since_s: float = 0.0) -> tuple[Call, ...]:
        """Return the calls any attempt of which was sent, or ended, since then; in the order in which they began."""
        calls_ = [
            Call(call_id, noted.server, noted.content, tuple(noted.attempts), noted.must_refuse)
            for call_id, noted in self._noted.items()
            if _last_s(noted.attempts) >= since_s
        ]
        return tuple(sorted(calls_, key=lambda call: call.began_s))

    def _take(self, line: Mapping[str, Any]) -> None:
        if "server" in line:
            name = RoundName(*line["round"])
            content = content_of(Kind(line["kind"]), name, line["body"])
            self._noted[line["call"]] = _Noted(line["server"], content, line["refuse"])
        attempts = self._noted[line["call"]].attempts
        if "sent" in line:
            attempts.append(Attempt(line["sent"]))
            return
        answer = _lean(line["answer"])
        before = attempts[line["try"] - 1]
        attempts[line["try"] - 1] = Attempt(
            before.sent_s, line["ended"], line["status"], answer, line["why"], line["reached"]
        )


def rounds_of(calls: Iterable[Call]) -> frozenset[RoundName]:
    """Return the names of the rounds that calls speak of."""
    return frozenset(call.content.round for call in calls)


def _lean(answer: Any) -> Mapping[str, Any] | None:
    """Leave out of an answer the meter and the round, which say how things stood and not what was done."""
    if not isinstance(answer, dict):
        return None
    return {name: value for name, value in answer.items() if name not in {"meter", "round"}}


def _last_s(attempts: list[Attempt]) -> float:
    return max(attempts[-1].ended_s or 0.0, attempts[-1].sent_s)
