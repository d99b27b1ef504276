"""Decisions on awards that race: with hits and bets, with each other, and a payment told by several at once."""

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import Final

import pytest
import sqlalchemy

from jackpot_service.database.transactions import transact
from jackpot_service.domain.awards import AwardStateConflict
from jackpot_service.domain.changes import ChangeDecided, Outcome
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.payments import PaymentTooLarge
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.domain.settings import Setting
from jackpot_service.records.verdicts import BookedAward
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.requests import (
    ChangeDecidedNow,
    DecideChange,
    RequestChange,
    decide_change,
    request_change,
)
from jackpot_service.usecases.print_slip import PrintSlip, print_slip
from jackpot_service.usecases.record_payment import RecordPayment, record_payment
from jackpot_service.usecases.stop_award import StopAward, stop_award
from tests.races import books, scene
from tests.races.processes import Racer, race
from tests.support import people
from tests.support.payouts import held_from

pytestmark = pytest.mark.long

ANN = Principal("Ann", Role.OPERATOR)
BOB, CLEO = (Principal(name, Role.FINANCE) for name in ("Bob", "Cleo"))

HELD_ROUNDS = tuple(f"h{number}" for number in range(8))
HITS = 8
BETS_MEANWHILE = 60
PAYMENTS = 10


def ask(engine: sqlalchemy.Engine, round_id: str, decision: str, *, attempt: int = 0) -> str:
    """Ann asks for a decision on the held awards of a round; returns the request's id."""
    request_id = f"{decision}-{round_id}-{attempt}"
    payload = {"jackpot_id": "live", "table_id": "T1", "round_id": round_id, "decision": decision}
    act = Act(ANN, scene.now(), request_id=request_id, reason="as agreed")
    command = RequestChange(people.enrolled(engine, act), "held-awards", payload)
    transact(engine, lambda session: request_change(session, command))
    return request_id


def approve(engine: sqlalchemy.Engine, request_id: str, by: Principal) -> ChangeDecidedNow:
    command = DecideChange(
        people.enrolled(engine, Act(by, scene.now(), reason="checked")), request_id, Outcome.APPROVED
    )
    return transact(engine, lambda session: decide_change(session, command))


def win(engine: sqlalchemy.Engine, table_id: str, round_id: str) -> tuple[BookedAward, ...]:
    scene.bet(engine, table_id, round_id, scene.euro("b1"))
    return scene.settle(engine, table_id, round_id, 1, {"1": scene.ROYAL}).awards


def decide_on_and_on(racer: Racer) -> None:
    for number, round_id in enumerate(HELD_ROUNDS):
        approve(racer.engine, ask(racer.engine, round_id, "reject" if number % 2 else "approve"), BOB)


def reinstate_on_and_on(racer: Racer, *, tries: int = 20) -> int:
    """Take back what was rejected, between hits that make the requests stale; how often that was."""
    stale = 0
    for round_id in HELD_ROUNDS:
        for attempt in range(tries):
            request_id = ask(racer.engine, round_id, "reinstate", attempt=attempt)
            answer = scene.attempted(partial(approve, racer.engine, request_id, BOB))
            if not isinstance(answer, LedgerError):
                break
            assert answer.code == "change-stale"
            stale += 1
    return stale


def win_on_and_on(racer: Racer) -> Decimal:
    """Hit the jackpot again and again; what the awards cost, all of them held."""
    awards = [award for number in range(HITS) for award in win(racer.engine, "T2", f"r{number}")]
    return sum((award.cost for award in awards), Decimal(0))


def bet_on_and_on(racer: Racer, *, table_id: str) -> None:
    for number in range(BETS_MEANWHILE):
        scene.bet(racer.engine, table_id, f"m{number}", scene.euro("b1"))


def _prepare(engine: sqlalchemy.Engine) -> list[BookedAward]:
    """Open a jackpot that holds every win, and win it some times."""
    settings: dict[str, Setting] = {"payout_tiers": held_from("1"), "reset_amount": "1000"}
    scene.open_live(engine, "live", tables=["T1", "T2", "T3", "T4"], base_amount="1000", settings=settings)
    return [award for round_id in HELD_ROUNDS for award in win(engine, "T1", round_id)]


