"""The evening of docs/table-server.md, as it stands there: against a real service, with crashes and a lossy network."""

import os
import re
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
import sqlalchemy

from jackpot_service.database import embedded
from jackpot_service.database.transactions import transact
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.keys import create_key, revoke_key
from tests.faults.service import Service
from tests.races import books, scene
from tests.support.lossy_proxy import lossy_proxy
from tests.support.table_program import CODE, LONGEST_S, PAGE, PAY, Program, Table, line_of, lines_of

pytestmark = pytest.mark.long

README: Final = (PAGE.parents[1] / "README.md").read_text(encoding="utf-8")

MOST_LINES: Final = 80
ANN: Final = {"player_id": "ann", "currency": "EUR", "stake_minor": 100}
BOB: Final = {"player_id": "bob", "currency": "GBP", "stake_minor": 100}
CAT: Final = {"player_id": "cat", "currency": "EUR", "stake_minor": 100}
ROYAL: Final = scene.ROYAL.split()
NOTHING: Final = scene.NOTHING.split()

PAYMENTS: Final = """
SELECT currency, awards.amount_minor, sum(payments.amount_minor)::bigint, count(*)
FROM awards JOIN payments USING (jackpot_id, round_key, bet_id, tier, correction)
GROUP BY award_id, currency, awards.amount_minor ORDER BY currency
"""
"""Of each award that was paid: currency, amount, what was paid, in how many payments."""

ENDED: Final = "SELECT count(*) FROM rounds WHERE state IN ('settled', 'cancelled')"

ANSWERS: Final[dict[str, Any]] = {"another round": True, "bets": [ANN, BOB, CAT], "left": ["cat"]}


@pytest.fixture
def settings() -> dict[str, str]:
    """Give the jackpot the rules that are usual; a test may have others."""
    return {}


@pytest.fixture
def operator(engine: sqlalchemy.Engine, settings: dict[str, str]) -> str:
    """Set the table up, and give the test an operator's key."""
    scene.open_house(engine)
    scene.open_live(engine, "live", tables=["T1"], base_amount="1000", settings=settings)
    act = Act(SYSTEM_OPERATOR, scene.now())
    return transact(engine, lambda session: create_key(session, act, Principal("Olga", Role.OPERATOR))).whole


