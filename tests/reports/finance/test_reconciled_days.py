"""Days that are over are read once: reports then say the same as if they had read them again."""

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any, Final

import pytest

from jackpot_service.database.snapshots import snapshot
from jackpot_service.domain.principals import Role
from jackpot_service.proof.proof import verify
from jackpot_service.reports import reconciling
from jackpot_service.reports.finance import reconciled_sums
from jackpot_service.reports.finance.period import Part, is_same, is_within
from jackpot_service.reports.reconciling import reconcile_next
from jackpot_service.usecases.jackpots import AddStripes, add_stripes
from tests.properties.profile import seeds
from tests.reports.finance.play import Play
from tests.support import story
from tests.support.answers import Body
from tests.support.asking import figures, report, rows, rows_of
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.reading import past_the_service
from tests.support.world import World

pytestmark = pytest.mark.long


def read_eighths(world: World) -> list[tuple[str, date, int]]:
    """Reconcile whatever is to be reconciled by now; returns the eighths of days that were read, in that order."""
    reading = partial(reconcile_next, world.engine, now=world.clock())
    return [(read.jackpot_id, read.day, read.eighth) for read in iter(reading, None)]


def read_days(world: World) -> list[tuple[str, date]]:
    """Reconcile whatever is to be reconciled by now; returns the days that were read, in that order."""
    return list(dict.fromkeys((jackpot_id, day) for jackpot_id, day, _ in read_eighths(world)))


def reconciled(world: World, **query: object) -> Body:
    return figures(report(world, "reconciliation", **query))


def at(day: int, hour: int = 0, minute: int = 0) -> datetime:
    return datetime(2026, 12, day, hour, minute, tzinfo=UTC)


def codes(world: World) -> set[str]:
    with snapshot(world.engine) as session:
        return {mismatch.code.value for mismatch in verify(session).mismatches}


def stored_days(world: World) -> Sequence[Mapping[str, Any]]:
    return world.books.rows("SELECT * FROM reconciled_days ORDER BY day, eighth, jackpot_id")


@pytest.fixture
def played(world: World) -> World:
    """A house where something was booked from noon to six of the 1st and 2nd; it is the 5th, at noon."""
    world.clock.at = at(1, 12)
    world.open(base_amount="1000")
    world.bet(bet("a"), bet("b", currency="GBP"))
    world.clock.at = at(1, 13, 30)
    world.bet(bet("half-past"), round_id="r0")
    world.clock.at = at(1, 15) - timedelta(seconds=1)  # The clock's next second is three exactly.
    world.bet(bet("three", stake_minor=200), round_id="r0")
    world.clock.at = at(1, 18)
    world.bet(bet("c", stake_minor=300))
    world.clock.at = at(2, 12)
    world.settle(hand("1", FLUSH))
    world.clock.at = at(2, 18)
    world.bet(bet(stake_minor=500), round_id="evening")
    world.clock.at = at(5, 12)
    world.bet(bet(), round_id="r2")
    return world


def test_each_eighth_with_an_entry_is_read_once_when_it_has_been_over_for_an_hour(world: World) -> None:
    first, second, ninth = (date(2026, 12, day) for day in (1, 2, 9))
    world.clock.at = at(1, 10)
    world.open()
    world.clock.at = at(1, 12, 59)
    assert read_eighths(world) == []
    world.clock.at = at(1, 13)
    world.bet(bet())
    assert read_eighths(world) == [("j1", first, 3)]
    world.clock.at = at(1, 23)
    world.bet(bet("late"))
    assert read_eighths(world) == [("j1", first, 4)]
    world.clock.at = at(2, 0, 59)
    assert read_eighths(world) == []
    world.clock.at = at(2, 1)
    assert read_eighths(world) == [("j1", first, 7)]
    world.bet(bet("next"))  # At one; of that day nothing else is booked.
    world.clock.at = at(9, 12)
    world.open(jackpot_id="j2", tables=("T2",))

    assert read_eighths(world) == [("j1", second, 0), ("j1", second, 7)]
    assert read_eighths(world) == []
    world.clock.at = at(9, 16)
    assert read_eighths(world) == [("j2", ninth, 4)]
    world.clock.at = at(10, 0, 59)
    assert read_eighths(world) == []
    world.clock.at = at(10, 1)
    assert read_eighths(world) == [("j2", ninth, 7)]


