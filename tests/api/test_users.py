"""Users of the issuer over HTTP: let in once by an operator, but nobody who could approve; then their tokens work."""

from collections.abc import Iterator
from typing import Final

import pytest

from jackpot_service.domain.principals import Role
from tests.support.answers import Answer, Body
from tests.support.fixtures import books_verify
from tests.support.issuer import AUDIENCE, LocalIssuer, local_issuer
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]

USER: Final[Body] = {
    "request_id": "u1",
    "reason": "hired",
    "principal": "Ivy",
    "role": "auditor",
    "department": "inspection",
    "subject": "sub-ivy",
}


@pytest.fixture
def issuer() -> Iterator[LocalIssuer]:
    with local_issuer() as issuer:
        yield issuer


@pytest.fixture
def world(database_url: str, issuer: LocalIssuer) -> Iterator[World]:
    world = World(database_url, oidc_issuer=issuer.url, oidc_audience=AUDIENCE)
    yield world
    world.close()


def post(world: World, body: Body = USER, *, by: str = "Ann") -> Answer:
    return world.post("/v1/users", body, key=world.person(by, Role.OPERATOR))


def test_a_user_is_added_once_and_is_let_in_by_a_token(world: World, issuer: LocalIssuer) -> None:
    token = issuer.token(world.clock.at, sub="sub-ivy")
    world.get("/v1/me", key=token).problem(401, "unauthenticated")

    first = post(world).ok(201)
    before = world.books.counts()

    assert (first["principal"], first["role"], first["department"]) == ("Ivy", "auditor", "inspection")
    assert (first["issuer"], first["subject"], first["is_service_account"]) == (issuer.url, "sub-ivy", False)
    assert post(world).ok(200) == first
    assert post(world, USER | {"request_id": "u2"}).ok(200) == first
    assert world.books.counts() == before
    assert world.get("/v1/me", key=issuer.token(world.clock.at, sub="sub-ivy")).ok()["principal"] == "Ivy"
    assert first["key_id"] in {item["key_id"] for item in world.get("/v1/keys?limit=200").ok()["items"]}
    (act,) = world.get("/v1/audit?request_id=u1").ok()["items"]
    assert (act["kind"], act["principal"], act["reason"]) == ("key_created", "Ann", "hired")


def test_a_replay_after_the_user_was_revoked_shows_that_and_lets_nobody_in(world: World) -> None:
    first = post(world).ok(201)
    revocation = {"request_id": "v1", "reason": "left"}
    world.post(f"/v1/keys/{first['key_id']}/revocation", revocation, key=world.person("Ann", Role.OPERATOR)).ok(201)

    again = post(world).ok(200)

    assert again["key_id"] == first["key_id"]
    assert again["revoked_at"] is not None


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"role": "operator"}, 403, "key-forbidden"),
        ({"role": "rates"}, 403, "key-forbidden"),
        ({"role": "finance"}, 403, "key-forbidden"),
        ({"role": "table", "casino_id": "c1"}, 422, "validation"),
        ({"role": "king"}, 422, "validation"),
        ({"casino_id": "c1"}, 422, "principal-invalid"),
        ({"role": "finance", "casino_id": "c9"}, 404, "casino-unknown"),
        ({"subject": "ß"}, 422, "principal-invalid"),
        ({"subject": "x" * 256}, 422, "principal-invalid"),
        ({"subject": " "}, 422, "validation"),
        ({"principal": "a auditor"}, 409, "principal-conflict"),
        ({"principal": "cli"}, 422, "principal-invalid"),
        ({"department": "Cage"}, 422, "validation"),
        ({"issuer": "https://other.example"}, 422, "validation"),
    ],
)
def test_a_user_who_cannot_be_is_refused(world: World, changed: Body, status: int, code: str) -> None:
    world.person("Ann", Role.OPERATOR)
    before = world.books.counts()

    post(world, USER | changed).problem(status, code)

    assert world.books.counts() == before


def test_another_user_of_the_subject_or_under_the_request_id_is_a_conflict(world: World) -> None:
    post(world).ok(201)

    post(world, USER | {"request_id": "u2", "principal": "Eve"}).problem(409, "already-exists")
    post(world, USER | {"subject": "sub-eve"}).problem(409, "request-conflict")
    post(world, by="Bob").problem(409, "request-conflict")


def test_a_casinos_finance_is_added_as_such(world: World) -> None:
    added = post(world, USER | {"role": "finance", "casino_id": "c1"}).ok(201)

    assert (added["role"], added["casino_id"]) == ("finance", "c1")


def test_without_an_issuer_no_user_is_added(database_url: str) -> None:
    world = World(database_url)
    post(world).problem(422, "issuer-not-configured")
    world.close()
