"""Rounds that were open at an instant are those that a look at every round's life finds, and they cost no such look."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy
from sqlalchemy import text

from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.database.snapshots import snapshot
from jackpot_service.database.transactions import Session
from jackpot_service.domain.rounds import first_key_at
from jackpot_service.ledger import instants
from jackpot_service.ledger.long_rounds import LONG
from jackpot_service.reports.finance import exceptions, period
from jackpot_service.reports.questions import Parameters
from tests.properties.profile import seeds
from tests.reports.finance.play import Play
from tests.support.asking import report
from tests.support.bets import bet
from tests.support.hands import NOTHING, hand
from tests.support.logins import owner_url
from tests.support.world import World

pytestmark = pytest.mark.slow

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
LIMITS = (MINUTE, LONG - SECOND, LONG, LONG + SECOND, timedelta(hours=5))

LIVES = text(
    """
    SELECT r.table_id || ' ' || r.round_id AS name, r.opened_at, first.booked_at AS began_at, last.booked_at AS ended_at
    FROM rounds r
    JOIN entries first ON first.jackpot_id = r.jackpot_id AND first.round_key = r.round_key AND first.step = 1
    LEFT JOIN entries last ON last.jackpot_id = r.jackpot_id AND last.round_key = r.round_key
                          AND last.kind IN ('result', 'cancellation')
    WHERE r.jackpot_id = 'j1'
    ORDER BY r.round_key
    """
)


@dataclass(frozen=True, slots=True)
class Life:
    """When a round was opened, by the clock of who opened it, and when it began and ended in the books."""

    name: str
    opened_at: datetime
    began_at: datetime
    ended_at: datetime | None

    @property
    def lasted(self) -> timedelta:
        return timedelta.max if self.ended_at is None else self.ended_at - self.opened_at

    def was_open(self, end: datetime, longest_open: timedelta) -> bool:
        has_begun = self.began_at < end and self.opened_at < end - longest_open
        return has_begun and (self.ended_at is None or self.ended_at >= end)


class Dawdling(Play):
    """Lets rounds be open for any time, some of them for about as long as makes a round a long one."""

    def go_on(self, acts: int) -> None:
        for _ in range(acts):
            super().go_on(1)
            about_long = LONG + self.chance.randint(-5, 5) * SECOND
            pauses = [timedelta(0)] * 4 + [MINUTE, 2 * MINUTE, 5 * MINUTE, about_long]
            self.world.clock.advance(self.chance.choice(pauses))


def lives(session: Session) -> list[Life]:
    return [Life(*row) for row in session.execute(LIVES)]


def open_at(session: Session, end: datetime, longest_open: timedelta) -> list[str]:
    """What the report finds, by positions as a report stands on them."""
    positions = instants.at(session, "j1", end)
    book, parameters = period.between(session, "j1", "EUR", (), positions), Parameters(longest_open=longest_open)
    open_rounds = exceptions.open_at_end(session, book, parameters, end=end, acts_end=0)
    return [f"{open_round['table_id']} {open_round['round_id']}" for open_round in open_rounds]


def ends_of_interest(lives_: Sequence[Life]) -> list[datetime]:
    """Right before, at and right after what happens to a round, and what is remarkable about how long it is open."""
    happen = {at for life in lives_ for at in (life.began_at, life.ended_at, life.opened_at + LONG) if at is not None}
    return sorted({at + by for at in happen for by in (-SECOND, timedelta(0), SECOND)})


def end_of_one(lives_: Sequence[Life], *, is_long: bool) -> datetime:
    """The end of a round that was open for more than the least limit."""
    return next(
        life.ended_at for life in lives_ if life.ended_at and life.lasted > MINUTE and (life.lasted > LONG) is is_long
    )


def require_the_same(session: Session, ends: Sequence[datetime]) -> set[str]:
    """Hold what is found at each of some instants against all lives; gives who was found and had ended since."""
    all_lives = lives(session)
    ended_since = set()
    for end in ends:
        for longest_open in LIMITS:
            expected = [life for life in all_lives if life.was_open(end, longest_open)]
            assert open_at(session, end, longest_open) == [life.name for life in expected], (end, longest_open)
            ended_since |= {life.name for life in expected if life.ended_at is not None}
    return ended_since


@pytest.mark.long
@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds(1))
def test_open_are_those_that_had_begun_and_not_ended_whatever_came_later(world: World, seed: int) -> None:
    play = Dawdling(world, seed)
    play.open()
    asked_at = []
    for _ in range(3):
        play.go_on(25)
        asked_at.append(world.clock())
        report(world, "exceptions", as_of=asked_at[-1])
    play.go_on(25)

    with snapshot(world.engine) as session:
        all_of_them = lives(session)
        ends = random.Random(seed).sample(ends_of_interest(all_of_them), 60)
        ends += [end_of_one(all_of_them, is_long=is_long) for is_long in (True, False)]
        ended_since = require_the_same(session, [*asked_at, *ends])

    assert {life.lasted > LONG for life in all_of_them if life.name in ended_since} == {True, False}


def test_a_round_that_lived_a_second_less_or_more_than_long_is_found_all_the_same(world: World) -> None:
    world.open(base_amount="1000")
    for number in range(3):
        lasts = LONG + (number - 1) * SECOND
        world.bet(bet("a"), round_id=f"settled{number}")
        world.clock.advance(lasts - SECOND)
        world.settle(hand("1", NOTHING), round_id=f"settled{number}")
        world.bet(bet("a"), round_id=f"cancelled{number}")
        world.clock.advance(lasts - SECOND)
        world.cancel(round_id=f"cancelled{number}")

    with snapshot(world.engine) as session:
        all_of_them = lives(session)
        ended_since = require_the_same(session, ends_of_interest(all_of_them))

    assert {life.lasted for life in all_of_them} == {LONG - SECOND, LONG, LONG + SECOND}
    assert ended_since == {life.name for life in all_of_them}


def test_a_round_that_was_opened_long_ago_and_cancelled_after_the_end_is_found(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"), round_id="old")
    world.clock.advance(timedelta(days=40))
    end = world.clock()
    for number in range(5):
        world.bet(bet("a"), round_id=f"new{number}")
        world.settle(hand("1", NOTHING), round_id=f"new{number}")
    world.cancel(round_id="old")

    with snapshot(world.engine) as session:
        assert open_at(session, end, LONG) == ["T1 old"]
        require_the_same(session, ends_of_interest(lives(session)))


def test_a_round_does_not_end_before_the_clock_that_opened_it_says_it_began(world: World) -> None:
    world.open(base_amount="1000", stripes=16)
    for number in range(6):
        world.clock.advance(2 * LONG)
        world.bet(bet("a"), round_id=f"r{number}")
        world.clock.advance(-2 * LONG)
        world.cancel(round_id=f"r{number}")

    with snapshot(world.engine) as session:
        all_of_them = lives(session)
        require_the_same(session, ends_of_interest(all_of_them))

    assert {life.lasted for life in all_of_them} == {timedelta(0)}


# Of two million milliseconds, one entry each hundred: a bet, and the result of a round that was opened 40 s before.
ENTRIES = """
INSERT INTO entries (jackpot_id, stripe_no, seq, kind, principal, round_key, step, received_at, booked_at,
                     digest, head, accounts, currencies, amounts, movements, casino_id, table_id, rules_version,
                     figures)
