"""Reports as jobs: the file is what would have been answered when it was asked for, whatever comes later."""

import csv
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Final

import pytest

from jackpot_service.domain.principals import Role
from jackpot_service.exports import files, xlsx_file
from jackpot_service.exports.jobs.requests import MOST_WAITING
from jackpot_service.reports.finance.registry import REPORTS
from tests.reports.finance.play import Play
from tests.support import story, workbooks
from tests.support.answers import Answer, Body
from tests.support.asking import raise_version, report, report_answer, stated
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

ROUNDS: Final[Body] = {"name": "rounds", "format": "csv"}

BEGINNING: Final = "2026-11-01"


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000", stripes=2)
    world.bet(bet("a", currency="GBP"), bet("b", hand="2"))
    world.settle(hand("1", FLUSH), hand("2"))
    return world


def ask(world: World, key: str | None = None, request_id: str = "job", /, **parameters: object) -> Answer:
    """Ask for rounds as CSV, unless stated otherwise."""
    return world.ask_job({**ROUNDS, **parameters}, kind="report", request_id=request_id, key=key)


def go_on(world: World) -> None:
    """Have later what a report could tell of."""
    world.clock.advance(timedelta(hours=3))
    world.bet(bet("late"), round_id="late")
    world.settle(hand("1", FLUSH), round_id="late")


def done(world: World) -> None:
    while world.runner().run_next():
        pass
    assert world.books.rows("SELECT state, error FROM jobs WHERE state <> 'done'") == []


def file_of(world: World, job: Body, key: str | None = None) -> bytes:
    return downloaded(world, f"/v1/jobs/{job['job_id']}/file", key)


def downloaded(world: World, path: str, key: str | None = None) -> bytes:
    headers = {"Authorization": f"Bearer {key or world.key(Role.AUDITOR)}"}
    with world.app.test_client().get(path, headers=headers) as response:
        assert response.status_code == 200
        content: bytes = response.get_data()
        return content


# The file.


@pytest.mark.long
def test_every_section_of_every_report_is_to_the_byte_as_over_http(world: World) -> None:
    play = Play(world, 7)
    play.open()
    play.go_on(40)
    jobs, answers = [], []
    sections = [(value, section) for value in REPORTS.values() for section in value.sections]
    for number, (report_, section) in enumerate(sections):
        key = world.person(f"Fay {number // MOST_WAITING}", Role.FINANCE)
        file = {"format": "csv", "section": section, **stated(report_)}
        jobs.append(ask(world, key, f"q{number}", name=report_.name, **file).ok(201))
        answers.append(report_answer(world, report_.name, end=jobs[-1]["parameters"]["to"], **file).text.encode())
    play.go_on(30)
    story.require_whole(world)

    done(world)

    assert [file_of(world, job) for job in jobs] == answers
    progress = [world.get(f"/v1/jobs/{job['job_id']}").ok()["progress"] for job in jobs]
    assert [shown_job["total"] for shown_job in progress] == [shown_job["done"] for shown_job in progress]
    assert sum(answer.count(b"\n") for answer in answers) > 5 * len(answers)


def test_a_workbook_has_the_cells_that_it_has_over_http(opened: World) -> None:
    job = ask(opened, format="xlsx").ok(201)
    at = job["parameters"]["to"]
    over_http = workbooks.read(downloaded(opened, f"/v1/reports/rounds?format=xlsx&as_of={at}"))
    go_on(opened)

    done(opened)

    sheets = workbooks.read(file_of(opened, job))
    assert sheets.keys() == over_http.keys() == {"head", *REPORTS["rounds"].sections}
    assert [sheets[section] for section in REPORTS["rounds"].sections] == [
        over_http[section] for section in REPORTS["rounds"].sections
    ]
    head, head_over_http = (dict(workbooks.texts(sheets["head"])) for sheets in (sheets, over_http))
    assert datetime.fromisoformat(head.pop("made at")) == datetime.fromisoformat(at)
    assert head_over_http.pop("made at") > at
    assert head == head_over_http


