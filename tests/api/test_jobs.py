"""Jobs by HTTP: asked for once, watched, fetched, ended; and what they are refused for."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

import pytest

from jackpot_service.database import snapshots
from jackpot_service.domain.facts import instant
from jackpot_service.domain.principals import Role
from jackpot_service.exports.accounting import FORMS
from jackpot_service.exports.jobs.requests import MOST_WAITING
from jackpot_service.exports.journal import journal_export, pieces
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.world import World

pytestmark = pytest.mark.slow

ASKED: Body = {"jackpot_id": "j1", "format": "hledger"}


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000", stripes=2)
    world.bet(bet())
    return world


def post(world: World, what: str, body: object, role: Role = Role.AUDITOR, casino_id: str | None = None) -> Any:
    return world.post(f"/v1/jobs{what}", body, key=world.key(role, casino_id=casino_id))


def test_a_job_is_asked_for_done_and_fetched(opened: World) -> None:
    job = opened.ask_job(ASKED).ok(201)
    assert job["parameters"] == {**ASKED, "base": "EUR", "as_of": None, "positions": job["parameters"]["positions"]}
    assert sum(job["parameters"]["positions"]) == 2
    assert (job["state"], job["principal"], job["request_id"]) == ("queued", "a auditor", "job")
    path = f"/v1/jobs/{job['job_id']}"
    opened.get(f"{path}/file").problem(409, "job-not-done")

    opened.runner().run_next()

    done = opened.get(path).ok()
    file = opened.get(f"{path}/file")
    with snapshots.reading(opened.engine) as session:
        export = journal_export(session, "j1", FORMS["hledger"])
        assert file.text == b"".join(piece.content for piece in pieces(session, export)).decode()
    assert file.status == 200
    assert file.headers["Content-Type"] == done["file"]["media_type"] == "text/plain; charset=utf-8"
    assert file.headers["Content-Disposition"] == 'attachment; filename="journal-j1-2.journal"'
    assert int(file.headers["Content-Length"]) == done["file"]["size"] == len(file.text.encode())
    assert done["file"]["name"] == "journal-j1-2.journal"


def test_a_journal_ends_at_an_instant_if_it_is_asked_to(opened: World) -> None:
    at = instant(opened.clock())
    positions = opened.ask_job(ASKED, request_id="all").ok(201)["parameters"]["positions"]
    opened.bet(bet(), round_id="later")

    job = opened.ask_job({**ASKED, "as_of": at}).ok(201)

    assert job["parameters"] == {**ASKED, "base": "EUR", "as_of": at, "positions": positions}
    assert opened.ask_job({**ASKED, "as_of": "2026-01-01T00:00:00Z"}, request_id="empty").ok(201)["parameters"][
        "positions"
    ] == [0, 0]
    opened.ask_job({**ASKED, "as_of": "2126-01-01T00:00:00Z"}, request_id="ahead").problem(422, "instant-ahead")
    opened.ask_job({**ASKED, "as_of": at, "jackpot_id": "j9"}, request_id="j9").problem(404, "jackpot-unknown")


def test_the_same_request_again_is_the_same_job(opened: World) -> None:
    job = opened.ask_job(ASKED).ok(201)
    opened.bet(bet(), round_id="later")
    opened.runner().run_next()

    again = opened.ask_job(ASKED).ok(200)

    assert (again["job_id"], again["parameters"], again["state"]) == (job["job_id"], job["parameters"], "done")
    opened.ask_job(ASKED | {"format": "beancount"}).problem(409, "job-conflict")
    opened.ask_job(ASKED | {"positions": [1]}).problem(409, "job-conflict")


def test_an_id_of_somebody_else_is_another_job(opened: World) -> None:
    job = opened.ask_job(ASKED).ok(201)

    other_job = opened.ask_job(ASKED | {"format": "beancount"}, key=opened.key(Role.FINANCE)).ok(201)

    assert other_job["job_id"] != job["job_id"]


def test_whoever_is_of_the_house_sees_every_job_and_a_casinos_key_none_of_them(opened: World) -> None:
    job_id = opened.ask_job(ASKED).ok(201)["job_id"]
    opened.runner().run_next()
    casinos = opened.key(Role.FINANCE, casino_id="c1")

    assert opened.get(f"/v1/jobs/{job_id}", role=Role.FINANCE).ok()["job_id"] == job_id
    assert opened.get("/v1/jobs", key=casinos).ok() == {"items": [], "next": None}
    for path in ("", "/file"):
        opened.get(f"/v1/jobs/{job_id}{path}", key=casinos).problem(404, "job-unknown")
    opened.post(f"/v1/jobs/{job_id}/cancellation", {}, key=casinos).problem(404, "job-unknown")


def test_a_casinos_key_may_not_export_a_jackpots_whole_journal(opened: World) -> None:
    opened.ask_job(ASKED, key=opened.key(Role.FINANCE, casino_id="c1")).problem(403, "job-forbidden")


@pytest.mark.parametrize("role", [Role.TABLE, Role.RATES, Role.OPERATOR])
def test_other_roles_ask_for_no_jobs(opened: World, role: Role) -> None:
    opened.ask_job(ASKED, key=opened.key(role)).problem(403, "role-forbidden")


def test_jobs_are_listed_from_the_latest_by_pages_and_by_state(opened: World) -> None:
    ids = [opened.ask_job(ASKED, request_id=f"q{number}").ok(201)["job_id"] for number in range(5)]
    opened.runner().run_next()

    first = opened.get("/v1/jobs?limit=3").ok()
    second = opened.get(f"/v1/jobs?limit=3&after={first['next']}").ok()

    assert [job["job_id"] for job in first["items"] + second["items"]] == ids[::-1]
    assert second["next"] is None
    assert [job["job_id"] for job in opened.get("/v1/jobs?state=done").ok()["items"]] == ids[:1]


def test_a_cursor_that_was_tampered_with_is_refused(opened: World, subtests: pytest.Subtests) -> None:
    for after in ("", "k1", "x" * 64, "0" * 15 + "-" + "g" * 16, "'", "%00"):
        with subtests.test(after):
            opened.get(f"/v1/jobs?after={after}").problem(422, "validation")


def test_a_job_is_ended_once_and_stays_as_it_is(opened: World) -> None:
    job_id = opened.ask_job(ASKED).ok(201)["job_id"]

    cancelled = post(opened, f"/{job_id}/cancellation", {}, Role.FINANCE).ok()
    again = post(opened, f"/{job_id}/cancellation", {}).ok()

    assert (cancelled["state"], cancelled["cancelled_by"]) == ("cancelled", "a finance")
    assert again == cancelled
    assert not opened.runner().run_next()
    opened.get(f"/v1/jobs/{job_id}/file").problem(409, "job-not-done")
    assert opened.ask_job(ASKED).ok(200)["state"] == "cancelled"


def test_a_job_that_is_done_cannot_be_ended_any_more(opened: World) -> None:
    job_id = opened.ask_job(ASKED).ok(201)["job_id"]
    opened.runner().run_next()

    assert post(opened, f"/{job_id}/cancellation", {}).ok()["state"] == "done"

    assert opened.get(f"/v1/jobs/{job_id}/file").status == 200


def test_a_file_that_was_kept_long_enough_is_not_there(world: World) -> None:
    world.open(base_amount="1000")
    job_id = world.ask_job(ASKED).ok(201)["job_id"]
    world.runner().run_next()
    world.runner(kept_for=timedelta(0)).remove_some()

    assert world.get(f"/v1/jobs/{job_id}").ok()["file"] is None
    world.get(f"/v1/jobs/{job_id}/file").problem(404, "job-file-removed")


def test_nobody_has_more_jobs_than_that_wait(opened: World) -> None:
    for number in range(MOST_WAITING):
        opened.ask_job(ASKED, request_id=f"q{number}").ok(201)

    opened.ask_job(ASKED, request_id="one-more").problem(409, "jobs-waiting")
    opened.ask_job(ASKED, request_id="q0").ok(200)
    opened.ask_job(ASKED, key=opened.key(Role.FINANCE)).ok(201)
    opened.runner().run_next()
    opened.ask_job(ASKED, request_id="one-more").ok(201)


WRONG_PARAMETERS: Final[Sequence[tuple[Body, *tuple[str, ...]]]] = (
    ({}, "format", "jackpot_id"),
    ({"jackpot_id": "j1"}, "format"),
    ({**ASKED, "format": "xlsx"}, "format"),
    ({**ASKED, "format": ["hledger"]}, "format"),
    ({**ASKED, "format": {}}, "format"),
    ({**ASKED, "jackpot_id": "a b"}, "jackpot_id"),
    ({**ASKED, "jackpot_id": None}, "jackpot_id"),
    ({**ASKED, "jackpot_id": "j\x001"}, "jackpot_id"),
    ({**ASKED, "positions": None}, "positions"),
    ({**ASKED, "positions": []}, "positions"),
    ({**ASKED, "positions": "1 1"}, "positions"),
    ({**ASKED, "positions": [1] * 257}, "positions"),
    ({**ASKED, "positions": [1, -1]}, "positions/1"),
    ({**ASKED, "positions": [1.0, 1]}, "positions/0"),
    ({**ASKED, "positions": [True, 1]}, "positions/0"),
    ({**ASKED, "positions": [10**16, 1]}, "positions/0"),
    ({**ASKED, "positions": [[1], 1]}, "positions/0"),
    ({**ASKED, "as_of": None}, "as_of"),
    ({**ASKED, "as_of": "2026-11-20"}, "as_of"),
    ({**ASKED, "as_of": 5}, "as_of"),
    ({**ASKED, "as_of": "2026-11-20T09:00:00Z", "positions": [1]}, "as_of"),
    ({**ASKED, "from": "2026-01-01T00:00:00Z"}, "from"),
    ({**ASKED, "a/b~c": 1}, "a~1b~0c"),
)


def test_parameters_of_another_shape_are_refused(opened: World, subtests: pytest.Subtests) -> None:
    for parameters, *pointers in WRONG_PARAMETERS:
        with subtests.test(str(parameters)[:120]):
            before = opened.books.counts()

            opened.ask_job(parameters).problem(
                422, "payload-invalid", *(f"/parameters/{pointer}" for pointer in pointers)
            )

            assert opened.books.counts() == before


@pytest.mark.parametrize("positions", [[10**6], [0, 10**15], [1, 1, 1]])
def test_positions_that_are_not_the_jackpots_are_refused(opened: World, positions: list[int]) -> None:
    opened.ask_job({**ASKED, "positions": positions}).problem(422, "positions-unknown")


def test_a_jackpot_of_fewer_stripes_than_positions_is_counted_in_words(world: World) -> None:
    world.open(stripes=1)

    refused = world.ask_job({**ASKED, "positions": [0, 0]}).problem(422, "positions-unknown")

    assert refused["detail"] == "j1 has 1 stripe, not 2."


@pytest.mark.parametrize("jackpot_id", ["j9", "-"])
def test_the_journal_of_a_jackpot_that_is_not_there_is_not_exported(opened: World, jackpot_id: str) -> None:
    opened.ask_job(ASKED | {"jackpot_id": jackpot_id}).problem(404, "jackpot-unknown")


WRONG_REQUESTS: Final[Sequence[Body]] = (
    {"kind": "everything"},
    {"kind": None},
    {"kind": ["journal"]},
    {"kind": {}},
    {"parameters": None},
    {"parameters": []},
    {"parameters": "j1"},
    {"request_id": "a b"},
    {"request_id": None},
    {"more": 1},
)


def test_a_request_of_another_shape_is_refused(opened: World, subtests: pytest.Subtests) -> None:
    for wrong in WRONG_REQUESTS:
        with subtests.test(str(wrong)):
            (name,) = wrong
            body = {"request_id": "job", "kind": "journal", "parameters": ASKED, **wrong}

            post(opened, "", body).problem(422, "validation", f"/{name}")
