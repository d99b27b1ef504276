"""Signing in: a key opens a session, whose cookie opens the pages and nothing else, until it ends."""

from datetime import timedelta

import pytest
from itsdangerous import URLSafeTimedSerializer

from jackpot_service.domain.principals import Principal, Role
from jackpot_service.pages.install import PUBLIC_KEY
from tests.support.visitor import COOKIE, Visitor, token_in
from tests.support.world import World

pytestmark = pytest.mark.slow

PEOPLE = (Role.FINANCE, Role.RATES, Role.OPERATOR, Role.AUDITOR)


@pytest.mark.parametrize("role", PEOPLE)
def test_a_key_of_a_person_opens_the_pages(world: World, role: Role) -> None:
    visitor = Visitor(world)

    answer = visitor.submit("/sign-in", {"key": f" {world.key(role)}\n"})

    assert (answer.status, answer.headers["Location"]) == (303, "/")
    assert visitor.open("/").status == 303
    page = visitor.open("/account")
    assert page.status == 200
    assert f"<dd>{role.value}</dd>" in page.text


@pytest.mark.parametrize("role", [Role.TABLE, Role.DISPLAY])
def test_a_key_of_a_machine_opens_no_page(world: World, role: Role) -> None:
    visitor = Visitor(world)
    answer = visitor.submit("/sign-in", {"key": world.key(role, casino_id="c1")})
    assert answer.status == 422
    assert "Only people sign in here" in answer.text
    assert visitor.open("/account").status == 303


def test_a_key_of_an_automaton_opens_no_page(world: World) -> None:
    key = world.key_of(Principal("robot", Role.FINANCE, is_automaton=True))
    assert "Only people sign in here" in Visitor(world).submit("/sign-in", {"key": key}).text


@pytest.mark.parametrize(
    "key",
    ["jk_0123456789abcdef_" + "a" * 43, "jk_", "no key", "jk_ß_ß", "\0", "a" * 10_000, "eyJhbGciOiJub25lIn0.e30."],
)
def test_what_is_no_key_in_force_is_refused_in_words(world: World, key: str) -> None:
    answer = Visitor(world).submit("/sign-in", {"key": key})
    assert answer.status == 422
    assert "This key is not valid." in answer.text


def test_a_form_without_a_key_is_shown_again(world: World) -> None:
    answer = Visitor(world).submit("/sign-in", {"key": " "})
    assert (answer.status, "Paste your key" in answer.text) == (422, True)


def test_the_key_is_in_no_page_no_address_and_no_cookie(world: World) -> None:
    key, visitor = world.key(Role.FINANCE), Visitor(world)
    secret = key.split("_", 2)[2]
    refused = visitor.submit("/sign-in", {"key": f"{key}x"})
    answer = visitor.submit("/sign-in", {"key": key})
    for text in (refused.text, str(refused.headers), answer.text, str(answer.headers), visitor.open("/account").text):
        assert secret not in text


