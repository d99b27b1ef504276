"""Whether figures are in their days or not yet, no report tells a difference."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from jackpot_service.ledger import days
from jackpot_service.reports.finance.registry import REPORTS
from tests.reports.finance.play import Play
from tests.support import asking, rolling
from tests.support.house import House

ACTS = 60
SEED = 3


def _sections(house: House, name: str, at: datetime) -> Sequence[Any]:
    document = asking.report(house, name, as_of=at, **asking.stated(REPORTS[name]))
    sections: Sequence[Any] = document["sections"]
    return sections


def test_no_report_changes_when_figures_are_added_to_days(house: House, subtests: pytest.Subtests) -> None:
    days.CHANCE.seed(SEED)
    play = Play(house, SEED)
    play.open()
    play.go_on(ACTS)
    house.clock.advance(timedelta(days=2))  # So all days with bets are over, and summed from what days keep.
    at = house.clock()
    assert house.books.value("SELECT count(*) FROM stripes WHERE summed_to < seq")
    assert house.books.counts()["days"]
    before = {name: _sections(house, name, at) for name in REPORTS}

    rolling.roll_up(house.engine)

    assert not house.books.value("SELECT count(*) FROM stripes WHERE summed_to < seq")
    for name, sections in before.items():
        with subtests.test(name):
            assert any(section["rows"] for section in sections)
            assert _sections(house, name, at) == sections