def test_held_awards_are_decided_while_hits_and_bets_go_on(engine: sqlalchemy.Engine, database_url: str) -> None:
    held = _prepare(engine)
    approved, rejected = (sum((award.cost for award in held[start::2]), Decimal(0)) for start in (0, 1))

    _, won, *_ = race(
        database_url,
        decide_on_and_on,
        win_on_and_on,
        partial(bet_on_and_on, table_id="T3"),
        partial(bet_on_and_on, table_id="T4"),
    )

    assert books.balance(engine, "awards:held") == won
    assert _moved(engine, "casino:c1", "release") == approved
    assert -_moved(engine, "awards:held", "return") == rejected
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_rejected_awards_are_reinstated_while_hits_and_bets_go_on(engine: sqlalchemy.Engine, database_url: str) -> None:
    held = _prepare(engine)
    for round_id in HELD_ROUNDS:
        approve(engine, ask(engine, round_id, "reject"), BOB)

    _, won, *_ = race(database_url, reinstate_on_and_on, win_on_and_on, partial(bet_on_and_on, table_id="T3"))

    assert books.balance(engine, "awards:held") == won
    assert _moved(engine, "awards:held", "return") == 0
    assert _moved(engine, "casino:c1", "release") == sum((award.cost for award in held), Decimal(0))
    assert books.ask(engine, "SELECT count(*) FROM award_steps WHERE step = 'reinstated'") == [(len(held),)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def _moved(engine: sqlalchemy.Engine, account: str, movement: str) -> Decimal:
    question = "SELECT sum(amount) FROM postings WHERE account = :account AND movement = :movement"
    amount: Decimal = books.ask(engine, question, account=account, movement=movement)[0][0]
    return amount


def approve_or_not(racer: Racer, *, request_ids: list[str], by: Principal) -> list[ChangeDecidedNow | LedgerError]:
    answers = []
    for request_id in request_ids:
        racer.meet()
        answers.append(scene.attempted(partial(approve, racer.engine, request_id, by)))
    return answers


def test_of_two_approvers_one_decides(engine: sqlalchemy.Engine, database_url: str) -> None:
    held = _prepare(engine)
    request_ids = [ask(engine, round_id, "reject") for round_id in HELD_ROUNDS]

    by_bob, by_cleo = race(
        database_url,
        partial(approve_or_not, request_ids=request_ids, by=BOB),
        partial(approve_or_not, request_ids=request_ids, by=CLEO),
    )

    for answers in zip(by_bob, by_cleo, strict=True):
        assert sorted(type(answer).__name__ for answer in answers) == [ChangeDecided.__name__, "ChangeDecidedNow"]
    assert books.ask(engine, "SELECT count(*) FROM entries WHERE kind = 'awards_rejected' AND jackpot_id = 'live'") == [
        (len(HELD_ROUNDS),)
    ]
    assert books.ask(engine, "SELECT count(*) FROM award_steps WHERE step = 'rejected'") == [(len(held),)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


APPROVALS_DUE = 2
APPROVERS = tuple(Principal(name, Role.FINANCE) for name in ("Bob", "Cleo", "Dan"))


def test_of_three_approvers_at_once_two_are_enough_and_one_does_it(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    settings: dict[str, Setting] = {"payout_tiers": held_from("1", approvals=APPROVALS_DUE), "reset_amount": "1000"}
    scene.open_live(engine, "live", tables=["T1"], base_amount="1000", settings=settings)
    held = [award for round_id in HELD_ROUNDS for award in win(engine, "T1", round_id)]
    request_ids = [ask(engine, round_id, "approve") for round_id in HELD_ROUNDS]

    answers = race(database_url, *(partial(approve_or_not, request_ids=request_ids, by=by) for by in APPROVERS))

    for of_request in zip(*answers, strict=True):
        assert sorted(type(answer).__name__ for answer in of_request) == [
            ChangeDecided.__name__,
            "ChangeDecidedNow",
            "ChangeDecidedNow",
        ]
        done = [answer.change for answer in of_request if isinstance(answer, ChangeDecidedNow)]
        assert sorted(change.decision is not None for change in done) == [False, True]
    assert books.ask(engine, "SELECT count(*), count(*) FILTER (WHERE is_final) FROM change_decisions") == [
        (APPROVALS_DUE * len(HELD_ROUNDS), len(HELD_ROUNDS))
    ]
    assert books.ask(engine, "SELECT count(*) FROM award_steps WHERE step = 'approved'") == [(len(held),)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def pay(racer: Racer, *, award_ids: list[str], who: str) -> list[bool]:
    """Record each award's payment; tells of each whether it was a replay."""
    replays = []
    for award_id in award_ids:
        racer.meet()
        act = people.enrolled(racer.engine, Act(scene.SERVER, scene.now(), request_id=f"{who}-{award_id}"))
        command = RecordPayment(act, award_id, "slip")
        replays.append(transact(racer.engine, partial(record_payment, command=command)).is_replay)
    return replays


def test_a_payment_that_is_told_by_several_at_once_is_one(engine: sqlalchemy.Engine, database_url: str) -> None:
    scene.open_live(engine, "live", tables=["T1"], base_amount="1000")
    awards = [award for number in range(PAYMENTS) for award in win(engine, "T1", f"r{number}")]
    award_ids = [award.award_id for award in awards]

    results = race(database_url, *(partial(pay, award_ids=award_ids, who=who) for who in ("x", "x", "y")))

    assert [sorted(replays) for replays in zip(*results, strict=True)] == [[False, True, True]] * len(award_ids)
    assert books.ask(engine, "SELECT count(*) FROM payments") == [(len(award_ids),)]
    assert books.ask(engine, "SELECT count(*) FROM entries WHERE kind = 'award_paid'") == [(len(award_ids),)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def pay_parts(racer: Racer, *, parts: Mapping[str, int], who: str) -> list[bool]:
    """Pay more than a third of each award; tells of each whether that could be."""
    paid = []
    for award_id, amount_minor in parts.items():
        racer.meet()
        act = people.enrolled(racer.engine, Act(scene.SERVER, scene.now(), request_id=f"{who}-{award_id}"))
        command = RecordPayment(act, award_id, f"slip of {who}", amount_minor=amount_minor)
        answer = scene.attempted(partial(transact, racer.engine, partial(record_payment, command=command)))
        paid.append(not isinstance(answer, PaymentTooLarge))
    return paid


def test_parts_that_several_pay_at_once_come_to_no_more_than_their_award(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    scene.open_live(engine, "live", tables=["T1"], base_amount="1000")
    awards = [award for number in range(PAYMENTS) for award in win(engine, "T1", f"r{number}")]
    parts = {award.award_id: award.amount_minor // 3 + 1 for award in awards}

    paid = race(database_url, *(partial(pay_parts, parts=parts, who=who) for who in "xyz"))

    assert [sum(done) for done in zip(*paid, strict=True)] == [2] * len(parts)
    booked = books.ask(engine, "SELECT sum(amount_minor) FROM payments GROUP BY round_key ORDER BY round_key")
    assert booked == [(2 * part,) for part in parts.values()]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def print_slips(racer: Racer, *, award_ids: list[str], who: str) -> list[tuple[int, int]]:
    """Print the slip of each award; returns its number, and which copy it is."""
    printed = []
    for award_id in award_ids:
        racer.meet()
        act = people.enrolled(racer.engine, Act(scene.SERVER, scene.now(), request_id=f"{who}-{award_id}"))
        done = transact(racer.engine, partial(print_slip, command=PrintSlip(act, award_id)))
        printed.append((done.number, done.copy))
    return printed


def test_slips_that_are_printed_at_once_have_numbers_without_a_gap(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    """Two print the same slips, and a third prints others."""
    scene.open_live(engine, "live", tables=["T1"], base_amount="1000")
    awards = [award.award_id for number in range(2 * PAYMENTS) for award in win(engine, "T1", f"r{number}")]
    same, rest = awards[:PAYMENTS], awards[PAYMENTS:]

    first, second, third = race(
        database_url,
        partial(print_slips, award_ids=same, who="x"),
        partial(print_slips, award_ids=same, who="y"),
        partial(print_slips, award_ids=rest, who="z"),
    )

    for (number, copy), (again, other_copy) in zip(first, second, strict=True):
        assert number == again
        assert {copy, other_copy} == {1, 2}
    assert sorted(number for number, _ in (*first, *third)) == list(range(1, 2 * PAYMENTS + 1))
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def stop(racer: Racer, *, award_ids: list[str], who: Principal) -> list[bool]:
    """Stop each award; tells of each whether it did."""
    stopped = []
    for award_id in award_ids:
        racer.meet()
        act = Act(who, scene.now(), request_id=f"{who.name}-{award_id}", reason="in doubt")
        command = StopAward(people.enrolled(racer.engine, act), award_id)
        answer = scene.attempted(partial(transact, racer.engine, partial(stop_award, command=command)))
        stopped.append(not isinstance(answer, AwardStateConflict))
    return stopped


def pay_or_not(racer: Racer, *, award_ids: list[str]) -> list[bool]:
    """Record each award's payment; tells of each whether that could be."""
    paid = []
    for award_id in award_ids:
        racer.meet()
        act = people.enrolled(racer.engine, Act(scene.SERVER, scene.now(), request_id=f"paid-{award_id}"))
        command = RecordPayment(act, award_id, "slip")
        answer = scene.attempted(partial(transact, racer.engine, partial(record_payment, command=command)))
        paid.append(not isinstance(answer, AwardStateConflict))
    return paid


def test_of_a_payment_and_two_stops_at_once_one_is_done(engine: sqlalchemy.Engine, database_url: str) -> None:
    scene.open_live(engine, "live", tables=["T1"], base_amount="1000")
    award_ids = [award.award_id for number in range(PAYMENTS) for award in win(engine, "T1", f"r{number}")]

    by_ann, by_bob, paid = race(
        database_url,
        partial(stop, award_ids=award_ids, who=ANN),
        partial(stop, award_ids=award_ids, who=BOB),
        partial(pay_or_not, award_ids=award_ids),
    )

    assert [sum(done) for done in zip(by_ann, by_bob, paid, strict=True)] == [1] * len(award_ids)
    steps = Counter(step for (step,) in books.ask(engine, "SELECT step FROM award_steps WHERE step <> 'payable'"))
    assert steps == Counter(stopped=sum(by_ann) + sum(by_bob))
    assert books.ask(engine, "SELECT count(*) FROM payments") == [(sum(paid),)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_a_stop_and_a_release_at_once_leave_one_state(engine: sqlalchemy.Engine, database_url: str) -> None:
    """Each award was stopped once; two people release it while somebody stops it again."""
    scene.open_live(engine, "live", tables=["T1"], base_amount="1000")
    awards = {f"r{number}": win(engine, "T1", f"r{number}")[0].award_id for number in range(PAYMENTS)}
    for award_id in awards.values():
        act = Act(CLEO, scene.now(), request_id=f"first-{award_id}", reason="in doubt")
        transact(engine, partial(stop_award, command=StopAward(people.enrolled(engine, act), award_id)))
    request_ids = [ask(engine, round_id, "release") for round_id in awards]

    again, released, also_released = race(
        database_url,
        partial(stop, award_ids=list(awards.values()), who=ANN),
        partial(approve_or_not, request_ids=request_ids, by=BOB),
        partial(approve_or_not, request_ids=request_ids, by=CLEO),
    )

    assert again == [False] * len(awards)
    for answers in zip(released, also_released, strict=True):
        assert sorted(type(answer).__name__ for answer in answers) == [ChangeDecided.__name__, "ChangeDecidedNow"]
    assert books.ask(engine, "SELECT count(*) FROM award_steps WHERE step = 'released'") == [(len(awards),)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


STEPS_OF: Final = """
    SELECT a.award_id, array_agg(s.step ORDER BY s.act_seq NULLS FIRST)
    FROM awards a JOIN award_steps s USING (jackpot_id, round_key, bet_id, tier, correction)
    GROUP BY a.award_id
"""


def test_a_first_stop_and_an_approval_at_once_come_in_either_order(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    """A stop before the approval finds the award held, and is refused; one after it stops the award."""
    held = [award.award_id for award in _prepare(engine)]
    request_ids = [ask(engine, round_id, "approve") for round_id in HELD_ROUNDS]

    stopped, approved = race(
        database_url,
        partial(stop, award_ids=held, who=CLEO),
        partial(approve_or_not, request_ids=request_ids, by=BOB),
    )

    assert [type(answer) for answer in approved] == [ChangeDecidedNow] * len(held)
    steps: dict[str, list[str]] = dict(map(tuple, books.ask(engine, STEPS_OF)))
    for award_id, is_stopped in zip(held, stopped, strict=True):
        assert steps[award_id] == ["held", "approved", *(["stopped"] if is_stopped else [])]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0
