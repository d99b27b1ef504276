"""Closed periods on pages: finance closes one, everybody of the house who reads reports compares it with now."""

import re
from datetime import timedelta
from html import unescape

import pytest

from jackpot_service.domain.principals import Role
from jackpot_service.pages.form_errors import in_words
from tests.support.answers import Answer
from tests.support.asking import raise_version
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.page_text import content_of, links_of
from tests.support.reading import past_the_service
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

PAGE = "/closed-periods"


@pytest.fixture
def played(world: World) -> World:
    """Two days that are over, with a round on the first."""
    world.open(base_amount="1000")
    world.bet(bet("a"))
    world.settle(hand("1", FLUSH))
    world.clock.advance(timedelta(days=2))
    return world


def close(visitor: Visitor, **form: str) -> Answer:
    page = visitor.open(PAGE).text
    request_id = re.search(r'name="request_id" value="([^"]+)"', page)
    assert request_id is not None
    return visitor.submit(PAGE, {"request_id": request_id[1], "to": "2026-11-21", "reason": "October", **form})


def test_finance_closes_a_period_whose_hashes_the_api_shows(played: World) -> None:
    visitor = Visitor(played).sign_in()
    assert "no period is closed yet" in content_of(visitor.open(PAGE).text)
    answer = close(visitor)
    assert answer.status == 303
    (closed,) = played.get("/v1/closed-periods").ok()["items"]
    assert answer.headers["Location"] == f"{PAGE}/{closed['act']}"
    page = content_of(visitor.open(answer.headers["Location"]).text)
    for stored in closed["reports"].values():
        assert stored["sha256"] in page
    assert "21 Nov 2026, 00:00:00 UTC, where the last one ended" in content_of(visitor.open(PAGE).text)


def test_the_same_form_again_closes_nothing_more(played: World) -> None:
    visitor = Visitor(played).sign_in()
    first, second = (close(visitor, request_id="once") for _ in range(2))
    assert first.headers["Location"] == second.headers["Location"]
    assert len(played.get("/v1/closed-periods").ok()["items"]) == 1


@pytest.mark.parametrize(
    ("form", "field", "status"),
    [
        ({"to": "2126-01-01"}, "to", 422),
        ({"to": "1990-01-01"}, "to", 422),
        ({"to": "2026-13-01"}, "to", 422),
        ({"to": ""}, "to", 422),
        ({"reason": ""}, "reason", 422),
        ({"reason": "x" * 501}, "reason", 422),
    ],
)
def test_a_refusal_stands_at_its_field_in_the_words_of_the_api(
    played: World, form: dict[str, str], field: str, status: int
) -> None:
    body = {"request_id": "p", "to": "2026-11-21", "reason": "October", **form}
    problem = played.post("/v1/closed-periods", body, key=played.person("Fay", Role.FINANCE)).body
    answer = close(Visitor(played).sign_in(), **form)
    assert answer.status == status == problem["status"]
    message = problem.get("errors", [{"detail": problem["detail"]}])[0]["detail"]
    shown = re.search(rf'id="{field}-error" role="alert">([^<]*)<', answer.text)
    assert shown is not None
    assert unescape(shown[1]) == in_words(message)
    if field != "reason":
        assert 'value="October"' in answer.text
    assert played.get("/v1/closed-periods").ok()["items"] == []


def test_a_form_whose_id_was_used_for_something_else_can_be_sent_again(played: World) -> None:
    visitor = Visitor(played).sign_in()
    close(visitor, request_id="once")
    answer = close(visitor, request_id="once", to="2026-11-22", reason="November")
    assert answer.status == 409
    form = re.search(r'name="request_id" value="([^"]+)"', answer.text)
    assert form is not None
    assert form[1] != "once"
    assert close(visitor, request_id=form[1], to="2026-11-22", reason="November").status == 303


def test_a_period_that_does_not_follow_is_refused(played: World) -> None:
    visitor = Visitor(played).sign_in()
    close(visitor)
    answer = close(visitor, to="2026-11-20")
    assert answer.status == 409
    assert 'id="to-error"' in answer.text


def test_a_period_is_closed_only_by_who_has_shown_their_key_of_late(played: World) -> None:
    visitor = Visitor(played).sign_in()
    played.clock.advance(timedelta(minutes=20))
    answer = close(visitor)
    assert answer.status == 303
    assert answer.headers["Location"].startswith("/sign-in/again")
    assert played.get("/v1/closed-periods").ok()["items"] == []


def test_who_may_only_look_closes_nothing(played: World) -> None:
    auditor = Visitor(played).sign_in(Role.AUDITOR)
    assert "Close the period" not in content_of(auditor.open(PAGE).text)
    assert auditor.submit(PAGE, {"to": "2026-11-21", "reason": "r", "request_id": "p"}, page="/account").status == 404
    casino = Visitor(played).sign_in(key=played.key(Role.FINANCE, casino_id="c1"))
    assert casino.open(PAGE).status == 404
    assert casino.submit(PAGE, {"to": "2026-11-21", "reason": "r", "request_id": "p"}, page="/account").status == 404


def test_a_period_is_figured_again_and_says_the_same(played: World) -> None:
    visitor = Visitor(played).sign_in()
    path = close(visitor).headers["Location"]
    played.bet(bet("later"), round_id="later")
    page = content_of(visitor.open(f"{path}?again=true").text)
    assert "every report that can be compared is still the same" in page
    assert "differs" not in page


def test_what_a_report_says_otherwise_is_named(played: World, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = Visitor(played).sign_in(Role.AUDITOR)
    path = close(Visitor(played).sign_in()).headers["Location"]
    raise_version(monkeypatch, "rtp")
    page = content_of(visitor.open(f"{path}?again=true").text)
    assert "version 3 of the report now" in page
    assert "every report that can be compared is still the same" in page
    past_the_service(
        played.database_url,
        "UPDATE closed_periods SET reports = jsonb_set(reports, '{meters,sha256}', to_jsonb(repeat('0', 64)))",
    )
    page = content_of(visitor.open(f"{path}?again=true").text)
    assert "1 report differs from what was kept" in page


def test_periods_lead_to_their_reports(played: World) -> None:
    visitor = Visitor(played).sign_in()
    path = close(visitor).headers["Location"]
    links = links_of(visitor.open(path).text)
    assert "/reports/trial-balance?to=2026-11-21T00:00:00Z" in {unescape(link).replace("%3A", ":") for link in links}
    assert visitor.open(f"{PAGE}/999999").status == 404
