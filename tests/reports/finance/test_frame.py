"""What every report shares: what it can be asked, the books that it stands on, and that it stays as it was told."""

import gc
from datetime import UTC, datetime, timedelta

import pytest
from psycopg import ServerCursor

from jackpot_service.database import snapshots
from jackpot_service.database.reads import Reads
from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.records.immutable import UnknownTable
from jackpot_service.records.references import UnknownCasino
from jackpot_service.records.rounds import UnknownRound
from jackpot_service.records.settings_in_force import UnknownJackpot
from jackpot_service.reports.documents import Document
from jackpot_service.reports.finance import frame
from jackpot_service.reports.finance.frame import Report, Scope
from jackpot_service.reports.finance.registry import REPORTS, report_of
from jackpot_service.reports.making import InstantAhead, made
from jackpot_service.reports.questions import BadQuestion, By, Parameter, Parameters
from tests.properties.profile import seeds
from tests.reports.finance.play import Play, play_everything
from tests.support import story
from tests.support.asking import figures, report, rows, stated
from tests.support.bets import bet
from tests.support.world import World

TIMES = "SELECT array_agg(booked_at ORDER BY jackpot_id, stripe_no) FROM stripes"
"""Of what would be raised if an instant were resolved."""

PLAIN = Report("plain", "Plain", lambda _session, _scope: ())


def ask(world: World, parameters: Parameters, report_: Report = PLAIN) -> Document:
    with made(Reads(world.engine), report_, parameters, now=world.clock()) as document:
        return document


def scope_of(world: World, parameters: Parameters) -> Scope:
    """What a report is made from."""
    scopes: list[Scope] = []

    def keep(_session: Session, scope: Scope) -> tuple[()]:
        scopes.append(scope)
        return ()

    ask(world, parameters, Report("scope", "Scope", keep))
    return scopes[0]


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000", stripes=3)
    world.bet(bet())
    return world


def test_a_report_is_asked_only_what_it_takes(opened: World) -> None:
    now, before = opened.clock(), opened.books.value(TIMES)
    by_day = Report("by-day", "By day", lambda _session, _scope: (), frozenset(Parameter), by=(By.DAY, By.MONTH))
    for report_, parameters in (
        (PLAIN, Parameters(casino_id="c1")),
        (PLAIN, Parameters(table_id="T1")),
        (PLAIN, Parameters(round_id="r1")),
        (PLAIN, Parameters(by=(By.DAY,))),
        (by_day, Parameters(by=(By.CYCLE,))),
        (by_day, Parameters(by=(By.DAY, By.DAY))),
        (PLAIN, Parameters(start=now, end=now - timedelta(microseconds=1))),
    ):
        with pytest.raises(BadQuestion):
            ask(opened, parameters, report_)
    assert opened.books.value(TIMES) == before
    assert ask(
        opened,
        Parameters(casino_id="c1", table_id="T1", start=now, end=now, by=(By.MONTH, By.DAY), round_id="r1"),
        by_day,
    ).scope == {
        "casino": "c1",
        "table": "T1",
        "round": "r1",
        "by": "month, day",
    }


def test_unknown_names_are_refused_before_anything_is_fixed(opened: World) -> None:
    opened.add_casino("c2")
    before = opened.books.value(TIMES)
    any_of_these = Report("x", "X", lambda _session, _scope: (), frozenset(Parameter))
    for parameters, refusal in (
        (Parameters(jackpot_id="j9", end=opened.clock()), UnknownJackpot),
        (Parameters(jackpot_id=REFERENCE_BOOK, end=opened.clock()), UnknownJackpot),
        (Parameters(casino_id="c9", end=opened.clock()), UnknownCasino),
        (Parameters(table_id="T9", end=opened.clock()), UnknownTable),
        (Parameters(table_id="T1", casino_id="c2", end=opened.clock()), UnknownTable),
        (Parameters(round_id="r9", end=opened.clock()), UnknownRound),
    ):
        with pytest.raises(refusal):
            ask(opened, parameters, any_of_these)
    assert opened.books.value(TIMES) == before
    assert ask(opened, Parameters(table_id="T1", casino_id="c1"), any_of_these).positions.keys() == {"-", "j1"}


def test_what_has_not_come_is_refused(opened: World) -> None:
    ahead = opened.clock.at + timedelta(hours=1)
    for parameters in (
        Parameters(start=ahead),
        Parameters(end=ahead),
        Parameters(jackpot_id="j1", start=ahead, end=ahead),
    ):
        with pytest.raises(InstantAhead):
            ask(opened, parameters)


def test_a_head_says_what_it_stands_on(opened: World) -> None:
    end = opened.clock()
    document = ask(opened, Parameters(end=end))

    assert (document.name, document.title, document.start, document.end) == ("plain", "Plain", None, end)
    assert sum(document.positions["j1"]) == 2
    assert document.positions["-"] == (opened.books.value("SELECT count(*) FROM acts"),)
    assert document.version


