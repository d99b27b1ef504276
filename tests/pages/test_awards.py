"""The list of awards: what is to be paid or decided, the oldest first, with totals; all others by filters."""

import re
from datetime import timedelta
from html import unescape

import pytest

from jackpot_service.domain.principals import Role
from tests.support.awarded import award_id_of, casino_finance, decide, furnish, pay, record_surveillance, stop, win
from tests.support.hands import FOUR_OF_A_KIND
from tests.support.page_text import content_of, links_of
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

WATCHERS = (Role.FINANCE, Role.OPERATOR, Role.AUDITOR)


@pytest.fixture
def awarded(world: World) -> World:
    return furnish(world)


def listed(page: str) -> list[str]:
    """The rounds of the awards in the list, in its order."""
    table = page.partition('<table class="stacks list')[2].partition("</table>")[0]
    return re.findall(r'class="round" href="/tables/T\d/rounds/([a-z0-9-]+)"', table)


@pytest.mark.parametrize("role", WATCHERS)
def test_an_empty_list_says_what_would_be_there(world: World, role: Role) -> None:
    assert "Nothing is to be paid or decided." in content_of(Visitor(world).sign_in(role).open("/awards").text)


def test_people_of_rates_see_none(awarded: World) -> None:
    visitor = Visitor(awarded).sign_in(Role.RATES)
    assert visitor.open("/awards").status == 404
    assert visitor.open(f"/awards/{award_id_of(awarded, 'payable')}").status == 404
    assert "/awards" not in links_of(visitor.open("/account").text)


@pytest.mark.parametrize("role", WATCHERS)
def test_what_is_open_comes_in_the_order_in_which_it_waits(awarded: World, role: Role) -> None:
    pay(awarded, "pounds", "whole")
    page = Visitor(awarded).sign_in(role).open("/awards").text
    assert listed(page) == ["payable", "held", "other"]
    assert [row == "held" for row in listed(page)] == [
        'class="waits"' in row for row in page.partition('<table class="stacks list')[2].split("<tr")[2:5]
    ]
    assert "two people approve or reject it" in content_of(page)


def test_totals_are_those_of_the_api(awarded: World) -> None:
    pay(awarded, "payable", "part", 1_000)
    awarded.clock.advance(timedelta(days=40))
    win(awarded, "young")
    page = Visitor(awarded).sign_in().open("/awards").text
    items = awarded.get("/v1/award-totals").ok()["items"]
    assert {(item["state"], item["currency"], item["age"], item["awards"], item["unpaid_minor"]) for item in items} == {
        ("held", "EUR", "31-60", 1, 25_000),
        ("part-paid", "EUR", "31-60", 1, 1_500),
        ("payable", "EUR", "0-30", 1, 2_500),
        ("payable", "EUR", "31-60", 1, 2_500),
        ("payable", "GBP", "31-60", 1, 2_500),
    }
    totals = content_of("<main>" + page.partition('id="totals"')[2].partition("</table>")[0])
    rows = totals.replace("\N{NO-BREAK SPACE}", " ").replace("\N{EN DASH} ", "")
    for words in ("held in EUR: list them EUR 250.00 1 award", "part paid in EUR: list them EUR 15.00 1 award"):
        assert words in rows


@pytest.mark.parametrize(
    ("query", "rounds"),
    [
        ("?state=held", ["held"]),
        ("?state=payable", ["payable", "other", "pounds"]),
        ("?state=paid", ["whole"]),
        ("?state=part-paid", ["part"]),
        ("?state=stopped", ["stopped"]),
        ("?state=rejected", ["rejected"]),
        ("?state=unclaimed", []),
        ("?state=any", ["whole", "part", "rejected", "stopped", "pounds", "other", "held", "payable"]),
        ("?casino_id=c2", ["other"]),
        ("?jackpot_id=j9", []),
        ("?state=payable&casino_id=c1&jackpot_id=j1", ["payable", "pounds"]),
        ("?player_id=player-of-b1&state=held", ["held"]),
        ("?player_id=nobody", []),
    ],
)
def test_filters_stand_in_the_address(awarded: World, query: str, rounds: list[str]) -> None:
    win(awarded, "stopped")
    stop(awarded, "stopped")
    win(awarded, "rejected", cards=FOUR_OF_A_KIND)
    decide(awarded, "reject", "rejected")
    win(awarded, "part")
    pay(awarded, "part", "some", 100)
    win(awarded, "whole")
    pay(awarded, "whole", "all")
    assert listed(Visitor(awarded).sign_in().open(f"/awards{query}").text) == rounds


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?state=lost", "state"),
        ("?jackpot_id=%22%3E", "jackpot_id"),
        ("?claimable_before=soon", "claimable_before"),
        ("?casino_id=a+b", "casino_id"),
    ],
)
def test_a_wrong_filter_is_said_at_its_field(awarded: World, query: str, field: str) -> None:
    answer = Visitor(awarded).sign_in().open(f"/awards{query}")
    assert answer.status == 422
    assert f'id="{field}-error"' in answer.text


