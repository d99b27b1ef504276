"""Signing in by a company account: to the issuer and back, and what is said when that does not go well."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from joserfc.jwk import RSAKey

from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.records.keys import Subject
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.keys import add_user, revoke_key
from tests.pages.test_passkeys import add, assertion_of
from tests.pages.test_passkeys import sign_in as sign_in_with_passkey
from tests.support.answers import Answer
from tests.support.authenticator import Authenticator
from tests.support.code_flow import CLIENT, SECRET, CodeFlow
from tests.support.issuer import AUDIENCE, LocalIssuer, local_issuer
from tests.support.page_text import content_of, text_of
from tests.support.visitor import COOKIE, Visitor, token_in
from tests.support.world import World

pytestmark = pytest.mark.slow

PUBLIC = "https://ledger.example"
ANSWERED = "/sign-in/account/answer"


@pytest.fixture
def issuer() -> Iterator[LocalIssuer]:
    with local_issuer() as issuer:
        yield issuer


@pytest.fixture
def world(database_url: str, issuer: LocalIssuer) -> Iterator[World]:
    """A house whose people sign in to its pages at the issuer; Ann, an operator, is one of them."""
    client = {"oidc_client_id": CLIENT, "oidc_client_secret": SECRET, "public_url": PUBLIC}
    world = World(database_url, oidc_issuer=issuer.url, oidc_audience=AUDIENCE, **client)
    register(world, issuer, Principal("Ann", Role.OPERATOR), "sub-ann")
    yield world
    world.close()


@pytest.fixture(autouse=True)
def flow(world: World, issuer: LocalIssuer) -> CodeFlow:
    """The sign-ins of the issuer, with Ann in front of it."""
    flow = CodeFlow(issuer, world.clock, PUBLIC + ANSWERED)
    flow.announce()
    return flow


def register(world: World, issuer: LocalIssuer, person: Principal, subject: str) -> str:
    known_as = Subject(issuer.url, subject)
    added = world.transact(lambda session: add_user(session, Act(SYSTEM_OPERATOR, world.clock()), person, known_as))
    return added.key_id


def answer_of_issuer(visitor: Visitor, start: str = "/sign-in/account") -> str:
    """Go to the issuer; the address, within the service, to which it sends the browser back."""
    begun = visitor.open(start)
    assert begun.status == 303, begun.text
    sent = httpx.get(begun.headers["Location"])
    back = sent.headers["Location"]
    assert back.startswith(f"{PUBLIC}{ANSWERED}?")
    return back.removeprefix(PUBLIC)


def signed_in(visitor: Visitor, start: str = "/sign-in/account") -> Answer:
    return visitor.open(answer_of_issuer(visitor, start))


def test_an_account_opens_the_pages_as_a_key_does(world: World, flow: CodeFlow) -> None:
    visitor = Visitor(world)
    visitor.open("/sign-in")
    before = visitor.cookies[COOKIE]

    answer = signed_in(visitor, "/sign-in/account?next=/account")

    assert (answer.status, answer.headers["Location"]) == (303, "/account")
    assert visitor.cookies[COOKIE] != before
    page = content_of(visitor.open("/account").text)
    assert "Name Ann Role operator" in page
    assert "Account shown" in page
    (query,) = flow.requests
    assert (query["scope"], "prompt" in query, "max_age" in query) == ("openid", False, False)


def test_the_page_of_the_sign_in_leads_to_both_ways(world: World, flow: CodeFlow) -> None:
    page = Visitor(world).open("/sign-in?next=/account").text
    assert 'href="/sign-in/account?next=/account"' in page
    assert 'name="key"' in page
    assert flow.requests == []


@pytest.mark.parametrize("page", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)"])
def test_no_other_site_is_led_to_afterwards(world: World, page: str) -> None:
    visitor = Visitor(world)
    assert signed_in(visitor, f"/sign-in/account?next={page}").headers["Location"] == "/"


def test_the_page_to_go_on_to_is_nothing_that_the_issuer_learns(world: World, flow: CodeFlow) -> None:
    start = "/sign-in/account?next=/rounds%3Fplayer_id%3Dp-17%26after%3Da"
    assert signed_in(Visitor(world), start).headers["Location"] == "/rounds?player_id=p-17&after=a"
    assert "p-17" not in str(flow.requests)


def test_a_page_of_a_very_long_address_is_the_first_page(world: World) -> None:
    assert signed_in(Visitor(world), "/sign-in/account?next=/" + "a" * 4000).headers["Location"] == "/"


def test_neither_code_nor_token_nor_secret_is_in_a_page_a_cookie_or_the_log(
    world: World,
    flow: CodeFlow,
    issuer: LocalIssuer,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    visitor = Visitor(world)
    back = answer_of_issuer(visitor)
    caplog.clear()  # Of what the test itself has asked the issuer.
    code = dict(parse_qsl(urlsplit(back).query))["code"]
    answer = visitor.open(back)
    verifier = issuer.posted[0][1]["code_verifier"]
    logged = caplog.text + capsys.readouterr().out
    assert "signed-in" in logged
    shown = [answer.text, str(answer.headers), str(visitor.cookies), visitor.open("/account").text, logged]
    for secret in (code, verifier, SECRET, "id_token", "eyJ"):
        assert [text for text in shown if secret in text] == []
    assert verifier not in str(flow.requests)


def test_the_secret_is_shown_in_the_body_to_an_issuer_that_takes_no_other_way(world: World, flow: CodeFlow) -> None:
    flow.announce(token_endpoint_auth_methods_supported=["client_secret_post"])
    assert signed_in(Visitor(world)).status == 303


def refused(visitor: Visitor, path: str, status: int, sentence: str) -> Answer:
    answer = visitor.open(path)
    assert (answer.status, sentence in text_of(answer.text)) == (status, True), text_of(answer.text)
    assert "alert(1)" not in answer.text
    assert visitor.open("/account").status == 303, "and nobody is signed in"
    return answer


def test_who_does_not_agree_is_not_signed_in(world: World, flow: CodeFlow) -> None:
    flow.error, visitor = "access_denied", Visitor(world)
    refused(visitor, answer_of_issuer(visitor), 422, "The sign-in at your company was refused or cancelled.")


@pytest.mark.parametrize(("error", "named"), [("server_error", "server_error"), ("<b>no</b>", "an error")])
def test_another_refusal_of_the_issuer_is_named(world: World, flow: CodeFlow, error: str, named: str) -> None:
    flow.error, visitor = error, Visitor(world)
    refused(visitor, answer_of_issuer(visitor), 422, f"it answers «{named}»")


def test_an_answer_fits_the_browser_that_began_alone(world: World, issuer: LocalIssuer) -> None:
    attacker, victim = Visitor(world), Visitor(world)
    victim.open("/sign-in")
    back = answer_of_issuer(attacker)
    refused(victim, back, 400, "This sign-in was begun in another browser, or it is over.")
    assert issuer.posted == [], "and its code was not used"


@pytest.mark.parametrize("state", ["", "x", "{0}x", "{1}", "{2}", "0" * 300, "\u00e9"])
def test_a_state_that_was_made_up_is_refused(world: World, state: str) -> None:
    visitor = Visitor(world)
    own = dict(parse_qsl(urlsplit(answer_of_issuer(visitor)).query))["state"]
    late = own.replace(own.split(".")[1], "9" * 12)
    forged = state.format(own, own.replace(".new.", ".again."), late)
    refused(visitor, f"{ANSWERED}?code=c&state={forged}", 400, "This sign-in was begun in another browser")


def test_an_attempt_is_over_after_ten_minutes(world: World) -> None:
    visitor = Visitor(world)
    back = answer_of_issuer(visitor)
    world.clock.advance(timedelta(minutes=10, seconds=2))
    refused(visitor, back, 400, "This sign-in was begun in another browser, or it is over.")


def test_a_code_is_good_once(world: World, flow: CodeFlow) -> None:
    """Somebody else has used it before this browser could."""
    visitor = Visitor(world)
    back = answer_of_issuer(visitor)
    flow.codes.clear()
    refused(visitor, back, 422, "This sign-in was used before, or it took too long.")


def test_an_answer_that_is_opened_again_changes_nothing(world: World, issuer: LocalIssuer) -> None:
    visitor = Visitor(world)
    back = answer_of_issuer(visitor)
    visitor.open(back)
    assert visitor.open(back).status == 400
    assert visitor.open("/account").status == 200
    assert len(issuer.posted) == 1


def test_an_answer_without_a_code_is_refused_and_the_issuer_not_asked(world: World, issuer: LocalIssuer) -> None:
    visitor = Visitor(world)
    state = dict(parse_qsl(urlsplit(answer_of_issuer(visitor)).query))["state"]
    for code in ("", "x" * 3000):
        refused(visitor, f"{ANSWERED}?code={code}&state={state}", 422, "This sign-in was used before")
    assert issuer.posted == []


def test_the_answer_of_another_issuer_is_refused(world: World, flow: CodeFlow, issuer: LocalIssuer) -> None:
    """Of two providers each must answer for itself: the code of one is never sent to the other."""
    flow.answered, visitor = {"iss": "https://other.example"}, Visitor(world)
    refused(
        visitor, answer_of_issuer(visitor), 400, "This answer comes from another sign-in than that of your company."
    )
    assert issuer.posted == []


@pytest.mark.parametrize(("answered", "status"), [({}, 400), ({"iss": "own"}, 303)])
def test_an_issuer_that_names_itself_always_has_to(
    world: World, flow: CodeFlow, issuer: LocalIssuer, answered: dict[str, str], status: int
) -> None:
    flow.announce(authorization_response_iss_parameter_supported=True)
    flow.answered = dict.fromkeys(answered, issuer.url)
    assert signed_in(Visitor(world)).status == status


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"nonce": 7},
        {"nonce": "\ud800"},
        {"aud": AUDIENCE},
        {"aud": [CLIENT, "other"]},
        {"azp": "other"},
        {"iss": "https://other.example"},
        {"exp": 1},
        {"exp": None},
        {"sub": None},
        {"sub": ""},
    ],
)
def test_a_token_that_is_not_for_this_sign_in_is_refused(
    world: World, flow: CodeFlow, claims: dict[str, object]
) -> None:
    flow.claims, visitor = claims, Visitor(world)
    refused(visitor, answer_of_issuer(visitor), 422, "The answer of your company's sign-in is not valid.")


def test_a_token_of_another_key_is_refused(world: World, issuer: LocalIssuer) -> None:
    visitor = Visitor(world)
    back = answer_of_issuer(visitor)
    issuer.key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"}, auto_kid=False)
    refused(visitor, back, 422, "is not valid")


def test_a_subject_that_nobody_let_in_is_named_to_its_person(world: World, flow: CodeFlow) -> None:
    flow.subject, visitor = '<script>"x"</script>', Visitor(world)
    answer = refused(visitor, answer_of_issuer(visitor), 422, 'Give an operator your subject: <script>"x"</script>')
    assert "<script>&#34;" not in answer.text


def test_a_person_whose_key_was_revoked_is_nobody_any_more(world: World, flow: CodeFlow, issuer: LocalIssuer) -> None:
    key_id = register(world, issuer, Principal("Eve", Role.AUDITOR), "sub-eve")
    flow.subject, visitor = "sub-eve", Visitor(world)
    assert signed_in(visitor).status == 303
    world.transact(lambda session: revoke_key(session, Act(SYSTEM_OPERATOR, world.clock()), key_id))
    world.app = world.start()
    refused(Visitor(world), "/account", 303, "")
    again = Visitor(world)
    refused(again, answer_of_issuer(again), 422, "nobody has let you in here")


def test_an_issuer_that_does_not_answer_is_said_and_keys_go_on(world: World, issuer: LocalIssuer) -> None:
    issuer.answers["/.well-known/openid-configuration"] = 503
    visitor = Visitor(world)
    answer = visitor.open("/sign-in/account?next=/account")
    assert (answer.status, answer.headers["Retry-After"]) == (503, "10")
    assert "The sign-in of your company does not answer." in text_of(answer.text)
    assert visitor.sign_in(Role.FINANCE).open("/account").status == 200


@pytest.mark.parametrize("configuration", [{"authorization_endpoint": None}, {"token_endpoint": "ftp://x"}])
def test_an_issuer_that_names_no_places_does_not_answer(
    world: World, flow: CodeFlow, configuration: dict[str, object]
) -> None:
    flow.announce(**configuration)
    assert Visitor(world).open("/sign-in/account").status == 503


def test_an_issuer_that_hangs_over_the_code_is_given_up_in_time(world: World, issuer: LocalIssuer) -> None:
    visitor = Visitor(world)
    back = answer_of_issuer(visitor)
    issuer.open.clear()
    refused(visitor, back, 503, "The sign-in of your company does not answer.")
    issuer.open.set()


def test_a_client_that_the_issuer_does_not_know_is_said(world: World) -> None:
    world.config = replace(world.config, oidc_client_secret="wrong")
    world.app = world.start()
    visitor = Visitor(world)
    refused(visitor, answer_of_issuer(visitor), 503, "The sign-in of your company does not know this service.")


def test_ten_sign_ins_that_fail_stop_an_address(world: World, issuer: LocalIssuer) -> None:
    visitor = Visitor(world, app=world.start(monotonic=lambda: 0.0))
    state = dict(parse_qsl(urlsplit(answer_of_issuer(visitor)).query))["state"]
    statuses = [visitor.open(f"{ANSWERED}?code=c{number}&state={state}").status for number in range(11)]
    assert statuses == [*[422] * 10, 429]
    assert len(issuer.posted) == 10


def test_accounts_that_nobody_let_in_stop_an_address(world: World, flow: CodeFlow) -> None:
    flow.subject, app = "sub-nobody", world.start(monotonic=lambda: 0.0)
    statuses = [signed_in(Visitor(world, app=app)).status for _ in range(11)]
    assert statuses == [*[422] * 10, 429]


def test_without_a_client_there_is_no_way_by_account(world: World) -> None:
    world.config = replace(world.config, oidc_client_id=None)
    world.app = world.start()
    visitor = Visitor(world)
    for path in ("/sign-in/account", f"{ANSWERED}?code=c&state=s", "/sign-out/account"):
        assert visitor.open(path).status == 404
    assert "company" not in visitor.open("/sign-in").text


# Showing again who one is.


GRAVE = "/set-up/casinos/new"
CASINO = {
    "casino_id": "riga",
    "name": "Riga",
    "zone": "UTC",
    "day_starts": "00:00",
    "reason": "new",
    "request_id": "q1",
}


def led_by_grave(visitor: Visitor) -> str:
    """Send a form that is taken only of somebody who has shown of late who they are; where that leads."""
    return visitor.submit(GRAVE, CASINO, Referer=f"https://ledger.example{GRAVE}").headers["Location"]


def test_what_is_grave_needs_an_account_that_was_shown_of_late(world: World, flow: CodeFlow) -> None:
    visitor = Visitor(world)
    signed_in(visitor)
    world.clock.advance(timedelta(minutes=16))
    assert led_by_grave(visitor) == "/sign-in/again?next=/set-up/casinos/new&unsent=form"
    page = visitor.open("/sign-in/again?next=/set-up/casinos/new").text
    assert 'href="/sign-in/again/account?next=/set-up/casinos/new"' in page
    assert 'name="key"' not in page

    cookie = visitor.cookies[COOKIE]
    answer = signed_in(visitor, "/sign-in/again/account?next=/set-up/casinos/new")

    assert answer.headers["Location"] == "/set-up/casinos/new"
    assert (flow.requests[-1]["prompt"], flow.requests[-1]["max_age"]) == ("login", "0")
    assert visitor.cookies[COOKIE] == cookie
    assert led_by_grave(visitor) == "/set-up/casinos?added=riga"


@pytest.mark.parametrize("ago", [timedelta(hours=3), None])
def test_an_account_that_was_shown_long_ago_opens_pages_and_nothing_grave(
    world: World, flow: CodeFlow, ago: timedelta | None
) -> None:
    """As an issuer does that knows somebody since the morning, or says nothing about it."""
    flow.signed_in_ago, flow.claims = ago or timedelta(0), {} if ago else {"auth_time": None}
    visitor = Visitor(world)
    signed_in(visitor)
    assert visitor.open("/set-up/casinos/new").status == 200
    assert led_by_grave(visitor) == "/sign-in/again?next=/set-up/casinos/new&unsent=form"


@pytest.mark.parametrize("claims", [{}, {"auth_time": None}, {"auth_time": "now"}, {"auth_time": True}])
def test_an_issuer_that_does_not_ask_again_proves_nothing(
    world: World, flow: CodeFlow, claims: dict[str, object]
) -> None:
    flow.signed_in_ago, flow.heeds_prompt = timedelta(minutes=20), False
    visitor = Visitor(world)
    signed_in(visitor)
    flow.claims = claims
    answer = signed_in(visitor, "/sign-in/again/account?next=/set-up/casinos/new")
    assert (answer.status, "did not ask you again who you are" in text_of(answer.text)) == (422, True)
    assert 'href="/sign-in/again/account?next=/set-up/casinos/new"' in answer.text
    assert led_by_grave(visitor) == "/sign-in/again?next=/set-up/casinos/new&unsent=form"


def test_a_session_by_a_passkey_is_none_by_account(world: World) -> None:
    blue, visitor = Authenticator(origin=PUBLIC, rp_id="ledger.example"), Visitor(world)
    signed_in(visitor)
    add(visitor, blue)
    elsewhere = Visitor(world)
    assert sign_in_with_passkey(elsewhere, blue).status == 303
    assert "Key or passkey shown" in text_of(elsewhere.open("/account").text)
    again = elsewhere.open("/sign-in/again").text
    assert "passkey-options" in again
    assert 'name="key"' in again


def test_a_passkey_shows_again_who_signed_in_by_account(world: World, issuer: LocalIssuer) -> None:
    blue, visitor = Authenticator(origin=PUBLIC, rp_id="ledger.example"), Visitor(world)
    signed_in(visitor)
    add(visitor, blue)
    issuer.answers["/.well-known/openid-configuration"] = 503
    world.clock.advance(timedelta(minutes=16))
    page = visitor.open("/sign-in/again").text
    form = {"csrf_token": token_in(page), "assertion": assertion_of(blue, page), "next": "/account"}
    assert visitor.post("/sign-in/again/passkey", form).status == 303


def test_somebody_else_cannot_show_it_for_a_person(world: World, flow: CodeFlow, issuer: LocalIssuer) -> None:
    register(world, issuer, Principal("Bea", Role.OPERATOR), "sub-bea")
    visitor = Visitor(world)
    signed_in(visitor)
    flow.subject = "sub-bea"
    answer = signed_in(visitor, "/sign-in/again/account")
    assert (answer.status, "This is another account" in text_of(answer.text)) == (422, True)
    assert "Name Ann" in content_of(visitor.open("/account").text)


def test_an_answer_to_a_sign_in_proves_nothing(world: World) -> None:
    visitor = Visitor(world)
    signed_in(visitor)
    back = answer_of_issuer(visitor, "/sign-in/again/account")
    forged = back.replace(".again.", ".new.")
    assert visitor.open(forged).status == 400


# Signing out.


def test_signing_out_leads_to_where_one_signs_out_of_the_company(world: World, issuer: LocalIssuer) -> None:
    visitor = Visitor(world)
    signed_in(visitor)
    answer = visitor.submit("/sign-out", {}, page="/account")
    assert answer.headers["Location"] == "/sign-in?left=account"
    assert "sign out there too" in text_of(visitor.open("/sign-in?left=account").text)
    assert visitor.open("/sign-out/account").headers["Location"] == f"{issuer.url}/end?x=1&client_id=ledger+pages"
    assert visitor.open("/account").status == 303


def test_an_issuer_without_such_a_page_leads_nowhere(world: World, flow: CodeFlow) -> None:
    flow.announce(end_session_endpoint=None)
    visitor = Visitor(world)
    assert "sign out there too" not in visitor.open("/sign-in?left=account").text
    assert visitor.open("/sign-out/account").status == 404