@pytest.mark.parametrize(
    ("start", "end"), [((0, 0), (7, 2)), ((), (3, 9, 1)), ((4, 4), (4, 4)), ((5, 1, 0), (5, 8, 90))]
)
@pytest.mark.parametrize("most", [1, 4, 1000])
def test_slices_of_a_part_follow_one_another_from_its_start_to_its_end(
    start: tuple[int, ...], end: tuple[int, ...], most: int
) -> None:
    slices = list(Part(start, end).slices(most))

    assert is_same(slices[0].start, start)
    assert slices[-1].end == end
    assert all(slice_.end == after.start for slice_, after in pairwise(slices))
    assert all(is_within(slice_.start, slice_.end) for slice_ in slices)
    assert all(sum(slice_.end) - sum(slice_.start) <= most + len(end) for slice_ in slices)


def test_days_are_read_in_their_order_whatever_jackpot_they_are_of(world: World) -> None:
    for day in (1, 2):
        world.clock.at = at(day, 12)
        world.open(jackpot_id=f"j{day}", tables=(f"T{day}",))
    world.clock.at = at(3, 12)
    world.bet(bet(), table_id="T1")
    world.clock.at = at(4, 12)

    assert read_days(world) == [("j1", date(2026, 12, 1)), ("j2", date(2026, 12, 2)), ("j1", date(2026, 12, 3))]


def test_what_was_kept_is_what_was_booked_between_its_midnights(played: World) -> None:
    read_days(played)

    stored = stored_days(played)

    of_days = [(part["day"], part["eighth"]) for part in stored]
    assert of_days == [(date(2026, 12, 1), eighth) for eighth in (4, 5, 6, 7)] + [
        (date(2026, 12, 2), eighth) for eighth in (4, 6, 7)
    ]
    assert all(part["ends"] == after["starts"] for part, after in pairwise(stored))
    assert sum(stored[0]["starts"]) == 0
    assert all(at(5, 12) < part["read_at"] < at(5, 12, 1) for part in stored)
    turnovers = [
        {sum_["account"]: sum_["amount"] for sum_ in part["sums"] if sum_["side"] == "turnover"} for part in stored[:4]
    ]
    assert turnovers == [*(dict.fromkeys(reconciled_sums.SPLIT, value) for value in ("3.17", "2", "3")), {}]


def test_nothing_can_be_booked_in_a_day_that_was_read(played: World) -> None:
    assert read_days(played)[-1] == ("j1", date(2026, 12, 2))
    played.clock.at = at(2, 13)  # A server whose clock is behind.
    played.bet(bet("late"), round_id="r3")

    late = "SELECT e.booked_at FROM entries e JOIN rounds r USING (jackpot_id, round_key) WHERE r.round_id = 'r3'"
    assert played.books.value(late) >= at(3)


PERIODS: Final[Mapping[str, Mapping[str, object]]] = {
    "all": {},
    "whole days": {"start": "2026-12-01", "end": "2026-12-03"},
    "from within a day that was read": {"start": at(1, 15)},
    "to within one": {"end": at(2, 15)},
    "within one": {"start": at(2, 11), "end": at(2, 15)},
    "from within an eighth": {"start": at(1, 13)},
    "to within an eighth": {"end": at(1, 13)},
    "within an eighth": {"start": at(1, 13), "end": at(1, 14)},
    "from the edge of an eighth on which something was booked": {"start": at(1, 15), "end": at(2, 15)},
    "to the edge of an eighth on which something was booked": {"end": at(1, 15)},
    "from within one to within the next": {"start": at(1, 15), "end": at(2, 15)},
    "beside all": {"start": "2026-12-03", "end": "2026-12-04"},
    "to one that was not read": {"start": "2026-12-02", "end": at(5, 12)},
}


