"""Reports over HTTP: who may ask, what is refused, and what becomes of long ones, slow ones and broken ones."""

import csv
import time
from collections.abc import Iterator
from io import StringIO
from typing import Any, Final
from urllib.parse import urlencode

import pytest
from sqlalchemy import text

from jackpot_service.api import report_files
from jackpot_service.api.request_context import EXTENSION
from jackpot_service.database import long_lists
from jackpot_service.database.transactions import Session
from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.exports import files, xlsx_file
from jackpot_service.reports import making
from jackpot_service.reports.documents import Column, ColumnType, Row, Section
from jackpot_service.reports.finance import registry
from jackpot_service.reports.finance.frame import Report, Scope
from tests.support import workbooks
from tests.support.answers import Answer, Body
from tests.support.asking import report, report_answer, rows, stated
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

BALANCE: Final = "/v1/reports/trial-balance"

FORMATS: Final = ("json", "csv", "xlsx")

NONE: Final[Body] = {"items": [], "next": None}


@pytest.fixture
def fay(world: World) -> str:
    """The key of somebody of the house's finance, of a house in which something was won."""
    world.open(base_amount="1000")
    world.bet(bet("a", currency="GBP"), bet("b", hand="2"))
    world.settle(hand("1", FLUSH), hand("2"))
    return world.person("Fay", Role.FINANCE)


def carl(world: World, casino_id: str = "c1") -> str:
    """The key of somebody of a casino's finance."""
    return world.key_of(Principal(f"Carl of {casino_id}", Role.FINANCE, casino_id))


def connections_taken(world: World) -> int:
    """How many connections are in use, besides those that the event loop keeps."""
    executor = world.app.extensions[EXTENSION].bet_groups._async_executor
    while len(executor._idle) < executor.most - executor._places._value:
        time.sleep(0.001)  # A thread is opening one.
    taken: int = world.engine.pool.checkedout()  # type: ignore[attr-defined]
    return taken - len(executor._idle)


# Who may ask what.


def test_the_reports_there_are_are_listed_with_what_they_take(world: World, fay: str) -> None:
    listed = {item["name"]: item for item in world.get("/v1/reports", key=fay).ok()["items"]}

    assert listed.keys() == registry.REPORTS.keys()
    assert listed["rounds"] == {
        "name": "rounds",
        "title": "Rounds and bets",
        "required": [],
        "optional": ["casino_id", "round_id", "table_id"],
        "by": [],
        "default": [],
        "sections": ["rounds", "bets", "refunds", "acts"],
    }
    for name, report_ in registry.REPORTS.items():
        made = world.get(f"/v1/reports/{name}?{urlencode(stated(report_))}", role=Role.AUDITOR).ok()
        assert [section["name"] for section in made["sections"]] == listed[name]["sections"]


@pytest.mark.usefixtures("fay")
def test_somebody_of_a_casino_is_told_what_is_for_casinos_and_of_the_own_one(world: World) -> None:
    world.add_casino("c2")
    world.add_table("T2", jackpot_id="j1", casino_id="c2")
    listed = {item["name"] for item in world.get("/v1/reports", key=carl(world)).ok()["items"]}

    assert listed == {name for name, report_ in registry.REPORTS.items() if report_.is_for_casinos}
    for name, report_ in registry.REPORTS.items():
        answer = world.get(f"/v1/reports/{name}", key=carl(world, "c2"))
        if report_.is_for_casinos:
            assert answer.ok()["scope"] == {"casino": "c2"}
            assert "player-of" not in answer.text
            world.get(f"/v1/reports/{name}?casino_id=c1", key=carl(world, "c2")).problem(404, "casino-unknown")
            world.get(f"/v1/reports/{name}?casino_id=c9", key=carl(world, "c2")).problem(404, "casino-unknown")
        else:
            answer.problem(403, "role-forbidden")
    world.get("/v1/reports/rounds?table_id=T1", key=carl(world, "c2")).problem(404, "table-unknown")
    world.get("/v1/reports/rounds?table_id=T9", key=carl(world, "c2")).problem(404, "table-unknown")
    world.get("/v1/reports/rounds?round_id=r1", key=carl(world, "c2")).problem(404, "round-unknown")


