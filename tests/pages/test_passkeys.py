"""Passkeys on pages: added after a key was shown, revoked, signed in with, and what signs an approval."""

import re
from datetime import timedelta
from html import unescape
from typing import Any, Final

import orjson
import pytest

from jackpot_service.domain.errors import Unavailable
from jackpot_service.domain.principals import Role
from jackpot_service.pages import change
from tests.support.answers import Answer, Body
from tests.support.authenticator import Authenticator, body_of_assertion, body_of_credential
from tests.support.bets import bet
from tests.support.every_kind import PAYLOADS
from tests.support.hands import FLUSH, hand
from tests.support.page_text import text_of
from tests.support.visitor import Visitor, token_in
from tests.support.world import World

pytestmark = pytest.mark.slow

ACCOUNT: Final = "/account"
ADDING: Final = "/account/passkeys"
PAGE: Final = "/changes/q1"


def options_in(page: str) -> Body:
    """Read the options that a page has for the browser."""
    match = re.search(r'<script type="application/json" id="[a-z-]+">(.*?)</script>', page)
    assert match, page
    options: Body = orjson.loads(match[1])
    return options


def hidden(page: str, name: str) -> str:
    match = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert match, page
    return unescape(match[1])


def add(visitor: Visitor, authenticator: Authenticator, name: str = "blue", **client: Any) -> Answer:
    """Add a passkey as a browser does: the form, what the authenticator answers, and the form with it."""
    page = visitor.submit(ADDING, {"name": name}, page=ACCOUNT)
    assert page.status == 200, page.text
    credential = orjson.dumps(body_of_credential(authenticator.make(options_in(page.text), **client))).decode()
    form = {name_: hidden(page.text, name_) for name_ in ("csrf_token", "request_id", "name")}
    return visitor.post(ADDING, {**form, "credential": credential})


def prove(visitor: Visitor, authenticator: Authenticator) -> Answer:
    """Show a passkey again."""
    page = visitor.open("/sign-in/again?next=/account&by=passkey").text
    form = {"csrf_token": token_in(page), "assertion": assertion_of(authenticator, page), "next": ACCOUNT}
    return visitor.post("/sign-in/again/passkey", form)


def bob(world: World) -> Visitor:
    return Visitor(world).sign_in(key=world.person("Bob", Role.FINANCE))


def assertion_of(authenticator: Authenticator, page: str, **client: Any) -> str:
    return orjson.dumps(body_of_assertion(authenticator.sign(options_in(page), **client))).decode()


def sign_in(visitor: Visitor, authenticator: Authenticator, *, assertion: str | None = None) -> Answer:
    page = visitor.open("/sign-in").text
    form = {"csrf_token": token_in(page), "assertion": assertion or assertion_of(authenticator, page), "next": ACCOUNT}
    return visitor.post("/sign-in/passkey", form)


def test_a_person_without_a_passkey_is_shown_how_to_add_one(world: World) -> None:
    assert "You have none" in text_of(bob(world).open(ACCOUNT).text)


def test_a_passkey_is_added_listed_and_revoked_but_for_the_last(world: World) -> None:
    visitor, blue = bob(world), Authenticator()
    assert add(visitor, blue, "blue").status == 303
    page = visitor.open(ACCOUNT).text
    assert "You cannot revoke your own last passkey" in page
    assert "revocation" not in page
    prove(visitor, blue)
    assert add(visitor, Authenticator(), "<b>ring</b>").status == 303
    page = visitor.open(ACCOUNT).text
    assert "&lt;b&gt;ring&lt;/b&gt;" in page
    assert "Never used." in page
    path = re.search(r'action="(/account/passkeys/[0-9a-f]+/revocation)"', page)
    assert path
    form = {"csrf_token": token_in(page), "request_id": "r1"}
    for reason in ("a\u00a0b", "a" * 501):
        refused = visitor.post(path[1], {**form, "reason": reason})
        assert refused.status == 422
        assert "The reason must be" in refused.text
    refused = visitor.post(path[1], {"csrf_token": token_in(page)})
    assert refused.status == 422
    assert "not as it was shown" in refused.text
    assert visitor.post(path[1], form).status == 303
    page = visitor.open(ACCOUNT).text
    assert "revoked" in page
    assert "revocation" not in page
    assert world.books.value("SELECT count(*) FROM passkey_revocations") == 1