def test_what_a_job_was_asked_for_is_settled_then(opened: World) -> None:
    job = ask(opened, **{"from": BEGINNING, "by": ["day", "casino"], "name": "contributions"}).ok(201)

    to = job["parameters"]["to"]
    assert job["parameters"] == {
        "name": "contributions",
        "format": "csv",
        "section": None,
        "from": "2026-11-01T00:00:00.000000Z",
        "to": to,
        "jackpot_id": None,
        "casino_id": None,
        "table_id": None,
        "round_id": None,
        "account": None,
        "currency": None,
        "movement": None,
        "by": ["day", "casino"],
        "open_round_minutes": 15,
        "made_at": to,
        "kept": None,
    }
    assert datetime.fromisoformat(to) == datetime.fromisoformat(job["created_at"])
    assert opened.books.value("SELECT bool_and(booked_at >= :to) FROM stripes", to=datetime.fromisoformat(to))
    go_on(opened)
    again = ask(opened, **{"from": BEGINNING, "by": ["day", "casino"], "name": "contributions"}).ok(200)
    assert (again["job_id"], again["parameters"]) == (job["job_id"], job["parameters"])


@pytest.mark.parametrize(
    ("stated", "to"),
    [
        ({"to": "2026-11-20"}, "2026-11-20T00:00:00.000000Z"),
        ({"as_of": "2026-11-20T09:00:01Z"}, "2026-11-20T09:00:01.000000Z"),
        ({"to": "2026-11-20", "as_of": "2026-11-20T09:00:01Z"}, "2026-11-20T00:00:00.000000Z"),
        ({"to": "2026-11-20T10:00:02+01:00", "as_of": "2026-11-20T09:00:01Z"}, "2026-11-20T09:00:01.000000Z"),
    ],
)
def test_it_ends_where_it_is_said_to(opened: World, stated: Body, to: str) -> None:
    assert ask(opened, **stated).ok(201)["parameters"]["to"] == to


def test_days_are_gaming_days_where_it_is_asked_of_a_casino(opened: World) -> None:
    opened.add_casino("riga", zone="Europe/Riga", day_starts="06:00")
    opened.clock.advance(timedelta(days=1))
    days = {"from": "2026-11-19", "to": "2026-11-20"}
    own = opened.key(Role.FINANCE, casino_id="riga")

    jobs = [ask(opened, None, "q1", casino_id="riga", **days).ok(201), ask(opened, own, **days).ok(201)]

    for job in jobs:
        assert job["parameters"]["casino_id"] == "riga"
        assert job["parameters"]["from"] == "2026-11-19T04:00:00.000000Z"
        assert job["parameters"]["to"] == "2026-11-20T04:00:00.000000Z"


def test_the_file_says_what_it_is_and_what_it_is_called(opened: World) -> None:
    jobs = [ask(opened, None, form, format=form, name="trial-balance").ok(201) for form in ("csv", "xlsx")]
    done(opened)

    shown = [opened.get(f"/v1/jobs/{job['job_id']}").ok() for job in jobs]

    assert [job_["file"]["media_type"] for job_ in shown] == [files.CSV_TYPE, xlsx_file.MEDIA_TYPE]
    for job_, form in zip(shown, ("csv", "xlsx"), strict=True):
        stamp = f"{datetime.fromisoformat(job_['created_at']).astimezone(UTC):%Y%m%dT%H%M%SZ}"
        assert job_["file"]["name"] == f"trial-balance-{stamp}.{form}"
        assert job_["file"]["size"] == len(file_of(opened, job_))


def test_what_is_done_is_counted_in_rows_of_which_it_is_known_how_many_there_are(opened: World) -> None:
    jobs = [ask(opened, None, section, section=section).ok(201) for section in ("bets", "refunds")]
    book = ask(opened, None, "book", format="xlsx").ok(201)
    done(opened)

    progress = [opened.get(f"/v1/jobs/{job['job_id']}").ok()["progress"] for job in (*jobs, book)]

    in_all = sum(len(section["rows"]) for section in report(opened, "rounds", end=book["parameters"]["to"])["sections"])
    assert [shown_job["done"] for shown_job in progress] == [2, 0, in_all]
    assert [shown_job["total"] for shown_job in progress] == [2, 0, in_all]


def test_what_an_exception_is_was_settled_when_it_was_asked_for(database_url: str) -> None:
    world = World(database_url, open_round_minutes=60)
    world.open()
    world.bet(bet())
    world.clock.advance(timedelta(minutes=30))
    young = ask(world, None, "young", name="exceptions", section="open_rounds").ok(201)
    world.clock.advance(timedelta(minutes=40))
    old = ask(world, None, "old", name="exceptions", section="open_rounds").ok(201)
    done(world)

    lines = [list(csv.reader(StringIO(file_of(world, job).decode(), newline=""))) for job in (young, old)]

    assert young["parameters"]["open_round_minutes"] == 60
    assert [len(of_job) for of_job in lines] == [1, 2]
    world.close()


