"""Whether figures are in their days or not yet, no report tells a difference."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from jackpot_service.ledger import days
from jackpot_service.reports.finance.registry import REPORTS
from tests.reports.finance.play import Play
from tests.support import asking, rolling
from tests.support.world import World

pytestmark = pytest.mark.slow

ACTS = 60
SEED = 3


def _sections(world: World, name: str, at: datetime) -> Sequence[Any]:
    document = asking.report(world, name, as_of=at, **asking.stated(REPORTS[name]))
    sections: Sequence[Any] = document["sections"]
    return sections


@pytest.mark.long
def test_no_report_changes_when_figures_are_added_to_days(world: World, subtests: pytest.Subtests) -> None:
    days.CHANCE.seed(SEED)
    play = Play(world, SEED)
    play.open()
    play.go_on(ACTS)
    world.clock.advance(timedelta(days=2))  # So all days with bets are over, and summed from what days keep.
    at = world.clock()
    assert world.books.value("SELECT count(*) FROM stripes WHERE summed_to < seq")
    assert world.books.counts()["days"]
    before = {name: _sections(world, name, at) for name in REPORTS}

    rolling.roll_up(world.engine)

    assert not world.books.value("SELECT count(*) FROM stripes WHERE summed_to < seq")
    for name, sections in before.items():
        with subtests.test(name):
            assert any(section["rows"] for section in sections)
            assert _sections(world, name, at) == sections
