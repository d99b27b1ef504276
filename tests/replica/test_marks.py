"""How far a standby is behind, by the positions of the primary's log at some instants."""

import pytest

from jackpot_service.database.replica import Log, Mark, Marks, seconds_since

LOG = Log(system=7, timeline=1, database=5)
AFTER_FAILOVER = LOG._replace(timeline=2)


@pytest.fixture
def marks() -> Marks:
    """The log went to 100 at the first second, to 200 at the second and third, and to 300 at the fourth."""
    marks = Marks(longest_s=10)
    for at, position in ((1.0, 100), (2.0, 200), (3.0, 200), (4.0, 300)):
        marks.add(Mark(at, position, LOG))
    return marks


@pytest.mark.parametrize(
    ("replayed", "fresh_at"), [(99, None), (100, 1.0), (199, 1.0), (200, 3.0), (299, 3.0), (300, 4.0), (999, 4.0)]
)
def test_what_has_replayed_up_to_a_position_is_as_fresh_as_the_last_look_that_had_it(
    marks: Marks, replayed: int, fresh_at: float | None
) -> None:
    assert marks.fresh_at(replayed, LOG) == fresh_at


def test_marks_that_are_too_old_are_forgotten(marks: Marks) -> None:
    marks.add(Mark(13.5, 400, LOG))

    assert (marks.fresh_at(200, LOG), marks.fresh_at(300, LOG)) == (None, 4.0)


@pytest.mark.parametrize("position", [250, 350])
def test_what_has_replayed_the_log_of_a_primary_that_was_lost_says_nothing_of_the_new_one(
    marks: Marks, position: int
) -> None:
    """However far it went: the logs part where the other standby was promoted."""
    marks.add(Mark(5.0, position, AFTER_FAILOVER))

    assert [marks.fresh_at(replayed, LOG) for replayed in (200, 250, 300, 999)] == [None] * 4
    assert marks.are_of_another_than(LOG)
    assert (marks.fresh_at(position, AFTER_FAILOVER), marks.fresh_at(position - 1, AFTER_FAILOVER)) == (5.0, None)


def test_of_a_log_that_was_made_shorter_nothing_is_known_yet(marks: Marks) -> None:
    """Its disk has lost what the operating system said was written."""
    marks.add(Mark(5.0, 250, LOG))

    assert (marks.fresh_at(200, LOG), marks.fresh_at(250, LOG)) == (None, 5.0)


def test_before_the_primary_was_looked_at_no_log_is_anothers() -> None:
    assert not Marks(longest_s=10).are_of_another_than(LOG)


@pytest.mark.parametrize(("passed_s", "stated_s"), [(0.0, 0.0), (0.01, 0.1), (0.5, 0.5), (0.91, 1.0), (-1.0, 0.0)])
def test_an_age_is_never_said_to_be_less_than_it_is(passed_s: float, stated_s: float) -> None:
    assert seconds_since(100.0, now=100.0 + passed_s) == stated_s