# What is refused.

WRONG: Final = {
    "from=2026-11-20&to=2026-11-19": (422, "question-invalid", None),
    "from=2026-11-20T10:00:00Z&as_of=2026-11-20T09:00:00Z": (422, "question-invalid", None),
    "to=2126-01-01": (422, "instant-ahead", None),
    "as_of=2126-01-01T00:00:00Z": (422, "instant-ahead", None),
    "from=2126-01-01": (422, "instant-ahead", None),
    "to=2026-11-20&as_of=2126-01-01T00:00:00Z": (422, "instant-ahead", None),
    "to=2126-01-01&as_of=2026-11-20T09:00:00Z": (422, "instant-ahead", None),
    "jackpot_id=j9": (404, "jackpot-unknown", None),
    "jackpot_id=-": (404, "jackpot-unknown", None),
    "casino_id=c1": (422, "question-invalid", None),
    "table_id=T1": (422, "question-invalid", None),
    "round_id=r1": (422, "question-invalid", None),
    "by=day": (422, "question-invalid", None),
    "by=": (422, "validation", "?by"),
    "by=day,day": (422, "validation", "?by"),
    "by=weekday": (422, "validation", "?by"),
    "by=" + "day," * 20_000: (422, "validation", "?by"),
    "by=jackpot,casino,table,currency,day,month,cycle,day": (422, "validation", "?by"),
    "section=none": (422, "question-invalid", None),
    "section=none&format=csv": (422, "question-invalid", None),
    "section=none&format=xlsx": (422, "question-invalid", None),
    "section=%00": (422, "validation", "?section"),
    "section=" + "x" * 5000: (422, "validation", "?section"),
    "format=pdf": (422, "validation", "?format"),
    "format=": (422, "validation", "?format"),
    "format=CSV": (422, "validation", "?format"),
    "from=2026-02-30": (422, "validation", "?from"),
    "from=0000-01-01": (422, "validation", "?from"),
    "from=9999-12-31T23:59:59-23:59": (422, "validation", "?from"),
    "from=0001-01-01T00:00:00%2B23:59": (422, "validation", "?from"),
    "from=2026-11-20T09:00:00": (422, "validation", "?from"),
    "from=20261120": (422, "validation", "?from"),
    "from=%F0%9F%98%80": (422, "validation", "?from"),
    "from=%D9%A2%D9%A0%D9%A2%D9%A6-11-20": (422, "validation", "?from"),
    "as_of=2026-11-20": (422, "validation", "?as_of"),
    "as_of=now": (422, "validation", "?as_of"),
    "jackpot_id=": (422, "validation", "?jackpot_id"),
    "jackpot_id=j1%00": (422, "validation", "?jackpot_id"),
    "jackpot_id=%ED%A0%80": (422, "validation", "?jackpot_id"),
    "jackpot_id=j1'%20OR%201=1": (422, "validation", "?jackpot_id"),
    "jackpot_id=" + "j" * 10_000: (422, "validation", "?jackpot_id"),
    "jackpot_id=j1&jackpot_id=j2": (422, "validation", "?jackpot_id"),
    "when=now": (422, "validation", "?when"),
    "start=2026-11-20": (422, "validation", "?start"),
}
"""Queries of the trial balance, which takes no more than jackpot and period, and how each is refused."""


def test_a_question_that_cannot_be_is_refused_and_nothing_is_fixed(
    world: World, fay: str, subtests: pytest.Subtests
) -> None:
    times = "SELECT array_agg(booked_at ORDER BY jackpot_id, stripe_no) FROM stripes"
    before = world.books.value(times)
    for query, (status, code, pointer) in WRONG.items():
        with subtests.test(query[:60]):
            world.get(f"{BALANCE}?{query}", key=fay).problem(status, code, *([] if pointer is None else [pointer]))

            assert world.books.value(times) == before


