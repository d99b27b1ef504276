"""The days of a period that is asked of one casino are its gaming days; of the house they are those of UTC."""

from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from jackpot_service.domain.principals import Role
from tests.reports.finance import journal
from tests.support.answers import Body
from tests.support.asking import report, report_answer, rows_of
from tests.support.bets import bet
from tests.support.world import World

pytestmark = pytest.mark.slow

PLACES: Final = {"riga": ("Europe/Riga", "06:00"), "york": ("America/New_York", "04:30"), "odd": ("UTC", "02:30")}


@pytest.fixture
def world(world: World) -> World:
    """Three casinos with a table each; it is 2027."""
    world.open(base_amount="1000", tables=())
    for casino_id, (zone, day_starts) in PLACES.items():
        world.add_casino(casino_id, zone=zone, day_starts=day_starts)
        world.add_table(f"T-{casino_id}", jackpot_id="j1", casino_id=casino_id)
    return world


def bets_at(world: World, casino_id: str, *times: str) -> None:
    """Bet a euro at each of these times, or some seconds later."""
    for number, at in enumerate(times):
        world.clock.at = datetime.fromisoformat(at).astimezone(UTC)
        world.bet(bet(), round_id=f"r{number}", table_id=f"T-{casino_id}")
    world.clock.at = datetime(2028, 1, 1, tzinfo=UTC)


def period(document: Body) -> tuple[str, str]:
    return document["from"], document["to"]


BEGINNINGS: Final[tuple[tuple[str, str, str, tuple[str, str]], ...]] = (
    ("riga", "2026-12-01", "2026-12-02", ("2026-12-01T04:00:00Z", "2026-12-02T04:00:00Z")),
    ("riga", "2027-03-27", "2027-03-28", ("2027-03-27T04:00:00Z", "2027-03-28T03:00:00Z")),
    ("riga", "2027-03-28", "2027-03-29", ("2027-03-28T03:00:00Z", "2027-03-29T03:00:00Z")),
    ("york", "2027-11-06", "2027-11-07", ("2027-11-06T08:30:00Z", "2027-11-07T09:30:00Z")),
    ("odd", "2026-12-01", "2026-12-01", ("2026-12-01T02:30:00Z", "2026-12-01T02:30:00Z")),
    ("c1", "2026-12-01", "2026-12-02", ("2026-12-01T00:00:00Z", "2026-12-02T00:00:00Z")),
    ("riga", "2026-12-01T00:00:00Z", "2026-12-02", ("2026-12-01T00:00:00Z", "2026-12-02T04:00:00Z")),
    ("riga", "2026-12-01T00:00:00+02:00", "2026-12-02", ("2026-11-30T22:00:00Z", "2026-12-02T04:00:00Z")),
)


def test_the_answer_says_when_the_days_begin(world: World, subtests: pytest.Subtests) -> None:
    bets_at(world, "odd")

    for casino_id, start, end, expected in BEGINNINGS:
        with subtests.test(casino_id=casino_id, start=start, end=end):
            key = world.key(Role.FINANCE, casino_id=casino_id)

            stated = report(world, "casino-statement", casino_id=casino_id, start=start, end=end)
            own = world.get(f"/v1/reports/casino-statement?from={start.replace('+', '%2B')}&to={end}", key=key).ok()

            assert period(stated) == period(own) == expected


def test_a_table_is_of_its_casino_and_the_house_of_none(world: World) -> None:
    bets_at(world, "riga")
    days = {"start": "2026-12-01", "end": "2026-12-02"}

    of_table = period(report(world, "contributions", table_id="T-york", **days))
    of_house = period(report(world, "contributions", **days))
    of_jackpot = period(report(world, "trial-balance", jackpot_id="j1", **days))

    assert of_table == ("2026-12-01T09:30:00Z", "2026-12-02T09:30:00Z")
    assert of_house == of_jackpot == ("2026-12-01T00:00:00Z", "2026-12-02T00:00:00Z")


WHOLE: Final = (
    ("riga", "2026-12-01", "2026-12-02", ("2026-12-01T06:00:00+02:00", "2026-12-02T06:00:00+02:00")),
    # In the night to 28 March 2027 Riga's clocks go from 3 to 4: the day before has 23 hours.
    ("riga", "2027-03-27", "2027-03-28", ("2027-03-27T06:00:00+02:00", "2027-03-28T06:00:00+03:00")),
    # In the night to 7 November New York's go from 2 back to 1: 25 hours.
    ("york", "2027-11-06", "2027-11-07", ("2027-11-06T04:30:00-04:00", "2027-11-07T04:30:00-05:00")),
)


@pytest.mark.parametrize(("casino_id", "day", "next_day", "edges"), WHOLE)
def test_the_days_of_a_statement_are_whole_gaming_days(
    world: World, casino_id: str, day: str, next_day: str, edges: tuple[str, str]
) -> None:
    start, end = map(datetime.fromisoformat, edges)
    minute = timedelta(minutes=1)
    bets_at(world, casino_id, *(at.isoformat() for at in (start - minute, start, end - minute, end)))

    document = report(world, "casino-statement", casino_id=casino_id, start=day, end=next_day)

    (shown,) = journal.numbers(document, "days")
    ever = journal.numbers(report(world, "casino-statement", casino_id=casino_id), "days")
    assert [row["stakes"] for row in ever] == [1, 2, 1]
    assert shown == ever[1]
    assert (shown["gaming_day"], shown["opening"], shown["closing"]) == (day, 1, 3)


def test_contributions_by_day_of_a_casino_are_those_of_the_days_asked(world: World) -> None:
    night = ("2026-12-01T23:00:00+02:00", "2026-12-02T03:00:00+02:00", "2026-12-02T07:00:00+02:00")
    bets_at(world, "riga", *night)
    days = {"start": "2026-12-01", "end": "2026-12-02", "by": "day"}

    listed = rows_of(report(world, "contributions", casino_id="riga", **days))

    assert [(row["day"], row["bets"]) for row in listed] == [("2026-12-01", 2)]


def test_a_day_that_starts_in_no_year_that_there_is_cannot_be_asked(world: World) -> None:
    world.add_casino("early", zone="Europe/Riga")
    report_answer(world, "casino-statement", casino_id="early", start="0001-01-01").problem(422, "question-invalid")
    report_answer(world, "casino-statement", casino_id="york", end="9999-12-31").problem(422, "instant-ahead")
    report_answer(world, "casino-statement", casino_id="c9", start="2026-11-01").problem(404, "casino-unknown")
    report_answer(world, "trial-balance", casino_id="c9", start="2026-11-01").problem(422, "question-invalid")
    report_answer(world, "contributions", table_id="T9", start="2026-11-01").problem(404, "table-unknown")


def test_a_period_that_ends_before_it_begins_is_refused_however_its_edges_are_stated(world: World) -> None:
    for start, end in (
        ("2026-11-02", "2026-11-01"),
        ("2026-11-01", "2026-11-01T03:59:59Z"),
        ("2026-11-01T04:00:01Z", "2026-11-01"),
    ):
        report_answer(world, "casino-statement", casino_id="riga", start=start, end=end).problem(
            422, "question-invalid"
        )
    same = report(world, "casino-statement", casino_id="riga", start="2026-11-01T04:00:00Z", end="2026-11-01")
    assert period(same) == ("2026-11-01T04:00:00Z",) * 2
