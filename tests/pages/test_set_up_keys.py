"""Set-up of people and keys on pages: a key is shown once, and somebody is kept out at once."""

import re
from collections.abc import Iterator

import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.pages.test_set_up import HOSTILE, read, refused, send
from tests.support.page_text import content_of
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow

SERVER = {"principal": "server of Riga", "role": "table", "casino_id": "c1", "reason": "new"}
WHY = {"reason": "it was lost"}


@pytest.fixture
def operator(world: World) -> Visitor:
    """Ann, an operator, who has just signed in."""
    return Visitor(world).sign_in(key=world.person("Ann", Role.OPERATOR))


def key_in(page: str) -> str | None:
    match = re.search(r'id="new-key" class="code" value="([^"]+)"', page)
    return None if match is None else match[1]


def id_of(key: str) -> str:
    return key.split("_")[1]


def test_a_new_key_works_and_is_shown_once(world: World, operator: Visitor) -> None:
    world.open()
    form = SERVER | {"table_ids": "T1", "department": "floor"}
    first = send(operator, "/set-up/keys/new", form, request_id="q1")
    key = key_in(first.text)
    assert (first.status, first.headers["Cache-Control"]) == (201, "private, no-store")
    assert key is not None
    me = world.get("/v1/me", key=key).ok()
    assert (me["principal"], me["table_ids"], me["department"]) == ("server of Riga", ["T1"], "floor")

    again = send(operator, "/set-up/keys/new", form, request_id="q1")

    assert (again.status, key_in(again.text)) == (200, None)
    assert f"The key {id_of(key)} of server of Riga was made before" in content_of(again.text)
    for path in ("/set-up/keys", f"/set-up/keys/{id_of(key)}"):
        assert key.split("_", 2)[2] not in operator.open(path).text
        assert id_of(key) in operator.open(path).text


def test_a_service_account_is_one(world: World, operator: Visitor) -> None:
    form = {"principal": "robot", "role": "auditor", "service_account": "true", "reason": "nightly"}
    page = send(operator, "/set-up/keys/new", form).text
    key = key_in(page)
    assert key is not None
    assert world.get("/v1/me", key=key).ok()["is_service_account"]
    assert "Sign them out" not in operator.open(f"/set-up/keys/{id_of(key)}").text


@pytest.mark.parametrize(
    ("changed", "place", "sentence"),
    [
        ({"principal": "Oona", "role": "operator", "casino_id": ""}, (403, "role"), "«jackpot db key» makes that key"),
        ({"principal": "Fay", "role": "finance", "casino_id": ""}, (403, "role"), "«jackpot db key» makes that key"),
        ({"principal": "ann"}, (409, "principal"), "ann looks like Ann"),
        ({"casino_id": "nowhere"}, (404, "casino_id"), "There is no casino nowhere."),
        ({"table_ids": "T9"}, (404, "table_ids"), "Casino c1 has no table T9."),
        ({"table_ids": "T1 <b>"}, (422, "table_ids"), "must be 1 to 64 letters, digits or . _ : -"),
        ({"department": "Big House"}, (422, "department"), "must be 1 to 64 small letters"),
        ({"role": "king"}, (422, "role"), "must be one of"),
        ({"principal": ""}, (422, "principal"), "is needed"),
        ({"reason": ""}, (422, "reason"), "is needed"),
    ],
)
def test_what_is_wrong_with_a_key_stands_at_its_field(
    world: World, operator: Visitor, changed: dict[str, str], place: tuple[int, str], sentence: str
) -> None:
    (status, field), answer = place, send(operator, "/set-up/keys/new", SERVER | changed)
    refused(answer, status, sentence, field)
    assert key_in(answer.text) is None
    assert world.books.value("SELECT count(*) FROM keys WHERE principal = 'server of Riga'") == 0


def test_a_role_that_does_not_fit_is_said_of_the_whole_form(operator: Visitor) -> None:
    answer = send(operator, "/set-up/keys/new", SERVER | {"casino_id": ""})
    refused(answer, 422, "A table server belongs to a casino.")