def test_an_operator_revokes_the_last_passkey_of_a_person_who_lost_it(world: World) -> None:
    visitor = bob(world)
    assert add(visitor, Authenticator(), "<b>ring</b>").status == 303
    key_ids = {name: world.person(name, Role.FINANCE).split("_")[1] for name in ("Bob", "Eve")}
    path = f"/set-up/keys/{key_ids['Bob']}"
    assert "revocation" not in Visitor(world).sign_in(Role.AUDITOR).open(path).text
    ann = Visitor(world).sign_in(key=world.person("Ann", Role.OPERATOR))
    page = ann.open(path).text
    assert "&lt;b&gt;ring&lt;/b&gt;" in page
    match = re.search(rf'href="({path}/passkeys/[0-9a-f]+/revocation)"', page)
    assert match
    assert ann.open(match[1].replace(key_ids["Bob"], key_ids["Eve"])).status == 404
    assert visitor.open(match[1]).status == 404

    refused_form = ann.submit(match[1], {"reason": "", "request_id": "q1"})
    assert (refused_form.status, "<bdi>is needed</bdi>" in refused_form.text) == (422, True)
    done = ann.submit(match[1], {"reason": "the ring was lost", "request_id": "q1"})

    assert (done.status, done.headers["Location"]) == (303, path)
    page = ann.open(path).text
    assert "Revoked" in page
    assert f"{path}/passkeys" not in page
    again = ann.submit(match[1], {"reason": "the ring was lost", "request_id": "q2"})
    assert (again.status, "was revoked at" in again.text) == (409, True)
    assert world.books.mismatches() == ()


@pytest.mark.parametrize("name", ["", " ", "a\u00a0b", "a" * 101])
def test_a_name_that_is_none_is_said_before_anything_is_made(world: World, name: str) -> None:
    answer = bob(world).submit(ADDING, {"name": name}, page=ACCOUNT)
    assert answer.status == 422
    assert "The name must be" in answer.text
    assert world.books.value("SELECT count(*) FROM passkey_challenges") == 0


def test_another_passkey_is_let_in_by_one_and_not_by_a_key(world: World) -> None:
    blue, visitor = Authenticator(counts=False), bob(world)
    add(visitor, blue)
    answer = visitor.submit(ADDING, {"name": "red"}, page=ACCOUNT)
    assert answer.status == 303
    page = visitor.open(answer.headers["Location"]).text
    assert "Show your passkey" in page
    assert 'name="key"' not in page
    assert prove(visitor, blue).headers["Location"] == ACCOUNT
    visitor.submit("/sign-in/again", {"key": world.person("Bob", Role.FINANCE)})
    assert visitor.submit(ADDING, {"name": "red"}, page=ACCOUNT).status == 303
    prove(visitor, blue)
    assert add(visitor, Authenticator(), "red").status == 303
    assert "red" in visitor.open(ACCOUNT).text


def test_a_session_that_a_passkey_proved_ends_when_that_is_revoked(world: World) -> None:
    blue, visitor = Authenticator(), bob(world)
    add(visitor, blue)
    prove(visitor, blue)
    revoke_by_operator(world)
    assert visitor.open(ACCOUNT).status == 303


def revoke_by_operator(world: World) -> None:
    """Have an operator revoke the first passkey."""
    passkey_id = world.books.value("SELECT passkey_id FROM passkeys ORDER BY entry_seq LIMIT 1")
    body = {"request_id": "lost", "reason": "lost"}
    world.post(f"/v1/passkeys/{passkey_id}/revocation", body, key=world.key(Role.OPERATOR)).ok(201)


def test_to_add_or_revoke_one_a_key_is_shown_again(world: World) -> None:
    visitor = bob(world)
    token = token_in(visitor.open(ACCOUNT).text)
    world.clock.advance(timedelta(minutes=16))
    for path in (ADDING, f"{ADDING}/x/revocation"):
        answer = visitor.post(path, {"csrf_token": token})
        assert answer.status == 303
        assert answer.headers["Location"].startswith("/sign-in/again")


@pytest.mark.parametrize("credential", ["{", "[]", "{}", '{"rawId": "YQ", "response": 1}', "\N{SNOWMAN}", "a" * 50_000])
def test_an_answer_that_cannot_be_read_is_said_on_the_form(world: World, credential: str) -> None:
    visitor = bob(world)
    page = visitor.submit(ADDING, {"name": "blue"}, page=ACCOUNT).text
    form = {name: hidden(page, name) for name in ("csrf_token", "request_id", "name")}
    answer = visitor.post(ADDING, {**form, "credential": credential})
    assert answer.status == 422
    assert "no answer that can be read" in answer.text
    assert options_in(answer.text)["challenge"] != options_in(page)["challenge"]


