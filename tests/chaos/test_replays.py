"""What a replay of bets says was new is what was not in the books before it."""

from pathlib import Path

import pytest

from tests.chaos import building as build
from tests.chaos import replays
from tests.chaos.books import BookedRound
from tests.chaos.building import BETS, books_of
from tests.chaos.call_log import CallLog, CallReader
from tests.chaos.calls import CREATED, OK
from tests.chaos.violations import Fact


@pytest.mark.parametrize(
    ("before", "answer", "is_right"),
    [
        (None, build.ACCEPTED, True),
        (None, build.REPLAYED, False),
        (build.booked(), build.REPLAYED, True),
        (build.booked(), build.ACCEPTED, False),
        (build.booked(bets={}, voids={"b1": True, "b2": True}), build.ACCEPTED, False),
    ],
)
def test_bets_are_new_exactly_if_they_were_not_there(
    tmp_path: Path, before: BookedRound | None, answer: dict[str, object], *, is_right: bool
) -> None:
    log, reader = CallLog(tmp_path / "auditor.calls"), CallReader(tmp_path)
    log.sent("a1", "auditor", BETS, attempt=1)
    log.ended("a1", attempt=1, status=200, answer=answer, why="", is_sent=True)
    reader.update()

    there = books_of() if before is None else books_of(before)
    facts_ = [violation.fact for violation in replays.judged(reader, "auditor", there)]

    assert facts_ == ([] if is_right else [Fact.ANSWER_WRONG])


@pytest.mark.parametrize(
    ("before", "status", "is_right"),
    [
        (None, CREATED, True),
        (build.booked(), CREATED, True),
        (build.booked(), OK, False),
        (build.booked(closed_with=2), OK, True),
        (build.booked(closed_with=2), CREATED, False),
    ],
)
def test_a_closing_is_new_exactly_if_it_was_not_there(
    tmp_path: Path, before: BookedRound | None, status: int, *, is_right: bool
) -> None:
    log, reader = CallLog(tmp_path / "auditor.calls"), CallReader(tmp_path)
    log.sent("a1", "auditor", build.CLOSING, attempt=1)
    log.ended("a1", attempt=1, status=status, answer={"round": {}}, why="", is_sent=True)
    reader.update()

    there = books_of() if before is None else books_of(before)
    facts_ = [violation.fact for violation in replays.judged(reader, "auditor", there)]

    assert facts_ == ([] if is_right else [Fact.ANSWER_WRONG])


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    calls = [build.answered(BETS, build.ACCEPTED) for _ in range(3)] + [build.unanswered(BETS)]

    assert replays.sample(calls, seed=1) == replays.sample(calls, seed=1)
    assert len(replays.sample(calls, seed=1)) == 3