def test_a_third_key_is_refused_until_another_was_revoked(operator: Visitor) -> None:
    for _ in range(2):
        assert send(operator, "/set-up/keys/new", SERVER).status == 201
    refused(send(operator, "/set-up/keys/new", SERVER), 409, "has 2 live keys: revoke one.", "principal")


def test_a_hostile_name_does_nothing(operator: Visitor) -> None:
    name = "\"'><script>alert(1)</script>"
    page = send(operator, "/set-up/keys/new", SERVER | {"principal": name}).text
    key = key_in(page)
    assert key is not None
    for text in (page, *(operator.open(path).text for path in ("/set-up/keys", f"/set-up/keys/{id_of(key)}"))):
        assert name in content_of(text)
        assert "<script>alert" not in text
    refused(send(operator, "/set-up/keys/new", SERVER | {"principal": HOSTILE}), 422, "A name is written in letters of")


def test_a_revoked_key_opens_nothing_and_is_listed_as_such(world: World, operator: Visitor) -> None:
    key = world.key_of(Principal("Ada", Role.AUDITOR))
    visitor = Visitor(world).sign_in(key=key)
    path = f"/set-up/keys/{id_of(key)}"
    assert send(operator, f"{path}/revocation", WHY).headers["Location"] == path
    world.app = world.start()
    visitor.app = world.app
    assert visitor.open("/account").status == 303
    world.get("/v1/me", key=key).problem(401, "unauthenticated")
    assert "Key of Ada revoked" in read(operator, path)
    assert "Revoke the key" not in read(operator, path)
    again = send(operator, f"{path}/revocation", WHY)
    assert (again.status, "was revoked at" in content_of(again.text)) == (409, True)
    assert operator.open("/set-up/keys/0123456789abcdef").status == 404


def test_somebody_is_signed_out_everywhere_and_may_come_back(world: World, operator: Visitor) -> None:
    key = world.key_of(Principal("Ada", Role.AUDITOR))
    visitors = [Visitor(world).sign_in(key=key) for _ in range(2)]
    path = f"/set-up/keys/{id_of(key)}"
    answer = send(operator, f"{path}/sign-out", WHY)
    assert "Ada is signed out: 2 sessions." in read(operator, answer.headers["Location"])
    assert [visitor.open("/account").status for visitor in visitors] == [303, 303]
    assert visitors[0].sign_in(key=key).open("/account").status == 200
    refused(send(operator, f"{path}/sign-out", {"reason": ""}), 422, "is needed", "reason")
    assert read(operator, f"{path}?signed_out=%3Cb%3E")


def test_without_an_issuer_nobody_is_let_in_by_an_account(operator: Visitor) -> None:
    assert "/set-up/people/new" not in operator.open("/set-up/keys").text
    answer = operator.open("/set-up/people/new")
    assert (answer.status, "without an issuer" in content_of(answer.text)) == (422, True)


class TestCompanyAccounts:
    """People who are let in by the subject of their account."""

    @pytest.fixture
    def world(self, database_url: str) -> Iterator[World]:
        world = World(database_url, oidc_issuer="https://sign-in.example", oidc_audience="us")
        yield world
        world.close()

    def test_somebody_is_let_in_and_their_account_is_revoked_as_a_key_is(self, world: World, operator: Visitor) -> None:
        form = {"principal": "Ivy", "role": "auditor", "subject": "sub|5f2c", "reason": "inspection"}
        assert "Let in a company account" in read(operator, "/set-up/keys")
        assert send(operator, "/set-up/people/new", form).headers["Location"] == "/set-up/keys?added=Ivy"
        key_id = world.books.value("SELECT key_id FROM keys WHERE subject IS NOT NULL")
        page = read(operator, f"/set-up/keys/{key_id}")
        assert "Account of Ivy in force" in page
        assert "Issuer https://sign-in.example Subject sub|5f2c" in page
        refused(
            send(operator, "/set-up/people/new", form | {"principal": "Iva"}), 409, "That subject is Ivy.", "subject"
        )
        own = form | {"principal": "Oona", "role": "operator", "subject": "x"}
        refused(send(operator, "/set-up/people/new", own), 403, "could ask for changes", "role")
        assert send(operator, f"/set-up/keys/{key_id}/revocation", WHY).status == 303
