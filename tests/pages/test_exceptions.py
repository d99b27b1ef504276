"""Exceptions on pages: found by what they are, and acknowledged, several at once, by those of the house who may."""

import re
from collections.abc import Sequence
from datetime import timedelta
from html import unescape

import pytest

from jackpot_service.domain.principals import Role
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, forfeited, hand
from tests.support.page_text import content_of, links_of
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

WATCHERS = (Role.FINANCE, Role.OPERATOR, Role.AUDITOR)
HOSTILE = "<script>alert(1)</script>\"' &amp; \N{HEBREW LETTER ALEF}"


def late_bet(world: World, round_id: str, table_id: str = "T1") -> None:
    world.cancel(round_id=round_id, table_id=table_id)
    world.post_bets(bet("b"), round_id=round_id, table_id=table_id).problem(409, "round-cancelled")


@pytest.fixture
def noted(world: World) -> World:
    """Two late bets at c1 and one at c2, a miscount of a round that is open too long, and a denied prize."""
    world.open(base_amount="1000")
    world.add_casino("c2")
    world.add_table("T2", jackpot_id="j1", casino_id="c2")
    late_bet(world, "late-1")
    late_bet(world, "late-2")
    late_bet(world, "late-3", table_id="T2")
    world.bet(bet("b"), round_id="denied")
    world.settle(forfeited("1", FLUSH), round_id="denied")
    world.bet(bet("b"), round_id="miscounted")
    world.put_result(hand("1", FLUSH), round_id="miscounted", bet_count=7).problem(409, "bet-count-mismatch")
    world.clock.advance(timedelta(minutes=20))
    return world


def shown(visitor: Visitor, query: str = "") -> str:
    answer = visitor.open(f"/exceptions{query}")
    assert answer.status == 200, answer.text
    return content_of(answer.text)


def chosen_in(page: str) -> list[str]:
    return re.findall(r'name="exception" value="([^"]+)"', page)


def acknowledge(
    visitor: Visitor, exceptions: Sequence[str], reason: str = "the clock was wrong", query: str = ""
) -> Answer:
    page = visitor.open(f"/exceptions{query}").text
    return send(visitor, page, exceptions, reason, query)


def send(visitor: Visitor, page: str, exceptions: Sequence[str], reason: str, query: str = "") -> Answer:
    hidden = {
        name: unescape(re.findall(rf'name="{name}" value="([^"]+)"', page)[-1]) for name in ("csrf_token", "request_id")
    }
    chosen = [("exception", each) for each in exceptions]
    return visitor.post(f"/exceptions{query}", [*hidden.items(), ("reason", reason), *chosen])


def listed(world: World, query: str = "") -> list[Body]:
    items: list[Body] = world.get(f"/v1/exceptions{query}", role=Role.AUDITOR).ok()["items"]
    return items


@pytest.mark.parametrize("role", WATCHERS)
def test_an_empty_list_says_what_would_be_there(world: World, role: Role) -> None:
    assert "No exceptions. Late bets" in shown(Visitor(world).sign_in(role))


def test_people_of_rates_see_none(noted: World) -> None:
    visitor = Visitor(noted).sign_in(Role.RATES)
    assert visitor.open("/exceptions").status == 404
    assert visitor.submit("/exceptions", {"reason": "r"}, page="/account").status == 404


@pytest.mark.parametrize("role", WATCHERS)
def test_exceptions_are_listed_with_the_counts_of_the_api(noted: World, role: Role) -> None:
    page = shown(Visitor(noted).sign_in(role))
    for count in noted.get("/v1/exception-counts?acknowledged=false", role=role).ok()["items"]:
        assert f"{count['kind'].replace('-', ' ')} {count['exceptions']}" in page
    for exception in listed(noted):
        assert exception["detail"] in page


def test_a_card_says_what_was_asked_and_what_the_ledger_held(noted: World) -> None:
    page = shown(Visitor(noted).sign_in())
    assert "The ledger holds 1 live bet of this round; the table server counts 7." in page
    assert "bet count 7" in page
    assert "bet b EUR 1.00 of player player-of-b on hand 1" in page
    assert "amount EUR 25.00" in page
    assert "two people decide" in page


