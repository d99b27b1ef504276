"""Set-up on pages: casinos, tables and jackpots, which one operator adds, with the words and the rights of the API."""

import re
from datetime import timedelta

import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.support.answers import Answer
from tests.support.page_text import content_of
from tests.support.visitor import Visitor, token_in
from tests.support.world import World

pytestmark = pytest.mark.slow

LISTS = ("/set-up/casinos", "/set-up/tables", "/set-up/jackpots", "/set-up/keys")
FORMS = ("/set-up/casinos/new", "/set-up/tables/new", "/set-up/jackpots/new", "/set-up/keys/new")

HOSTILE = "<script>alert(1)</script>\"' &amp; \N{HEBREW LETTER ALEF}"
LONG = "W" * 64

CASINO = {"casino_id": "riga", "name": "Casino Riga", "zone": "Europe/Riga", "day_starts": "06:00", "reason": "a start"}
TABLE = {"table_id": "riga-1", "casino_id": "c1", "game": "caribbean-stud", "jackpot_id": "j1", "reason": "a start"}
JACKPOT = {"jackpot_id": "live", "rulebook": "live-caribbean-stud", "currency": "EUR", "reason": "a start"}


@pytest.fixture
def operator(world: World) -> Visitor:
    """Ann, an operator, who has just signed in."""
    return Visitor(world).sign_in(key=world.person("Ann", Role.OPERATOR))


def send(visitor: Visitor, path: str, form: dict[str, str], *, request_id: str | None = None) -> Answer:
    """Fill in a form and send it, as it stands on its page."""
    page = visitor.open(path).text
    match = re.search(r'name="request_id" value="([^"]+)"', page)
    assert match, page
    return visitor.post(path, {"csrf_token": token_in(page), "request_id": request_id or match[1], **form})


def read(visitor: Visitor, path: str) -> str:
    answer = visitor.open(path)
    assert answer.status == 200, answer.text
    return content_of(answer.text)


def refused(answer: Answer, status: int, sentence: str, field: str | None = None) -> None:
    """A form came back with a sentence, at one of its fields or for the whole of it; what was typed is still there."""
    assert answer.status == status, content_of(answer.text)
    if field is None:
        wrong = re.search(r'<p class="wrong" role="alert"><bdi>(.*?)</bdi>', answer.text)
    else:
        wrong = re.search(rf'id="{field}-error"><bdi>(.*?)</bdi>', answer.text)
        assert re.search(rf'id="{field}"[^>]*aria-describedby="[^"]*{field}-error"', answer.text)
    assert wrong, answer.text
    assert sentence in wrong[1]


# Rights.


@pytest.mark.parametrize("role", [Role.FINANCE, Role.RATES])
def test_neither_finance_nor_rates_have_a_set_up(world: World, role: Role) -> None:
    visitor = Visitor(world).sign_in(role)
    assert [visitor.open(path).status for path in ("/set-up", *LISTS, *FORMS)] == [404] * 9
    assert "/set-up" not in visitor.open("/account").text


def test_an_auditor_reads_it_and_does_nothing(world: World) -> None:
    world.open()
    visitor = Visitor(world).sign_in(Role.AUDITOR)
    key_id = world.key(Role.AUDITOR).split("_")[1]
    for path in (*LISTS, f"/set-up/keys/{key_id}"):
        page = visitor.open(path)
        assert page.status == 200
        assert "/new" not in page.text
        assert "revocation" not in page.text
        assert "sign-out" not in page.text.partition("<main")[2]
    acts = ("/set-up/jackpots/j1/stripes", f"/set-up/keys/{key_id}/revocation", f"/set-up/keys/{key_id}/sign-out")
    for path in (*FORMS, *acts):
        assert visitor.open(path).status == 404
        token = token_in(visitor.open("/account").text)
        assert visitor.post(path, {"csrf_token": token, **CASINO}).status == 404


def test_people_of_a_casino_have_none(world: World) -> None:
    visitor = Visitor(world).sign_in(key=world.key_of(Principal("Fay", Role.FINANCE, "c1")))
    assert [visitor.open(path).status for path in LISTS] == [404] * 4


def test_a_form_needs_a_key_that_was_shown_of_late(world: World, operator: Visitor) -> None:
    world.clock.advance(timedelta(minutes=16))
    answer = operator.submit(
        "/set-up/casinos/new", CASINO | {"request_id": "q1"}, Referer="https://ledger.example/set-up/casinos/new"
    )
    assert answer.headers["Location"] == "/sign-in/again?next=/set-up/casinos/new&unsent=form"
    world.get("/v1/casinos/riga", key=world.key(Role.OPERATOR)).problem(404, "casino-unknown")


