"""Exports on pages: begun from a report or as a journal, watched, fetched as the API's file, ended."""

import re
from datetime import timedelta
from typing import Final

import pytest

from jackpot_service.domain.principals import Role
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.page_text import content_of, links_of
from tests.support.reading import past_the_service
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

PAGE: Final = "/exports"


@pytest.fixture
def played(world: World) -> World:
    world.open(base_amount="1000")
    world.add_casino("c2")
    world.bet(bet("a"))
    return world


def begin(visitor: Visitor, page: str = "/reports/trial-balance", **more: str) -> Answer:
    """Send the form of a page that begins an export, as a browser would."""
    shown = visitor.open(page).text
    form = re.search(r'<form method="post" action="/exports".*?</form>', shown, re.DOTALL)
    assert form is not None, shown
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form[0]))
    return visitor.post(PAGE, {**hidden, "format": "csv", **more})


def jobs(world: World, role: Role = Role.AUDITOR) -> list[Body]:
    items: list[Body] = world.get("/v1/jobs", role=role).ok()["items"]
    return items


@pytest.mark.parametrize("role", [Role.FINANCE, Role.AUDITOR])
def test_an_export_is_begun_from_a_report_with_its_question(played: World, role: Role) -> None:
    visitor = Visitor(played).sign_in(role)
    answer = begin(visitor, "/reports/contributions?by=jackpot,day&jackpot_id=j1&section=totals", format="xlsx")
    (job,) = jobs(played)
    assert (answer.status, answer.headers["Location"]) == (303, f"/exports#job-{job['job_id']}")
    parameters = job["parameters"]
    assert (parameters["name"], parameters["format"], parameters["section"]) == ("contributions", "xlsx", "totals")
    assert (parameters["by"], parameters["jackpot_id"]) == (["jackpot", "day"], "j1")
    page = content_of(visitor.open(PAGE).text)
    assert "Contributions of bets" in page
    assert "It waits for its turn." in page


def test_the_same_form_again_is_the_same_export(played: World) -> None:
    visitor = Visitor(played).sign_in()
    assert (
        begin(visitor, request_id="once").headers["Location"] == begin(visitor, request_id="once").headers["Location"]
    )
    assert len(jobs(played)) == 1


def test_a_file_is_fetched_as_the_api_sends_it(played: World) -> None:
    visitor = Visitor(played).sign_in()
    begin(visitor)
    assert played.runner().run_next()
    (job,) = jobs(played)
    page = visitor.open(PAGE)
    assert "kept until" in content_of(page.text)
    path = f"/exports/{job['job_id']}/file"
    assert path in links_of(page.text)
    assert visitor.open(path).text == played.get(f"/v1/jobs/{job['job_id']}/file").text
    assert "hx-trigger" not in page.text.partition("<main")[2]


def test_a_page_reads_its_list_again_while_an_export_is_not_over_and_keeps_no_session_alive(played: World) -> None:
    visitor = Visitor(played).sign_in()
    begin(visitor)
    assert 'hx-get="/exports/progress" hx-trigger="every 3s"' in visitor.open(PAGE).text
    for _ in range(4):
        played.clock.advance(timedelta(minutes=7))
        part = visitor.open("/exports/progress", **{"HX-Request": "true"})
        assert (part.status, "<main" in part.text) == (200, False)
        assert 'hx-get="/exports/progress"' in part.text
    played.clock.advance(timedelta(minutes=3))
    assert visitor.open("/exports/progress", **{"HX-Request": "true"}).status == 204

    assert played.runner().run_next()
    visitor.sign_in()
    assert "hx-get" not in visitor.open("/exports/progress").text


def test_a_verification_is_on_its_own_page_and_not_among_exports(played: World) -> None:
    played.ask_job({"from": "zero"}, kind="verification").ok(201)
    begin(Visitor(played).sign_in(Role.AUDITOR))
    assert len(jobs(played)) == 2
    page = Visitor(played).sign_in().open(PAGE)
    assert (page.status, page.text.count('<li class="card job"')) == (200, 1)


def test_a_bar_says_how_far_a_job_is_and_what_is_left(played: World) -> None:
    visitor = Visitor(played).sign_in()
    begin(visitor)
    past_the_service(
        played.database_url,
        "UPDATE jobs SET state = 'running', holder = 'h', lease_until = now() + interval '1 minute', done = 250, "
        "total = 1000, began_at = now() - interval '25 seconds', began_with = 0, heartbeat_at = now(), attempts = 1",
    )
    page = visitor.open(PAGE).text
    assert '<progress aria-label="How far it is" max="1000" value="250">' in page
    assert "250 of 1,000 rows, 1 min left" in content_of(page).replace("\N{NO-BREAK SPACE}", " ")


def test_an_export_is_ended(played: World) -> None:
    visitor = Visitor(played).sign_in()
    begin(visitor)
    (job,) = jobs(played)
    answer = visitor.submit(f"/exports/{job['job_id']}/cancellation", {}, page=PAGE)
    assert answer.status == 303
    assert jobs(played)[0]["state"] == "cancelled"
    assert "Ended by" in content_of(visitor.open(PAGE).text)


def test_a_journal_is_begun_by_the_house(played: World) -> None:
    visitor = Visitor(played).sign_in()
    answer = begin(visitor, PAGE, jackpot_id="j1", format="hledger", as_of="")
    assert answer.status == 303
    assert jobs(played)[0]["parameters"]["format"] == "hledger"
    refused = begin(visitor, PAGE, jackpot_id="j9", format="hledger")
    assert refused.status == 404
    assert "There is no jackpot j9." in content_of(refused.text)
    wrong = begin(visitor, PAGE, jackpot_id="j1", format="hledger", as_of="now")
    assert wrong.status == 422
    assert "as of must be a time such as" in content_of(wrong.text)


def test_finance_of_a_casino_begins_and_sees_its_own(played: World) -> None:
    begin(Visitor(played).sign_in())
    (of_house,) = jobs(played)
    visitor = Visitor(played).sign_in(key=played.key(Role.FINANCE, casino_id="c2"))
    page = content_of(visitor.open(PAGE).text)
    assert "No exports." in page
    assert "journal" not in page.partition("No exports.")[0]
    assert 'id="journal"' not in visitor.open(PAGE).text
    assert visitor.open(f"/exports/{of_house['job_id']}/file").status == 404
    assert begin(visitor, "/reports/rounds").status == 303
    assert jobs(played)[0]["parameters"]["casino_id"] == "c2"
    form = {"request_id": "x", "kind": "report", "name": "trial-balance", "format": "csv"}
    assert visitor.submit(PAGE, form, page="/account").status == 403
    journal = {"request_id": "y", "kind": "journal", "jackpot_id": "j1", "format": "hledger"}
    assert visitor.submit(PAGE, journal, page="/account").status == 403


def test_states_are_tabs(played: World) -> None:
    visitor = Visitor(played).sign_in()
    begin(visitor)
    assert "It waits for its turn." in content_of(visitor.open(f"{PAGE}?state=queued").text)
    assert "No exports in this state." in content_of(visitor.open(f"{PAGE}?state=done").text)
    assert visitor.open(f"{PAGE}?state=%3Cscript%3E&after=x").status == 200