def test_the_cookie_is_new_at_sign_in_and_for_this_host_over_tls_alone(world: World) -> None:
    visitor = Visitor(world)
    visitor.open("/sign-in")
    before = visitor.cookies[COOKIE]
    answer = visitor.submit("/sign-in", {"key": world.key(Role.FINANCE)})
    assert visitor.cookies[COOKIE] != before
    (line,) = answer.headers.getlist("Set-Cookie")
    assert {part.strip() for part in line.split(";")[1:]} == {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"}


def test_a_cookie_that_somebody_else_made_up_opens_nothing(world: World) -> None:
    visitor = Visitor(world)
    visitor.cookies[COOKIE] = "A" * 43
    visitor.submit("/sign-in", {"key": world.key(Role.FINANCE)})
    thief = Visitor(world)
    thief.cookies[COOKIE] = "A" * 43
    assert thief.open("/account").status == 303


def test_the_api_takes_no_cookie(world: World) -> None:
    visitor = Visitor(world).sign_in()
    cookie = {"Cookie": f"{COOKIE}={visitor.cookies[COOKIE]}"}
    world.call("GET", "/v1/me", key=None, headers=cookie).problem(401, "unauthenticated")


def test_a_key_in_a_header_opens_no_page(world: World) -> None:
    answer = Visitor(world).open("/account", Authorization=f"Bearer {world.key(Role.FINANCE)}")
    assert answer.status == 303


def test_half_an_hour_without_a_click_ends_it(world: World) -> None:
    visitor = Visitor(world).sign_in()
    world.clock.advance(timedelta(minutes=29))
    assert visitor.open("/account").status == 200
    world.clock.advance(timedelta(minutes=30))
    assert visitor.open("/account").headers["Location"] == "/sign-in?next=/account"


def test_twelve_hours_end_it_in_any_case(world: World) -> None:
    visitor = Visitor(world).sign_in()
    for _ in range(12 * 60 // 20 - 1):
        world.clock.advance(timedelta(minutes=20))
        assert visitor.open("/account").status == 200
    world.clock.advance(timedelta(minutes=20))
    assert visitor.open("/account").status == 303


def test_signing_out_ends_this_session_and_everywhere_all(world: World) -> None:
    here, elsewhere = Visitor(world).sign_in(), Visitor(world).sign_in()
    third = Visitor(world).sign_in()
    somebody_else = Visitor(world).sign_in(Role.AUDITOR)
    stolen = here.cookies[COOKIE]

    assert here.submit("/sign-out", {}, page="/account").headers["Location"] == "/sign-in"
    here.cookies[COOKIE] = stolen
    assert here.open("/account").status == 303
    assert elsewhere.open("/account").status == 200

    elsewhere.submit("/sign-out", {"everywhere": "yes"}, page="/account")
    assert third.open("/account").status == 303
    assert somebody_else.open("/account").status == 200


def test_another_process_knows_a_session_and_its_end_at_once(world: World) -> None:
    visitor = Visitor(world).sign_in()
    elsewhere = Visitor(world, app=world.start())
    elsewhere.cookies = dict(visitor.cookies)
    assert elsewhere.open("/account").status == 200
    visitor.submit("/sign-out", {}, page="/account")
    assert elsewhere.open("/account").status == 303


def test_somebody_who_is_not_signed_in_comes_back_to_the_page(world: World) -> None:
    visitor = Visitor(world)
    answer = visitor.open("/account?a=b")
    assert answer.headers["Location"] == "/sign-in?next=/account?a%3Db"
    form = {"key": world.key(Role.FINANCE), "next": "/account?a=b"}
    assert visitor.submit("/sign-in", form).headers["Location"] == "/account?a=b"
    assert visitor.open("/sign-in?next=/account").headers["Location"] == "/account"


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example/", "//evil.example", "/\\evil.example", "evil", "/\t/evil.example", "http://["]
)
def test_nobody_is_led_to_another_site(world: World, elsewhere: str) -> None:
    form = {"key": world.key(Role.FINANCE), "next": elsewhere}
    assert Visitor(world).submit("/sign-in", form).headers["Location"] == "/"


def signed(value: object) -> str:
    """Sign a value as anybody can: the key of the signature is no secret."""
    return str(URLSafeTimedSerializer(PUBLIC_KEY, salt="wtf-csrf-token").dumps(value))


def test_a_form_of_another_site_is_refused(world: World) -> None:
    visitor = Visitor(world)
    token = token_in(visitor.open("/sign-in").text)
    form = {"key": world.key(Role.FINANCE), "csrf_token": token}

    for forged in ("", "x", signed(1), signed(None), signed("é"), signed({})):
        answer = visitor.post("/sign-in", {**form, "csrf_token": forged})
        assert (answer.status, "Paste your key again" in answer.text) == (400, True), forged
    assert (
        visitor.post("/sign-in", {**form, "csrf_token": token_in(Visitor(world).open("/sign-in").text)}).status == 400
    )
    assert visitor.post("/sign-in", form, **{"Sec-Fetch-Site": "cross-site"}).status == 400
    assert visitor.open("/account").status == 303

    assert visitor.post("/sign-in", form, **{"Sec-Fetch-Site": "same-origin"}).status == 303


def test_a_token_of_before_sign_in_is_worth_nothing_after_it(world: World) -> None:
    visitor = Visitor(world)
    token = token_in(visitor.open("/sign-in").text)
    visitor.post("/sign-in", {"key": world.key(Role.FINANCE), "csrf_token": token})
    assert visitor.post("/sign-out", {"csrf_token": token}).status == 400


def test_ten_sign_ins_that_fail_stop_an_address_for_a_while_but_no_key_in_force(world: World) -> None:
    """The clock of the limit stands still: in life, a token comes back every six seconds."""
    visitor = Visitor(world, app=world.start(monotonic=lambda: 0.0))
    answers = [visitor.submit("/sign-in", {"key": "jk_wrong"}) for _ in range(11)]
    assert [answer.status for answer in answers] == [*[422] * 10, 429]
    assert "Wait a minute" in answers[-1].text
    assert int(answers[-1].headers["Retry-After"]) >= 1

    key = world.key(Role.FINANCE)
    assert visitor.submit("/sign-in", {"key": f"{key[:-1]}{'a' if key[-1] != 'a' else 'b'}"}).status == 429
    assert visitor.submit("/sign-in", {"key": key}).status == 303


def test_those_that_succeed_stop_nobody(world: World) -> None:
    for _ in range(12):
        Visitor(world).sign_in()


def test_a_part_of_a_page_leads_the_whole_page_to_the_sign_in(world: World) -> None:
    """Behind a proxy the browser sees another scheme and host than the service does."""
    for page in ("http://localhost/floor?after=a", "https://ledger.example:8443/floor?after=a"):
        answer = Visitor(world).open("/account", **{"HX-Request": "true", "Referer": page})
        assert (answer.status, answer.headers["HX-Redirect"]) == (204, "/sign-in?next=/floor?after%3Da")


def test_a_form_of_a_session_that_has_ended_leads_back_to_its_page(world: World) -> None:
    visitor = Visitor(world).sign_in()
    token = token_in(visitor.open("/account").text)
    world.clock.advance(timedelta(minutes=31))
    form = {"csrf_token": token, "scheme": "dark"}
    answer = visitor.post("/account/colours", form, Referer="https://ledger.example/account")
    assert answer.headers["Location"] == "/sign-in?next=/account&unsent=form"


def test_a_key_has_twenty_sessions_of_which_the_first_ends_with_the_next(world: World) -> None:
    visitors = [Visitor(world).sign_in() for _ in range(21)]
    assert [visitor.open("/account").status for visitor in visitors] == [303, *[200] * 20]


def test_the_next_sign_in_removes_the_rows_of_sessions_that_have_ended(world: World) -> None:
    Visitor(world).sign_in()
    world.clock.advance(timedelta(minutes=31))
    Visitor(world).sign_in(Role.AUDITOR)
    assert world.books.value("SELECT count(*) FROM browser_sessions") == 1


def test_a_database_that_takes_no_notes_signs_nobody_out(world: World) -> None:
    """As a replica does: here somebody else holds the row."""
    visitor = Visitor(world).sign_in()
    with world.engine.connect() as holding:
        holding.exec_driver_sql("SELECT FROM browser_sessions FOR UPDATE")
        for _ in range(3):
            world.clock.advance(timedelta(minutes=20))
            assert visitor.open("/account").status == 200
        holding.rollback()