def test_a_form_without_its_token_is_refused(operator: Visitor) -> None:
    assert operator.post("/set-up/casinos/new", CASINO | {"request_id": "q1"}).status == 400


# Casinos.


def test_a_casino_is_added_once_however_often_its_form_is_sent(world: World, operator: Visitor) -> None:
    answers = [send(operator, "/set-up/casinos/new", CASINO, request_id="q1") for _ in range(2)]
    assert [answer.headers["Location"] for answer in answers] == ["/set-up/casinos?added=riga"] * 2
    assert "riga was added." in read(operator, "/set-up/casinos?added=riga")
    assert "Casino Riga riga Europe/Riga 06:00" in read(operator, "/set-up/casinos")
    (act,) = [act for act in world.get("/v1/audit").ok()["items"] if act["after"].get("casino_id") == "riga"]
    assert (act["principal"], act["reason"], act["request_id"]) == ("Ann", "a start", "q1")


@pytest.mark.parametrize(
    ("changed", "field", "sentence"),
    [
        ({"casino_id": "Rīga 1"}, "casino_id", "must be 1 to 64 letters, digits or . _ : -"),
        ({"casino_id": ""}, "casino_id", "is needed"),
        ({"name": " "}, "name", "is needed"),
        ({"name": "W" * 501}, "name", "must be a text"),
        ({"zone": "Europe/Atlantis"}, "zone", "There is no time zone Europe/Atlantis"),
        ({"day_starts": "25:00"}, "day_starts", "must be"),
        ({"reason": ""}, "reason", "is needed"),
    ],
)
def test_what_is_wrong_with_a_casino_stands_at_its_field(
    operator: Visitor, changed: dict[str, str], field: str, sentence: str
) -> None:
    answer = send(operator, "/set-up/casinos/new", CASINO | changed)
    refused(answer, 422, sentence, field)
    assert "Nothing was done." in content_of(answer.text)


def test_what_was_typed_and_the_id_of_the_form_are_still_there(operator: Visitor) -> None:
    answer = send(operator, "/set-up/casinos/new", CASINO | {"name": HOSTILE, "casino_id": "c1"}, request_id="q-7")
    refused(answer, 409, "Casino c1 exists", "casino_id")
    assert 'name="request_id" value="q-7"' in answer.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&#34;&#39; &amp;amp;" in answer.text
    assert "<script>alert" not in answer.text


def test_an_id_of_a_form_that_did_something_else_is_replaced(operator: Visitor) -> None:
    send(operator, "/set-up/casinos/new", CASINO, request_id="q1")
    answer = send(operator, "/set-up/casinos/new", CASINO | {"casino_id": "oslo"}, request_id="q1")
    refused(answer, 409, "This form was sent before, with other values.")
    assert 'name="request_id" value="q1"' not in answer.text


def test_names_are_shown_as_they_are(operator: Visitor) -> None:
    send(operator, "/set-up/casinos/new", CASINO | {"casino_id": LONG, "name": HOSTILE})
    page = operator.open("/set-up/casinos?added=%3Cscript%3Ealert(1)%3C/script%3E").text
    assert LONG in page
    assert HOSTILE in content_of(page)
    assert "<script>alert" not in page


def test_lists_go_on_after_fifty(world: World, operator: Visitor) -> None:
    for number in range(51):
        world.add_casino(f"m-{number:02}")
    first = operator.open("/set-up/casinos").text
    (after,) = re.findall(r'href="(/set-up/casinos\?after=[^"]+)" rel="next"', first)
    assert (" m-48 " in content_of(first), " m-50 " in content_of(first)) == (True, False)
    assert " m-50 " in read(operator, after)
    assert "First page" in read(operator, after)
    assert operator.open("/set-up/casinos?after=%00").status == 200


# Tables.