def test_cards_lead_to_their_rounds_and_tables(noted: World) -> None:
    visitor = Visitor(noted).sign_in()
    links = links_of(visitor.open("/exceptions").text)
    for link in ("/tables/T1/rounds/late-1", "/tables/T1/rounds/denied", "/rounds?table_id=T2"):
        assert link in links
        assert visitor.open(link).status == 200


def test_a_round_of_which_nothing_was_booked_has_no_link(noted: World) -> None:
    noted.put_result(hand("1", FLUSH), round_id="unknown", bet_count=3).problem(409, "bet-count-mismatch")
    page = Visitor(noted).sign_in().open("/exceptions").text
    assert "of which nothing was booked" in page
    assert "/tables/T1/rounds/unknown" not in page


@pytest.mark.parametrize(
    ("query", "rounds"),
    [
        ("?kind=late-bet", {"late-1", "late-2", "late-3"}),
        ("?table_id=T2", {"late-3"}),
        ("?casino_id=c1&kind=late-bet", {"late-1", "late-2"}),
        ("?jackpot_id=j9", set()),
        ("?from=2026-11-20&to=2026-11-20", {"late-1", "late-2", "late-3", "denied", "miscounted"}),
        ("?to=2026-11-19", set()),
        ("?acknowledged=true", set()),
        ("?acknowledged=any&kind=prize-denied", {"denied"}),
    ],
)
def test_filters_stand_in_the_address(noted: World, query: str, rounds: set[str]) -> None:
    page = Visitor(noted).sign_in().open(f"/exceptions{query}").text
    assert set(re.findall(r"/tables/T\d/rounds/([a-z0-9-]+)", page)) == rounds


@pytest.mark.parametrize(
    "query", ["?kind=nothing", "?from=yesterday", "?table_id=%22%3E", "?after=x", "?acknowledged=x"]
)
def test_a_wrong_filter_is_said_at_its_field(noted: World, query: str) -> None:
    answer = Visitor(noted).sign_in().open(f"/exceptions{query}")
    assert answer.status == 422
    assert '-error"' in answer.text or "This place in the list is none." in answer.text


def test_finance_of_a_casino_sees_its_own_and_acknowledges_none(noted: World) -> None:
    visitor = Visitor(noted).sign_in(key=noted.key(Role.FINANCE, casino_id="c2"))
    page = visitor.open("/exceptions").text
    assert "late-3" in page
    assert "late-1" not in page
    assert chosen_in(page) == []
    assert "late-1" not in visitor.open("/exceptions?casino_id=c1").text
    assert visitor.submit("/exceptions", {"reason": "r", "request_id": "a"}, page="/account").status == 404


def test_an_auditor_acknowledges_none(noted: World) -> None:
    visitor = Visitor(noted).sign_in(Role.AUDITOR)
    assert chosen_in(visitor.open("/exceptions").text) == []
    assert visitor.submit("/exceptions", {"reason": "r", "request_id": "a"}, page="/account").status == 404


@pytest.mark.parametrize("role", [Role.FINANCE, Role.OPERATOR])
def test_several_are_acknowledged_at_once_with_one_reason(noted: World, role: Role) -> None:
    visitor = Visitor(noted).sign_in(role)
    chosen = chosen_in(visitor.open("/exceptions?kind=late-bet").text)
    answer = acknowledge(visitor, chosen, query="?kind=late-bet")
    assert (answer.status, answer.headers["Location"]) == (303, "/exceptions?kind=late-bet&done=3")
    assert "3 acknowledged." in content_of(visitor.open(answer.headers["Location"]).text)
    done = listed(noted, "?acknowledged=true")
    assert {each["exception_id"] for each in done} == set(chosen)
    assert {each["acknowledgement"]["reason"] for each in done} == {"the clock was wrong"}
    assert "the clock was wrong" in shown(visitor, "?acknowledged=true")


