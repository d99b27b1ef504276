"""Forms of change requests: one of every kind asks for what a call of the API asks for."""

import re
from dataclasses import fields
from datetime import timedelta
from functools import partial
from typing import Final

import pytest

from jackpot_service.domain.change_policy import KindPolicy
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.pages.change_forms.registry import FORMS
from jackpot_service.usecases.changes.registry import KINDS
from tests.support import every_kind
from tests.support.answers import Answer, Body
from tests.support.authenticator import Authenticator
from tests.support.bets import bet
from tests.support.correcting import correct, reject
from tests.support.every_kind import PAYLOADS
from tests.support.filled_forms import FILLED, asker, opened, sent, somebody
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, STRAIGHT, hand
from tests.support.page_forms import Pairs, form_to, forms_in
from tests.support.page_text import content_of, links_of
from tests.support.payouts import held_from
from tests.support.signing_people import register
from tests.support.visitor import Visitor, token_in
from tests.support.world import World

pytestmark = pytest.mark.slow

HOSTILE: Final = "<script>alert(1)</script>\"' &amp; \N{HEBREW LETTER ALEF}"
ADJUSTMENT: Final = {"account": "reserve", "amount": "12.5", "document": "memo 1", "cause": "count-error"}


@pytest.fixture
def played(world: World) -> World:
    every_kind.played(world)
    return world


@pytest.fixture
def jackpot(world: World) -> World:
    world.open(base_amount="1000")
    return world


def requests(world: World) -> list[Body]:
    items: list[Body] = world.get("/v1/change-requests", role=Role.AUDITOR).ok()["items"]
    return items


def asked_once(world: World) -> Body:
    (request,) = requests(world)
    return request


def without_token(pairs: Pairs) -> Pairs:
    return [(name, value) for name, value in pairs if name != "csrf_token"]


def focused(page: str) -> str:
    """The name of the field on which the page sets the focus."""
    match = re.search(r'name="([^"]+)"[^>]* autofocus', page)
    assert match, page
    return match[1]


def shown_error(answer: Answer, name: str) -> str:
    match = re.search(rf'id="{re.escape(name)}-error"[^>]*>([^<]*)<', answer.text)
    assert match, answer.text
    return match[1]


# Every kind.


def test_every_kind_of_change_has_a_form_but_a_rate_sheet_which_has_its_own_page() -> None:
    assert FORMS.keys() == FILLED.keys() == KINDS.keys() - {"rate-sheet"}


@pytest.mark.parametrize("kind", FILLED)
def test_a_form_asks_for_what_a_call_of_the_api_asks_for(played: World, kind: str) -> None:
    visitor = asker(played, kind)
    form = opened(visitor, kind, FILLED[kind].query)
    answer = sent(visitor, form, FILLED[kind].values)
    assert answer.status == 303, content_of(answer.text)

    request = next(each for each in requests(played) if each["request_id"] == form.value("request_id"))
    assert answer.headers["Location"] == f"/changes/{request['request_id']}"
    assert (request["kind"], request["reason"], request["state"]) == (kind, "as agreed", "pending")
    assert KINDS[kind].read(request["payload"]) == KINDS[kind].read(PAYLOADS[kind])
    page = visitor.open(answer.headers["Location"])
    assert page.status == 200
    assert "as agreed" in page.text


@pytest.mark.parametrize("kind", FILLED)
def test_a_trial_shows_what_it_would_do_and_asks_for_nothing(played: World, kind: str) -> None:
    before = len(requests(played))
    visitor = asker(played, kind)
    form = opened(visitor, kind, FILLED[kind].query)
    answer = sent(visitor, form, FILLED[kind].values, step="try")

    assert answer.status == 200, content_of(answer.text)
    assert "What it would do now" in content_of(answer.text)
    assert len(requests(played)) == before
    again = form_to(answer.text, f"/changes/new/{kind}")
    typed = form.filled({"reason": "as agreed", **FILLED[kind].values})
    assert sorted(without_token(again.fields)) == sorted(without_token(typed))


@pytest.mark.parametrize("kind", FILLED)
def test_what_a_form_is_about_is_chosen_where_the_address_does_not_say_it(played: World, kind: str) -> None:
    visitor = asker(played, kind)
    subject = FORMS[kind].subject
    answer = visitor.open(f"/changes/new/{kind}")
    if not subject:
        assert answer.status == 303
        return
    assert answer.status == 200
    (choice,) = (form for form in forms_in(answer.text) if form.action == f"/changes/new/{kind}")
    assert [name for name, _ in choice.fields] == list(subject)
    query = dict(pair.split("=") for pair in FILLED[kind].query.split("&"))
    for name, values in choice.choices.items():
        assert query[name] in values
    candidates = [link for link in links_of(answer.text) if link.startswith(f"/changes/new/{kind}?")]
    if {"round", "award"} & {*subject}:
        assert f"/changes/new/{kind}?{FILLED[kind].query}" in candidates
    for link in candidates:
        assert visitor.open(link).status == 303