@pytest.mark.parametrize("period", PERIODS)
def test_a_report_says_the_same_before_and_after_days_were_read(played: World, period: str) -> None:
    before = reconciled(played, **PERIODS[period])

    assert len(read_eighths(played)) == 7

    assert reconciled(played, **PERIODS[period]) == before


def test_a_day_that_was_read_is_not_read_again_but_by_who_verifies(played: World, database_url: str) -> None:
    read_days(played)
    before = reconciled(played)
    past_the_service(database_url, "UPDATE bets SET stake_minor = stake_minor + 1 WHERE bet_id = 'a'")

    assert reconciled(played) == before
    assert "reconciled-day" in codes(played)
    past_the_service(database_url, "UPDATE bets SET stake_minor = stake_minor - 1 WHERE bet_id = 'a'")


def test_in_another_version_days_are_read_again(played: World, monkeypatch: pytest.MonkeyPatch) -> None:
    read, before = read_eighths(played), reconciled(played)
    with monkeypatch.context() as later:
        later.setattr(reconciled_sums, "REPORT_VERSION", reconciled_sums.REPORT_VERSION + 1)

        assert read_eighths(played) == read

        assert reconciled(played) == before
        assert codes(played) == set()
    assert len(stored_days(played)) == 2 * len(read)
    assert codes(played) == set()


def test_stripes_that_are_added_later_had_nothing_on_days_before(played: World) -> None:
    read_days(played)
    before = reconciled(played, end=at(5, 12))
    played.transact(lambda session: add_stripes(session, AddStripes(played.act(), "j1", 5)))
    for number in range(20):
        played.bet(bet(), round_id=f"wide-{number}")
    played.clock.at = at(6, 12)

    assert read_days(played) == [("j1", date(2026, 12, 5))]

    assert [len(part["ends"]) for part in stored_days(played)] == [4] * 7 + [5] * 2
    assert reconciled(played, end=at(5, 12)) == before
    assert rows(played, "reconciliation", "summary")[0]["differing"] == 0


def test_a_closed_period_keeps_the_same_hash(played: World, database_url: str) -> None:
    read_days(played)
    body = {"request_id": "p1", "to": "2026-12-04", "reason": "month"}
    assert played.post("/v1/closed-periods", body, key=played.person("Fay", Role.FINANCE)).status == 201
    past_the_service(database_url, "DELETE FROM reconciled_days")

    assert codes(played) == set()


@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds())
def test_whatever_happens_a_report_says_what_one_does_that_reads_everything(
    world: World, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(reconciling, "SLICE", 7)
    play, chance = Play(world, seed), random.Random(seed)
    play.open()
    times = [world.clock()]
    read: list[tuple[str, date, int]] = []
    for _ in range(5):
        play.go_on(20)
        play.wait()
        times.append(world.clock())
        if chance.random() < 0.6:
            read += read_eighths(world)
    play.retire()
    story.require_whole(world)
    world.clock.advance(timedelta(days=2))
    read += read_eighths(world)
    assert len(set(read)) == len(read) == len(stored_days(world)) > 3

    for _ in range(4):
        edges = sorted(chance.sample(times, chance.choice([0, 1, 2, 2])))
        period = dict(zip(("end", "start"), reversed(edges), strict=False))
        document = reconciled(world, **period)
        with monkeypatch.context() as reading_all:
            reading_all.setattr(reconciled_sums, "REPORT_VERSION", reconciled_sums.REPORT_VERSION + 1)
            assert document == reconciled(world, **period)
        assert not any(row["differing"] for row in rows_of(document, "summary"))
