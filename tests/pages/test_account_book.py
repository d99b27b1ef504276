"""Accounts and entries on pages: a balance is the sum of its entries, and each entry shows what is behind it."""

import hashlib
import re
from datetime import datetime
from decimal import Decimal
from html import unescape
from typing import Final

import pytest

from jackpot_service.domain.principals import Role
from jackpot_service.pages import account_book
from jackpot_service.reports import account_entries
from tests.support.bets import bet
from tests.support.correcting import correct
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, STRAIGHT, hand
from tests.support.page_tables import Cell, tables_of
from tests.support.page_text import content_of, links_of
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

BOOK: Final = "/accounts/j1"

FIGURED: Final = (
    "trial-balance",
    "pool-movements",
    "liability",
    "meters",
    "fx",
    "casino-statement?casino_id=c1",
    "casino-balances",
    "finance-summary?jackpot_id=j1",
)
"""Reports whose figures lead to accounts."""

BOOKED: Final = """
SELECT stripe_no || '.' || seq AS place FROM postings
WHERE jackpot_id = 'j1' AND account = :account AND currency = :currency
"""


@pytest.fixture
def played(world: World) -> World:
    """Rounds of two casinos, one of them a hit, a void, an adjustment and a correction: every kind of entry."""
    world.open(base_amount="1000", tables=("T1",), stripes=3)
    world.add_casino("c2")
    world.add_table("T2", jackpot_id="j1", casino_id="c2")
    for number in range(7):
        world.bet(bet(f"b{number}"), bet(f"g{number}", hand="2", currency="GBP"), round_id=f"r{number}")
    world.void("b0", round_id="r0")
    world.settle(hand("1", FLUSH), hand("2", NOTHING), round_id="r1")
    world.settle(hand("1", ROYAL_FLUSH), hand("2", NOTHING), round_id="r2")
    correct(world, hand("1", STRAIGHT), hand("2", NOTHING), round_id="r1")
    world.bet(bet("c"), table_id="T2")
    adjustment = {"jackpot_id": "j1", "account": "reserve", "amount": "1.5", "document": "memo", "cause": "count-error"}
    world.change("adjustment", adjustment, request_id="by-hand")
    paid = {"jackpot_id": "j1", "casino_id": "c1", "currency": "EUR", "amount": "4", "reference": "wire 7"}
    paid |= {"from": "2026-11-01T00:00:00Z", "to": "2026-11-20T09:00:30Z"}
    world.change("statement-settlement", paid, request_id="settled")
    return world


def entries_of(visitor: Visitor, path: str) -> list[list[Cell]]:
    """The rows of all pages of an account's entries, one after the other."""
    rows: list[list[Cell]] = []
    following: str | None = path
    while following is not None:
        page = visitor.open(following)
        assert page.status == 200, page.text
        rows += tables_of(page.text).get("entries", [])
        next_link = re.search(r'href="([^"]+)" rel="next"', page.text)
        following = None if next_link is None else unescape(next_link[1])
    return rows


def accounts(world: World) -> list[tuple[str, str, Decimal]]:
    rows = world.get("/v1/reports/trial-balance").ok()["sections"][0]["rows"]
    return [(row["account"], row["currency"], Decimal(row["closing"])) for row in rows]