# Who may.


def test_people_see_the_forms_that_the_change_policy_gives_them(jackpot: World) -> None:
    def titles(visitor: Visitor) -> str:
        return content_of(visitor.open("/changes/new").text)

    olga, fay = somebody(jackpot, "Olga", Role.OPERATOR), somebody(jackpot, "Fay", Role.FINANCE)
    assert "Correct a pool" in titles(olga)
    assert "Settle a statement" not in titles(olga)
    assert "Settle a statement" in titles(fay)
    assert "Correct a pool" not in titles(fay)
    assert fay.open("/changes/new/adjustment").status == 404
    form = opened(olga, "adjustment", "jackpot=j1")
    token = token_in(fay.open("/account").text)
    typed = form.filled({**ADJUSTMENT, "reason": "as agreed", "csrf_token": token})
    assert fay.post(form.action, typed).status == 404
    assert requests(jackpot) == []
    assert "Ask for a change" in content_of(olga.open("/changes").text)

    rita = somebody(jackpot, "Rita", Role.RATES)
    assert "New rate sheet" in titles(rita)
    assert "asks for no change of these kinds" not in titles(rita)
    assert "/changes/new" in links_of(rita.open("/changes").text)

    policy = {"kinds": {"adjustment": {"requested_by": ["finance"], "decided_by": ["operator"]}}}
    jackpot.change("change-policy", policy)
    assert "Correct a pool" in titles(fay)
    assert "Correct a pool" not in titles(olga)
    assert olga.open("/changes/new/adjustment?jackpot=j1").status == 404


@pytest.mark.parametrize("role", [Role.AUDITOR, Role.FINANCE])
def test_nobody_else_has_forms(jackpot: World, role: Role) -> None:
    casino_id = "c1" if role is Role.FINANCE else None
    visitor = Visitor(jackpot).sign_in(key=jackpot.key(role, casino_id=casino_id))
    assert visitor.open("/changes/new").status == 404
    assert visitor.open("/changes/new/adjustment?jackpot=j1").status == 404


def test_there_is_no_form_of_a_kind_that_there_is_not(jackpot: World) -> None:
    visitor = somebody(jackpot, "Olga", Role.OPERATOR)
    for kind in ("rate-sheet", "nothing", "emergency"):
        assert visitor.open(f"/changes/new/{kind}").status == 404


def test_a_subject_that_there_is_not_is_said_where_one_is_chosen(jackpot: World) -> None:
    visitor = somebody(jackpot, "Olga", Role.OPERATOR)
    for address in (
        "adjustment?jackpot=j9",
        "adjustment?jackpot=%3Cscript%3E",
        "round-correction?table=T1&round=nothing",
        "table-limits?table=T9",
        "casino-claims?casino=c9",
        "award-forfeiture?award=aw_9",
        "change-policy?of=nothing",
    ):
        answer = visitor.open(f"/changes/new/{address}")
        assert answer.status == 404, address
        assert re.search("There is no|has no round", content_of(answer.text)), address
        assert 'role="alert"' in answer.text
        assert "<script>" not in answer.text.partition("<main")[2]


def test_an_open_round_has_no_result_to_correct(jackpot: World) -> None:
    jackpot.bet(bet("a"), round_id="open")
    answer = somebody(jackpot, "Olga", Role.OPERATOR).open("/changes/new/round-correction?table=T1&round=open")
    assert "The round is not settled" in content_of(answer.text)


# Errors.


def test_an_error_stands_at_its_field_and_the_text_is_as_it_was(jackpot: World) -> None:
    olga = somebody(jackpot, "Olga", Role.OPERATOR)
    form = opened(olga, "adjustment", "jackpot=j1")
    values = {**ADJUSTMENT, "amount": "12,50", "document": "x" * 501, "cause": ""}
    answer = sent(olga, form, values, reason="")

    assert answer.status == 422
    assert shown_error(answer, "amount") == "Difference must be a plain decimal number, such as -12.50."
    assert "must be a text of 1 to 500" in shown_error(answer, "document")
    assert shown_error(answer, "cause") == "Cause is needed."
    assert shown_error(answer, "reason") == "The reason is needed."
    assert focused(answer.text) == "amount"
    again = form_to(answer.text, "/changes/new/adjustment")
    assert again.value("amount") == "12,50"
    assert again.value("account") == "reserve"
    assert again.value("request_id") == form.value("request_id")
    assert requests(jackpot) == []

    reason = sent(olga, again, ADJUSTMENT, reason=" ")
    assert focused(reason.text) == "reason"