def test_a_double_click_is_a_replay(noted: World) -> None:
    visitor = Visitor(noted).sign_in(Role.OPERATOR)
    page = visitor.open("/exceptions?kind=late-bet").text
    chosen = chosen_in(page)
    assert [send(visitor, page, chosen, "seen").status for _ in range(2)] == [303, 303]
    assert len(listed(noted, "?acknowledged=true")) == 3


@pytest.mark.parametrize("reason", ["", " ", "\x07", "x" * 501])
def test_a_reason_is_needed_and_what_was_chosen_stays_so(noted: World, reason: str) -> None:
    visitor = Visitor(noted).sign_in(Role.OPERATOR)
    chosen = chosen_in(visitor.open("/exceptions").text)[:2]
    answer = acknowledge(visitor, chosen, reason)
    assert answer.status == 422
    assert 'id="reason-error"' in answer.text
    assert re.findall(r'value="([^"]+)" checked', answer.text) == chosen
    assert listed(noted, "?acknowledged=true") == []


def test_a_form_without_a_choice_is_shown_again(noted: World) -> None:
    answer = acknowledge(Visitor(noted).sign_in(Role.OPERATOR), [], "called the table")
    assert answer.status == 422
    assert "Choose the exceptions" in content_of(answer.text)
    assert 'value="called the table"' in answer.text


def test_all_are_acknowledged_or_none_and_it_is_said_by_whom_one_was(noted: World) -> None:
    visitor = Visitor(noted).sign_in(Role.OPERATOR)
    page = visitor.open("/exceptions?kind=late-bet").text
    chosen = chosen_in(page)
    other = Visitor(noted).sign_in(key=noted.person("Olga", Role.OPERATOR))
    assert acknowledge(other, chosen[:1], "mine").status == 303
    answer = send(visitor, page, chosen, "seen")
    assert answer.status == 409
    assert "Nothing was acknowledged. Olga acknowledged it before: mine" in content_of(answer.text)
    assert [each["exception_id"] for each in listed(noted, "?acknowledged=true")] == chosen[:1]


@pytest.mark.parametrize("exception", ["0", "x" * 60, "x" * 10_000, "a\x00b", HOSTILE])
def test_what_is_no_exception_is_refused_in_words(noted: World, exception: str) -> None:
    answer = acknowledge(Visitor(noted).sign_in(Role.OPERATOR), [exception])
    assert answer.status == 404
    assert "Nothing was acknowledged. One of the chosen lines is not an exception. Open the page again." in content_of(
        answer.text
    )
    assert "<script>alert" not in answer.text


def test_an_exception_that_there_never_was_is_refused_by_its_id(noted: World) -> None:
    unknown = "000000000000000-0000000000000000"
    answer = acknowledge(Visitor(noted).sign_in(Role.OPERATOR), [unknown])
    assert answer.status == 404
    assert f"Nothing was acknowledged. There is no exception {unknown}" in content_of(answer.text)


def test_a_denied_prize_is_decided_by_two(noted: World) -> None:
    denied = listed(noted, "?kind=prize-denied")[0]["exception_id"]
    answer = acknowledge(Visitor(noted).sign_in(Role.OPERATOR), [denied])
    assert answer.status == 403
    assert "another person approves" in content_of(answer.text)


def test_hostile_reasons_are_written_as_they_are(noted: World) -> None:
    visitor = Visitor(noted).sign_in(Role.OPERATOR)
    assert acknowledge(visitor, chosen_in(visitor.open("/exceptions").text), HOSTILE).status == 303
    page = visitor.open("/exceptions?acknowledged=true").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_a_long_list_goes_on_where_the_page_before_ended(world: World) -> None:
    world.open(base_amount="1000")
    for number in range(52):
        late_bet(world, f"late-{number}")
    visitor = Visitor(world).sign_in()
    first = visitor.open("/exceptions").text
    match = re.search(r'href="([^"]+)" rel="next"', first)
    assert match
    second = visitor.open(unescape(match[1])).text
    assert [len(chosen_in(page)) for page in (first, second)] == [50, 2]