SELECT 'j1', 0, number, CASE number % 2 WHEN 0 THEN 'bets' ELSE 'result' END, 'p',
       (:first_ms + number / 2 * 200) << 21, number % 2 + 1, at, at, sha256(''), sha256(''), '{}', '{}', '{}', '{}',
       '', '', 0, '{}'
FROM generate_series(1, 20000) AS number,
     LATERAL (SELECT to_timestamp((:first_ms + number / 2 * 200 + number % 2 * 40000) / 1000.0) AS at)
"""


@pytest.fixture
def much_later(database_url: str) -> Iterator[Session]:
    """Books in which nearly everything was booked after the first quarter of an hour, seen as a report sees them."""
    first_ms = int(datetime(2026, 11, 20, tzinfo=UTC).timestamp() * 1000)
    owner = sqlalchemy.create_engine(owner_url(database_url))
    with owner.begin() as writing:
        writing.execute(text(ENTRIES), {"first_ms": first_ms})
        writing.execute(text("ANALYZE entries"))
    owner.dispose()
    engine = create_engine(Config(), database_url)
    with snapshot(engine) as session:
        yield session
    engine.dispose()


@pytest.mark.parametrize("longest_open", [MINUTE, LONG, timedelta(hours=5)])
def test_entries_are_looked_up_by_rounds_and_lives_not_read_on_from_the_end(
    much_later: Session, longest_open: timedelta
) -> None:
    end = datetime(2026, 11, 20, 0, 15, tzinfo=UTC)
    parameters = {
        "jackpot_id": "j1",
        "ends": [9000],
        "end": end,
        "opened_before": first_key_at(end - longest_open),
        "long_before": first_key_at(end - max(longest_open, LONG)),
        "acts_end": 0,
        "casino_id": None,
        "table_id": None,
    }

    explained = much_later.execute(text(f"EXPLAIN (COSTS OFF) {exceptions._OPEN.text}"), parameters)
    plan = [line for (line,) in explained]

    of_entries = [place for place, line in enumerate(plan) if re.search(r"Scan.* on entries\b", line)]
    assert of_entries
    for place in of_entries:
        assert "Seq Scan" not in plan[place], "\n".join(plan)
        assert re.search(r"(Index|Recheck) Cond: .*(round_key|tstzrange|\bseq = )", plan[place + 1]), "\n".join(plan)
    assert re.search(r"(Index|Recheck) Cond: .*round_key >= .*round_key < ", "\n".join(plan)), "\n".join(plan)
    assert [line for line in plan if "ix_entries_of_long_rounds" in line], "\n".join(plan)
