"""Rates that change in the middle of ingest at full load, and people who decide on one request at once."""

from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import pytest
import sqlalchemy

from jackpot_service.api.bet_groups import BetGroups
from jackpot_service.database.transactions import transact
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.changes import ChangeDecided, ChangeStale, Outcome
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.requests import (
    ChangeDecidedNow,
    DecideChange,
    RequestChange,
    decide_change,
    request_change,
)
from tests.races import books, scene
from tests.races.processes import LONGEST_RACE_S, Racer, in_threads, race
from tests.support import people
from tests.support.loop import accepted

pytestmark = pytest.mark.long

BETTORS = 3
THREADS = 4
PARTS = 4
ROUNDS_OF_A_PART = 12
SHEETS_OF_A_PART = 6
DECISIONS = 12


def ask(racer: Racer, request_id: str, **rates: str) -> None:
    act = Act(Principal("Ann", Role.RATES), scene.now(), request_id=request_id, reason="the market moves")
    command = RequestChange(people.enrolled(racer.engine, act), "rate-sheet", {"base": "EUR", "rates": rates})
    transact(racer.engine, lambda session: request_change(session, command))


def decide(
    racer: Racer, request_id: str, checker: str, outcome: Outcome = Outcome.APPROVED
) -> ChangeDecidedNow | LedgerError:
    act = Act(Principal(checker, Role.RATES), scene.now(), reason="as I see it")
    command = DecideChange(people.enrolled(racer.engine, act), request_id, outcome)
    return scene.attempted(lambda: transact(racer.engine, lambda session: decide_change(session, command)))


# A rate change in the middle of full ingest load.


@dataclass(frozen=True)
class Played:
    """What a bettor was told: the bets accepted, and the sheet of each round each time it was shown."""

    accepted: int
    sheets: Mapping[str, list[int]]


def bet_on(racer: Racer, *, name: str) -> list[Played]:
    """In each part open rounds, add to those of the part before, and settle every other one of these."""
    groups = BetGroups(racer.engine, threads=ThreadPoolExecutor(2), longest_wait_s=LONGEST_RACE_S, most_on_loop=1)
    played = []
    for part in range(PARTS):
        racer.meet()
        threads = [partial(_play, racer, groups, f"{name}-{thread}", part) for thread in range(THREADS)]
        played += in_threads(threads, threads=THREADS)
    return played


def _play(racer: Racer, groups: BetGroups, name: str, part: int) -> Played:
    booked = 0
    sheets: dict[str, list[int]] = defaultdict(list)
    calls = [(f"{name}-{part}-{number}", "first") for number in range(ROUNDS_OF_A_PART)]
    if part:
        calls += [(f"{name}-{part - 1}-{number}", "second") for number in range(ROUNDS_OF_A_PART)]
    for round_id, bet_id in calls:
        answer = accepted(groups, scene.batch("T1", round_id, Bet(bet_id, f"player-{bet_id}", "1", "GBP", 100)))
        booked += answer.accepted
        sheets[round_id].append(answer.round.round.rate_sheet)
    for round_id, _ in calls[ROUNDS_OF_A_PART::2]:
        settled = scene.settle(racer.engine, "T1", round_id, 2, {"1": scene.NOTHING})
        sheets[round_id].append(settled.round.round.rate_sheet)
    return Played(booked, sheets)


def change_rates(racer: Racer) -> int:
    """Ask for and approve sheet after sheet while the others bet, each within the band around the one before."""
    approved = 0
    for part in range(PARTS):
        racer.meet()
        for number in range(part * SHEETS_OF_A_PART, (part + 1) * SHEETS_OF_A_PART):
            ask(racer, f"q{number}", GBP=_rate(number))
            approved += not isinstance(decide(racer, f"q{number}", "Bob"), LedgerError)
    return approved


def _rate(number: int) -> str:
    return f"1.{17 + number % 5}0000000{number % 10}"