def test_a_refusal_that_is_about_no_field_is_said_at_the_head(jackpot: World) -> None:
    olga = somebody(jackpot, "Olga", Role.OPERATOR)
    form = opened(olga, "adjustment", "jackpot=j1")
    answer = sent(olga, form, {**ADJUSTMENT, "amount": "-5000"})
    assert answer.status == 422
    assert "it cannot be adjusted by -5000" in content_of(answer.text)
    assert 'role="alert" tabindex="-1" autofocus' in answer.text
    assert form_to(answer.text, "/changes/new/adjustment").value("amount") == "-5000"


def test_a_minus_as_the_pages_write_it_is_one(jackpot: World) -> None:
    jackpot.change("adjustment", {"jackpot_id": "j1", **ADJUSTMENT}, request_id="before")
    olga = somebody(jackpot, "Olga", Role.OPERATOR)
    form = opened(olga, "adjustment", "jackpot=j1")
    assert sent(olga, form, {**ADJUSTMENT, "amount": "\N{MINUS SIGN}2.50"}).status == 303
    assert requests(jackpot)[0]["payload"]["amount"] == "-2.50"


@pytest.mark.parametrize("typed", ["12.505", "1e3", "1,000,00", "9" * 61, "12.5.0", "--1"])
def test_an_amount_of_no_whole_minor_units_is_refused_at_its_field(played: World, typed: str) -> None:
    ann = asker(played, "compensation")
    form = opened(ann, "compensation", "table=T1&round=cancelled")
    answer = sent(ann, form, {"amount_minor": typed, "document": "minutes"})
    assert answer.status == 422
    assert shown_error(answer, "amount_minor") == (
        "Amount granted must be an amount in EUR with at most 2 decimals, such as 12.50."
    )


# Once.


def test_the_same_form_again_is_the_same_request(jackpot: World) -> None:
    olga = somebody(jackpot, "Olga", Role.OPERATOR)
    form = opened(olga, "adjustment", "jackpot=j1")
    addresses = {sent(olga, form, ADJUSTMENT).headers["Location"] for _ in range(3)}
    assert addresses == {f"/changes/{asked_once(jackpot)['request_id']}"}


def test_the_same_form_with_another_content_is_refused(jackpot: World) -> None:
    olga = somebody(jackpot, "Olga", Role.OPERATOR)
    form = opened(olga, "adjustment", "jackpot=j1")
    sent(olga, form, ADJUSTMENT)
    answer = sent(olga, form, {**ADJUSTMENT, "amount": "13"})
    assert answer.status == 409
    assert asked_once(jackpot)["payload"]["amount"] == "12.5"


def test_the_way_back_leads_to_the_form_that_was_sent(jackpot: World) -> None:
    olga = somebody(jackpot, "Olga", Role.OPERATOR)
    form = opened(olga, "adjustment", "jackpot=j1")
    sent(olga, form, ADJUSTMENT)
    page = olga.open(form.action)
    assert "You have sent this form before" in content_of(page.text)
    assert f"/changes/{form.value('request_id')}" in links_of(page.text)
    assert "/changes/new/adjustment?jackpot=j1" in links_of(page.text)

    another = somebody(jackpot, "Oskar", Role.OPERATOR).open(form.action)
    assert another.status == 303
    assert form.value("request_id") not in another.headers["Location"]


def test_an_address_may_name_its_subject_as_a_payload_does(played: World) -> None:
    ann = asker(played, "held-awards")
    form = opened(ann, "held-awards", "jackpot_id=j1&table_id=T1&round_id=held&decision=reject")
    assert form.value("decision") == "reject"
    assert sent(ann, form, {}).status == 303
    assert requests(played)[0]["payload"]["round_id"] == "held"


def test_a_form_of_an_odd_address_is_a_form(jackpot: World) -> None:
    olga = somebody(jackpot, "Olga", Role.OPERATOR)
    query = "jackpot=j1&form=%3Cscript%3E&kind=x&_external=1&_anchor=y&endpoint=z&self=1"
    form = opened(olga, "adjustment", query)
    assert sent(olga, form, ADJUSTMENT).status == 303


