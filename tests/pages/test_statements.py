"""Statements of casinos on pages: what is owed, what was settled, signed off by whom; each casino sees its own."""

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest

from jackpot_service.domain.principals import Role
from tests.support.bets import bet
from tests.support.hands import FLUSH, hand
from tests.support.page_tables import tables_of
from tests.support.page_text import content_of, links_of
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

PAGE = "/statements/c1"


@pytest.fixture
def played(world: World) -> World:
    """Casino c1 owes stakes in two currencies, and has settled a part of one; c2 has a night of its own, and bets."""
    world.open(base_amount="1000")
    world.add_casino("c2", zone="Asia/Tokyo", day_starts="06:00")
    world.add_table("T2", jackpot_id="j1", casino_id="c2")
    world.bet(bet("a", stake_minor=9900), bet("g", hand="2", currency="GBP", stake_minor=3000))
    world.settle(hand("1"), hand("2", FLUSH))
    world.bet(bet("b"), table_id="T2")
    world.clock.advance(timedelta(hours=1))
    paid = {"jackpot_id": "j1", "casino_id": "c1", "currency": "EUR", "amount": "40", "reference": "wire 7"}
    paid |= {"from": "2026-11-01T00:00:00Z", "to": "2026-11-20T09:30:00Z"}
    world.change("statement-settlement", paid, request_id="settled")
    return world


def test_a_statement_says_what_the_report_says(played: World) -> None:
    document = played.get("/v1/reports/casino-statement?casino_id=c1").ok()
    shown = tables_of(Visitor(played).sign_in(Role.AUDITOR).open(PAGE).text)
    for section in document["sections"]:
        exact = [[cell.exact for cell in row] for row in shown[section["name"]]]
        assert exact == [["" if value is None else str(value) for value in row.values()] for row in section["rows"]]


def test_a_statement_says_what_is_owed_by_whom(played: World) -> None:
    page = content_of(Visitor(played).sign_in().open(PAGE).text).replace("\N{NO-BREAK SPACE}", " ")
    assert "EUR 59.00 owed by the casino" in page
    (row,) = (
        row
        for row in played.get("/v1/reports/casino-statement?casino_id=c1").ok()["sections"][0]["rows"]
        if row["currency"] == "GBP"
    )
    assert Decimal(row["closing"]) < 0
    assert "owed to the casino" in page


def test_a_settled_statement_shows_who_signed_it_off(played: World) -> None:
    answer = Visitor(played).sign_in().open(PAGE)
    page = content_of(answer.text)
    change = played.get("/v1/change-requests/settled").ok()
    assert "wire 7 asked for by" in page
    assert change["maker"] in page
    assert change["decisions"][0]["checker"] in page
    assert "/changes/settled" in links_of(answer.text)


def test_a_period_is_of_gaming_days(played: World) -> None:
    page = content_of(Visitor(played).sign_in().open("/statements/c2?from=2026-11-20").text)
    assert "from 19 Nov 2026, 21:00:00 UTC" in page
    assert "06:00, Asia/Tokyo" in page


def test_the_settlement_of_each_account_is_asked_for(played: World) -> None:
    links = links_of(Visitor(played).sign_in().open(PAGE).text)
    settle_links = [link for link in links if link.startswith("/changes/new/statement-settlement?")]
    assert len(settle_links) == 2
    form = Visitor(played).sign_in().open(settle_links[0])  # It leads on to an address with the form's own id.
    assert Visitor(played).sign_in().open(form.headers["Location"]).status == 200


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("from=2026-11-20&to=2026-11-19", "to"),
        ("to=2126-01-01", "to"),
        ("from=x", "from"),
        ("jackpot_id=j9", "jackpot_id"),
    ],
)
def test_a_refusal_stands_at_its_field_in_the_words_of_the_api(played: World, query: str, field: str) -> None:
    problem = played.get(f"/v1/reports/casino-statement?casino_id=c1&{query}").body
    answer = Visitor(played).sign_in().open(f"{PAGE}?{query}")
    assert answer.status == problem["status"]
    message = problem.get("errors", [{"detail": problem["detail"]}])[0]["detail"]
    shown = re.search(rf'id="{field}-error" role="alert">([^<]*)<', answer.text)
    assert shown is not None
    assert unescape(shown[1]) == message


def test_this_month_and_the_last_can_be_opened(played: World) -> None:
    visitor = Visitor(played).sign_in()
    links = {link for link in links_of(visitor.open("/statements").text) if link.startswith("/statements/")}
    assert f"{PAGE}?from=2026-11-01" in links
    assert f"{PAGE}?from=2026-10-01&to=2026-11-01" in links
    for link in links:
        assert visitor.open(link).status == 200


def test_finance_of_a_casino_sees_its_own_statement_and_nobody_s_name(played: World) -> None:
    visitor = Visitor(played).sign_in(key=played.key(Role.FINANCE, casino_id="c1"))
    assert visitor.open("/statements").headers["Location"] == PAGE
    answer = visitor.open(PAGE)
    assert answer.status == 200
    page = content_of(answer.text)
    assert "wire 7" in page
    assert "Signed off by" not in page
    assert played.get("/v1/change-requests/settled").ok()["maker"] not in page
    for link in links_of(answer.text):
        assert visitor.open(link).status in {200, 303}, link
    other = visitor.open("/statements/c2")
    assert other.status == 404
    assert visitor.open("/statements/c9").status == 404
