"""Of any part, what days keep and what lies beside them is what all of its documents say, read one by one."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from jackpot_service.database.snapshots import snapshot
from jackpot_service.database.transactions import Session
from jackpot_service.ledger import instants
from jackpot_service.reports.finance import award_figures, figures, period, rtp
from jackpot_service.reports.finance.figures import Key
from jackpot_service.reports.finance.period import BookPeriod, Part
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


def some_books(session: Session) -> Iterator[BookPeriod]:
    """Parts between instants of all sorts, and all that there is."""
    chance = random.Random(3)
    first, last = session.execute(text("SELECT min(booked_at), max(booked_at) FROM entries")).one()
    days = [period.midnight(first.date() + timedelta(days=number)) for number in range(1, (last - first).days + 1)]
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
            yield period.between(session, jackpot_id, "EUR", start, end)


def without_days(book: BookPeriod) -> BookPeriod:
    """The same part, as if nothing of it had been summed by day."""
    return replace(book, end_day=book.first_day, partial_days=[Part(book.start, book.end)])


def test_whole_and_partial_days_come_to_the_sums_of_documents(session: Session) -> None:
    whole_days = refunded = 0
    for book in some_books(session):
        one_by_one = without_days(book)
        for by in BY:
            refunds = figures.refunds(session, book, by=by)
            assert refunds == figures.refunds(session, one_by_one, by=by)
            refunded += len(refunds)
        assert rtp.turnovers(session, book) == rtp.turnovers(session, one_by_one)
        assert made_of(session, book) == made_of(session, one_by_one)
        whole_days += book.end_day != book.first_day
    assert whole_days > QUESTIONS
    assert refunded > QUESTIONS


def made_of(session: Session, book: BookPeriod) -> list[award_figures.StepSum]:
    return sorted(award_figures.steps(session, book), key=repr)