def test_a_report_that_is_not_there_is_unknown(world: World, fay: str, subtests: pytest.Subtests) -> None:
    for name in ("nothing", "trial_balance", "x" * 64, "-", ".."):
        with subtests.test(name):
            assert world.get(f"/v1/reports/{name}", key=fay).status == 404


def test_the_first_day_there_is_can_be_asked_from(world: World, fay: str) -> None:
    assert rows(world, "trial-balance", start="0001-01-01") == rows(world, "trial-balance")
    assert world.get(f"{BALANCE}?to=0001-01-01", key=fay).ok()["sections"][0]["rows"] == []


# The formats.


def downloaded(world: World, key: str, path: str) -> bytes:
    with world.app.test_client().get(path, headers={"Authorization": f"Bearer {key}"}) as response:
        assert response.status_code == 200
        return response.get_data()


def test_a_file_says_what_it_is_and_what_it_is_called(world: World, fay: str) -> None:
    headers = {"Authorization": f"Bearer {fay}"}
    for form, media_type in (("csv", files.CSV_TYPE), ("xlsx", xlsx_file.MEDIA_TYPE)):
        response = world.app.test_client().get(f"{BALANCE}?format={form}", headers=headers)

        assert response.headers["Content-Type"] == media_type
        stamp = f"{world.clock.at:%Y%m%dT%H%M%SZ}"
        assert response.headers["Content-Disposition"] == f'attachment; filename="trial-balance-{stamp}.{form}"'
        if form == "xlsx":
            assert int(response.headers["Content-Length"]) == len(response.get_data())


def test_one_section_can_be_asked_for_in_every_format(world: World, fay: str) -> None:
    document = report(world, "trial-balance", section="totals")
    assert [section["name"] for section in document["sections"]] == ["totals"]

    sheets = workbooks.read(downloaded(world, fay, f"{BALANCE}?format=xlsx&section=totals"))
    assert list(sheets) == ["head", "totals"]

    lines = report_answer(world, "trial-balance", format="csv", section="totals").text.splitlines()
    assert lines[0] == "jackpot_id,currency,opening,debit,credit,closing"
    assert report_answer(world, "trial-balance", format="csv").text.splitlines()[0].startswith("jackpot_id,account,")


def test_the_head_of_a_report_is_a_section_that_can_be_asked_for(world: World, fay: str) -> None:
    document = report(world, "trial-balance", section="head")
    assert (document["sections"], document["title"]) == ([], "Trial balance")

    sheets = workbooks.read(downloaded(world, fay, f"{BALANCE}?format=xlsx&section=head"))
    lines = report_answer(world, "trial-balance", format="csv", section="head").text.splitlines()

    assert list(sheets) == ["head"]
    assert ["report", "trial-balance"] in workbooks.texts(sheets["head"])
    assert lines[0] == "name,value"
    assert [line.split(",")[0] for line in lines[1:]] == [name for name, _ in workbooks.texts(sheets["head"])]


@pytest.mark.parametrize(
    ("name", "more", "signs"),
    [
        (
            "trial-balance",
            "",
            "A balance is what the ledger owes to the account's owner: negative where the owner owes it.",
        ),
        ("casino-statement", "&casino_id=c1", "A positive balance is owed by the casino, a negative one to it."),
        ("liability", "", None),
    ],
)
def test_a_report_of_balances_says_in_its_head_who_owes_a_positive_one(
    world: World, fay: str, name: str, more: str, signs: str | None
) -> None:
    path = f"/v1/reports/{name}?section=head{more}"
    workbook = workbooks.read(downloaded(world, fay, f"{path}&format=xlsx"))["head"]
    rows = list(csv.reader(world.get(f"{path}&format=csv", key=fay).text.splitlines()))

    assert world.get(path, key=fay).ok()["signs"] == signs
    assert [row[1] for row in workbooks.texts(workbook) if row[0] == "signs"] == ([signs] if signs else [])
    assert [row[1] for row in rows if row[0] == "signs"] == ([signs] if signs else [])


