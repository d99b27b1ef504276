"""The page of an award: its calculation, what it needs, its states and payments, and only what somebody may do."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest

from jackpot_service.domain.principals import Principal, Role
from jackpot_service.domain.rules import Policy
from jackpot_service.pages.policy_words import POLICY_PHRASES
from tests.support.awarded import (
    award_id_of,
    casino_finance,
    decide,
    forms_on,
    furnish,
    path_of,
    pay,
    record_surveillance,
    stop,
    win,
)
from tests.support.bets import bet
from tests.support.correcting import correct
from tests.support.hands import FLUSH, NOTHING, ROYAL_FLUSH, STRAIGHT_FLUSH, hand
from tests.support.page_text import content_of, links_of
from tests.support.visitor import Visitor
from tests.support.world import CYBER, World

pytestmark = pytest.mark.slow

WATCHERS = (Role.FINANCE, Role.OPERATOR, Role.AUDITOR)


@pytest.fixture
def awarded(world: World) -> World:
    return furnish(world)


def shown(visitor: Visitor, world: World, round_id: str) -> str:
    answer = visitor.open(path_of(world, round_id))
    assert answer.status == 200, answer.text
    return content_of(answer.text).replace("\N{NO-BREAK SPACE}", " ").replace(" , ", ", ")


@pytest.mark.parametrize("role", WATCHERS)
def test_an_award_shows_how_its_amount_was_arrived_at_and_leads_to_its_round(awarded: World, role: Role) -> None:
    visitor = Visitor(awarded).sign_in(role)
    page = shown(visitor, awarded, "pounds")
    for words in (
        "Flush: GBP 25.00",
        "Stake GBP 1.00",
        "Rate, of rate sheet 1 EUR 1.17",
        "rate EUR 1.17",
        "Due, before rounding GBP 25",
        "Payable, rounded down GBP 25.00",
        "it costs EUR 29.25",
        "ace of diamonds",
        "Nothing was paid yet.",
        "by the settlement of its round",
        "reaches no payout tier",
        "had no rule for GBP",
    ):
        assert words in page
    links = links_of(visitor.open(path_of(awarded, "pounds")).text)
    assert {"/tables/T1/rounds/pounds", "/tables/T1/rounds/pounds?bet_id=b1", "/jackpots/j1"} <= links


def test_a_share_of_the_meter_shows_m_and_w(world: World) -> None:
    world.open(base_amount="1000")
    world.bet(bet("a"), bet("b", hand="2", stake_minor=200), round_id="won")
    world.settle(hand("1", ROYAL_FLUSH), hand("2", NOTHING), round_id="won")
    page = shown(Visitor(world).sign_in(), world, "won")
    assert "On offer, M EUR 1,001.35" in page
    assert "stakes, W EUR 3.00" in page
    assert "Due, before rounding EUR 333.783333333333333333…" in page
    assert "Payable, rounded down EUR 333.78" in page


@pytest.mark.parametrize("policy", [policy for policy in Policy if policy is not Policy.SHARED_BY_STAKE])
def test_a_part_of_the_meter_is_explained_in_plain_words(world: World, policy: Policy) -> None:
    world.open(CYBER, base_amount="1000", settings={"policy": policy.value})
    world.bet(bet("b1"), bet("b2", hand="2"), round_id="won")
    world.settle(hand("1", STRAIGHT_FLUSH), hand("2", NOTHING), round_id="won")
    page = shown(Visitor(world).sign_in(), world, "won")
    assert "The hand's part of M EUR 100.14" in page
    assert "Formula 100.14 of M ÷ rate" in page
    assert POLICY_PHRASES[policy] in page
    assert policy.value not in page
    assert "stakes, W" not in page


def test_a_held_award_says_what_its_payout_tier_needs_and_what_is_there(awarded: World) -> None:
    visitor = Visitor(awarded).sign_in()
    page = shown(visitor, awarded, "held")
    assert "1 approval, not by the person who asks." in page
    assert "Surveillance missing" in page
    assert "Two people approve or reject it." in page
    record_surveillance(awarded)
    payload = {"jackpot_id": "j1", "table_id": "T1", "round_id": "held", "decision": "approve"}
    awarded.ask("held-awards", payload, request_id="waits").ok(201)
    page = shown(visitor, awarded, "held")
    assert "Surveillance recorded camera 12, 21:10" in page
    assert "Sue" in page
    assert "approve awards of this round, asked by Ann : 0 of 1 approval is there" in page
    assert "/changes/waits" in links_of(visitor.open(path_of(awarded, "held")).text)


def test_states_say_who_took_them_when_and_why(awarded: World) -> None:
    record_surveillance(awarded)
    decide(awarded, "approve")
    stop(awarded, "held")
    page = shown(Visitor(awarded).sign_in(), awarded, "held")
    assert "held 20 Nov 2026" in page
    assert "approved 20 Nov 2026" in page
    assert "stopped 20 Nov 2026" in page
    assert "by Bob · act" in page
    assert "by Sue · act" in page
    assert "the cards are in doubt" in page
    assert "/changes/approve-held" in links_of(Visitor(awarded).sign_in().open(path_of(awarded, "held")).text)


def test_a_casino_reads_no_names_of_the_house_and_no_requests(awarded: World) -> None:
    record_surveillance(awarded)
    decide(awarded, "approve")
    stop(awarded, "held")
    visitor = casino_finance(awarded, "c1")
    page = shown(visitor, awarded, "held")
    assert "by the house · act" in page
    for name in ("Bob", "Sue", "the cards are in doubt", "as agreed"):
        assert name not in page
    assert not any(link.startswith("/changes") for link in links_of(visitor.open(path_of(awarded, "held")).text))


def test_payments_stand_with_what_is_left(awarded: World) -> None:
    pay(awarded, "payable", "slip 1", 1_000)
    page = shown(Visitor(awarded).sign_in(), awarded, "payable")
    assert "EUR 15.00 left, EUR 10.00 paid" in page
    assert "slip 1 Ask for its reversal EUR 10.00 EUR 0.00 not stated" in page
    pay(awarded, "payable", "slip 2")
    reversal = {"jackpot_id": "j1", "award_id": award_id_of(awarded, "payable"), "reference": "slip 1"}
    awarded.change("payment-reversal", reversal, request_id="reversal")
    page = shown(Visitor(awarded).sign_in(), awarded, "payable")
    assert "slip 1 reversed" in page
    assert "EUR 10.00 left, EUR 15.00 paid" in page


def test_the_history_names_each_payment_and_its_reversal(awarded: World) -> None:
    pay(awarded, "payable", "slip 1", 1_000)
    pay(awarded, "payable", "slip 2")
    reversal = {"jackpot_id": "j1", "award_id": award_id_of(awarded, "payable"), "reference": "slip 1"}
    awarded.change("payment-reversal", reversal, request_id="reversal")
    history = shown(Visitor(awarded).sign_in(), awarded, "payable").partition("History ")[2].partition("Slip ")[0]
    lines = [
        r"payable 20 Nov 2026, \d\d:\d\d:\d\d UTC by the settlement of its round",
        r"part paid 20 Nov 2026, \d\d:\d\d:\d\d UTC EUR 10.00, reference slip 1 recorded by Olga · act \d+",
        r"paid 20 Nov 2026, \d\d:\d\d:\d\d UTC EUR 15.00, reference slip 2 recorded by Olga · act \d+",
        r"payment reversed 20 Nov 2026, \d\d:\d\d:\d\d UTC EUR 10.00, reference slip 1 recorded by Bob · act \d+",
    ]
    assert re.search(" ".join(lines), history), history


def test_the_history_says_who_handed_the_money_over_and_when(awarded: World) -> None:
    body = {
        "request_id": "p1",
        "reference": "slip 1",
        "paid_at": "2026-11-20T09:00:15Z",
        "payer": "Cass",
        "channel": "cage",
    }
    awarded.put(f"/v1{path_of(awarded, 'payable')}/payment", body, key=awarded.person("Olga", Role.OPERATOR)).ok(201)
    handed_over = "EUR 25.00, reference slip 1, paid out by Cass on 20 Nov 2026, 09:00:15 UTC"
    assert handed_over in shown(Visitor(awarded).sign_in(), awarded, "payable")
    of_casino = shown(casino_finance(awarded, "c1"), awarded, "payable")
    assert handed_over in of_casino
    assert "Olga" not in of_casino


def test_withholding_says_what_is_due_and_whether_it_is_reported(world: World) -> None:
    world.open(base_amount="1000")
    rule = {"casino_id": "c1", "currency": "EUR", "report_at_minor": 1, "withhold_at_minor": 1, "percent": "24"}
    world.change("casino-withholding", rule, request_id="rule")
    world.clock.advance(timedelta(minutes=1))
    win(world, "taxed")
    page = shown(Visitor(world).sign_in(), world, "taxed")
    assert "reportable" in page
    assert "Due EUR 6.00 Withheld EUR 0.00" in page


def held(_: World) -> str:
    return "held"


def payable(_: World) -> str:
    return "payable"


def part_paid(world: World) -> str:
    pay(world, "payable", "part", 100)
    return "payable"


def paid(world: World) -> str:
    pay(world, "payable", "all")
    return "payable"


def stopped(world: World) -> str:
    stop(world, "payable")
    return "payable"


def released(world: World) -> str:
    stop(world, "payable")
    decide(world, "release", "payable")
    return "payable"


def rejected(world: World) -> str:
    decide(world, "reject")
    return "held"


def unclaimed(world: World) -> str:
    world.change("casino-claims", {"casino_id": "c1", "claim_days": 1}, request_id="claims")
    world.clock.advance(timedelta(days=2))
    return "payable"


def forfeited(world: World) -> str:
    round_id = unclaimed(world)
    payload = {"jackpot_id": "j1", "award_id": award_id_of(world, round_id)}
    world.change("award-forfeiture", payload, request_id="forfeiture")
    return round_id


def reversed_(world: World) -> str:
    correct(world, hand("1", NOTHING), round_id="payable")
    return "payable"


@pytest.mark.parametrize(
    ("state", "claim"),
    [
        (held, "Claim no date while the award waits for approval"),
        (payable, "Claim no end: the casino has set no claim period"),
        (part_paid, "Claim no end: the casino has set no claim period"),
        (paid, "Claim nothing is left to be paid"),
        (stopped, "Claim no date while the payment is stopped"),
        (rejected, "Claim nothing is to be paid: people rejected the award"),
        (unclaimed, "Claim ended 2"),
        (forfeited, "Claim nothing is left to be paid: the award is forfeited"),
        (reversed_, "Claim nothing is to be paid: a correction took the award back"),
    ],
)
def test_the_claim_says_plainly_whether_there_is_a_date(
    awarded: World, state: Callable[[World], str], claim: str
) -> None:
    round_id = state(awarded)
    assert claim in shown(Visitor(awarded).sign_in(), awarded, round_id)


def test_a_claim_that_still_runs_shows_its_end(awarded: World) -> None:
    awarded.change("casino-claims", {"casino_id": "c1", "claim_days": 30}, request_id="claims")
    assert "Claim ends 20 Dec 2026" in shown(Visitor(awarded).sign_in(), awarded, "payable")


ALL = frozenset({"payment", "stop", "slip"})


@pytest.mark.parametrize(
    ("state", "chip", "operator"),
    [
        (held, "held", {"evidence"}),
        (payable, "payable", ALL),
        (part_paid, "part paid", ALL),
        (paid, "paid", {"slip"}),
        (stopped, "stopped", frozenset()),
        (released, "payable", ALL - {"stop"}),
        (rejected, "rejected", {"evidence"}),
        (unclaimed, "unclaimed", ALL),
        (forfeited, "forfeited", frozenset()),
        (reversed_, "reversed", frozenset()),
    ],
)
def test_a_page_offers_what_its_reader_may_do_in_each_state(
    awarded: World, state: Callable[[World], str], chip: str, operator: frozenset[str]
) -> None:
    path = path_of(awarded, state(awarded))
    reader = {role: Visitor(awarded).sign_in(role) for role in WATCHERS}
    pages = {role: visitor.open(path).text for role, visitor in reader.items()}
    casino = casino_finance(awarded, "c1").open(path).text
    assert all(f">{chip}</span>" in page for page in (*pages.values(), casino))
    assert forms_on(pages[Role.OPERATOR]) == operator
    assert forms_on(casino) == operator
    assert forms_on(pages[Role.FINANCE]) == operator - {"payment"}
    assert forms_on(pages[Role.AUDITOR]) == operator - {"payment", "slip"}


def test_who_made_a_key_of_the_round_is_offered_no_payment(world: World) -> None:
    world.open(base_amount="1000")
    olga = world.key_of(Principal("Olga", Role.OPERATOR))
    body = {"request_id": "k1", "principal": "a server", "role": "table", "casino_id": "c1", "reason": "rotated"}
    key = world.post("/v1/keys", body, key=olga).ok(201)["key"]
    world.send("POST", "T1", "won/bets", {"bets": [bet("b1")]}, key=key).ok(201)
    world.send("PUT", "T1", "won/result", {"bet_count": 1, "hands": [hand("1", FLUSH)]}, key=key).ok(201)
    path = path_of(world, "won")
    assert forms_on(Visitor(world).sign_in(key=olga).open(path).text) == {"stop", "slip"}
    assert forms_on(Visitor(world).sign_in(Role.OPERATOR).open(path).text) == ALL


def test_forms_of_changes_are_linked_for_those_who_may_ask(world: World) -> None:
    furnish(world)
    stop(world, "payable")
    operator, auditor = (Visitor(world).sign_in(role) for role in (Role.OPERATOR, Role.AUDITOR))
    held_page, stopped_page = (operator.open(path_of(world, round_id)).text for round_id in ("held", "payable"))
    assert "Ask for its rejection" in held_page
    assert "Ask for its approval" not in held_page, "evidence is missing, so it would be refused"
    assert "It can be approved when this evidence is recorded: surveillance" in held_page
    named = "jackpot_id=j1&amp;table_id=T1&amp;round_id=payable&amp;bets=b1&amp;decision=release"
    assert f'href="/changes/new/held-awards?{named}"' in stopped_page
    assert "/changes/new" not in auditor.open(path_of(world, "held")).text
    pay(world, "pounds", "slip 1")
    assert "Ask for its reversal" in operator.open(path_of(world, "pounds")).text


@pytest.mark.parametrize("path", ["/awards/aw_0", "/awards/%22%3E", f"/awards/{'w' * 65}", "/awards/aw_0/slip"])
def test_what_is_no_award_is_not_there(awarded: World, path: str) -> None:
    assert Visitor(awarded).sign_in(Role.OPERATOR).open(path).status == 404