def test_a_period_that_is_closed_later_does_not_change_the_file(opened: World) -> None:
    opened.clock.advance(timedelta(days=1))
    closing = {"request_id": "p1", "to": "2026-11-21", "reason": "as agreed"}
    before = ask(opened, None, "before", name="trial-balance", format="xlsx", to="2026-11-21").ok(201)
    opened.post("/v1/closed-periods", closing, key=opened.person("Fay", Role.FINANCE)).ok(201)
    after = ask(opened, None, "after", name="trial-balance", format="xlsx", to="2026-11-21").ok(201)
    done(opened)

    heads = [dict(workbooks.texts(workbooks.read(file_of(opened, job))["head"])) for job in (before, after)]

    assert "closed as" not in heads[0]
    assert heads[1]["closed as"] == report(opened, "trial-balance", end="2026-11-21")["content_sha256"]


def test_the_hash_of_another_version_than_a_job_makes_is_not_shown(
    opened: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job was asked for of the version before, and is done by the one after."""
    opened.clock.advance(timedelta(days=1))
    closing = {"request_id": "p1", "to": "2026-11-21", "reason": "as agreed"}
    opened.post("/v1/closed-periods", closing, key=opened.person("Fay", Role.FINANCE)).ok(201)
    job = ask(opened, name="trial-balance", format="xlsx", to="2026-11-21").ok(201)

    later = raise_version(monkeypatch, "trial-balance")
    done(opened)

    head = dict(workbooks.texts(workbooks.read(file_of(opened, job))["head"]))
    assert "closed as" not in head
    assert head["closed in"].startswith(f"version {later - 1} ")


# Who may.


def test_a_casinos_finance_asks_for_its_own(opened: World) -> None:
    opened.add_casino("c2")
    opened.add_table("T2", jackpot_id="j1", casino_id="c2")
    opened.bet(bet("of-c2"), round_id="r2", table_id="T2")
    carl, clara = (opened.key(Role.FINANCE, casino_id=casino_id) for casino_id in ("c1", "c2"))

    own = ask(opened, carl, section="bets").ok(201)
    done(opened)

    file = file_of(opened, own, carl).decode()
    assert own["parameters"]["casino_id"] == "c1"
    assert {row["casino_id"] for row in csv.DictReader(StringIO(file, newline=""))} == {"c1"}
    assert "of-c2" not in file
    opened.get(f"/v1/jobs/{own['job_id']}/file", key=clara).problem(404, "job-unknown")
    assert opened.get("/v1/jobs", key=clara).ok()["items"] == []
    ask(opened, carl, "q2", casino_id="c1").ok(201)
    ask(opened, carl, "q3", casino_id="c2").problem(404, "casino-unknown")
    ask(opened, carl, "q3", casino_id="c9").problem(404, "casino-unknown")
    ask(opened, carl, "q3", table_id="T2").problem(404, "table-unknown")
    ask(opened, carl, "q3", round_id="r2").problem(404, "round-unknown")


def test_only_what_is_for_casinos_is_for_them(opened: World) -> None:
    carl = opened.key(Role.FINANCE, casino_id="c1")

    for name, report_ in REPORTS.items():
        answer = ask(opened, carl, name, name=name)
        if report_.is_for_casinos:
            assert answer.ok(201)["parameters"]["casino_id"] == "c1"
        else:
            answer.problem(403, "job-forbidden")


@pytest.mark.parametrize("role", [Role.TABLE, Role.RATES, Role.OPERATOR])
def test_other_roles_ask_for_none(opened: World, role: Role) -> None:
    ask(opened, opened.key(role)).problem(403, "role-forbidden")


# What is refused.


WRONG_PARAMETERS: Final[Sequence[tuple[Body, str]]] = (
    ({"name": None}, "name"),
    ({"name": "a b"}, "name"),
    ({"name": ["rounds"]}, "name"),
    ({"format": "json"}, "format"),
    ({"format": "CSV"}, "format"),
    ({"format": None}, "format"),
    ({"format": {}}, "format"),
    ({"section": ""}, "section"),
    ({"section": None}, "section"),
    ({"section": "x" * 65}, "section"),
    ({"from": "2026-02-30"}, "from"),
    ({"from": "0000-01-01"}, "from"),
    ({"from": "20261120"}, "from"),
    ({"from": "2026-11-20T09:00:00"}, "from"),
    ({"from": "9999-12-31T23:59:59-23:59"}, "from"),
    ({"from": 0}, "from"),
    ({"from": True}, "from"),
    ({"to": "tomorrow"}, "to"),
    ({"to": ["2026-11-20"]}, "to"),
    ({"as_of": "2026-11-20"}, "as_of"),
    ({"as_of": None}, "as_of"),
    ({"jackpot_id": "j\x001"}, "jackpot_id"),
    ({"casino_id": 1}, "casino_id"),
    ({"table_id": {"T1": "T1"}}, "table_id"),
    ({"round_id": ""}, "round_id"),
    ({"by": "day"}, "by"),
    ({"by": []}, "by"),
    ({"by": ["weekday"]}, "by/0"),
    ({"by": ["day", ["day"]]}, "by/1"),
    ({"by": ["day", {}]}, "by/1"),
    ({"by": [None]}, "by/0"),
    ({"by": ["day"] * 8}, "by"),
    ({"when": "now"}, "when"),
    ({"start": "2026-11-20"}, "start"),
    ({"made_at": "2026-11-20T09:00:00Z"}, "made_at"),
    ({"open_round_minutes": 1}, "open_round_minutes"),
)


def test_parameters_of_another_shape_are_refused(opened: World, subtests: pytest.Subtests) -> None:
    for wrong, pointer in WRONG_PARAMETERS:
        with subtests.test(str(wrong)):
            before = opened.books.counts()

            ask(opened, **wrong).problem(422, "payload-invalid", f"/parameters/{pointer}")

            assert opened.books.counts() == before


WRONG_QUESTIONS: Final[Sequence[tuple[Body, int, str]]] = (
    ({"name": "nothing"}, 404, "report-unknown"),
    ({"section": "nothing"}, 422, "question-invalid"),
    ({"name": "trial-balance", "section": "bets"}, 422, "question-invalid"),
    ({"name": "casino-statement"}, 422, "question-invalid"),
    ({"name": "trial-balance", "casino_id": "c1"}, 422, "question-invalid"),
    ({"name": "trial-balance", "casino_id": "c9", "from": "2026-11-01"}, 422, "question-invalid"),
    ({"by": ["day"]}, 422, "question-invalid"),
    ({"name": "contributions", "by": ["cycle"]}, 422, "question-invalid"),
    ({"name": "contributions", "by": ["day", "day"]}, 422, "question-invalid"),
    ({"from": "2026-11-20", "to": "2026-11-19"}, 422, "question-invalid"),
    ({"from": "2126-11-20"}, 422, "question-invalid"),
    ({"to": "2126-11-20"}, 422, "instant-ahead"),
    ({"as_of": "2126-11-20T00:00:00Z"}, 422, "instant-ahead"),
    ({"to": "2026-11-20", "as_of": "2126-11-20T00:00:00Z"}, 422, "instant-ahead"),
    ({"to": "2126-11-20", "as_of": "2026-11-20T09:00:00Z"}, 422, "instant-ahead"),
    ({"jackpot_id": "j9"}, 404, "jackpot-unknown"),
    ({"jackpot_id": "-"}, 404, "jackpot-unknown"),
    ({"casino_id": "c9"}, 404, "casino-unknown"),
    ({"casino_id": "c9", "from": "2026-11-01"}, 404, "casino-unknown"),
    ({"table_id": "T9"}, 404, "table-unknown"),
    ({"round_id": "r9"}, 404, "round-unknown"),
    ({"round_id": "r9", "table_id": "T1", "from": "2026-11-01"}, 404, "round-unknown"),
)


def test_a_question_that_cannot_be_is_refused_and_nothing_is_fixed(opened: World, subtests: pytest.Subtests) -> None:
    for wrong, status, code in WRONG_QUESTIONS:
        with subtests.test(str(wrong)):
            before = opened.books.counts()

            ask(opened, **wrong).problem(status, code)

            assert opened.books.counts() == before


def test_who_has_too_many_jobs_fixes_nothing(opened: World) -> None:
    for number in range(MOST_WAITING):
        ask(opened, None, f"q{number}", to="2026-11-01").ok(201)
    before = opened.books.counts()

    ask(opened, None, "one-more").problem(409, "jobs-waiting")

    assert opened.books.counts() == before
    ask(opened, None, "q0", to="2026-11-02").problem(409, "job-conflict")