@pytest.mark.parametrize("form", FORMATS)
def test_a_head_request_is_answered_without_a_body_and_keeps_nothing_open(world: World, fay: str, form: str) -> None:
    answer = world.call("HEAD", f"{BALANCE}?format={form}", key=fay)

    assert (answer.status, answer.text) == (200, "")
    assert connections_taken(world) == 0


# Long, slow and broken ones.

NUMBERS: Final = (Column("n", "Number", ColumnType.COUNT), Column("text", "Text"))


def listing(make: Any, monkeypatch: pytest.MonkeyPatch, name: str = "listing") -> None:
    """Have a report whose rows are made by this, from a session."""

    def sections(session: Session, _scope: Scope) -> tuple[Section, ...]:
        return (Section("numbers", "Numbers", NUMBERS, make(session)),)

    monkeypatch.setattr(registry, "REPORTS", {**registry.REPORTS, name: Report(name, "A listing", sections)})


def count_to(most: int) -> Any:
    def make(session: Session) -> Iterator[Row]:
        numbers = text("SELECT n, repeat('x', 1000) FROM generate_series(1, :most) AS n")
        with session.execute(numbers, {"most": most}, execution_options={"yield_per": 100}) as rows_:
            for row in rows_:
                yield tuple(row)

    return make


def test_json_holds_so_many_rows_and_files_hold_all(world: World, fay: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "MOST_ROWS", 50)
    listing(count_to(50), monkeypatch)
    assert len(rows(world, "listing")) == 50
    listing(count_to(51), monkeypatch)

    problem = report_answer(world, "listing").problem(409, "report-too-long")

    assert (problem["rows"], problem["section"], problem["retryable"]) == (50, "numbers", False)
    assert len(report_answer(world, "listing", format="csv").text.splitlines()) == 52
    assert len(workbooks.read(downloaded(world, fay, "/v1/reports/listing?format=xlsx"))["numbers"]) == 52
    assert connections_taken(world) == 0


