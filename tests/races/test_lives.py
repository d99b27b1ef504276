"""Suspension, retirement, changes of rules and of table limits while bets and hits of several processes go on."""

from decimal import Decimal
from functools import partial
from typing import Any

import pytest
import sqlalchemy

from jackpot_service.database.transactions import transact
from jackpot_service.domain.acceptance import StakeOutOfRange
from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.changes import Outcome
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.ledger.journal import JackpotSuspended
from jackpot_service.usecases.accept_bets import BetsAccepted
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.requests import DecideChange, RequestChange, decide_change, request_change
from jackpot_service.usecases.changes.retirement import StillInPlay
from jackpot_service.usecases.jackpots import ChangeSuspension, resume_jackpot, suspend_jackpot
from tests.races import books, scene
from tests.races.processes import Racer, in_threads, race
from tests.support import people

pytestmark = pytest.mark.long

BETTORS = 3
BETS = 200
TURNS = 6
HITS = 15


def act(name: str, request_id: str | None = None) -> Act:
    role = Role.OPERATOR if name == "ann" else Role.FINANCE
    return Act(Principal(name, role), scene.now(), request_id=request_id, reason="as agreed")


def change_suspension(engine: sqlalchemy.Engine, use_case: Any, request_id: str) -> None:
    command = ChangeSuspension(people.enrolled(engine, act("ann", request_id)), "live")
    transact(engine, lambda session: use_case(session, command))


def two_people(engine: sqlalchemy.Engine, kind: str, payload: dict[str, Any], request_id: str) -> LedgerError | None:
    """Have a change asked for and approved; how it was refused, if it was."""
    request_ = RequestChange(people.enrolled(engine, act("ann", request_id)), kind, payload)
    decided = DecideChange(people.enrolled(engine, act("bob")), request_id, Outcome.APPROVED)
    try:
        transact(engine, lambda session: request_change(session, request_))
        transact(engine, lambda session: decide_change(session, decided))
    except LedgerError as error:
        return error
    return None


def bet_on(racer: Racer, *, name: str) -> list[bool]:
    """Bet and bet; tells of each whether it was taken, all other refusals being errors."""
    calls = [
        partial(scene.attempted, partial(scene.bet, racer.engine, "T1", f"{name}-{number}", scene.euro("b")))
        for number in range(BETS)
    ]
    answers = in_threads(calls, threads=4)
    assert all(isinstance(answer, BetsAccepted | JackpotSuspended) for answer in answers), answers
    return [isinstance(answer, BetsAccepted) for answer in answers]


def close_and_open(racer: Racer) -> list[tuple[int, int]]:
    """Suspend and resume, again and again; the bets there were when a suspension had answered, and a while later."""
    counts = []
    for turn in range(TURNS):
        change_suspension(racer.engine, suspend_jackpot, f"s{turn}")
        counts.append((_bets(racer.engine), max(_bets(racer.engine) for _ in range(20))))
        change_suspension(racer.engine, resume_jackpot, f"r{turn}")
    return counts


def _bets(engine: sqlalchemy.Engine) -> int:
    count: int = books.ask(engine, "SELECT count(*) FROM bets")[0][0]
    return count


def test_no_bet_is_accepted_once_a_suspension_has_answered(engine: sqlalchemy.Engine, database_url: str) -> None:
    scene.open_live(engine, "live", tables=["T1"])

    counts, *taken = race(
        database_url, close_and_open, *(partial(bet_on, name=f"p{number}") for number in range(BETTORS))
    )

    assert [first for first, _ in counts] == [later for _, later in counts]
    accepted = sum(sum(answers) for answers in taken)
    assert _bets(engine) == accepted
    assert books.balance(engine, "house:margin") == accepted * Decimal("0.1816")
    books.require_clean(engine)  # It compares every bet's place with the doors'.
    assert books.deadlocks(engine) == 0


def change_rules(racer: Racer) -> int:
    refusals = [
        two_people(
            racer.engine,
            "rules",
            {"jackpot_id": "live", "settings": {"split.meter": f"0.4{turn}", "reset_amount": str(100 + turn)}},
            f"q{turn}",
        )
        for turn in range(TURNS)
    ]
    assert refusals == [None] * TURNS
    return len(refusals)


def hit_on(racer: Racer) -> list[Decimal]:
    """Win and win; what the meter was refilled to."""
    refilled = []
    for number in range(HITS):
        scene.bet(racer.engine, "T2", f"hit-{number}", scene.euro("b"))
        settled = scene.settle(racer.engine, "T2", f"hit-{number}", 1, {"1": scene.ROYAL})
        refilled.append(Decimal(settled.settlement["house_seed"]))
    return refilled


