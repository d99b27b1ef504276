"""Effects of waiting changes that are read on and on while bets, hits and the changes themselves go on."""

from functools import partial
from typing import Final

import pytest
import sqlalchemy
from sqlalchemy.exc import InternalError

from jackpot_service.database.transactions import Session, read_at_once, transact
from jackpot_service.domain.changes import ChangeStale, Outcome
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.effects import ChangeEffect, effect_of
from jackpot_service.usecases.changes.requests import (
    DecideChange,
    RequestChange,
    decide_change,
    find,
    request_change,
)
from tests.races import books, scene
from tests.races.processes import Racer, race
from tests.support import people

pytestmark = pytest.mark.long

BETS_EACH: Final = 60
CHANGES: Final = 12

READER: Final = Principal("Ada", Role.AUDITOR)


def ask(engine: sqlalchemy.Engine, number: int) -> str:
    """Have an adjustment asked for; returns the request's id."""
    payload = {"jackpot_id": "live", "account": "reserve", "amount": "1", "document": "memo", "cause": "count-error"}
    act = Act(people.asker_of("adjustment"), scene.now(), request_id=f"q{number}", reason="as agreed")
    command = RequestChange(people.enrolled(engine, act), "adjustment", payload)
    return transact(engine, lambda session: request_change(session, command)).change.request_id


def approve(engine: sqlalchemy.Engine, request_id: str) -> ChangeEffect | None:
    act = people.enrolled(engine, Act(people.checker_of("adjustment"), scene.now(), reason="checked"))
    command = DecideChange(act, request_id, Outcome.APPROVED)
    return transact(engine, lambda session: decide_change(session, command)).effect


def effect(engine: sqlalchemy.Engine, request_id: str) -> ChangeEffect:
    def report(session: Session) -> ChangeEffect | None:
        return effect_of(session, find(session, request_id), Act(READER, scene.now()))

    effect_ = read_at_once(engine, report)
    assert effect_ is not None
    return effect_


def read_on_and_on(racer: Racer, *, other_racers: int) -> list[ChangeEffect]:
    """Read the effect of the request that waits, until all others are done."""
    effects = []
    while racer.is_to_go_on_until(other_racers):
        effects.append(effect(racer.engine, "waiting"))
    racer.meet()
    return effects


def bet_on_and_on(racer: Racer, *, table_id: str) -> int:
    for number in range(BETS_EACH):
        scene.bet(racer.engine, table_id, f"m{number}", scene.euro("b1"))
    racer.meet()
    return BETS_EACH


def hit_on_and_on(racer: Racer) -> None:
    for number in range(5):
        scene.bet(racer.engine, "T3", f"h{number}", scene.euro("b1"))
        scene.settle(racer.engine, "T3", f"h{number}", 1, {"1": scene.ROYAL})
    racer.meet()


def change_on_and_on(racer: Racer) -> None:
    """Have changes asked for and approved, unless a hit came between."""
    for number in range(CHANGES):
        answer = scene.attempted(partial(approve, racer.engine, ask(racer.engine, number)))
        assert not isinstance(answer, LedgerError) or isinstance(answer, ChangeStale)
    racer.meet()


def _ask_for_other_rules(engine: sqlalchemy.Engine) -> None:
    act = Act(people.asker_of("rules"), scene.now(), request_id="waiting", reason="as agreed")
    command = RequestChange(
        people.enrolled(engine, act), "rules", {"jackpot_id": "live", "settings": {"reset_amount": "2000"}}
    )
    transact(engine, lambda session: request_change(session, command))


def test_effects_are_read_while_bets_hits_and_changes_go_on(engine: sqlalchemy.Engine, database_url: str) -> None:
    scene.open_live(engine, "live", tables=["T1", "T2", "T3"], base_amount="1000", settings={"reset_amount": "1000"})
    _ask_for_other_rules(engine)

    seen, _, *booked = race(
        database_url,
        partial(read_on_and_on, other_racers=4),
        change_on_and_on,
        partial(bet_on_and_on, table_id="T1"),
        partial(bet_on_and_on, table_id="T2"),
        hit_on_and_on,
    )

    positions = [effect_.after["positions"] for effect_ in seen if effect_.problem is None]
    assert positions == sorted(positions, key=sum)  # The books go on, and each look sees all stripes at one instant.
    assert len({tuple(effect_) for effect_ in positions}) > 1
    assert booked[:2] == [BETS_EACH, BETS_EACH]
    assert len(positions) == len(seen)
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def test_a_bet_does_not_wait_for_somebody_who_is_figuring_an_effect(engine: sqlalchemy.Engine) -> None:
    scene.open_live(engine, "live", tables=["T1"], base_amount="1000")
    request_id = ask(engine, 0)

    def report(session: Session) -> tuple[ChangeEffect | None, ChangeEffect | None]:
        change, act = find(session, request_id), Act(READER, scene.now())
        before = effect_of(session, change, act)
        scene.bet(engine, "T1", "meanwhile", scene.euro("b1"))  # On another connection, and it is answered.
        approve(engine, request_id)  # So is what takes all locks.
        return before, effect_of(session, change, act)

    before, after = read_at_once(engine, report)

    assert before == after  # The reader's instant is the one at which it began.
    assert books.ask(engine, "SELECT count(*) FROM bets") == [(1,)]
    books.require_clean(engine)


def test_who_reads_at_once_cannot_write(engine: sqlalchemy.Engine) -> None:
    def write(session: Session) -> None:
        with pytest.raises(InternalError, match="read-only transaction"):
            session.execute(sqlalchemy.text("SELECT FROM stripes FOR UPDATE"))

    read_at_once(engine, write)
