"""The last reconciliation of each book is the report as of the end of its last day that was read, and names a cent."""

from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial

import pytest

from jackpot_service.database.snapshots import snapshot
from jackpot_service.reports.last_reconciliations import Reconciliation, reconciliations
from jackpot_service.reports.reconciling import reconcile_next
from tests.support.asking import report, rows_of
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.reading import past_the_service
from tests.support.world import World

pytestmark = pytest.mark.slow


def at(day: int, hour: int = 12) -> datetime:
    return datetime(2026, 12, day, hour, tzinfo=UTC)


def read_days(world: World) -> None:
    for _ in iter(partial(reconcile_next, world.engine, now=world.clock()), None):
        pass


def books_at(world: World, moment: datetime | None = None) -> list[Reconciliation]:
    with snapshot(world.engine) as session:
        return reconciliations(session, at=moment or world.clock())


@pytest.fixture
def played(world: World) -> World:
    """A jackpot with entries on the 1st, 2nd and 5th; it is the 5th."""
    world.clock.at = at(1)
    world.open(base_amount="1000", stripes=2)
    world.bet(bet("a"), bet("b", currency="GBP"))
    world.clock.at = at(2)
    world.settle(hand("1", FLUSH))
    world.clock.at = at(5)
    world.bet(bet(), round_id="r2")
    return world


def test_books_of_which_no_day_was_read_are_neither_right_nor_wrong(played: World) -> None:
    (book,) = books_at(played)
    assert (book.agrees, book.end, book.read_at, book.compared) == (None, None, None, 0)
    assert book.waits_since == date(2026, 12, 1)
    assert book.days_waiting(at=at(5)) == 4


def test_it_compares_what_the_report_compares_up_to_the_last_day_that_was_read(played: World) -> None:
    read_days(played)

    (book,) = books_at(played)

    of_report = report(played, "reconciliation", jackpot_id="j1", end="2026-12-03")
    (summary,) = rows_of(of_report, "summary")
    assert (book.agrees, book.end) == (True, at(3, 0))
    assert book.read_at is not None
    assert at(5) < book.read_at < played.clock()
    assert (book.compared, len(book.variances)) == (summary["compared"], 0)
    assert book.waits_since is None
    assert book.days_waiting(at=at(5)) == 0


@pytest.mark.parametrize("evening", ["quiet", "busy"])
def test_a_day_of_which_only_some_was_read_is_not_the_last(played: World, evening: str) -> None:
    played.clock.at = at(5, 20)
    read_days(played)
    if evening == "busy":
        played.bet(bet(), round_id="evening")
    assert played.books.value("SELECT max(day) FROM reconciled_days") == date(2026, 12, 5)

    for hour, waits_since in ((0, None), (2, date(2026, 12, 5))):
        (book,) = books_at(played, at(6, hour))
        assert (book.end, book.waits_since) == (at(3, 0), waits_since)

    played.clock.at = at(6, 2)
    read_days(played)
    (book,) = books_at(played)
    assert (book.end, book.waits_since) == (at(6, 0), None)
    assert book.read_at is not None
    assert book.read_at >= at(6, 2)


def test_as_of_an_instant_only_what_was_read_by_then_counts(played: World) -> None:
    read_days(played)
    then = played.clock()
    before = books_at(played, then)
    played.clock.at = at(7)
    read_days(played)

    assert books_at(played, then) == before
    (now,) = books_at(played)
    assert now.end == at(6, 0)
    assert now.read_at is not None
    assert now.read_at > at(7)
    (earlier,) = books_at(played, at(4))
    assert (earlier.end, earlier.waits_since) == (None, date(2026, 12, 1))


def test_a_variance_of_a_cent_names_the_account_and_the_row_of_the_report(played: World, database_url: str) -> None:
    past_the_service(database_url, "UPDATE bets SET stake_minor = stake_minor + 1 WHERE bet_id = 'a'")
    read_days(played)

    (book,) = books_at(played)

    of_report = report(played, "reconciliation", jackpot_id="j1", end="2026-12-03")
    (summary,) = rows_of(of_report, "summary")
    assert book.agrees is False
    assert (book.compared, len(book.variances)) == (summary["compared"], summary["differing"])
    assert summary["differing"] > 1
    (of_casino,) = (each for each in book.variances if each.account == "casino:c1")
    assert (of_casino.section, of_casino.currency, of_casino.movement) == ("accounts", "EUR", "contribution")
    assert of_casino.variance == Decimal("0.01")
    rows = {
        (section["name"], row["account"], row["currency"], row.get("rules_version"), row.get("movement")): row
        for section in of_report["sections"][1:]
        for row in section["rows"]
    }
    for each in book.variances:
        row = rows[each.section, each.account, each.currency, each.rules_version, each.movement]
        shown = tuple(Decimal(row[name]) for name in ("expected", "booked", "variance"))
        assert shown == (each.expected, each.booked, each.variance)

    past_the_service(database_url, "UPDATE bets SET stake_minor = stake_minor - 1 WHERE bet_id = 'a'")
    past_the_service(database_url, "DELETE FROM reconciled_days")


def test_each_jackpot_stands_by_itself(played: World) -> None:
    read_days(played)
    played.open(jackpot_id="j2", tables=("T2",))

    first, second = books_at(played)

    assert (first.jackpot_id, first.agrees, second.jackpot_id, second.agrees) == ("j1", True, "j2", None)
    assert second.waits_since is None
    with snapshot(played.engine) as session:
        assert [each.jackpot_id for each in reconciliations(session, at=at(5), after="j1")] == ["j2"]
        assert [each.jackpot_id for each in reconciliations(session, at=at(5), limit=1)] == ["j1"]
