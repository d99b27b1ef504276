"""The program of docs/table-server.md as a process, which a test talks to, kills and starts again."""

import itertools
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

PAGE: Final = Path(__file__).parents[2] / "docs" / "table-server.md"
CODE: Final = "".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
LONGEST_S: Final = 120.0

AWARD: Final = r"award \S+ (.*)"
PAY: Final = r"pay (\S+) .*"
REFUND: Final = r"refund \S+ (.*)"

TRAPPED: Final = """
import os, signal, sys

code, moment, times = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

def trace(frame, event, _):
    global times
    if frame.f_code.co_filename != "<table>":
        return None
    if event == "line" and frame.f_lineno == moment:
        times -= 1
        if not times:
            os.kill(os.getpid(), signal.SIGKILL)
    return trace

sys.settrace(trace)
exec(compile(code, "<table>", "exec"), {"__name__": "table"})
"""
"""Runs the program, and kills it before it executes a line for the given time, as a loss of power would."""


@dataclass
class Program:
    """The page's program as a process, and the lines that it printed."""

    process: "subprocess.Popen[str]"
    screen: Path
    lines: list[str] = field(default_factory=list)
    _lines: "queue.Queue[str | None]" = field(default_factory=queue.Queue)

    def __post_init__(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def next_line(self) -> str | None:
        """Return the next line; None at its end."""
        try:
            line = self._lines.get(timeout=LONGEST_S)
        except queue.Empty:
            raise AssertionError(f"nothing comes after {self.lines}") from None
        self.lines += () if line is None else (line,)
        return line

    def line(self) -> str:
        """Return the next line, which there must be."""
        line = self.next_line()
        assert line is not None, f"it ended after {self.lines}"
        return line

    def rest(self) -> list[str]:
        """Return the lines that come until it ends."""
        return list(iter(self.next_line, None))

    def reach_stakes(self) -> None:
        """Pass the lines of its start."""
        assert [self.line().partition(" ")[0] for _ in range(5)] == ["key", *["stakes"] * 4]

    def reach(self, question: str) -> list[str]:
        """Return the lines up to a question, without it."""
        lines = list(iter(self.line, question))
        assert "another round" not in lines, lines
        return lines

    def answer(self, value: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{json.dumps(value)}\n")
        self.process.stdin.flush()

    def play(self, *bets: dict[str, Any], left: tuple[str, ...] = ()) -> None:
        """Begin another round, up to the question for its cards."""
        self.reach("another round")
        self.answer(value=True)
        self.reach("bets")
        self.answer(bets)
        self.reach("left")
        self.answer(left)
        self.reach("cards")

    def kill(self) -> None:
        """Kill it as a machine does that loses its power."""
        self.process.kill()
        self.process.wait()

    def pay(self) -> str:
        """Pay an award, and return how it then stands."""
        question = self.line()
        assert re.fullmatch(PAY, question), question
        self.answer(value=True)
        return self.award()

    def award(self) -> str:
        """Return the line of an award, without its id."""
        line = self.line()
        named = re.fullmatch(AWARD, line)
        assert named, line
        return named[1]

    def refund(self) -> str:
        """Return the line of a refund, without the bet's id."""
        line = self.line()
        named = re.fullmatch(REFUND, line)
        assert named, line
        return named[1]

    def end(self) -> list[str]:
        """End the evening, and return the lines before."""
        lines = self.reach("another round")
        self.answer(value=False)
        assert self.process.wait(LONGEST_S) == 0
        return lines

    def until_shown(self, meter: str) -> None:
        """Wait until the display shows a meter."""
        until = time.monotonic() + LONGEST_S
        while not self.screen.exists() or self.screen.read_text() != meter:
            assert time.monotonic() < until, self.screen.read_text()
            time.sleep(0.05)


@dataclass
class Table:
    """Starts the program, again and again, with the notes that the one before left."""

    base_url: str
    key: str
    notes: Path
    programs: ExitStack

    def start(self, *, killed_before: int | None = None, times: int = 1) -> Program:
        """Start it; `killed_before` is the number of a line of the program."""
        screen = self.notes.with_name("screen")
        environment = {"JACKPOT_URL": self.base_url, "JACKPOT_KEY": self.key}
        environment |= {"TABLE_NOTES": str(self.notes), "TABLE_SCREEN": str(screen)}
        trapped = () if killed_before is None else (TRAPPED, CODE, str(killed_before), str(times))
        process = subprocess.Popen(
            [sys.executable, "-c", *(trapped or (CODE,))],
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.programs.enter_context(process)
        self.programs.callback(process.kill)
        return Program(process, screen)


def line_of(text: str) -> int:
    """Return the number of the program's only line that begins so."""
    (number,) = (number for number, line in enumerate(CODE.splitlines(), 1) if line.strip().startswith(text))
    return number


def lines_of(function: str, beginnings: tuple[str, ...]) -> list[int]:
    """Return the numbers of the lines of a function that begin so."""
    first = line_of(f"def {function}(")
    body = itertools.takewhile(lambda line: line.startswith("    "), CODE.splitlines()[first:])
    return [number for number, line in enumerate(body, first + 1) if line.strip().startswith(beginnings)]
