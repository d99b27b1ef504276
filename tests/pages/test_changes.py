"""Changes on pages: who sees them, what they would do, and that another person decides by what was shown."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from html import unescape
from threading import Barrier
from typing import Final

import pytest

from jackpot_service.domain.changes import LIFETIME
from jackpot_service.domain.principals import Role
from jackpot_service.pages.change import MOVED, NO_OUTCOME, NO_REMARK
from tests.support import every_kind
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.every_kind import PAYLOADS
from tests.support.hands import FLUSH, hand
from tests.support.page_text import content_of, text_of
from tests.support.payouts import held_from
from tests.support.people import asker_of
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

ADJUSTMENT: Final = {
    "jackpot_id": "j1",
    "account": "reserve",
    "amount": "12.5",
    "document": "memo 1",
    "cause": "count-error",
}
HOSTILE: Final = "<script>alert(1)</script>\"' &amp; \N{HEBREW LETTER ALEF}"
UNUSUAL: Final = {"base": "EUR", "rates": {"GBP": "2.34"}}
PAGE: Final = "/changes/q1"


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000")
    return world


@pytest.fixture
def requested(opened: World) -> World:
    """An adjustment, which Ann the operator has requested."""
    opened.ask("adjustment", ADJUSTMENT).ok(201)
    return opened


def person(world: World, name: str, role: Role = Role.FINANCE) -> Visitor:
    return Visitor(world).sign_in(key=world.person(name, role))


def shown(visitor: Visitor, path: str = PAGE) -> str:
    answer = visitor.open(path)
    assert answer.status == 200, answer.text
    return content_of(answer.text)


def hidden(page: str, name: str) -> str:
    match = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert match, page
    return unescape(match[1])


def approve(visitor: Visitor, path: str = PAGE, **more: str) -> Answer:
    """Approve by the form as it stands on its page."""
    page = visitor.open(path).text
    form = {name: hidden(page, name) for name in ("csrf_token", "effect", "outcome")}
    return visitor.post(path, {**form, **more}, Referer=f"http://localhost{path}")


def reject(visitor: Visitor, reason: str, path: str = PAGE) -> Answer:
    return visitor.submit(path, {"outcome": "rejected", "reason": reason}, Referer=f"http://localhost{path}")


def request(world: World, request_id: str = "q1") -> Body:
    return world.get(f"/v1/change-requests/{request_id}", role=Role.AUDITOR).ok()


def owe(world: World) -> None:
    """Have the prize fund pay more than it holds."""
    world.bet(bet("w", stake_minor=1000), round_id="won")
    world.settle(hand("1", FLUSH), round_id="won")


def has_form(page: str) -> bool:
    return "<button>Approve</button>" in page or '<button class="second">Reject</button>' in page


# The inbox.


@pytest.mark.parametrize("role", [Role.FINANCE, Role.OPERATOR, Role.RATES, Role.AUDITOR])
def test_an_empty_inbox_says_what_would_be_there(opened: World, role: Role) -> None:
    visitor = Visitor(opened).sign_in(role)
    for tab in ("you", "yours", "waiting", "decided"):
        assert "is here" in shown(visitor, f"/changes?tab={tab}") or "are here" in shown(visitor, f"/changes?tab={tab}")


def test_a_request_waits_for_those_who_may_decide_it_and_for_nobody_else(requested: World) -> None:
    assert "reserve of jackpot j1" in shown(person(requested, "Bob"), "/changes")
    assert "account reserve · amount EUR 12.50" in shown(person(requested, "Bob"), "/changes")
    assert "Nothing waits for you" in shown(person(requested, "Ann", Role.OPERATOR), "/changes")
    assert "Nothing waits for you" in shown(person(requested, "Olga", Role.OPERATOR), "/changes")
    assert "reserve of jackpot j1" in shown(person(requested, "Olga", Role.OPERATOR), "/changes?tab=waiting")
    assert "reserve of jackpot j1" in shown(person(requested, "Ann", Role.OPERATOR), "/changes?tab=yours")
    assert "reserve of jackpot j1" in shown(Visitor(requested).sign_in(Role.AUDITOR), "/changes")
    assert "adjustment" not in shown(Visitor(requested).sign_in(Role.RATES), "/changes?tab=waiting")


def test_the_badge_counts_what_waits_for_a_person_on_every_page(requested: World) -> None:
    requested.ask("adjustment", ADJUSTMENT, request_id="q2").ok(201)
    assert "Changes 2 waiting for you" in text_of(person(requested, "Bob").open("/account").text)
    assert "waiting for you" not in text_of(person(requested, "Ann", Role.OPERATOR).open("/account").text)
    assert "waiting for you" not in text_of(Visitor(requested).sign_in(Role.AUDITOR).open("/account").text)
    requested.clock.advance(LIFETIME)
    assert "waiting for you" not in text_of(person(requested, "Bob").open("/account").text)


def test_a_department_or_role_that_must_differ_is_looked_at_in_the_inbox_too(world: World) -> None:
    every_kind.played(world)
    world.ask("held-awards", PAYLOADS["held-awards"], by="Fay", role=Role.FINANCE).ok(201)
    assert "Nothing waits for you" in shown(person(world, "Bob"), "/changes")
    assert "must decide" in shown(person(world, "Bob"))
    assert "Held awards" in shown(person(world, "Olga", Role.OPERATOR), "/changes")


def test_what_was_decided_waits_for_nobody_any_more(requested: World) -> None:
    assert approve(person(requested, "Bob")).status == 303
    assert "Nothing waits for you" in shown(person(requested, "Bob"), "/changes")
    assert "reserve of jackpot j1" in shown(person(requested, "Bob"), "/changes?tab=decided")


def test_a_long_list_goes_on_where_the_page_before_ended(opened: World) -> None:
    for number in range(52):
        opened.ask("adjustment", ADJUSTMENT, request_id=f"q{number}").ok(201)
    visitor = person(opened, "Bob")
    first = visitor.open("/changes").text
    match = re.search(r'href="([^"]+)" rel="next"', first)
    assert match
    second = visitor.open(unescape(match[1])).text
    seen = [re.findall(r"/changes/(q\d+)\"", page) for page in (first, second)]
    assert [len(page) for page in seen] == [50, 2]
    assert {*seen[0], *seen[1]} == {f"q{number}" for number in range(52)}


@pytest.mark.parametrize("query", ["?tab=%3Cscript%3E", "?after=nonsense", "?tab=decided&after=k0"])
def test_a_wrong_address_of_the_inbox_is_its_beginning(requested: World, query: str) -> None:
    assert Visitor(requested).sign_in().open(f"/changes{query}").status == 200


@pytest.mark.parametrize("path", ["/changes", PAGE, f"{PAGE}/emergency"])
def test_nobody_of_a_casino_sees_changes(requested: World, path: str) -> None:
    visitor = Visitor(requested).sign_in(key=requested.key(Role.FINANCE, casino_id="c1"))
    assert visitor.open(path).status == 404
    assert "/changes" not in visitor.open("/account").text


# One request.


def marks_of(kind: str) -> list[pytest.MarkDecorator]:
    return [] if kind in {"adjustment", "held-awards", "rules"} else [pytest.mark.long]


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=marks_of(kind)) for kind in sorted(PAYLOADS)])
def test_every_kind_is_shown_waiting_and_done_as_the_api_says(world: World, kind: str) -> None:
    every_kind.played(world)
    world.ask(kind, PAYLOADS[kind]).ok(201)
    auditor = Visitor(world).sign_in(Role.AUDITOR)
    waiting = auditor.open(PAGE)
    assert "What it would do now" in content_of(waiting.text)
    assert not has_form(waiting.text)
    world.approve().ok()
    done = shown(auditor)
    assert "What it did" in done
    for posting in request(world)["effect"]["postings"]:
        assert posting["account"] in done


def test_only_what_differs_is_shown_with_its_move(requested: World) -> None:
    page = shown(person(requested, "Bob"))
    assert "pools · reserve EUR 0.00 EUR 12.50" in page
    assert "pools · meter" not in page
    assert "house:adjustments adjustment, in the book of j1 EUR \N{MINUS SIGN}12.50" in page


def test_a_move_is_said_in_per_cent(opened: World) -> None:
    opened.ask("rate-sheet", {"base": "EUR", "rates": {"GBP": "1.2"}}).ok(201)
    assert "GBP 1.17 1.2 +2.56 %" in shown(Visitor(opened).sign_in(Role.RATES))


@pytest.mark.parametrize("path", ["/changes/nothing", "/changes/%3Cscript%3E"])
def test_a_request_that_is_not_there_is_answered_by_a_page(requested: World, path: str) -> None:
    assert Visitor(requested).sign_in().open(path).status == 404


def test_people_of_rates_see_only_the_kinds_that_they_decide(requested: World) -> None:
    visitor = Visitor(requested).sign_in(Role.RATES)
    assert visitor.open(PAGE).status == 404
    assert visitor.submit(PAGE, {"outcome": "approved"}, page="/account").status == 404


def test_an_auditor_decides_nothing_by_any_address(requested: World) -> None:
    visitor = Visitor(requested).sign_in(Role.AUDITOR)
    for path in (PAGE, f"{PAGE}/emergency"):
        assert visitor.submit(path, {"outcome": "approved", "reason": "r"}, page="/account").status == 404
    assert request(requested)["state"] == "pending"


def test_hostile_words_are_written_as_they_are(opened: World) -> None:
    opened.ask("adjustment", {**ADJUSTMENT, "document": HOSTILE}, reason=HOSTILE).ok(201)
    bob = person(opened, "Bob")
    assert reject(bob, HOSTILE).status == 303
    for path in ("/changes?tab=decided", PAGE):
        page = bob.open(path).text
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)" in page


# Deciding.


def test_another_person_approves_what_was_shown(requested: World) -> None:
    assert approve(person(requested, "Bob"), reason="the memo says so").headers["Location"] == PAGE
    decision = request(requested)["decision"]
    assert (decision["checker"], decision["reason"]) == ("Bob", "the memo says so")
    assert "approved by Bob" in shown(person(requested, "Ann", Role.OPERATOR))


def test_a_double_click_is_a_replay(requested: World) -> None:
    bob = person(requested, "Bob")
    page = bob.open(PAGE).text
    form = {name: hidden(page, name) for name in ("csrf_token", "effect", "outcome")}
    assert [bob.post(PAGE, form).status for _ in range(2)] == [303, 303]
    assert [each["reason"] for each in request(requested)["decisions"]] == [NO_REMARK]


@pytest.mark.parametrize("outcome", ["", "approve", "Rejected", "1"])
def test_what_is_neither_an_approval_nor_a_rejection_decides_nothing(requested: World, outcome: str) -> None:
    form = {"outcome": outcome, "reason": "a slip"}
    answer = person(requested, "Bob").submit(PAGE, form, Referer=f"http://localhost{PAGE}")
    assert answer.status == 422
    assert NO_OUTCOME in content_of(answer.text)
    assert request(requested)["state"] == "pending"


@pytest.mark.parametrize("reason", ["", "  ", "\x07bell", "x" * 501])
def test_a_rejection_needs_a_reason(requested: World, reason: str) -> None:
    answer = reject(person(requested, "Bob"), reason)
    assert answer.status == 422
    assert "The reason must be a text" in content_of(answer.text)
    assert request(requested)["state"] == "pending"


def test_a_rejection_is_shown_with_its_reason(requested: World) -> None:
    assert reject(person(requested, "Bob"), "no memo").status == 303
    page = shown(person(requested, "Ann", Role.OPERATOR))
    assert "rejected by Bob" in page
    assert "no memo" in page
    assert "Nothing: it was not approved." in page


def test_the_maker_approves_by_no_address(requested: World) -> None:
    ann = person(requested, "Ann", Role.OPERATOR)
    page = ann.open(PAGE).text
    assert "It waits for somebody else." in page
    assert not has_form(page)
    assert ann.open(f"{PAGE}/emergency").status == 404
    for path in (PAGE, f"{PAGE}/emergency"):
        for outcome in ("approved", "rejected"):
            form = {
                "outcome": outcome,
                "reason": "r",
                "effect": hidden(person(requested, "Bob").open(PAGE).text, "effect"),
            }
            answer = ann.submit(path, form, page="/account")
            assert answer.status == 403, (path, outcome)
            assert "Your decision was not carried out." in content_of(answer.text)
    assert request(requested)["state"] == "pending"


def test_of_two_checkers_at_once_one_wins_and_the_other_reads_by_whom(requested: World) -> None:
    checkers = [person(requested, name) for name in ("Bob", "Cleo")]
    pages = [checker.open(PAGE).text for checker in checkers]
    forms = [{name: hidden(page, name) for name in ("csrf_token", "effect", "outcome")} for page in pages]
    together = Barrier(2)

    def send(number: int) -> Answer:
        together.wait()
        return checkers[number].post(PAGE, forms[number])

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(send, range(2)))
    assert sorted(answer.status for answer in answers) == [303, 409]
    second = next(answer for answer in answers if answer.status == 409)
    winner = request(requested)["decision"]["checker"]
    assert f"Your decision was not carried out. {winner} has approved it meanwhile" in content_of(second.text)
    assert not has_form(second.text)


def test_of_two_who_must_approve_the_first_waits_for_the_second_and_may_still_reject(world: World) -> None:
    world.open(base_amount="1000", settings={"payout_tiers": held_from("20", approvals=2)})
    world.bet(bet(), round_id="held")
    world.settle(hand("1", FLUSH), round_id="held")
    world.ask("held-awards", PAYLOADS["held-awards"], by="Ann", role=Role.OPERATOR).ok(201)
    bob, cleo = person(world, "Bob"), person(world, "Cleo")
    assert "2 approvals are needed." in shown(bob)
    assert approve(bob).status == 303
    page = bob.open(PAGE).text
    assert "Bob approved it before: another user must approve it as well." in content_of(page)
    assert "<button>Approve</button>" not in page
    assert '<button class="second">Reject</button>' in page
    assert "Nothing waits for you" in shown(bob, "/changes")
    assert "Held awards" in shown(cleo, "/changes")
    assert approve(cleo).status == 303
    assert request(world)["state"] == "approved"


def test_an_effect_that_moved_is_shown_before_it_counts(opened: World) -> None:
    """Bets fill the prize fund, so a true-up comes to less than its page has shown."""
    owe(opened)
    opened.ask("prize-fund-true-up", {"jackpot_id": "j1"}).ok(201)
    bob = person(opened, "Bob")
    page = bob.open(PAGE).text
    before = request(opened)["effect"]["after"]["amount"]
    opened.bet(bet("b", stake_minor=1000), round_id="meanwhile")
    after = request(opened)["effect"]["after"]["amount"]
    assert before != after
    answer = bob.post(PAGE, {name: hidden(page, name) for name in ("csrf_token", "effect", "outcome")})
    assert answer.status == 409
    assert MOVED in content_of(answer.text)
    assert f"amount EUR {after}" in content_of(answer.text)
    assert request(opened)["state"] == "pending"
    form = {name: hidden(answer.text, name) for name in ("csrf_token", "effect", "outcome")}
    opened.bet(bet("c", stake_minor=1000), round_id="once-more")
    assert bob.post(PAGE, form).status == 409
    assert bob.post(PAGE, {**form, "as_it_comes": "yes"}).status == 303
    assert request(opened)["state"] == "approved"


def test_bets_that_move_only_the_balances_do_not_stop_an_approval(requested: World) -> None:
    bob = person(requested, "Bob")
    page = bob.open(PAGE).text
    requested.bet(bet("b", stake_minor=1000))
    assert bob.post(PAGE, {name: hidden(page, name) for name in ("csrf_token", "effect", "outcome")}).status == 303


@pytest.mark.parametrize("kind", ["round-correction", "statement-settlement"])
def test_bets_that_move_balances_which_a_change_records_do_not_stop_an_approval(world: World, kind: str) -> None:
    every_kind.played(world)
    maker = asker_of(kind)
    world.ask(kind, PAYLOADS[kind], by=maker.name, role=maker.role).ok(201)
    bob = person(world, "Bob")
    page = bob.open(PAGE).text
    before = request(world)["effect"]["after"]
    world.bet(bet("meanwhile", stake_minor=1000), round_id="meanwhile")
    assert request(world)["effect"]["after"] != before
    answer = bob.post(PAGE, {name: hidden(page, name) for name in ("csrf_token", "effect", "outcome")})
    assert answer.status == 303, content_of(answer.text)


def test_who_approves_needs_their_key_shown_within_a_quarter_of_an_hour(requested: World) -> None:
    bob = person(requested, "Bob")
    requested.clock.advance(timedelta(minutes=16))
    answer = approve(bob)
    assert (answer.status, answer.headers["Location"]) == (303, "/sign-in/again?next=/changes/q1&unsent=form")
    assert request(requested)["state"] == "pending"
    proved = bob.submit(
        "/sign-in/again", {"key": requested.person("Bob", Role.FINANCE), "next": PAGE}, page=answer.headers["Location"]
    )
    assert proved.headers["Location"] == PAGE
    assert approve(bob).status == 303
    assert request(requested)["state"] == "approved"


def test_a_request_that_expires_while_its_page_is_open_is_said_to(requested: World) -> None:
    bob = person(requested, "Bob")
    requested.clock.advance(LIFETIME - timedelta(minutes=1))
    bob = person(requested, "Bob")
    page = bob.open(PAGE).text
    requested.clock.advance(timedelta(minutes=2))
    answer = bob.post(PAGE, {name: hidden(page, name) for name in ("csrf_token", "effect", "outcome")})
    assert answer.status == 409
    assert "The request expired on" in content_of(answer.text)
    assert "nobody can decide it any more" in shown(bob)


def test_unusual_figures_are_typed_and_kept_where_they_are_wrong(opened: World) -> None:
    opened.ask("rate-sheet", UNUSUAL, by="Rita", role=Role.RATES).ok(201)
    rolf = person(opened, "Rolf", Role.RATES)
    for typed in ("2.35", "two", "", "2,34"):
        answer = approve(rolf, **{"confirm:GBP": typed, "reason": "called London"})
        assert answer.status == 422, typed
        assert f'autocomplete="off" value="{typed}"' in answer.text
        assert 'value="called London"' in answer.text
        assert 'id="confirm:GBP-error"' in answer.text
    assert request(opened)["state"] == "pending"
    assert approve(rolf, **{"confirm:GBP": " 2.340 "}).status == 303
    assert request(opened)["state"] == "approved"


def test_a_change_that_became_impossible_says_why_and_can_be_rejected(opened: World) -> None:
    for request_id in ("q1", "q2"):
        opened.ask("rate-sheet", {"base": "EUR", "rates": {"GBP": "1.18"}}, request_id=request_id).ok(201)
    opened.approve("q2").ok()
    rolf = person(opened, "Rolf", Role.RATES)
    page = rolf.open(PAGE).text
    assert "The subject has changed since the request" in page
    assert "<button>Approve</button>" not in page
    assert reject(rolf, "overtaken").status == 303


# Alone.


def test_an_emergency_is_a_second_page_where_the_switch_is_on(requested: World) -> None:
    requested.switch_emergency()
    ann, bob = person(requested, "Ann", Role.OPERATOR), person(requested, "Bob")
    assert f'href="{PAGE}/emergency"' in ann.open(PAGE).text
    assert bob.open(f"{PAGE}/emergency").status == 404
    assert "alone" in shown(ann, f"{PAGE}/emergency")
    assert approve(ann, f"{PAGE}/emergency").headers["Location"] == PAGE
    decision = request(requested)["decision"]
    assert (decision["checker"], decision["is_emergency"]) == ("Ann", True)
    assert "one person alone" in shown(bob)