def test_a_table_is_added_and_listed_by_casino_and_jackpot(world: World, operator: Visitor) -> None:
    world.open(tables=())
    world.add_casino("c2")
    assert send(operator, "/set-up/tables/new", TABLE).headers["Location"] == "/set-up/tables?added=riga-1"
    world.add_table("other", casino_id="c2")
    assert "riga-1 c1 caribbean stud j1" in read(operator, "/set-up/tables?casino_id=c1")
    assert "other c2 caribbean stud takes no jackpot bets" in read(operator, "/set-up/tables?casino_id=c2")
    for query in ("casino_id=c1", "jackpot_id=j1"):
        assert "other" not in read(operator, f"/set-up/tables?{query}").partition("Rounds")[2]
    assert "No table fits." in read(operator, "/set-up/tables?casino_id=nowhere")
    assert operator.open("/set-up/tables?casino_id=%3Cb%3E").status == 422


@pytest.mark.parametrize(
    ("changed", "place", "sentence"),
    [
        ({"casino_id": "nowhere"}, (404, "casino_id"), "There is no casino nowhere."),
        ({"jackpot_id": "none"}, (404, "jackpot_id"), "There is no jackpot none."),
        ({"game": "casino-holdem-2-hand"}, (422, "game"), "No rulebook has a jackpot bet on casino-holdem-2-hand."),
        ({"game": "roulette"}, (422, "game"), "must be one of"),
        ({"table_id": "T1", "jackpot_id": ""}, (409, "table_id"), "Table T1 exists"),
    ],
)
def test_what_is_wrong_with_a_table_stands_at_its_field(
    world: World, operator: Visitor, changed: dict[str, str], place: tuple[int, str], sentence: str
) -> None:
    world.open()
    status, field = place
    refused(send(operator, "/set-up/tables/new", TABLE | changed), status, sentence, field)


# Jackpots.


def test_a_jackpot_is_opened_with_its_settings_and_shown_to_everybody(world: World, operator: Visitor) -> None:
    lines = "hands_per_player = 2\r\n\r\nlimit=500000\r\n"
    form = JACKPOT | {"base_amount": "1000.50", "displayed": "true", "settings": lines, "stripes": "4"}
    assert send(operator, "/set-up/jackpots/new", form).headers["Location"] == "/set-up/jackpots?added=live"
    assert "live live caribbean stud EUR open shown" in read(operator, "/set-up/jackpots")
    rules = world.get("/v1/jackpots/live/rules", key=world.key(Role.OPERATOR)).ok()
    assert "500000" in str(rules)
    assert world.get("/v1/jackpots/live", key=world.key(Role.OPERATOR)).ok()["meter"]["amount_exact"] == "1000.5"


@pytest.mark.parametrize(
    ("changed", "field", "sentence"),
    [
        ({"rulebook": "bingo"}, "rulebook", "must be one of"),
        ({"currency": "XXX"}, "currency", "XXX"),
        ({"currency": "eur"}, "currency", "must be"),
        ({"base_amount": "1,5"}, "base_amount", "must be a plain decimal number"),
        ({"settings": "colour = red"}, "settings", "colour cannot be set"),
        ({"settings": "limit = much"}, "settings", "limit must be a plain decimal number"),
        ({"settings": "limit"}, "settings", "limit must be a plain decimal number"),
        ({"stripes": "0"}, "stripes", "must be a whole number from 1"),
        ({"stripes": "1e3"}, "stripes", "must be a whole number from 1"),
        ({"stripes": "999999"}, "stripes", "must be a whole number from 1"),
    ],
)
def test_what_is_wrong_with_a_jackpot_stands_at_its_field(
    operator: Visitor, changed: dict[str, str], field: str, sentence: str
) -> None:
    refused(send(operator, "/set-up/jackpots/new", JACKPOT | changed), 422, sentence, field)


def test_a_jackpot_is_spread_over_more_stripes_and_never_over_fewer(world: World, operator: Visitor) -> None:
    world.open(stripes=4)
    form = {"stripes": "6", "reason": "more tables"}
    assert send(operator, "/set-up/jackpots/j1/stripes", form).headers["Location"] == "/set-up/jackpots?added=j1"
    assert world.books.value("SELECT count(*) FROM stripes WHERE jackpot_id = 'j1'") == 6
    answer = send(operator, "/set-up/jackpots/j1/stripes", form | {"stripes": "5"})
    refused(answer, 422, "Jackpot j1 has 6 stripes", "stripes")
    assert operator.open("/set-up/jackpots/none/stripes").status == 404


def test_a_replay_of_an_opening_opens_nothing_more(world: World, operator: Visitor) -> None:
    for _ in range(2):
        assert send(operator, "/set-up/jackpots/new", JACKPOT, request_id="q1").status == 303
    assert world.books.value("SELECT count(*) FROM acts WHERE subject = 'jackpot live'") == 1