def test_an_answer_for_another_site_is_said_on_the_form(world: World) -> None:
    answer = add(bob(world), Authenticator(origin="https://evil.example"))
    assert answer.status == 422
    assert "not of this site" in answer.text


def test_a_person_signs_in_with_a_passkey_and_with_none_that_was_revoked(world: World) -> None:
    blue, visitor = Authenticator(), bob(world)
    add(visitor, blue)
    elsewhere = Visitor(world)
    assert sign_in(elsewhere, blue).headers["Location"] == ACCOUNT
    assert "Bob" in elsewhere.open(ACCOUNT).text

    revoke_by_operator(world)
    assert elsewhere.open(ACCOUNT).status == 303
    assert sign_in(Visitor(world), blue).status == 422


def test_a_sign_in_is_good_once_and_in_its_own_browser(world: World) -> None:
    blue = Authenticator(counts=False)
    add(bob(world), blue)
    visitor, thief = Visitor(world), Visitor(world)
    assertion = assertion_of(blue, visitor.open("/sign-in").text)
    assert sign_in(thief, blue, assertion=assertion).status == 422
    before = dict(visitor.cookies)
    assert sign_in(visitor, blue, assertion=assertion).status == 303
    visitor.cookies = before
    assert sign_in(visitor, blue, assertion=assertion).status == 422
    assert sign_in(visitor, blue).status == 303


def test_a_sign_in_is_good_for_a_quarter_of_an_hour(world: World) -> None:
    blue, visitor = Authenticator(counts=False), Visitor(world)
    add(bob(world), blue)
    assertion = assertion_of(blue, visitor.open("/sign-in").text)
    world.clock.advance(timedelta(minutes=15))
    answer = sign_in(visitor, blue, assertion=assertion)
    assert answer.status == 422
    assert "open for too long" in answer.text
    assert sign_in(visitor, blue).status == 303


@pytest.mark.parametrize("challenge", ["", "YQ", "_" * 53 + "8", "=", 7])
def test_an_answer_to_a_question_that_nobody_asked_is_refused(world: World, challenge: object) -> None:
    blue, visitor = Authenticator(), Visitor(world)
    add(bob(world), blue)
    assertion = assertion_of(blue, visitor.open("/sign-in").text, challenge=challenge)
    assert sign_in(visitor, blue, assertion=assertion).status == 422


def test_passkeys_that_fail_stop_no_passkey_that_there_is(world: World) -> None:
    blue, visitor = Authenticator(), Visitor(world, app=world.start(monotonic=lambda: 0.0))
    add(bob(world), blue)
    assert [sign_in(visitor, Authenticator()).status for _ in range(11)] == [*[422] * 10, 429]
    assert visitor.submit("/sign-in", {"key": "jk_wrong"}).status == 429
    assert sign_in(visitor, blue).status == 303


def test_a_proof_is_bounded_by_its_session(world: World) -> None:
    app = world.start(monotonic=lambda: 0.0)
    signed_in, stranger = (
        Visitor(world, app=app).sign_in(key=world.person("Bob", Role.FINANCE)),
        Visitor(world, app=app),
    )
    answers = [stranger.submit("/sign-in", {"key": "jk_wrong"}) for _ in range(11)]
    assert answers[-1].status == 429
    assert signed_in.submit("/sign-in/again", {"key": "jk_wrong"}).status == 422


@pytest.mark.parametrize("assertion", ["{", "[]", "{}", "x" * 60_000])
def test_a_sign_in_that_cannot_be_read_is_refused(world: World, assertion: str) -> None:
    answer = sign_in(Visitor(world), Authenticator(), assertion=assertion)
    assert answer.status == 422
    assert "no answer that can be read" in answer.text


def test_nobody_signs_in_whose_keys_were_all_revoked(world: World) -> None:
    blue = Authenticator()
    add(bob(world), blue)
    key_id = world.person("Bob", Role.FINANCE).split("_")[1]
    body = {"request_id": "k1", "reason": "left"}
    world.post(f"/v1/keys/{key_id}/revocation", body, key=world.key(Role.OPERATOR)).ok(201)
    assert sign_in(Visitor(world), blue).status == 422