def test_every_hit_opens_its_cycle_under_the_newest_rules_however_they_race(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    scene.open_live(engine, "live", tables=["T1", "T2"])

    race(database_url, change_rules, hit_on, partial(bet_on, name="p0"), partial(bet_on, name="p1"))

    versions = [version for (version,) in books.ask(engine, "SELECT rules_version FROM cycles ORDER BY cycle")]
    assert versions == sorted(versions)
    assert len(versions) == HITS + 1
    assert books.ask(engine, "SELECT max(version) FROM rules_versions") == [(TURNS + 1,)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def retire(racer: Racer) -> list[str]:
    """Try to retire the jackpot until it is; how often it was refused."""
    refusals: list[str] = []
    while True:
        refusal = two_people(racer.engine, "retirement", {"jackpot_id": "live", "to": "heir"}, f"q{len(refusals)}")
        if refusal is None:
            return refusals
        assert isinstance(refusal, StillInPlay), refusal
        refusals.append(refusal.code)


def play_on(racer: Racer, *, name: str) -> int:
    """Bet and settle until the jackpot takes no bets."""
    accepted = 0
    for number in range(BETS):
        round_id = f"{name}-{number}"
        answer = scene.attempted(partial(scene.bet, racer.engine, "T1", round_id, scene.euro("b")))
        if isinstance(answer, JackpotSuspended):
            break
        assert isinstance(answer, BetsAccepted)
        accepted += 1
        scene.settle(racer.engine, "T1", round_id, 1, {"1": scene.NOTHING})
    return accepted


def test_a_jackpot_is_retired_between_rounds_and_every_cent_arrives(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    scene.open_live(engine, "live", tables=["T1"], base_amount="1000")
    scene.open_live(engine, "heir", tables=["T2"])

    _, *played = race(database_url, retire, partial(play_on, name="p0"), partial(play_on, name="p1"))

    bets = sum(played)
    assert books.pools(engine, "live") == Pools()
    assert books.pools(engine, "heir") == Pools(
        meter_players=bets * Decimal("0.45"), reserve=bets * Decimal("0.05"), prize_fund=bets * Decimal("0.3184")
    )
    assert books.balance(engine, "transfer:q0") == 0
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def approve(racer: Racer, *, name: str) -> str | None:
    decided = DecideChange(people.enrolled(racer.engine, act(name)), "q0", Outcome.APPROVED)
    refused = scene.attempted(lambda: transact(racer.engine, lambda session: decide_change(session, decided)))
    return refused.code if isinstance(refused, LedgerError) else None


def test_of_two_who_approve_one_adjustment_at_once_one_does_and_it_is_booked_once(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    scene.open_live(engine, "live", tables=["T1"])
    stated = {"account": "meter", "amount": "12.34", "document": "memo", "cause": "count-error"}
    request_ = RequestChange(people.enrolled(engine, act("ann", "q0")), "adjustment", {"jackpot_id": "live", **stated})
    transact(engine, lambda session: request_change(session, request_))

    outcomes = race(
        database_url, partial(approve, name="bob"), partial(approve, name="cleo"), partial(bet_on, name="p")
    )

    assert sorted(outcomes[:2], key=str) == [None, "change-decided"]
    assert books.balance(engine, "house:adjustments") == Decimal("-12.34")
    books.require_clean(engine)


TIGHT = 100
WIDE = 200


def tighten_and_widen(racer: Racer) -> list[tuple[int, int]]:
    """Limit a table and take that back, again and again; its wide bets when a limit had answered, and a while later."""
    counts = []
    for turn in range(TURNS):
        limits = {"jackpot_id": "live", "table_id": "T1", "largest_stake": "1"}
        assert two_people(racer.engine, "table-limits", limits, f"t{turn}") is None
        counts.append((_wide_bets(racer.engine), max(_wide_bets(racer.engine) for _ in range(20))))
        assert two_people(racer.engine, "table-limits", {"jackpot_id": "live", "table_id": "T1"}, f"w{turn}") is None
    return counts


def _wide_bets(engine: sqlalchemy.Engine) -> int:
    count: int = books.ask(engine, "SELECT count(*) FROM bets WHERE stake_minor > 100")[0][0]
    return count


def bet_wide(racer: Racer, *, name: str) -> list[bool]:
    """Bet and bet, two euros and one in turn; tells of each whether it was taken: one euro always is."""
    calls = [
        partial(
            scene.attempted,
            partial(
                scene.bet,
                racer.engine,
                "T1",
                f"{name}-{number}",
                scene.euro("b", stake_minor=WIDE if number % 2 else TIGHT),
            ),
        )
        for number in range(BETS)
    ]
    answers = in_threads(calls, threads=4)
    assert all(isinstance(answer, BetsAccepted | StakeOutOfRange) for answer in answers), answers
    assert all(isinstance(answer, BetsAccepted) for answer in answers[::2])
    return [isinstance(answer, BetsAccepted) for answer in answers]


def test_no_wider_bet_is_accepted_once_a_tightening_has_answered(engine: sqlalchemy.Engine, database_url: str) -> None:
    scene.open_live(engine, "live", tables=["T1"])

    counts, *taken = race(
        database_url, tighten_and_widen, *(partial(bet_wide, name=f"p{number}") for number in range(BETTORS))
    )

    assert [first for first, _ in counts] == [later for _, later in counts]
    assert _bets(engine) == sum(sum(answers) for answers in taken)
    books.require_clean(engine)  # It compares every batch with the limits that were in force where it stands.
    assert books.deadlocks(engine) == 0