# What is shown.


def test_what_was_typed_is_never_markup(played: World) -> None:
    for kind in FILLED:
        visitor = asker(played, kind)
        form = opened(visitor, kind, FILLED[kind].query)
        names = {name for name, _ in form.fields if name not in {"csrf_token", "request_id"}}
        answer = sent(visitor, form, dict.fromkeys(names, HOSTILE), reason=HOSTILE)
        if answer.status == 303:  # Of some kinds the reason is all that is typed.
            answer = visitor.open(answer.headers["Location"])
        assert answer.status in {200, 404, 422}, kind
        assert "&lt;script&gt;alert(1)" in answer.text, kind
        assert "<script>alert" not in answer.text, kind


def test_a_form_says_what_there_is_now(jackpot: World) -> None:
    olga = somebody(jackpot, "Olga", Role.OPERATOR)
    page = content_of(olga.open(opened(olga, "retirement", "jackpot=j1").action).text)
    assert "Meter, the house's money: back to the house EUR 1,000.00" in page
    assert "there is none" in page


def test_a_statement_is_filled_in_from_its_address(jackpot: World) -> None:
    fay = somebody(jackpot, "Fay", Role.FINANCE)
    query = "casino_id=c1&jackpot_id=j1&currency=GBP&from=2026-10-01T06:00:00Z&to=2026-11-01&amount=-3.20&reference=R"
    form = opened(fay, "statement-settlement", query)
    stated = {name: form.value(name) for name in ("casino_id", "jackpot_id", "currency", "from", "to", "amount")}
    assert stated == {
        "casino_id": "c1",
        "jackpot_id": "j1",
        "currency": "GBP",
        "from": "2026-10-01T06:00:00",
        "to": "2026-11-01T00:00:00",
        "amount": "-3.20",
    }
    assert form.value("reference") == "R"


def test_a_form_of_withholding_begins_with_the_rule_that_there_is(jackpot: World) -> None:
    rule = {"casino_id": "c1", "currency": "EUR", "report_at_minor": 60_000, "withhold_at_minor": 120_050}
    jackpot.change("casino-withholding", {**rule, "percent": "24", "least_multiple": 300}, request_id="rule")
    form = opened(asker(jackpot, "casino-withholding"), "casino-withholding", "casino=c1&currency=EUR")
    assert form.value("report_at_minor") == "600.00"
    assert form.value("withhold_at_minor") == "1200.50"
    assert form.value("percent") == "24"
    assert form.value("least_multiple") == "300"
    assert form.value("from") == ""


def test_a_correction_begins_with_the_cards_in_force(jackpot: World) -> None:
    jackpot.bet(bet("a"), bet("b", hand="2"), round_id="lost")
    jackpot.settle(hand("1", FLUSH), hand("2", STRAIGHT), round_id="lost")
    ann = asker(jackpot, "round-correction")
    form = opened(ann, "round-correction", "table=T1&round=lost")
    assert sorted(form.values("result/hands/1/cards")) == sorted(FLUSH)
    assert sorted(form.values("result/hands/2/cards")) == sorted(STRAIGHT)
    assert len(form.choices["result/hands/1/cards"]) == len(form.choices["result/dealer"]) == 52
    assert form.value("result/bet_count") == "2"

    twice = sent(ann, form, {"result/hands/2/cards": FLUSH})
    assert "Dealt more than once" in content_of(twice.text)
    four = sent(ann, form, {"result/hands/2/cards": STRAIGHT[:4]})
    assert shown_error(four, "result/hands/2/cards") == "Hand 2 A dealt hand has five cards, not 4."
    dead = sent(ann, form, {"result/hands/2/cards": STRAIGHT[:4], "result/hands/2/status": "dead"})
    assert dead.status == 303, content_of(dead.text)
    assert asked_once(jackpot)["payload"]["result"]["hands"][1]["status"] == "dead"


def test_a_bet_with_two_awards_to_decide_shows_both(world: World) -> None:
    """A flush was rejected, and the four of a kind of the right cards is stopped: both awards are of one bet."""
    world.open(base_amount="1000", settings={"reset_amount": "300", "payout_tiers": held_from("10")})
    world.bet(bet(), round_id="r1")
    world.settle(hand("1", FLUSH))
    reject(world, "b1")
    correct(world, hand("1", FOUR_OF_A_KIND))
    (award,) = world.get("/v1/awards?state=payable").ok()["items"]
    body = {"request_id": "stop", "reason": "a doubt"}
    world.put(f"/v1/awards/{award['award_id']}/stop", body, key=world.key(Role.OPERATOR)).ok(201)
    olga = somebody(world, "Olga", Role.OPERATOR)
    page = content_of(olga.open(opened(olga, "held-awards", "table=T1&round=r1").action).text)
    assert page.count("player player-of-b1, hand 1: ") == 2, page


