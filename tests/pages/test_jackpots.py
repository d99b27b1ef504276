"""Jackpots on pages: as they stand, with their rules in sentences, their hits and what people decided about them."""

import pytest

from jackpot_service.domain.principals import Role
from jackpot_service.pages import figures
from tests.support.bets import bet
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.page_text import content_of, links_of
from tests.support.visitor import Visitor
from tests.support.world import CYBER, World

pytestmark = pytest.mark.slow

WATCHERS = (Role.FINANCE, Role.OPERATOR, Role.AUDITOR)
PAGES = ("/jackpots", "/jackpots/j1", "/jackpots/j1/rules", "/jackpots/j1/hits")


@pytest.fixture
def opened(world: World) -> World:
    """A jackpot of casino c1 and another of casino c2."""
    world.open(base_amount="1234567.891")
    world.add_casino("c2")
    world.open(CYBER, jackpot_id="j2", base_amount="10000", tables=())
    world.add_table("T2", jackpot_id="j2", casino_id="c2")
    return world


def finance_of_casino(world: World, casino_id: str) -> Visitor:
    return Visitor(world).sign_in(key=world.key(Role.FINANCE, casino_id=casino_id))


def shown(visitor: Visitor, path: str) -> str:
    answer = visitor.open(path)
    assert answer.status == 200, answer.text
    return content_of(answer.text)


def exact(amount: str) -> str:
    return " ".join(figures.exact(amount, "EUR").split())


@pytest.mark.parametrize("role", WATCHERS)
@pytest.mark.parametrize("path", PAGES)
def test_everybody_who_watches_sees_a_jackpot(opened: World, role: Role, path: str) -> None:
    assert "j1" in shown(Visitor(opened).sign_in(role), path)


@pytest.mark.parametrize("path", [*PAGES, "/jackpots/j1/history"])
def test_the_people_of_rates_see_none(opened: World, path: str) -> None:
    assert Visitor(opened).sign_in(Role.RATES).open(path).status == 404


@pytest.mark.parametrize("path", ["/jackpots/j9", "/jackpots/j9/rules", "/jackpots/j9/hits", "/jackpots/%3Cb%3E"])
def test_a_jackpot_that_is_not_there_is_answered_by_a_page(opened: World, path: str) -> None:
    answer = Visitor(opened).sign_in().open(path)
    assert (answer.status, answer.media_type) == (404, "text/html")


def test_each_figure_of_a_jackpot_is_that_of_the_api(opened: World) -> None:
    opened.bet(bet("a", stake_minor=333, currency="GBP"))
    state = opened.get("/v1/jackpots/j1").ok()
    paytable = opened.get("/v1/jackpots/j1/paytable").ok()

    visitor = Visitor(opened).sign_in()
    page = shown(visitor, "/jackpots/j1")

    assert f"exactly {exact(state['meter']['amount_exact'])}" in page
    for pool in ("reserve", "prize_fund"):
        assert f'<data value="{state[pool]}"' in visitor.open("/jackpots/j1").text
    assert f"EUR {state['meter']['amount_minor'] // 100:,}.{state['meter']['amount_minor'] % 100:02}" in page
    for line in paytable["lines"]:
        assert f"EUR {line['amount_minor'] / 100:,.2f}" in page


def test_the_paytable_is_shown_in_each_currency_of_the_sheet(opened: World) -> None:
    visitor = Visitor(opened).sign_in()
    assert {f"/jackpots/j1?currency={code}" for code in ("EUR", "GBP", "JPY", "SEK")} <= links_of(
        visitor.open("/jackpots/j1").text
    )
    paytable = opened.get("/v1/jackpots/j1/paytable?currency=JPY").ok()
    page = shown(visitor, "/jackpots/j1?currency=JPY")
    for line in paytable["lines"]:
        assert f"JPY {line['amount_minor']:,}" in page
    assert "EUR 2,500.00" in shown(visitor, "/jackpots/j1?currency=%3Cscript%3E")
    assert visitor.open("/jackpots/j1?currency=CHF").status == 422


def test_the_rules_are_the_sentences_of_the_ledger(opened: World) -> None:
    rules = opened.get("/v1/jackpots/j1/rules").ok()
    page = shown(Visitor(opened).sign_in(), "/jackpots/j1/rules")
    for sentence in rules["text"]:
        assert " ".join(sentence.split()) in page
    assert rules["sha256"] in page
    assert "after the next hit" not in page


def test_rules_that_wait_are_shown_as_pending(opened: World) -> None:
    opened.change("rules", {"jackpot_id": "j1", "settings": {"limit": "2000000"}})
    visitor = Visitor(opened).sign_in()
    assert "Pending version 2" in shown(visitor, "/jackpots/j1")
    page = shown(visitor, "/jackpots/j1/rules")
    assert "Version 2 after the next hit" in page
    assert "2,000,000" in page.partition("Version 2")[2]