@pytest.mark.parametrize("most", [1, 3, 4, 5, 8])
def test_a_long_list_that_is_too_long_is_refused_and_its_connection_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Read a page ahead: where the reading stops, in the midst of a page or at its end, must not matter."""
    monkeypatch.setattr(making, "MOST_ROWS", most)
    monkeypatch.setattr(long_lists, "PAGE", 2)
    world.open()
    for number in range(12):
        world.bet(bet(f"b{number}"), round_id=f"r{number}")
    before = backends(world)

    for _ in range(2):
        report_answer(world, "rounds").problem(409, "report-too-long")

    assert backends(world) == before
    assert connections_taken(world) == 0


def backends(world: World) -> set[int]:
    """The processes of the database that serve the pool."""
    question = text("SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user")
    with world.engine.connect() as session:
        return set(session.scalars(question))


def test_csv_is_sent_in_parts_while_it_is_read(world: World, fay: str, monkeypatch: pytest.MonkeyPatch) -> None:
    listing(count_to(1000), monkeypatch)
    response = world.app.test_client().get(
        "/v1/reports/listing?format=csv", headers={"Authorization": f"Bearer {fay}"}, buffered=False
    )

    parts = response.iter_encoded()
    first = next(parts)
    assert report_files.CHUNK <= len(first) < 2 * report_files.CHUNK
    assert connections_taken(world) == 1
    assert (first + b"".join(parts)).count(b"\r\n") == 1001
    assert connections_taken(world) == 0


def test_a_caller_that_goes_away_leaves_nothing_open(world: World, fay: str, monkeypatch: pytest.MonkeyPatch) -> None:
    listing(count_to(10_000), monkeypatch)
    for parts_read in (0, 1, 3):
        response = world.app.test_client().get(
            "/v1/reports/listing?format=csv", headers={"Authorization": f"Bearer {fay}"}, buffered=False
        )
        parts = response.iter_encoded()
        for _ in range(parts_read):
            next(parts)
        response.close()

        assert connections_taken(world) == 0
        report_answer(world, "trial-balance").ok()


def broken_after(most: int) -> Any:
    def make(session: Session) -> Iterator[Row]:
        yield from count_to(most)(session)
        session.execute(text("SELECT 1 / 0"))

    return make


def test_a_file_that_breaks_off_says_that_it_is_not_complete(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    listing(broken_after(500), monkeypatch)

    answer = report_answer(world, "listing", format="csv")

    assert answer.status == 200
    *_, last = csv.reader(StringIO(answer.text, newline=""), strict=True)
    assert last == [report_files.CUT_SHORT]
    assert connections_taken(world) == 0


def test_what_breaks_before_the_first_part_is_a_problem(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    listing(broken_after(3), monkeypatch)

    for form in FORMATS:
        report_answer(world, "listing", format=form).problem(500, "internal-error")
    assert connections_taken(world) == 0


# In bounded time.


@pytest.fixture
def hurried(database_url: str) -> Iterator[World]:
    """A house that waits a fifth of a second for a report, and makes one at a time."""
    world = World(database_url, report_timeout_s=0.2, pool_size=3)
    yield world
    world.close()


def slow(rows: int, seconds: float) -> Any:
    def make(session: Session) -> Iterator[Row]:
        for number in range(rows):
            session.execute(text("SELECT pg_sleep(:seconds)"), {"seconds": seconds})
            yield number, "x"

    return make


def slow_to_read(session: Session) -> Iterator[Row]:
    for row in count_to(10_000)(session):
        time.sleep(0.01)
        yield row


def closing(world: World) -> Answer:
    body = {"request_id": "p1", "to": instant(world.clock()), "reason": "month end"}
    return world.post("/v1/closed-periods", body, key=world.person("Fay", Role.FINANCE))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("count", "seconds"), [(1, 5), (100, 0.05)])
def test_a_report_that_takes_too_long_is_told_to_be(
    hurried: World, monkeypatch: pytest.MonkeyPatch, form: str, count: int, seconds: float
) -> None:
    listing(slow(count, seconds), monkeypatch)

    answer = report_answer(hurried, "listing", format=form)

    assert answer.problem(503, "report-took-too-long")["retryable"] is True
    assert answer.headers["Retry-After"]
    assert connections_taken(hurried) == 0


def test_so_is_a_workbook_of_which_each_row_is_read_slowly(hurried: World, monkeypatch: pytest.MonkeyPatch) -> None:
    listing(slow_to_read, monkeypatch)

    report_answer(hurried, "listing", format="xlsx").problem(503, "report-took-too-long")


@pytest.mark.parametrize("rows", [slow(1, 5), slow_to_read], ids=["asked", "read"])
def test_so_is_a_period_whose_reports_take_too_long(hurried: World, monkeypatch: pytest.MonkeyPatch, rows: Any) -> None:
    listing(rows, monkeypatch)

    closing(hurried).problem(503, "report-took-too-long")

    assert hurried.get("/v1/closed-periods", key=hurried.person("Fay", Role.FINANCE)).ok() == NONE


@pytest.fixture
def small(database_url: str) -> Iterator[World]:
    """A house that makes one report at a time, however long it takes."""
    world = World(database_url, pool_size=3)
    yield world
    world.close()


def test_reports_leave_connections_for_bets(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    small.open()
    listing(count_to(1000), monkeypatch)
    key = small.person("Fay", Role.FINANCE)
    response = small.app.test_client().get(
        "/v1/reports/listing?format=csv", headers={"Authorization": f"Bearer {key}"}, buffered=False
    )
    parts = response.iter_encoded()
    next(parts)

    for busy in (report_answer(small, "trial-balance"), closing(small)):
        busy.problem(503, "busy")
        assert busy.headers["Retry-After"]
    small.bet(bet())

    response.close()
    report_answer(small, "trial-balance").ok()
