"""A campaign does not begin while the checker is blind, or sees what is not."""

from dataclasses import replace

import pytest

from tests.chaos import building as build
from tests.chaos.audit import audit
from tests.chaos.blindness import Blind, Sight, require, tamperings
from tests.chaos.building import BETS, RESULT, answered
from tests.chaos.sums import sums
from tests.chaos.test_sums import books
from tests.chaos.violations import Fact, Violation

CALLS = (answered(BETS, build.ACCEPTED, status=201), answered(RESULT, build.SETTLEMENT, status=201))
SIGHT = Sight(lost_without_flush=3, tampered={"a bet that is taken out": 2})


def test_books_that_were_not_changed_are_clean_and_each_change_is_reported() -> None:
    there = books()
    closed = replace(there, rounds={name: replace(round_, closed_with=2) for name, round_ in there.rounds.items()})
    calls = (*CALLS, answered(build.CLOSING, status=201))

    assert audit(CALLS, there) + sums(there) == ()
    assert audit(calls, closed) + sums(closed) == ()
    assert tamperings(closed).keys() - tamperings(there).keys() == {"a closing that is taken out"}
    for name, changed in tamperings(closed).items():
        assert audit(calls, changed) + sums(changed) != (), name


def test_a_checker_that_sees_what_is_wrong_and_nothing_else_may_begin() -> None:
    require(SIGHT, ())


def test_a_checker_that_misses_losses_is_blind() -> None:
    with pytest.raises(Blind, match="nothing was reported as lost"):
        require(Sight(0, SIGHT.tampered), ())


def test_a_checker_that_misses_a_change_is_blind() -> None:
    with pytest.raises(Blind, match="nothing was reported of a pool that is changed"):
        require(Sight(3, {**SIGHT.tampered, "a pool that is changed": 0}), ())


def test_a_checker_that_reports_a_clean_run_is_blind() -> None:
    with pytest.raises(Blind, match="although nothing was done"):
        require(SIGHT, (Violation(Fact.LOST, "north.live-1.0/r1"),))