def test_a_suspended_jackpot_says_so(opened: World) -> None:
    body = {"request_id": "s1", "reason": "the camera is out"}
    opened.put("/v1/jackpots/j1/suspension", body, key=opened.person("Olga", Role.OPERATOR)).ok(201)
    assert "suspended" in shown(Visitor(opened).sign_in(), "/jackpots/j1")
    assert "suspended" in shown(Visitor(opened).sign_in(), "/jackpots")


def test_hits_are_listed_with_cards_and_lead_to_their_rounds(opened: World) -> None:
    visitor = Visitor(opened).sign_in()
    assert "No hits yet." in shown(visitor, "/jackpots/j1/hits")
    opened.bet(bet("a"), bet("b"))
    opened.settle(hand("1", ROYAL_FLUSH))
    (hit,) = opened.get("/v1/jackpots/j1/hits").ok()["items"]

    answer = visitor.open("/jackpots/j1/hits")

    assert "/tables/T1/rounds/r1" in links_of(answer.text)
    assert exact(hit["paid"]) in " ".join(answer.text.replace(figures.SPACE, " ").split())
    assert "ace of spades" in answer.text
    assert "released" in content_of(answer.text)
    assert visitor.open("/jackpots/j1/hits?after=nonsense").status == 200


def test_finance_of_a_casino_sees_the_jackpots_of_its_tables_only(opened: World) -> None:
    visitor = finance_of_casino(opened, "c2")
    page = visitor.open("/jackpots").text
    assert "/jackpots/j2" in links_of(page)
    assert "/jackpots/j1" not in links_of(page)
    for path in PAGES[1:]:
        assert visitor.open(path).status == 404
    assert visitor.open("/jackpots/j2/history").status == 404


def test_whose_money_the_meter_is_stays_in_the_house(opened: World) -> None:
    page = shown(Visitor(opened).sign_in(), "/jackpots/j2")
    assert "Meter, players\N{RIGHT SINGLE QUOTATION MARK} money EUR" in page
    assert "Meter, the house\N{RIGHT SINGLE QUOTATION MARK}s money EUR" in page
    for_casino = shown(finance_of_casino(opened, "c2"), "/jackpots/j2")
    assert "money" not in for_casino
    assert "Reserve, for the next jackpot EUR" in for_casino


def test_many_jackpots_are_listed_in_pages(opened: World) -> None:
    for number in range(3, 6):
        opened.open(jackpot_id=f"j{number}", base_amount="1000", tables=())
    opened.add_table("T5", jackpot_id="j5", casino_id="c2")
    visitor = Visitor(opened).sign_in()
    first = links_of(visitor.open("/jackpots?limit=2").text)
    assert {"/jackpots/j1", "/jackpots/j2"} <= first
    assert "/jackpots/j3" not in first
    [onward] = [link for link in first if "after=" in link]
    second = links_of(visitor.open(onward).text)
    assert {"/jackpots/j3", "/jackpots/j4"} <= second
    assert "/jackpots/j2" not in second
    [last] = [link for link in second - first if "after=" in link]
    assert "/jackpots/j5" in links_of(visitor.open(last).text)
    of_casino = links_of(finance_of_casino(opened, "c2").open("/jackpots?limit=2").text)
    assert {"/jackpots/j2", "/jackpots/j5"} <= of_casino
    assert not [link for link in of_casino if "after=" in link]
    assert "/jackpots/j1" in links_of(visitor.open("/jackpots?after=%22").text)


def test_a_hit_at_another_casino_names_neither_table_nor_round(opened: World) -> None:
    opened.add_table("T3", jackpot_id="j1", casino_id="c2")
    opened.bet(bet("a"), round_id="secret")
    opened.settle(hand("1", ROYAL_FLUSH), round_id="secret")
    page = finance_of_casino(opened, "c2").open("/jackpots/j1/hits").text
    assert "at another casino" in page
    assert "secret" not in page
    assert "T1" not in content_of(page)


def test_history_is_for_auditors_and_says_who_and_why(opened: World) -> None:
    body = {"request_id": "s1", "reason": "<b>the camera</b> is out"}
    opened.put("/v1/jackpots/j1/suspension", body, key=opened.person("Olga", Role.OPERATOR)).ok(201)
    answer = Visitor(opened).sign_in(Role.AUDITOR).open("/jackpots/j1/history")
    assert "by Olga : <b>the camera</b> is out" in content_of(answer.text)
    assert "<b>the camera" not in answer.text
    for role in (Role.FINANCE, Role.OPERATOR):
        visitor = Visitor(opened).sign_in(role)
        assert visitor.open("/jackpots/j1/history").status == 404
        assert "/jackpots/j1/history" not in links_of(visitor.open("/jackpots/j1").text)


def test_without_jackpots_the_page_says_what_will_be_here(world: World) -> None:
    assert "No jackpots yet." in shown(Visitor(world).sign_in(), "/jackpots")