def test_a_passkey_shows_again_who_somebody_is(world: World) -> None:
    blue, red, visitor = Authenticator(counts=False), Authenticator(), bob(world)
    add(visitor, blue)
    add(Visitor(world).sign_in(key=world.person("Fay", Role.FINANCE)), red)
    world.clock.advance(timedelta(minutes=16))
    page = visitor.open("/sign-in/again").text
    form = {"csrf_token": token_in(page), "assertion": assertion_of(red, page)}
    assert visitor.post("/sign-in/again/passkey", form).status == 422
    form["assertion"] = assertion_of(blue, page)
    assert visitor.post("/sign-in/again/passkey", form).status == 303
    assert visitor.submit(ADDING, {"name": "second"}, page=ACCOUNT).status == 200
    assert visitor.post("/sign-in/again/passkey", form).status == 422


# Approvals.


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000")
    world.ask("adjustment", PAYLOADS["adjustment"]).ok(201)
    return world


def approve(visitor: Visitor, page: str, assertion: str, path: str = PAGE) -> Answer:
    form = {name: hidden(page, name) for name in ("csrf_token", "effect", "outcome")}
    return visitor.post(path, {**form, "assertion": assertion}, Referer=f"http://localhost{path}")


def test_what_the_page_shows_is_signed(opened: World) -> None:
    blue, visitor = Authenticator(), bob(opened)
    add(visitor, blue)
    page = visitor.open(PAGE).text
    assert "Approve with your passkey" in page
    assert approve(visitor, page, assertion_of(blue, page)).status == 303
    assert "signed" in text_of(visitor.open(PAGE).text)


def test_without_the_signature_nothing_is_approved(opened: World) -> None:
    visitor = bob(opened)
    add(visitor, Authenticator())
    answer = approve(visitor, visitor.open(PAGE).text, "")
    assert answer.status == 403
    assert "signed with a passkey" in answer.text
    assert opened.get("/v1/change-requests/q1").ok()["state"] == "pending"


def test_who_lacks_a_passkey_that_the_policy_asks_for_is_led_to_add_one(opened: World) -> None:
    add(Visitor(opened).sign_in(key=opened.person("Fay", Role.FINANCE)), Authenticator())
    signed = {"requested_by": ["operator"], "decided_by": ["finance"], "needs_passkey": True}
    opened.change("change-policy", {"kinds": {"adjustment": signed}}, request_id="policy")
    page = bob(opened).open(PAGE).text
    assert "Add a passkey" in text_of(page)
    assert "signing-options" not in page


def test_a_database_that_takes_no_challenge_now_is_said(opened: World, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = bob(opened)
    add(visitor, Authenticator())
    monkeypatch.setattr(change, "begin_approval_of", unavailable)
    page = visitor.open(PAGE).text
    assert "nothing can be signed here at the moment" in text_of(page)
    assert "signing-options" not in page


def unavailable(*_: object, **__: object) -> None:
    message = "A replica takes nothing."
    raise Unavailable(message)


def test_books_that_move_between_showing_and_approval_are_shown_anew(world: World) -> None:
    world.open(base_amount="1000")
    blue, visitor = Authenticator(), bob(world)
    add(visitor, blue)
    owe(world, "w1")
    world.ask("prize-fund-true-up", {"jackpot_id": "j1"}).ok(201)
    page = visitor.open(PAGE).text
    assertion = assertion_of(blue, page)
    owe(world, "w2")
    before = world.books.counts()
    answer = approve(visitor, page, assertion)
    assert answer.status == 409
    assert "The books have changed" in answer.text
    assert world.books.counts() | {"passkey_challenges": 0} == before | {"passkey_challenges": 0}
    assert approve(visitor, answer.text, assertion_of(blue, answer.text)).status == 303


def owe(world: World, round_id: str) -> None:
    world.bet(bet("w", stake_minor=1000), round_id=round_id)
    world.settle(hand("1", FLUSH), round_id=round_id)


def test_an_emergency_is_signed_as_well(opened: World) -> None:
    opened.switch_emergency()
    blue = Authenticator()
    visitor = Visitor(opened).sign_in(key=opened.person("Ann", Role.OPERATOR))
    add(visitor, blue)
    path = f"{PAGE}/emergency"
    page = visitor.open(path).text
    assert "Approve alone with your passkey" in page
    assert approve(visitor, page, "", path).status == 403
    page = visitor.open(path).text
    assert approve(visitor, page, assertion_of(blue, page), path).status == 303