def test_a_wrong_place_in_the_list_is_said(awarded: World) -> None:
    answer = Visitor(awarded).sign_in().open("/awards?after=x")
    assert answer.status == 422
    assert "This place in the list is none." in answer.text


def test_awards_that_nobody_claimed_stand_above_the_list_and_those_that_soon_are(awarded: World) -> None:
    awarded.change("casino-claims", {"casino_id": "c1", "claim_days": 10}, request_id="claims")
    visitor = Visitor(awarded).sign_in()
    soon = content_of(visitor.open("/awards").text)
    assert "Unclaimed, or ending soon" in soon
    assert "claim ends in 9" in soon.replace("\N{NO-BREAK SPACE}", " ")
    awarded.clock.advance(timedelta(days=11))
    visitor = Visitor(awarded).sign_in()
    page = visitor.open("/awards").text
    assert "unclaimed" in content_of(page)
    assert listed(visitor.open("/awards?state=unclaimed").text) == ["payable", "pounds"]
    assert listed(visitor.open("/awards?claimable_before=2027-01-01").text) == ["payable", "pounds"]
    assert "/awards?state=unclaimed" in links_of(page)


def test_finance_of_a_casino_sees_its_own_and_no_field_for_others(awarded: World) -> None:
    visitor = casino_finance(awarded, "c2")
    page = visitor.open("/awards").text
    assert listed(page) == ["other"]
    assert 'name="casino_id"' not in page
    assert "EUR\N{NO-BREAK SPACE}250.00" not in page
    assert listed(visitor.open("/awards?casino_id=c1").text) == []
    assert visitor.open(f"/awards/{award_id_of(awarded, 'payable')}").status == 404
    assert visitor.open(f"/awards/{award_id_of(awarded, 'other')}").status == 200


def test_the_badge_counts_what_waits_for_somebody(awarded: World) -> None:
    win(awarded, "stopped")
    stop(awarded, "stopped")
    for visitor, waiting in (
        (Visitor(awarded).sign_in(Role.FINANCE), "2"),
        (Visitor(awarded).sign_in(Role.OPERATOR), "2"),
        (Visitor(awarded).sign_in(Role.AUDITOR), None),
        (casino_finance(awarded, "c1"), None),
    ):
        assert badge(visitor) == waiting
    awarded.change("casino-claims", {"casino_id": "c1", "claim_days": 1}, request_id="claims")
    awarded.clock.advance(timedelta(days=2))
    assert badge(Visitor(awarded).sign_in(Role.FINANCE)) == "4"
    assert badge(casino_finance(awarded, "c1")) == "2"
    assert badge(casino_finance(awarded, "c2")) is None


def badge(visitor: Visitor) -> str | None:
    match = re.search(r'>Awards <span class="badge">(\d+)', visitor.open("/account").text)
    return None if match is None else match[1]


@pytest.mark.parametrize("state", ["", "any"])
def test_a_long_list_goes_on_where_the_page_before_ended(awarded: World, state: str) -> None:
    for number in range(50):
        win(awarded, f"more-{number}")
    visitor = Visitor(awarded).sign_in()
    first = visitor.open(f"/awards?state={state}").text
    match = re.search(r'href="([^"]+)" rel="next"', first)
    assert match
    second = visitor.open(unescape(match[1])).text
    pages = [listed(page) for page in (first, second)]
    assert [len(page) for page in pages] == [50, 4]
    assert len({*pages[0], *pages[1]}) == 54
    assert ("First page" in second, 'id="totals"' in second) == (True, False)


def test_a_held_award_is_open_until_people_have_decided_and_it_was_paid(awarded: World) -> None:
    record_surveillance(awarded)
    visitor = Visitor(awarded).sign_in()
    decide(awarded, "approve")
    assert "held" in listed(visitor.open("/awards?state=payable").text)
    pay(awarded, "held", "all of it")
    assert "held" not in listed(visitor.open("/awards").text)
    assert listed(visitor.open("/awards?state=paid").text) == ["held"]
