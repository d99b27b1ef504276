"""The evening of docs/table-server.md, as it stands there: against a real service, with crashes and a lossy network."""

import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest
import sqlalchemy

from jackpot_service.database.transactions import transact
from jackpot_service.domain.principals import SYSTEM_OPERATOR
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.keys import create_key
from tests.faults.service import Service
from tests.races import books, scene
from tests.support.lossy_proxy import lossy_proxy

pytestmark = pytest.mark.long

PAGE: Final = Path(__file__).parents[2] / "docs" / "table-server.md"
CODE: Final = "".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
MOST_LINES: Final = 80
LONGEST_S: Final = 120.0

ANN: Final = {"player_id": "ann", "currency": "EUR", "stake_minor": 100}
BOB: Final = {"player_id": "bob", "currency": "GBP", "stake_minor": 100}
ROYAL: Final = scene.ROYAL.split()
NOTHING: Final = scene.NOTHING.split()


@pytest.fixture
def key(engine: sqlalchemy.Engine) -> str:
    """Set the table up, and give the test its server's key."""
    scene.open_house(engine)
    scene.open_live(engine, "live", tables=["T1"], base_amount="1000")
    act = Act(SYSTEM_OPERATOR, scene.now())
    return transact(engine, lambda session: create_key(session, act, scene.SERVER)).whole


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

    def line(self) -> str:
        """Return the next line."""
        try:
            line = self._lines.get(timeout=LONGEST_S)
        except queue.Empty:
            raise AssertionError(f"nothing comes after {self.lines}") from None
        assert line is not None, f"it ended after {self.lines}"
        self.lines.append(line)
        return line

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

    def start(self) -> Program:
        screen = self.notes.with_name("screen")
        environment = {"JACKPOT_URL": self.base_url, "JACKPOT_KEY": self.key}
        environment |= {"TABLE_NOTES": str(self.notes), "TABLE_SCREEN": str(screen)}
        process = subprocess.Popen(
            [sys.executable, "-c", CODE],
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.programs.enter_context(process)
        self.programs.callback(process.kill)
        return Program(process, screen)


@pytest.fixture
def table(service: Service, key: str, tmp_path: Path) -> Iterator[Table]:
    with ExitStack() as programs:
        yield Table(service.base_url, key, tmp_path / "notes.json", programs)


def test_the_page_needs_few_lines() -> None:
    assert len(CODE.splitlines()) <= MOST_LINES


def test_an_evening_with_a_crash_comes_to_the_right_figures(table: Table, engine: sqlalchemy.Engine) -> None:
    program = table.start()
    assert [program.line() for _ in range(2)] == ["key of server for live", "stakes EUR 1 to 10000"]

    # Bob leaves before the closing: 0.45 of Ann's EUR 1 goes to the meter, and nothing of the bet that is void.
    program.play(ANN, BOB, left=("bob",))
    program.answer(NOTHING)
    program.until_shown("100045")

    # A misdeal gives Ann her stake back.
    program.play(ANN)
    program.answer([])
    assert program.line() == "refund ann EUR 100"

    # The process is killed between the bets and the result, and the dealer deals on while it starts again.
    program.play(ANN, BOB)
    program.kill()
    assert books.ask(engine, "SELECT state FROM rounds ORDER BY opened_at DESC LIMIT 1") == [("closed",)]
    program = table.start()
    program.reach("cards")
    program.answer(ROYAL)

    # W = 1 + 1.17, M = 1000.45 + 0.45 W = 1001.4265: each of the two wins M / W = 461.48 times the stake.
    lines = program.end()
    assert lines == ["award ann EUR 46148 payable", "award bob GBP 46148 payable"]
    assert books.ask(engine, "SELECT state, count(*) FROM rounds GROUP BY state ORDER BY state") == [
        ("cancelled", 1),
        ("settled", 2),
    ]
    assert books.ask(engine, "SELECT count(*) FROM bets") == [(5,)]
    assert books.ask(engine, "SELECT currency, amount_minor FROM awards ORDER BY 1") == [("EUR", 46148), ("GBP", 46148)]
    assert books.balance(engine, f"casino:{scene.CASINO}") == Decimal("461.48") - 2
    assert books.balance(engine, f"casino:{scene.CASINO}", "GBP") == Decimal("461.48") - 1
    books.require_clean(engine)


@pytest.mark.parametrize(
    ("cards", "ends"),
    [
        (ROYAL, ["award ann EUR 46127 payable", "award bob GBP 46127 payable"]),
        ([], ["refund ann EUR 100", "refund bob GBP 100"]),
    ],
)
def test_a_round_whose_notes_are_lost_is_found_by_the_service(
    table: Table, engine: sqlalchemy.Engine, cards: list[str], ends: list[str]
) -> None:
    program = table.start()
    program.play(ANN, BOB)
    program.kill()
    table.notes.unlink()

    program = table.start()
    lines = program.reach("cards")
    program.answer(cards)

    assert re.fullmatch(r"open \S+ with 2 bets", lines[-1])
    assert sorted(program.end()) == ends
    books.require_clean(engine)


def test_a_program_that_is_killed_at_any_moment_books_each_bet_once(table: Table, engine: sqlalchemy.Engine) -> None:
    """From the moment that it hears the bets it notes, sends, and hears the answer: it is killed ever later."""
    kills = 8
    for kill in range(kills):
        program = table.start()
        program.reach("another round")
        program.answer(value=True)
        program.reach("bets")
        program.answer([ANN, BOB])
        time.sleep(kill * 0.005)
        program.kill()
        program = table.start()
        line_ = program.line()
        while line_ not in {"another round", "bets", "left"}:
            line_ = program.line()
        if line_ == "another round":  # It had not noted the round yet.
            program.answer(value=True)
            line_ = program.line()
        if line_ == "bets":
            program.answer([ANN, BOB])
            program.reach("left")
        program.answer([])
        program.reach("cards")
        program.answer(NOTHING)
        assert program.end() == []

    assert books.ask(engine, "SELECT state, count(*) FROM rounds GROUP BY state") == [("settled", kills)]
    assert books.ask(engine, "SELECT count(*) FROM bets") == [(2 * kills,)]
    books.require_clean(engine)


def test_a_service_that_is_away_books_the_bets_when_it_is_back(
    table: Table, service: Service, engine: sqlalchemy.Engine
) -> None:
    program = table.start()
    program.reach("another round")
    program.answer(value=True)
    program.reach("bets")
    service.kill()
    while service.status_of("/healthz"):  # Its workers take a moment to die, and one of them might still read the bets.
        time.sleep(0.05)
    program.answer([ANN, BOB])
    assert program.line() == "not sent, trying again"
    service.start()
    program.reach("left")
    program.answer([])
    program.reach("cards")
    program.answer(NOTHING)

    program.end()
    assert books.ask(engine, "SELECT count(*) FROM bets") == [(2,)]
    books.require_clean(engine)


def test_answers_that_are_lost_are_asked_for_until_they_come(
    table: Table, service: Service, engine: sqlalchemy.Engine
) -> None:
    with lossy_proxy(service.port) as proxy:
        table.base_url = proxy.base_url
        program = table.start()
        program.reach("another round")
        program.answer(value=True)
        program.reach("bets")
        proxy.loses_answers.set()
        program.answer([ANN, BOB])
        assert program.line().startswith("unknown, repeating ")
        proxy.loses_answers.clear()
        program.reach("left")
        program.answer([])
        program.reach("cards")
        program.answer(NOTHING)
        program.end()

    assert proxy.lost > 1
    assert books.ask(engine, "SELECT count(*) FROM bets") == [(2,)]
    books.require_clean(engine)