@pytest.mark.parametrize("size", [1, 3, 50])
def test_the_balance_of_every_account_is_the_sum_of_its_entries(
    played: World, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(account_book, "ENTRIES_A_PAGE", size)
    visitor = Visitor(played).sign_in()
    for account, currency, closing in accounts(played):
        path = f"{BOOK}/{account}?currency={currency}"
        rows = entries_of(visitor, path)
        places = [row[0].exact for row in rows]
        assert sum((Decimal(row[-1].exact) for row in rows), Decimal(0)) == closing, account
        booked = played.books.rows(BOOKED, account=account, currency=currency)
        assert sorted(places) == sorted(row["place"] for row in booked)
        (shown,) = (row for row in tables_of(visitor.open(path).text)["accounts"] if row[1].exact == account)
        assert Decimal(shown[-1].exact) == closing


def test_entries_come_the_latest_first(played: World) -> None:
    rows = entries_of(Visitor(played).sign_in(), f"{BOOK}/pool:meter")
    times = [
        played.books.value(
            "SELECT booked_at FROM entries WHERE jackpot_id = 'j1' AND stripe_no = :stripe AND seq = :seq",
            **dict(zip(("stripe", "seq"), map(int, row[0].exact.split(".")), strict=True)),
        )
        for row in rows
    ]
    assert times == sorted(times, reverse=True)


@pytest.mark.parametrize("movement", ["contribution", "reversal", "award", "adjustment", "correction"])
def test_entries_of_a_movement_sum_to_what_the_report_says_of_it(played: World, movement: str) -> None:
    visitor = Visitor(played).sign_in()
    rows = played.get("/v1/reports/pool-movements?by=month").ok()["sections"][1]["rows"]
    for row in rows:
        account = {"prize fund": "pool:prize_fund", "meter": "pool:meter", "reserve": "pool:reserve"}.get(row["pool"])
        if account is not None:
            shown = entries_of(visitor, f"{BOOK}/{account}?movement={movement}")
            assert sum((Decimal(cell[-1].exact) for cell in shown), Decimal(0)) == Decimal(row[movement])


def test_a_period_bounds_the_entries_as_it_bounds_a_report(played: World) -> None:
    visitor = Visitor(played).sign_in()
    settled_at = played.books.value("SELECT max(booked_at) FROM entries WHERE kind = 'result'")
    middle = f"{settled_at:%Y-%m-%dT%H:%M:%S.%fZ}"
    whole, before, after = (
        [row[0].exact for row in entries_of(visitor, f"{BOOK}/pool:reserve{query}")]
        for query in ("", f"?to={middle}", f"?from={middle}")
    )
    assert after + before == whole
    assert after
    assert before


def test_sums_that_are_too_many_to_be_shown_say_where_all_of_them_are(
    played: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor = Visitor(played).sign_in()
    assert "There are more rows" not in content_of(visitor.open(f"{BOOK}/casino:c1").text)
    monkeypatch.setattr(account_book, "MOST_LINES", 2)
    answer = visitor.open(f"{BOOK}/casino:c1")
    assert "There are more rows" in content_of(answer.text)
    (link,) = (link for link in links_of(answer.text) if "section=movements" in link)
    assert visitor.open(link).text.count("casino:c1") > 2


def test_an_account_that_few_entries_touch_is_looked_for_a_bounded_way_at_a_time(
    played: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_entries, "_FIRST_READ", 2)
    monkeypatch.setattr(account_entries, "MOST_READ", 3)
    visitor = Visitor(played).sign_in()
    path = f"{BOOK}/casino:c2"
    page = visitor.open(f"{BOOK}/house:seed").text
    assert "Read further back." in content_of(page) or tables_of(page).get("entries")
    assert len(entries_of(visitor, path)) == 1
    total = sum(
        len(entries_of(visitor, f"{BOOK}/{name}?currency={currency}")) for name, currency, _ in accounts(played)
    )
    assert total == played.books.value("SELECT count(*) FROM postings WHERE jackpot_id = 'j1'")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("from=2026-11-20&to=2026-11-19", "to"),
        ("to=2126-01-01", "to"),
        ("currency=XXX", "currency"),
        ("currency=euro", "currency"),
        ("movement=theft", "movement"),
        ("as_of=now", "as_of"),
    ],
)
def test_a_refusal_stands_at_its_field(played: World, query: str, field: str) -> None:
    problem = played.get(f"/v1/reports/postings?jackpot_id=j1&account=pool:reserve&{query}")
    answer = Visitor(played).sign_in().open(f"{BOOK}/pool:reserve?{query}")
    assert answer.status == problem.status == 422
    message = problem.body.get("errors", [{"detail": problem.body["detail"]}])[0]["detail"]
    shown = re.search(rf'id="{field}-error" role="alert">([^<]*)<', answer.text)
    assert shown is not None
    assert unescape(shown[1]) == message


@pytest.mark.parametrize("after", ["x", "1", "1.2.3.4", "99999.0.0", "-1.0.0", "." * 9000])
def test_a_place_in_the_list_that_is_none_is_its_beginning(played: World, after: str) -> None:
    visitor = Visitor(played).sign_in()
    assert tables_of(visitor.open(f"{BOOK}/pool:reserve?after={after}").text) == tables_of(
        visitor.open(f"{BOOK}/pool:reserve").text
    )


def test_accounts_are_for_finance_of_the_house_and_auditors(played: World) -> None:
    for role, status in ((Role.FINANCE, 200), (Role.AUDITOR, 200), (Role.OPERATOR, 404), (Role.RATES, 404)):
        assert Visitor(played).sign_in(role).open(f"{BOOK}/pool:reserve").status == status
    casino = Visitor(played).sign_in(key=played.key(Role.FINANCE, casino_id="c2"))
    assert casino.open(f"{BOOK}/casino:c2").status == 404
    visitor = Visitor(played).sign_in()
    assert visitor.open("/accounts/j9/pool:reserve").status == 404
    assert visitor.open(f"{BOOK}/%3Cscript%3E").status == 404
    assert "No entry of the period touches this account." in content_of(visitor.open(f"{BOOK}/bank:GBP").text)


# Entries.


def place_of(world: World, kind: str, round_id: str) -> str:
    (place,) = (
        f"{entry['stripe']}/{entry['seq']}" for entry in world.round(round_id)["entries"] if entry["kind"] == kind
    )
    return place