@pytest.fixture
def made_key(operator: str, service: Service, durable: embedded.Cluster) -> str:
    """Make the table server's key by the command of README, which an operator has the key for."""
    (command,) = re.findall(r"^    KEY=\$\(jackpot (.*)\)$", README, re.MULTILINE)
    assert f"    jackpot {command}\n" in PAGE.read_text(encoding="utf-8")
    made = subprocess.run(
        [sys.executable, "-m", "jackpot_service.cli", *shlex.split(command.replace("riga", scene.CASINO))],
        env={
            **os.environ,
            "JACKPOT_URL": service.base_url,
            "JACKPOT_KEY": operator,
            "JACKPOT_OWNER_URL": durable.url(),
        },
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return made.stdout.strip()


@pytest.fixture
def table(service: Service, made_key: str, tmp_path: Path) -> Iterator[Table]:
    with ExitStack() as programs:
        yield Table(service.base_url, made_key, tmp_path / "notes.json", programs)


def test_the_page_needs_few_lines() -> None:
    assert len(CODE.splitlines()) <= MOST_LINES


def test_an_evening_with_a_crash_comes_to_the_right_figures(table: Table, engine: sqlalchemy.Engine) -> None:
    program = table.start()
    assert [program.line() for _ in range(2)] == ["key of table server for live", "stakes EUR 1 to 10000"]

    # Bob leaves before the closing: 0.45 of Ann's EUR 1 goes to the meter, and nothing of the bet that is void.
    program.play(ANN, BOB, left=("bob",))
    program.answer(NOTHING)
    program.until_shown("100045")

    # A misdeal gives Ann her stake back.
    program.play(ANN)
    program.answer([])
    assert program.refund() == "ann EUR 100"

    # The process is killed between the bets and the result, and the dealer deals on while it starts again.
    program.play(ANN, BOB)
    program.kill()
    assert books.ask(engine, "SELECT state FROM rounds ORDER BY opened_at DESC LIMIT 1") == [("closed",)]
    program = table.start()
    program.reach("cards")
    program.answer(ROYAL)

    # W = 1 + 1.17, M = 1000.45 + 0.45 W = 1001.4265: each of the two wins M / W = 461.48 times the stake.
    assert [program.pay() for _ in range(2)] == ["ann EUR 46148 paid", "bob GBP 46148 paid"]
    assert program.end() == []
    assert books.ask(engine, "SELECT state, count(*) FROM rounds GROUP BY state ORDER BY state") == [
        ("cancelled", 1),
        ("settled", 2),
    ]
    assert books.ask(engine, "SELECT count(*) FROM bets") == [(5,)]
    assert books.ask(engine, PAYMENTS) == [("EUR", 46148, 46148, 1), ("GBP", 46148, 46148, 1)]
    assert books.balance(engine, f"casino:{scene.CASINO}") == Decimal("461.48") - 2
    assert books.balance(engine, f"casino:{scene.CASINO}", "GBP") == Decimal("461.48") - 1
    books.require_clean(engine)


def test_a_round_whose_notes_are_lost_is_found_and_settled(table: Table, engine: sqlalchemy.Engine) -> None:
    program = table.start()
    program.play(ANN, BOB)
    program.kill()
    table.notes.unlink()

    # What is paid is not lost again with a crash: the round has notes again.
    program = table.start(killed_before=line_of("for award in"), times=1)
    lines = program.reach("cards")
    program.answer(ROYAL)
    assert program.rest() == []
    assert re.fullmatch(r"open \S+ with 2 bets", lines[-1])

    program = table.start()
    program.reach_stakes()
    assert sorted(program.pay() for _ in range(2)) == ["ann EUR 46127 paid", "bob GBP 46127 paid"]
    assert program.end() == []
    books.require_clean(engine)


def test_a_round_whose_notes_are_lost_is_cancelled_without_cards(table: Table, engine: sqlalchemy.Engine) -> None:
    program = table.start()
    program.play(ANN, BOB)
    program.kill()
    table.notes.unlink()

    program = table.start()
    program.reach("cards")
    program.answer([])
    assert sorted(program.refund() for _ in range(2)) == ["ann EUR 100", "bob GBP 100"]
    assert program.end() == []
    books.require_clean(engine)


@pytest.mark.parametrize("settings", [{"close_required": "true"}])
@pytest.mark.parametrize("cards", [ROYAL, []])
def test_a_round_whose_notes_are_lost_while_it_is_open_is_closed_first(
    table: Table, engine: sqlalchemy.Engine, cards: list[str]
) -> None:
    program = table.start()
    program.reach("another round")
    program.answer(value=True)
    program.reach("bets")
    program.answer([ANN, BOB])
    program.reach("left")
    program.kill()
    table.notes.unlink()
    assert books.ask(engine, "SELECT state FROM rounds") == [("open",)]

    program = table.start()
    program.reach("cards")
    program.answer(cards)
    for _ in range(2):
        _ = program.pay() if cards else program.refund()
    assert program.end() == []
    assert books.ask(engine, "SELECT state FROM rounds") == [("settled" if cards else "cancelled",)]
    books.require_clean(engine)


NOTED: Final = 8
"""How often a file is replaced in a round: round, bets, who left, bet count, cards, two payments, the end of it."""

PAID: Final = (6, 7)
"""The payments among them."""

STEPS: Final = ("certain(", "left = ", "return len(", "hands = ", "for award in", "award = certain(", "question = ")
"""The beginnings of lines that send something, or come after an answer, in the functions of a round."""

MOMENTS: Final = [
    *[(number, 1) for function in ("take_bets", "play", "pay") for number in lines_of(function, STEPS)],
    *[(line_of(text), 1) for text in ("facts.clear(", 'replace(NOTES, "{}")', "for refund in", 'print("award"')],
    *[(line_of("written.replace("), times) for times in range(1, NOTED + 1)],
    *[(line_of("folder = "), times) for times in PAID],
]
"""The line before which it is killed, and the time that it comes there: the first, or a later one."""


def attend(program: Program, engine: sqlalchemy.Engine, *, rounds: int, cards: list[str]) -> list[str]:
    """Answer its questions until so many rounds have ended, or it is killed. Returns the awards that were paid."""
    paid, answers = [], {**ANSWERS, "cards": cards}
    while (line := program.next_line()) is not None:
        if line == "another round" and books.ask(engine, ENDED) == [(rounds,)]:
            break
        if line in answers:
            program.answer(answers[line])
        elif payment := re.fullmatch(PAY, line):
            paid.append(payment[1])
            program.answer(value=True)
    return paid


def test_a_program_that_is_killed_before_any_of_its_steps_books_and_pays_once(
    table: Table, engine: sqlalchemy.Engine
) -> None:
    asked_twice = []
    for rounds, (number, times) in enumerate(MOMENTS, 1):
        is_misdeal = "refund" in CODE.splitlines()[number - 1]
        cards = [] if is_misdeal else ROYAL
        program = table.start(killed_before=number, times=times)
        paid = attend(program, engine, rounds=rounds, cards=cards)
        assert program.process.wait(LONGEST_S) == -signal.SIGKILL, (number, times)
        program = table.start()
        paid += attend(program, engine, rounds=rounds, cards=cards)
        program.kill()
        assert len(set(paid)) == (0 if is_misdeal else 2)
        asked_twice += [(number, times)] * (len(paid) - len(set(paid)))

    # The question comes again only where its answer was not on the disk yet.
    assert asked_twice == [(line_of("written.replace("), times) for times in PAID]
    rounds = len(MOMENTS)
    assert books.ask(engine, ENDED) == books.ask(engine, "SELECT count(*) FROM rounds") == [(rounds,)]
    assert books.ask(engine, "SELECT count(*) FROM bets") == [(3 * rounds,)]
    assert {(paid == amount, payments) for _, amount, paid, payments in books.ask(engine, PAYMENTS)} == {(True, 1)}
    books.require_clean(engine)


def test_a_payment_that_is_refused_is_left_to_people_and_the_evening_goes_on(
    table: Table, service: Service, operator: str, engine: sqlalchemy.Engine
) -> None:
    body = {
        "request_id": "k1",
        "principal": "an operator's server",
        "role": "table",
        "casino_id": scene.CASINO,
        "reason": "as no page says",
    }
    headers = {"Authorization": f"Bearer {operator}"}
    path = f"{service.base_url}/v1/keys"
    created = httpx.post(path, json=body, headers=headers, trust_env=False, timeout=LONGEST_S)
    table.key = created.raise_for_status().json()["key"]
    program = table.start()
    program.play(ANN)
    program.answer(ROYAL)
    (question,) = (line for line in [program.line()] if re.fullmatch(PAY, line))
    program.answer(value=True)
    assert re.fullmatch(r"people record the payment of \S+ as it was refused: 403 key-maker: .*", program.line())
    assert program.award() == f"{' '.join(question.split()[2:])} payable"

    program.play(ANN)
    program.answer(NOTHING)
    assert program.end() == []
    assert books.ask(engine, PAYMENTS) == []
    assert books.ask(engine, ENDED) == [(2,)]


def test_an_award_that_was_paid_before_a_crash_is_not_named_as_payable_again(
    table: Table, engine: sqlalchemy.Engine
) -> None:
    program = table.start(killed_before=line_of("facts.clear()"))
    program.play(ANN)
    program.answer(ROYAL)
    paid = program.pay()
    assert program.rest() == []

    program = table.start()
    program.reach_stakes()
    assert (program.award(), program.end()) == (paid, [])
    assert [row[3] for row in books.ask(engine, PAYMENTS)] == [1]


def test_a_replaced_file_is_on_the_disk_before_its_name_and_so_is_its_folder_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (replace,) = re.findall(r"```python\n(def replace.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    file, synchronized, really = tmp_path / "notes", [], os.fsync
    file.write_text("old")

    def fsync(descriptor: int) -> None:
        really(descriptor)
        synchronized.append((stat.S_ISDIR(os.fstat(descriptor).st_mode), file.read_text()))

    monkeypatch.setattr(os, "fsync", fsync)
    names: dict[str, Any] = {"os": os}
    exec(replace, names)  # noqa: S102  the page's own program
    names["replace"](file, "new")

    assert synchronized == [(False, "old"), (True, "new")]
    assert list(tmp_path.iterdir()) == [file]


def test_a_display_whose_key_is_revoked_shows_no_amount(
    table: Table, service: Service, engine: sqlalchemy.Engine
) -> None:
    program = table.start()
    program.reach("another round")
    program.until_shown("100000")
    act = Act(SYSTEM_OPERATOR, scene.now())
    ((key_id,),) = books.ask(engine, "SELECT key_id FROM keys WHERE principal = 'table server'")
    transact(engine, lambda session: revoke_key(session, act, key_id))
    service.kill()
    service.start()

    program.until_shown("unknown")
    # It stays so, and is no frame that is only stale.
    time.sleep(1)
    assert program.screen.read_text() == "unknown"


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
    assert re.fullmatch(r"repeating: .*; nothing can have been booked", program.line())
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
        assert re.fullmatch(r"repeating: .*; it may have been booked or not: repeat it with .*", program.line())
        proxy.loses_answers.clear()
        program.reach("left")
        program.answer([])
        program.reach("cards")
        program.answer(NOTHING)
        program.end()

    assert proxy.lost > 1
    assert books.ask(engine, "SELECT count(*) FROM bets") == [(2,)]
    books.require_clean(engine)
