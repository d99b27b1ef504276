"""A change policy changes while others decide: each decision is by the policy in force then, and books are right."""

from collections.abc import Sequence
from functools import partial

import pytest
import sqlalchemy

from jackpot_service.database.transactions import transact
from jackpot_service.domain.change_policy import KindForbidden
from jackpot_service.domain.changes import ChangeDecided, Outcome
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.requests import DecideChange, RequestChange, decide_change, request_change
from tests.races import books, scene
from tests.races.processes import Racer, race
from tests.support import people, two_people

pytestmark = pytest.mark.long

REQUESTS = tuple(f"q{number}" for number in range(12))
ANN, OLAF, BOB = Principal("Ann", Role.OPERATOR), Principal("Olaf", Role.OPERATOR), Principal("Bob", Role.FINANCE)


def approve(racer: Racer, *, by: Principal) -> list[bool]:
    """Approve each request; tells of each whether that was done, or by whom it had to be."""
    done = []
    for request_id in REQUESTS:
        act = people.enrolled(racer.engine, Act(by, scene.now(), reason="checked"))
        command = DecideChange(act, request_id, Outcome.APPROVED)
        answer = scene.attempted(partial(transact, racer.engine, partial(decide_change, command=command)))
        assert not isinstance(answer, Exception) or isinstance(answer, (KindForbidden, ChangeDecided)), answer
        done.append(not isinstance(answer, Exception))
    return done


def change_the_policy(racer: Racer) -> list[bool]:
    """Let operators and finance decide about rules by turns."""
    for number in range(10):
        roles = ["finance"] if number % 2 else ["operator"]
        payload = {"kinds": {"rules": {"requested_by": ["operator"], "decided_by": roles}}}
        transact(racer.engine, partial(two_people.change, kind="change-policy", payload=payload, now=scene.now()))
    return []


def test_decisions_and_changes_of_the_policy_at_once_leave_right_books(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    jackpots = [f"live-{number}" for number, _ in enumerate(REQUESTS)]
    for jackpot_id, request_id in zip(jackpots, REQUESTS, strict=True):
        scene.open_live(engine, jackpot_id, tables=[], base_amount="1000")
        payload = {"jackpot_id": jackpot_id, "settings": {"limit": "20000"}}
        act = people.enrolled(engine, Act(ANN, scene.now(), request_id, "as agreed"))
        transact(engine, partial(request_change, command=RequestChange(act, "rules", payload)))

    results: Sequence[list[bool]] = race(
        database_url, partial(approve, by=BOB), partial(approve, by=OLAF), change_the_policy
    )

    approved = sum(map(sum, results))
    assert books.ask(engine, "SELECT count(*) FROM change_decisions WHERE request_id LIKE 'q%'") == [(approved,)]
    assert books.ask(engine, "SELECT max(version) FROM change_policies") == [(11,)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0
