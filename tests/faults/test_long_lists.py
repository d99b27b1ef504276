"""Lists that are read a page ahead: every row once, whoever stops in their midst, and whatever fails there."""

from collections.abc import Generator
from contextlib import closing
from itertools import islice

import pytest
import sqlalchemy

from jackpot_service.database.failures import Busy, HeldUp
from jackpot_service.database.long_lists import PAGE, rows_of
from jackpot_service.database.pipelines import Row
from jackpot_service.database.snapshots import snapshot
from jackpot_service.database.transactions import Session
from tests.faults.scratch import Database, pid_of

pytestmark = pytest.mark.slow

NUMBERS = "SELECT n AS number, :word || n AS word, CAST(NULL AS text) AS nothing FROM generate_series(1, :last) AS n"
COLUMNS = ("word", "nothing", "number")


def numbers(session: Session, last: int) -> Generator[Row, None, None]:
    return rows_of(session, NUMBERS, {"word": "no. ", "last": last}, COLUMNS)


def one_answer(session: Session) -> object:
    return session.scalar(sqlalchemy.text("SELECT 'answered'"))


@pytest.mark.parametrize("last", [0, 1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE])
def test_every_row_comes_once_in_its_order(database: Database, last: int) -> None:
    with snapshot(database.engine()) as session:
        assert list(numbers(session, last)) == [(f"no. {number}", None, number) for number in range(1, last + 1)]
        assert one_answer(session) == "answered"


@pytest.mark.parametrize("read", [1, PAGE, PAGE + 1])
def test_who_stops_in_the_midst_asks_for_something_else(database: Database, read: int) -> None:
    with snapshot(database.engine()) as session:
        for _ in range(2):
            with closing(numbers(session, 5 * PAGE)) as rows:
                assert len(list(islice(rows, read))) == read
            assert one_answer(session) == "answered"


def test_nothing_else_is_asked_between_two_rows(database: Database) -> None:
    with snapshot(database.engine()) as session, closing(numbers(session, 2 * PAGE)) as rows:
        next(rows)
        with pytest.raises(RuntimeError, match="pipeline is open"):
            one_answer(session)
        assert len(list(rows)) == 2 * PAGE - 1


def test_a_page_that_fails_is_told_when_it_is_due_and_the_connection_goes_on(database: Database) -> None:
    statement = "SELECT n AS number, 1 / (:fails - n) AS share FROM generate_series(1, :last) AS n"
    engine = database.engine()
    read = 0
    with engine.connect() as session:
        pid = pid_of(session)
        with pytest.raises(Exception, match="division by zero"):  # noqa: PT012  it is read as far as it goes
            for _ in rows_of(session, statement, {"fails": PAGE + 1, "last": 2 * PAGE}, ("number", "share")):
                read += 1
        session.rollback()
        assert (read, one_answer(session), pid_of(session)) == (PAGE, "answered", pid)


def test_a_connection_that_was_lost_says_so(database: Database) -> None:
    with pytest.raises((Busy, HeldUp)), snapshot(database.engine()) as session:  # noqa: PT012  its first page is read
        pid = pid_of(session)
        rows = numbers(session, 100 * PAGE)
        next(rows)
        database.terminate(pid)
        list(rows)


def test_a_column_that_is_missing_is_an_error(database: Database) -> None:
    with snapshot(database.engine()) as session, pytest.raises(KeyError, match="missing"):
        list(rows_of(session, NUMBERS, {"word": "", "last": 1}, ("number", "missing")))