def test_an_entry_shows_both_sides_its_bets_and_its_link_in_the_chain(played: World) -> None:
    place = place_of(played, "bets", "r3")
    entry = played.get(f"/v1/entries/j1/{place}").ok()
    answer = Visitor(played).sign_in().open(f"/entries/j1/{place}")
    page = content_of(answer.text)
    assert "Both sides in EUR" in page
    assert "Both sides in GBP" in page
    for posting in entry["postings"]:
        assert posting["account"] in page
    for name in ("digest", "head", "head_before"):
        assert entry[name] in page
    assert "the hash is right" in page
    assert "/tables/T1/rounds/r3?bet_id=b3" in links_of(answer.text)
    assert "2 bets" in page
    booked_at = datetime.fromisoformat(entry["booked_at"])
    micro = int(booked_at.timestamp()) * 1_000_000 + booked_at.microsecond
    chained = bytes.fromhex(entry["head_before"] + entry["digest"]) + micro.to_bytes(8, "big")
    assert hashlib.sha256(chained).hexdigest() in page


def test_an_entry_leads_to_its_accounts_and_its_neighbours(played: World) -> None:
    visitor = Visitor(played).sign_in()
    links = links_of(visitor.open(f"/entries/j1/{place_of(played, 'result', 'r1')}").text)
    assert "/accounts/j1/pool:prize_fund?currency=EUR" in links
    for link in links:
        assert visitor.open(link).status in {200, 303}, link


def test_an_entry_of_an_act_names_it_and_the_request_that_two_people_decided(played: World) -> None:
    (row,) = (
        row
        for row in played.get("/v1/reports/postings?account=pool:reserve&movement=adjustment").ok()["sections"][2][
            "rows"
        ]
    )
    stripe, seq = row["entry"].split(".")
    for role in (Role.FINANCE, Role.AUDITOR):
        answer = Visitor(played).sign_in(role).open(f"/entries/j1/{stripe}/{seq}")
        page = content_of(answer.text)
        assert "The act that booked it" in page
        assert f"Act {row['act']}" in page
        assert "/changes/by-hand" in links_of(answer.text)
        assert (f"/entries/-/0/{row['act']}" in links_of(answer.text)) is (role is Role.AUDITOR)
    auditor = Visitor(played).sign_in(Role.AUDITOR)
    act = auditor.open(f"/entries/-/0/{row['act']}")
    assert f"/entries/j1/0/{seq}" in links_of(act.text)
    assert Visitor(played).sign_in().open(f"/entries/-/0/{row['act']}").status == 404


def test_an_operator_does_not_see_who_did_the_act_behind_an_entry_that_is_not_their_own(played: World) -> None:
    rows = played.get("/v1/reports/postings?account=pool:reserve&movement=adjustment").ok()["sections"][2]["rows"]
    place = rows[0]["entry"].replace(".", "/")
    page = content_of(Visitor(played).sign_in(Role.OPERATOR).open(f"/entries/j1/{place}").text)
    assert "EUR 1.50" in page.replace("\N{NO-BREAK SPACE}", " ")
    assert "The act that booked it" not in page


def test_finance_of_a_casino_sees_entries_of_its_own_rounds(played: World) -> None:
    own, other = place_of(played, "bets", "r1"), f"{place_of(played, 'bets', 'r3')}"
    (theirs,) = (entry for entry in played.round("r1", "T2")["entries"])
    casino = Visitor(played).sign_in(key=played.key(Role.FINANCE, casino_id="c2"))
    answer = casino.open(f"/entries/j1/{theirs['stripe']}/{theirs['seq']}")
    assert answer.status == 200
    assert not [link for link in links_of(answer.text) if link.startswith("/accounts")]
    for link in links_of(answer.text):
        assert casino.open(link).status in {200, 303}, link
    for place in (own, other, "0/1"):
        assert casino.open(f"/entries/j1/{place}").status == 404


def test_a_figure_of_a_report_leads_to_the_entry_that_made_it(played: World) -> None:
    visitor = Visitor(played).sign_in()
    cells = tables_of(visitor.open("/reports/pool-movements?section=totals").text)["totals"]
    (row,) = (row for row in cells if row[1].exact == "reserve")
    figure = next(cell for cell in row if cell.exact == "1.5")
    account = visitor.open(figure.links[0]).text
    (entry,) = tables_of(account)["entries"]
    assert entry[-1].exact == "1.5"
    page = content_of(visitor.open(entry[0].links[0]).text)
    assert "Adjustment" in page
    assert "EUR 1.50" in page.replace("\N{NO-BREAK SPACE}", " ")


def test_every_figure_that_leads_to_an_account_is_the_sum_of_its_entries(played: World) -> None:
    visitor = Visitor(played).sign_in()
    checked = 0
    for name in FIGURED:
        for rows in tables_of(visitor.open(f"/reports/{name}").text).values():
            for row in rows:
                cells = row if name != "trial-balance" else row[-1:]  # A debit is a part of what moved an account.
                for cell in cells:
                    links = [unescape(link) for link in cell.links if link.startswith("/accounts")]
                    if links and re.fullmatch(r"-?\d+(\.\d+)?", cell.exact):
                        amounts = [Decimal(line[-1].exact) for line in entries_of(visitor, links[0])]
                        assert abs(sum(amounts, Decimal(0))) == abs(Decimal(cell.exact)), (name, links)
                        checked += 1
    assert checked > 60
