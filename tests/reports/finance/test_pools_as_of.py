"""Reports of pools, asked twice for the same instant, give the same figures, whatever came later."""

import pytest

from tests.support.asking import figures, report
from tests.support.chance import Chance
from tests.support.house import House

QUESTIONS: tuple[tuple[str, dict[str, str]], ...] = (
    ("meters", {}),
    ("liability", {}),
    ("pool-movements", {"by": "day"}),
    ("pool-movements", {"by": "month"}),
    ("pool-movements", {"by": "cycle"}),
    ("rtp", {}),
    ("hits", {}),
)


@pytest.mark.parametrize("seed", range(3))
def test_a_report_as_of_an_instant_says_the_same_whatever_comes_later(house: House, seed: int) -> None:
    history = Chance(house, seed)
    history.go_on(40)
    start = house.clock()
    history.go_on(40)
    end = house.clock()
    periods = ({"as_of": end}, {"start": start, "end": end})
    questions = [(name, {**query, **period}) for name, query in QUESTIONS for period in periods]

    before = [figures(report(house, name, **query)) for name, query in questions]
    history.go_on(60)
    after = [figures(report(house, name, **query)) for name, query in questions]

    assert before == after
    assert figures(report(house, "meters")) != figures(report(house, "meters", as_of=end))
