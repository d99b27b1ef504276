"""Of any part, what days keep and what lies beside them is what all of its documents say, read one by one."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from jackpot_service.database.transactions import Session, snapshot
from jackpot_service.ledger import instants
from jackpot_service.reports.finance import award_sums, figures, spans, turnover
from jackpot_service.reports.finance.figures import Key
from jackpot_service.reports.finance.frame import Stand
from tests.support import story
from tests.support.chance import Chance
from tests.support.world import World

pytestmark = pytest.mark.slow

QUESTIONS = 12

BY: Sequence[tuple[Key, ...]] = ((), (Key.DAY, Key.CURRENCY), (Key.GAMING_DAY, Key.CASINO, Key.TABLE))


@pytest.fixture
def session(world: World) -> Iterator[Session]:
    """A history by chance, seen at one instant."""
    Chance(world, seed=5).go_on(160)
    story.require_whole(world)
    with snapshot(world.engine) as session:
        yield session


def some_stands(session: Session) -> Iterator[Stand]:
    """Parts between instants of all sorts, and all that there is."""
    chance = random.Random(3)
    first, last = session.execute(text("SELECT min(booked_at), max(booked_at) FROM entries")).one()
    days = [spans.midnight(first.date() + timedelta(days=number)) for number in range(1, (last - first).days + 1)]
    edges = [*days, *(first + (last - first) * chance.random() for _ in range(20)), last + timedelta(seconds=1)]
    for jackpot_id in ("j1", "j2"):
        now = instants.now(session, jackpot_id)
        for start, end in [
            ((0,) * len(now), now),
            *(
                [instants.before(session, jackpot_id, instant) for instant in sorted(chance.sample(edges, 2))]
                for _ in range(QUESTIONS)
            ),
        ]:
            yield Stand(jackpot_id, "EUR", start, end, spans.between(session, jackpot_id, start, end))


def without_days(stand: Stand) -> Stand:
    """The same part, as if nothing of it had been summed by day."""
    day = stand.span.first_day
    return replace(stand, span=replace(stand.span, end_day=day, beside=[stand.span.whole]))


def test_days_and_what_is_beside_them_come_to_what_documents_say(session: Session) -> None:
    whole_days = refunded = 0
    for stand in some_stands(session):
        one_by_one = without_days(stand)
        for by in BY:
            found = figures.refunds(session, stand, by=by)
            assert found == figures.refunds(session, one_by_one, by=by)
            refunded += len(found)
        assert turnover.by_rules(session, stand) == turnover.by_rules(session, one_by_one)
        assert made_of(session, stand) == made_of(session, one_by_one)
        whole_days += stand.span.end_day != stand.span.first_day
    assert whole_days > QUESTIONS
    assert refunded > QUESTIONS


def made_of(session: Session, stand: Stand) -> list[award_sums.Taken]:
    return sorted(award_sums.steps(session, stand), key=repr)