def test_rates_that_change_under_full_load_change_no_open_round_and_cost_no_bet(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    scene.open_live(engine, "live", tables=["T1"])

    approved, *bettors = race(
        database_url, change_rates, *(partial(bet_on, name=f"p{number}") for number in range(BETTORS))
    )

    played: list[Played] = [played_ for some in bettors for played_ in some]
    rounds = BETTORS * THREADS * PARTS * ROUNDS_OF_A_PART
    bets = rounds + rounds * (PARTS - 1) // PARTS
    assert approved == SHEETS_OF_A_PART * PARTS
    assert sum(played_.accepted for played_ in played) == bets
    assert books.ask(engine, "SELECT count(*) FROM bets") == [(bets,)]
    # Each round kept the sheet that it was opened with, and each of its bets is worth what that sheet says.
    pinned = dict(books.ask(engine, "SELECT round_id, rate_sheet FROM rounds"))
    assert len(pinned) == rounds
    for played_ in played:
        for round_id, numbers in played_.sheets.items():
            assert set(numbers) == {pinned[round_id]}
    worth = """
    SELECT count(*) FROM rounds JOIN rates ON base = 'EUR' AND number = rate_sheet AND currency = 'GBP'
    WHERE weight = bet_count * base_per_unit
    """
    assert books.ask(engine, worth) == [(rounds,)]
    # Those of a part were opened by no sheet that had been replaced before it began.
    for round_id, number in pinned.items():
        assert number > int(round_id.split("-")[2]) * SHEETS_OF_A_PART
    assert books.balance(engine, "casino:c1", "GBP") == -bets
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


# Several people and one request.


def decide_all(racer: Racer, *, checker: str, outcome: Outcome) -> list[ChangeDecidedNow | LedgerError]:
    answers = []
    for number in range(DECISIONS):
        if checker == "Bob":
            ask(racer, f"q{number}", GBP=_rate(number))
        racer.meet()
        answers.append(decide(racer, f"q{number}", checker, outcome))
        racer.meet()
    return answers


def test_of_several_approvers_of_one_request_one_does_it(engine: sqlalchemy.Engine, database_url: str) -> None:
    approvers = [partial(decide_all, checker=name, outcome=Outcome.APPROVED) for name in ("Bob", "Cleo", "Dan")]

    answers = race(database_url, *approvers)

    for at_once in zip(*answers, strict=True):
        assert sorted(_outcome_of(answer) for answer in at_once) == ["ChangeDecided", "ChangeDecided", "approved"]
    assert books.ask(engine, "SELECT count(*), max(number) FROM rate_sheets") == [(DECISIONS + 1, DECISIONS + 1)]
    assert books.ask(engine, "SELECT count(*) FROM entries WHERE kind = 'change_approved'") == [(DECISIONS,)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_the_same_approver_twice_at_once_does_it_once_and_is_told_so_twice(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    answers = race(database_url, *[partial(decide_twice, checker="Bob")] * 2)

    assert sorted(_outcome_of(answer) for answer in answers) == ["approved", "approved"]
    assert sorted(answer.is_replay for answer in answers) == [False, True]
    assert books.ask(engine, "SELECT count(*) FROM rate_sheets") == [(2,)]
    books.require_clean(engine)


def decide_twice(racer: Racer, *, checker: str) -> ChangeDecidedNow | LedgerError:
    ask(racer, "q", GBP="1.18")
    racer.meet()
    return decide(racer, "q", checker)


def test_of_an_approval_and_a_rejection_one_stands(engine: sqlalchemy.Engine, database_url: str) -> None:
    answers = race(
        database_url,
        partial(decide_all, checker="Bob", outcome=Outcome.APPROVED),
        partial(decide_all, checker="Cleo", outcome=Outcome.REJECTED),
    )

    results = [sorted(_outcome_of(answer) for answer in at_once) for at_once in zip(*answers, strict=True)]
    assert all(pair in (["ChangeDecided", "approved"], ["ChangeDecided", "rejected"]) for pair in results)
    approved = sum("approved" in pair for pair in results)
    assert books.ask(engine, "SELECT count(*) FROM rate_sheets") == [(approved + 1,)]
    assert books.ask(engine, "SELECT count(*) FROM change_decisions") == [(DECISIONS,)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def approve_own(racer: Racer, *, number: int, checker: str) -> list[ChangeDecidedNow | LedgerError]:
    answers = []
    for step in range(DECISIONS):
        ask(racer, f"q{step}-{number}", GBP=_rate(2 * step + number))
        racer.meet()
        answers.append(decide(racer, f"q{step}-{number}", checker))
        racer.meet()
    return answers


def test_of_two_requests_against_one_sheet_the_second_is_refused_and_not_merged(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    answers = race(
        database_url,
        partial(approve_own, number=0, checker="Bob"),
        partial(approve_own, number=1, checker="Cleo"),
    )

    for at_once in zip(*answers, strict=True):
        assert sorted(_outcome_of(answer) for answer in at_once) == ["ChangeStale", "approved"]
    assert books.ask(engine, "SELECT count(*) FROM rate_sheets") == [(DECISIONS + 1,)]
    # Whatever the clocks of the processes say, the sheets come into force in the order of their numbers.
    effective = [at for (at,) in books.ask(engine, "SELECT effective_at FROM rate_sheets ORDER BY number")]
    assert effective == sorted(effective)
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def _outcome_of(answer: ChangeDecidedNow | LedgerError) -> str:
    if isinstance(answer, LedgerError):
        assert isinstance(answer, ChangeDecided | ChangeStale), answer.detail
        return type(answer).__name__
    assert answer.change.decision is not None
    return answer.change.decision.outcome.value
