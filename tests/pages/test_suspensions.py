"""Suspending a jackpot on its page, and resuming it: with a reason, by operators who have shown their key again."""

from datetime import timedelta

import pytest

from jackpot_service.domain.principals import Role
from tests.support.filled_forms import somebody
from tests.support.page_forms import PageForm, form_to, forms_in
from tests.support.page_text import content_of
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

PAGE = "/jackpots/j1"
SUSPENSION, RESUMPTION = f"{PAGE}/suspension", f"{PAGE}/resumption"


@pytest.fixture
def jackpot(world: World) -> World:
    world.open(base_amount="1000")
    return world


def state(world: World) -> str:
    word: str = world.get("/v1/jackpots/j1").ok()["state"]
    return word


def form_on(visitor: Visitor, path: str, *, page: str = PAGE) -> PageForm:
    return form_to(visitor.open(page).text, path)


def test_an_operator_suspends_a_jackpot_and_resumes_it(jackpot: World) -> None:
    olga = somebody(jackpot, "Olga", Role.OPERATOR)
    form = form_on(olga, SUSPENSION)
    sent = form.filled({"reason": "the table is flooded"})
    for _ in range(2):  # The second is a replay.
        assert olga.post(SUSPENSION, sent).headers["Location"] == PAGE
    assert state(jackpot) == "suspended"
    assert "takes no bets now" in content_of(olga.open(PAGE).text)

    back = form_on(olga, RESUMPTION)
    assert olga.post(RESUMPTION, back.filled({"reason": "it is dry"})).status == 303
    assert state(jackpot) == "open"
    acts = jackpot.get("/v1/audit", role=Role.AUDITOR).ok()["items"]
    assert [act["reason"] for act in acts[:2]] == ["it is dry", "the table is flooded"]


def test_a_reason_is_needed_and_the_form_is_shown_again(jackpot: World) -> None:
    olga = somebody(jackpot, "Olga", Role.OPERATOR)
    answer = olga.post(SUSPENSION, form_on(olga, SUSPENSION).filled({"reason": " "}))
    assert answer.status == 422
    assert "The reason must be a text" in content_of(answer.text)
    assert 'aria-describedby="suspension-error" autofocus' in answer.text
    assert state(jackpot) == "open"


def test_a_key_is_shown_again_before(jackpot: World) -> None:
    olga = somebody(jackpot, "Olga", Role.OPERATOR)
    form = form_on(olga, SUSPENSION)
    jackpot.clock.advance(timedelta(minutes=16))
    answer = olga.post(SUSPENSION, form.filled({"reason": "flooded"}), Referer=f"http://localhost{PAGE}")
    assert answer.headers["Location"].startswith("/sign-in/again?")
    assert state(jackpot) == "open"


@pytest.mark.parametrize("role", [Role.FINANCE, Role.AUDITOR])
def test_nobody_else_has_the_form(jackpot: World, role: Role) -> None:
    visitor = somebody(jackpot, "Vera", role)
    assert [form for form in forms_in(visitor.open(PAGE).text) if "suspension" in form.action] == []
    assert visitor.open(SUSPENSION).status == 404


def test_a_jackpot_that_is_retired_meanwhile_is_refused_in_words(jackpot: World) -> None:
    jackpot.open(jackpot_id="j2", tables=())
    olga = somebody(jackpot, "Olga", Role.OPERATOR)
    form = form_on(olga, SUSPENSION)
    jackpot.change("retirement", {"jackpot_id": "j1", "to": "j2"})
    answer = olga.post(SUSPENSION, form.filled({"reason": "flooded"}))
    assert answer.status == 409
    assert "Nothing was done. Jackpot j1 is retired." in content_of(answer.text)
    assert [form for form in forms_in(olga.open(PAGE).text) if "su" in form.action] == []


def test_the_form_stands_alone_on_its_own_address(jackpot: World) -> None:
    olga = somebody(jackpot, "Olga", Role.OPERATOR)
    assert form_on(olga, SUSPENSION, page=SUSPENSION).value("request_id")
    assert form_on(olga, RESUMPTION, page=RESUMPTION).value("request_id")
    assert olga.open("/jackpots/j9/suspension").status == 404