# Rules.


def test_only_the_settings_that_change_are_sent(jackpot: World) -> None:
    olga = somebody(jackpot, "Olga", Role.OPERATOR)
    form = opened(olga, "rules", "jackpot=j1")
    assert "You changed nothing" in content_of(sent(olga, form, {}).text)
    values = {"settings/limit": "5000", "settings/prizes.flush": "", "settings/displayed": "true"}
    answer = sent(olga, form, values)
    assert answer.status == 303, content_of(answer.text)
    settings = {"limit": "5000", "prizes.flush": None, "displayed": "true"}
    assert asked_once(jackpot)["payload"] == {"jackpot_id": "j1", "settings": settings}


def test_settings_change_the_newest_rules_also_where_they_wait(jackpot: World) -> None:
    jackpot.change("rules", {"jackpot_id": "j1", "settings": {"limit": "5000"}}, request_id="before")
    olga = somebody(jackpot, "Olga", Role.OPERATOR)
    form = opened(olga, "rules", "jackpot=j1")
    assert form.value("settings/limit") == "5000"
    assert "version 2, which comes into force after the next hit" in content_of(olga.open(form.action).text)
    assert sent(olga, form, {"settings/limit": ""}).status == 303
    assert requests(jackpot)[0]["payload"]["settings"] == {"limit": None}


def test_payout_tiers_are_sent_whole_and_an_error_stands_in_its_own_row(jackpot: World) -> None:
    olga = somebody(jackpot, "Olga", Role.OPERATOR)
    form = opened(olga, "rules", "jackpot=j1")
    row = "settings/payout_tiers/1"
    wrong = sent(olga, form, {f"{row}/from": "much", f"{row}/approvals": "2"})
    assert "must be a plain decimal number" in shown_error(wrong, f"{row}/from")

    values = {f"{row}/from": "200", f"{row}/approvals": "2", f"{row}/evidence": ["witness"], f"{row}/notify": "a, b"}
    assert sent(olga, form, values).status == 303
    tier = {"from": "200", "approvals": 2, "evidence": ["witness"], "notify": ["a", "b"]}
    assert asked_once(jackpot)["payload"]["settings"] == {"payout_tiers": [tier]}


# The change policy.


def test_a_form_of_the_policy_keeps_every_rule_that_is_left_as_it_is(jackpot: World) -> None:
    """A payload that leaves a rule out switches it off, and so would a form without a box for it."""
    cleo = Principal("Cleo", Role.FINANCE)
    jackpot.key_of(cleo)
    jackpot.transact(partial(register, person=cleo, authenticator=Authenticator(), now=jackpot.clock()))
    rules = dict.fromkeys((member.name for member in fields(KindPolicy) if member.name.startswith("needs_")), True)
    before = {"requested_by": ["operator"], "decided_by": ["finance", "operator"], **rules}
    jackpot.change("change-policy", {"kinds": {"adjustment": before}})
    olga = somebody(jackpot, "Olga", Role.OPERATOR)
    form = opened(olga, "change-policy", "of=adjustment")
    answer = sent(olga, form, {"kinds/adjustment/decided_by": ["finance"]})
    assert answer.status == 303, content_of(answer.text)
    assert requests(jackpot)[0]["payload"]["kinds"]["adjustment"] == {**before, "decided_by": ["finance"]}


# Too late.


def test_a_form_that_comes_too_late_says_that_nothing_was_done(jackpot: World) -> None:
    olga = somebody(jackpot, "Olga", Role.OPERATOR)
    form = opened(olga, "adjustment", "jackpot=j1")
    jackpot.clock.advance(timedelta(minutes=31))
    pairs = form.filled({"reason": "as agreed", **ADJUSTMENT})
    answer = olga.post(form.action, pairs, Referer=f"http://localhost{form.action}")
    assert answer.status == 303
    page = olga.open(answer.headers["Location"]).text
    assert "Your session was over when you sent the form" in content_of(page)
    assert "runs no script" in page
    assert form_to(page, "/sign-in").value("next") == form.action
    assert "Your session was over" not in content_of(olga.open("/sign-in").text)
    assert requests(jackpot) == []