def test_a_period_opens_where_the_one_before_it_closed(opened: World) -> None:
    first, second = opened.clock(), opened.clock()
    opened.bet(bet("b2", hand="2"))
    before, after = ask(opened, Parameters(end=first)), ask(opened, Parameters(start=first))

    assert (before.opening_positions, sum(after.positions["j1"])) == ({}, 3)
    assert after.opening_positions == {"j1": before.positions["j1"]} != {"j1": after.positions["j1"]}
    head = report(opened, "meters", start=first, end=second)
    assert head["opening_positions"] == {"j1": list(before.positions["j1"])}


def test_a_jackpot_that_was_opened_later_is_not_told_of(opened: World) -> None:
    before = opened.clock()
    first = figures(report(opened, "trial-balance", as_of=before))
    opened.open(jackpot_id="j2", base_amount="50", tables=("T2",))
    opened.bet(bet(), table_id="T2")

    assert figures(report(opened, "trial-balance", as_of=before)) == first
    assert first["positions"].keys() == {"-", "j1"}
    assert rows(opened, "trial-balance", jackpot_id="j2", as_of=before) == []
    assert {row["jackpot_id"] for row in rows(opened, "trial-balance", start=before)} == {"j1", "j2"}


def test_a_jackpot_that_is_opened_while_a_report_is_asked_is_not_told_of(opened: World) -> None:
    end = opened.clock()
    parameters = Parameters(end=end)
    ask(opened, parameters)
    opened.open(jackpot_id="j2", tables=("T2",))

    with snapshots.snapshot(opened.engine) as session:
        document = frame.make(session, PLAIN, parameters, made_at=end)
        since = frame.make(session, PLAIN, Parameters(start=end), made_at=end)

    assert document.positions.keys() == {"-", "j1"}
    assert since.positions.keys() == {"-", "j1", "j2"}


def test_a_period_without_length_has_nothing_in_it(opened: World) -> None:
    now = opened.clock()

    for row in rows(opened, "trial-balance", start=now, end=now):
        assert (row["debit"], row["credit"]) == ("0", "0")
        assert row["opening"] == row["closing"]


def test_a_day_stands_for_its_beginning(opened: World) -> None:
    opened.clock.advance(timedelta(days=2))
    opened.bet(bet("b2", hand="2"))

    by_day = report(opened, "trial-balance", start="2026-11-21", end="2026-11-22")
    by_instant = report(opened, "trial-balance", start="2026-11-21T00:00:00Z", end="2026-11-22T01:00:00+01:00")
    assert figures(by_day) == figures(by_instant)
    assert (by_day["from"], by_day["to"]) == ("2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z")


@pytest.mark.long
@pytest.mark.deep
@pytest.mark.parametrize("seed", seeds())
def test_every_report_says_for_ever_what_it_said_of_a_period(world: World, seed: int) -> None:
    play = Play(world, seed)
    play.open()
    edges = [datetime(2026, 1, 1, tzinfo=UTC), world.clock()]
    for _ in range(2):
        play.go_on(30)
        edges.append(world.clock())
    periods = [{"start": edges[0], "end": edges[2]}, {"start": edges[2], "end": edges[3]}, {"as_of": edges[3]}]
    questions = [(name, {**stated(report_), **period}) for name, report_ in REPORTS.items() for period in periods]
    questions += [
        (name, {**stated(report_), **periods[1], "by": by}) for name, report_ in REPORTS.items() for by in report_.by
    ]
    seen = [figures(report(world, name, **query)) for name, query in questions]

    play.go_on(60)
    play.retire()
    story.require_whole(world)

    assert [figures(report(world, name, **query)) for name, query in questions] == seen
    assert figures(report(world, "meters"))["sections"] != figures(report(world, "meters", **periods[2]))["sections"]


def test_reports_have_names_titles_and_groupings_that_people_can_use() -> None:
    for name, report_ in REPORTS.items():
        assert report_of(name) is report_
        assert name == report_.name == name.lower()
        assert report_.title[0].isupper()
        assert (Parameter.BY in report_.optional) is bool(report_.by)
        assert report_.report_version >= 1


def test_a_report_that_is_left_in_its_midst_has_no_cursor_open_after_its_block(world: World) -> None:
    """Whoever closed it later would close it within a call that has the connection then, and break that."""
    play_everything(world)
    for name, report_ in REPORTS.items():
        casino_id = "c1" if Parameter.CASINO in report_.required else None
        with made(Reads(world.engine), report_, Parameters(casino_id=casino_id), now=world.clock()) as document:
            for section in document.sections:
                next(iter(section.rows), None)
                section.close()
            assert cursors_open() == 0, name
        assert document.sections


def cursors_open() -> int:
    """How many cursors of the database are open: their rows come as they are read."""
    return sum(1 for each in gc.get_objects() if type(each) is ServerCursor and not each.closed)
