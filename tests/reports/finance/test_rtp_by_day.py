"""Return by day: each day is what `rtp` says of it alone, each cumulative row what it says up to that midnight."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from jackpot_service.domain.statistics import percent
from tests.properties.profile import seeds
from tests.reports.finance.play import Play
from tests.support import equations, story
from tests.support.asking import figures, only, report, rows, rows_of
from tests.support.bets import bet
from tests.support.hands import FLUSH, NOTHING, hand
from tests.support.world import CYBER, World

pytestmark = pytest.mark.slow

BAND = ("low_percent", "high_percent")


def without_day(row: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a row that `rtp` has too."""
    return {name: value for name, value in row.items() if name not in {"day", *BAND}}


@pytest.fixture
def played(world: World) -> World:
    """A flush on the first day, nothing on the third; nothing was played on the second."""
    world.open(base_amount="1000")
    world.bet(bet("a", stake_minor=10_000))
    world.settle(hand("1", FLUSH))
    world.clock.advance(timedelta(days=2))
    for round_id in ("r2", "r3"):
        world.bet(bet("a", stake_minor=10_000), round_id=round_id)
        world.settle(hand("1", NOTHING), round_id=round_id)
    return world


def test_days_on_which_something_was_played_stand_alone_and_together(played: World) -> None:
    document = report(played, "rtp-by-day")
    alone = [row for row in rows_of(document, "days") if row["paid_from"] == "prize fund"]
    together = [row for row in rows_of(document, "cumulative") if row["paid_from"] == "prize fund"]

    assert [(row["day"], row["turnover"], row["actual"]) for row in alone] == [
        ("2026-11-20", "100", "2500"),
        ("2026-11-22", "200", "0"),
    ]
    assert [(row["day"], row["turnover"], row["actual"]) for row in together] == [
        ("2026-11-20", "100", "2500"),
        ("2026-11-22", "300", "2500"),
    ]
    assert together[-1]["actual_percent"] == "833.3333333333"
    assert together[-1]["theoretical_percent"] == "31.8448918029"


def test_the_band_is_the_return_by_the_rules_and_nearly_two_deviations_to_either_side(played: World) -> None:
    (first, second) = (row for row in rows(played, "rtp-by-day", "cumulative") if row["paid_from"] == "prize fund")

    assert first["low_percent"] == second["low_percent"] == "0"
    for row in (first, second):
        spread = Decimal("1.96") * Decimal(row["deviation"])
        high = percent(Fraction(row["theoretical"]) + Fraction(spread), Fraction(row["turnover"]))
        assert high is not None
        assert Decimal(row["high_percent"]) == high
    assert Decimal(second["high_percent"]) < Decimal(first["high_percent"])


def test_where_the_meter_pays_all_prizes_there_is_no_band(world: World) -> None:
    world.open(CYBER, tables=("C1",))
    world.bet(bet(), table_id="C1")
    world.settle(hand("1", FLUSH), table_id="C1")

    assert {tuple(row[edge] for edge in BAND) for row in rows(world, "rtp-by-day")} == {(None, None)}


def test_where_nothing_was_played_no_day_is_listed(world: World) -> None:
    world.open()
    assert rows(world, "rtp-by-day") == rows(world, "rtp-by-day", "cumulative") == []


def test_the_same_question_has_the_same_answer_whatever_comes_later(played: World) -> None:
    at = played.clock()
    before = figures(report(played, "rtp-by-day", as_of=at))
    played.bet(bet("late"), round_id="late")
    played.settle(hand("1", FLUSH), round_id="late")
    assert figures(report(played, "rtp-by-day", as_of=at)) == before


@pytest.mark.long
@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds())
def test_each_day_and_each_sum_is_what_rtp_says_of_that_period(world: World, seed: int) -> None:
    play = Play(world, seed)
    play.open()
    play.go_on(120)
    story.require_whole(world)
    start, end = world.clock() - timedelta(days=20), world.clock()

    document = report(world, "rtp-by-day", start=start, as_of=end)

    sections = {section["name"]: section["rows"] for section in document["sections"]}
    equations.require("rtp-by-day", sections)
    days = {(row["jackpot_id"], row["day"]) for row in sections["days"]}
    assert len({day for _, day in days}) > 2, "too few days to tell one from another"
    for jackpot_id, day in days:
        first, last = midnight(day, start), min(midnight(day, end) + timedelta(days=1), end)
        for name, began in (("days", max(first, start)), ("cumulative", start)):
            of_rtp = rows(world, "rtp", "funds", jackpot_id=jackpot_id, start=began, end=last)
            for row in of_rtp:
                shown = only(sections[name], jackpot_id=jackpot_id, day=day, paid_from=row["paid_from"])
                assert without_day(shown) == row
    for row in sections["days"]:
        assert not set(row) - set(sections["cumulative"][0])


def midnight(day: str, near: datetime) -> datetime:
    return datetime.combine(date.fromisoformat(day), datetime.min.time(), near.tzinfo)
