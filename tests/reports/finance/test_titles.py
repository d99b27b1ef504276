"""The titles of a report's columns: a count among amounts says that it is one."""

from typing import Final

import pytest

from jackpot_service.reports.finance.registry import REPORTS
from tests.support.asking import report, stated
from tests.support.world import World

NUMBERED: Final = frozenset(
    {
        *("act", "age_days", "correction", "cycle", "from_cycle", "rate_sheet", "rules_version", "version"),
        *("position", "stripe_no", "seq"),
    }
)
"""Whole numbers that count nothing: numbers of things, days and places."""


@pytest.mark.parametrize("name", REPORTS)
def test_a_count_among_amounts_says_that_it_is_a_number(world: World, name: str) -> None:
    world.open()

    for section in report(world, name, **stated(REPORTS[name]))["sections"]:
        types = {column["type"] for column in section["columns"]}
        for column in section["columns"] if "amount" in types else ():
            if column["type"] == "count" and column["name"] not in NUMBERED:
                assert "number of " in column["title"].lower(), (section["name"], column)
