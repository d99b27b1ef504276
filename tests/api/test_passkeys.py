"""Passkeys over HTTP: registered in two steps, listed, revoked; and approvals that are signed by what browsers send."""

from functools import partial
from typing import Any, Final

import pytest

from jackpot_service.domain.facts import base64url
from jackpot_service.domain.passkeys import MOST_LIVE
from jackpot_service.domain.principals import Principal, Role
from tests.support import signing_people
from tests.support.answers import Answer, Body
from tests.support.authenticator import USER_PRESENT, Authenticator, body_of_assertion, body_of_credential
from tests.support.bets import bet
from tests.support.every_kind import PAYLOADS
from tests.support.hands import FLUSH, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

PASSKEYS: Final = "/v1/passkeys"
APPROVAL: Final = "/v1/change-requests/q1/approval"
WRONG: Final[tuple[Any, ...]] = ("", "=", "YQ==", "a" * 9000, "\N{SNOWMAN}", 7, None, [], {}, "a b")


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000")
    return world


def bob(world: World) -> str:
    return world.person("Bob", Role.FINANCE)


def options(world: World, key: str, path: str = f"{PASSKEYS}/options") -> Body:
    answer: Body = world.call("POST", path, key=key).ok()
    return answer


def register(world: World, authenticator: Authenticator, key: str, **more: object) -> Answer:
    credential = body_of_credential(authenticator.make(options(world, key)["publicKey"]))
    body = {"request_id": "p1", "name": "blue", "reason": "mine", "credential": credential, **more}
    return world.post(PASSKEYS, body, key=key)


def sign(world: World, authenticator: Authenticator, key: str) -> Body:
    return body_of_assertion(authenticator.sign(options(world, key, f"{APPROVAL}/options")["publicKey"]))


def approve(world: World, key: str, **more: object) -> Answer:
    return world.post(APPROVAL, {"reason": "checked", **more}, key=key)


def test_a_passkey_is_registered_listed_and_revoked(opened: World) -> None:
    blue, key = Authenticator(), bob(opened)
    made = register(opened, blue, key).ok(201)
    assert (made["principal"], made["name"], made["rp_id"]) == ("Bob", "blue", "localhost")
    assert made["credential_id"] == base64url(blue.credential_id)
    assert made["public_key"] == base64url(blue.public_key)
    assert made["revoked_at"] is None
    assert opened.get(PASSKEYS, key=key).ok()["items"] == [made]

    path, otto = f"{PASSKEYS}/{made['passkey_id']}/revocation", opened.key(Role.OPERATOR)
    opened.post(path, REASON, key=key).problem(403, "passkey-last")
    revoked = opened.post(path, REASON, key=otto).ok(201)
    assert revoked["revoked_at"] is not None
    assert opened.post(path, REASON, key=otto).ok() == revoked
    body = REASON | {"request_id": "r2"}
    opened.post(path, body, key=key).problem(409, "passkey-revoked")
    opened.post(f"{PASSKEYS}/nobody/revocation", body, key=key).problem(404, "passkey-unknown")


def test_a_key_alone_adds_no_passkey_to_one(opened: World) -> None:
    key = bob(opened)
    waiting = options(opened, key)["publicKey"]
    register(opened, Authenticator(), key).ok(201)
    opened.call("POST", f"{PASSKEYS}/options", key=key).problem(403, "passkey-not-shown")
    credential = body_of_credential(Authenticator().make(waiting))
    body = {"request_id": "p2", "name": "red", "reason": "mine", "credential": credential}
    opened.post(PASSKEYS, body, key=key).problem(403, "passkey-not-shown")


REASON: Final = {"request_id": "r1", "reason": "lost"}


def test_a_registration_that_is_sent_again_is_a_replay(opened: World) -> None:
    key = bob(opened)
    credential = body_of_credential(Authenticator().make(options(opened, key)["publicKey"]))
    body = {"request_id": "p1", "name": "blue", "reason": "mine", "credential": credential}
    made = opened.post(PASSKEYS, body, key=key).ok(201)
    assert opened.post(PASSKEYS, body, key=key).ok() == made
    opened.post(PASSKEYS, body | {"name": "red"}, key=key).problem(409, "request-conflict")
    opened.post(PASSKEYS, body | {"request_id": "p2"}, key=key).problem(403, "passkey-not-shown")


def test_one_credential_is_registered_once(opened: World) -> None:
    blue = Authenticator()
    register(opened, blue, bob(opened)).ok(201)
    register(opened, blue, opened.person("Fay", Role.FINANCE), request_id="p3").problem(409, "passkey-taken")


def test_a_person_has_so_many_and_no_more(opened: World) -> None:
    person = Principal("Bob", Role.FINANCE)
    key = opened.key_of(person)
    adding = partial(signing_people.register, person=person)
    for _ in range(MOST_LIVE):
        opened.transact(partial(adding, authenticator=Authenticator(), now=opened.clock()))
    opened.call("POST", f"{PASSKEYS}/options", key=key).problem(409, "passkey-limit-reached")


def test_who_sees_and_revokes_passkeys(opened: World) -> None:
    key, carl = bob(opened), opened.key(Role.FINANCE, casino_id="c1")
    made = register(opened, Authenticator(), key).ok(201)
    of_casino = register(opened, Authenticator(), carl, request_id="p2").ok(201)
    seen = {name: opened.get(PASSKEYS, key=shown).ok()["items"] for name, shown in (("bob", key), ("carl", carl))}
    assert seen == {"bob": [made], "carl": [of_casino]}
    for role in (Role.OPERATOR, Role.AUDITOR):
        assert opened.get(PASSKEYS, role=role).ok()["items"] == [of_casino, made]
        assert opened.get(f"{PASSKEYS}?principal=Bob", role=role).ok()["items"] == [made]
    assert opened.get(f"{PASSKEYS}?principal=Bob", key=carl).ok()["items"] == [of_casino]

    path = f"{PASSKEYS}/{made['passkey_id']}/revocation"
    for stranger in (carl, opened.key(Role.AUDITOR), opened.key(Role.RATES)):
        opened.post(path, REASON, key=stranger).problem(404, "passkey-unknown")
    opened.post(path, REASON, key=opened.key(Role.OPERATOR)).ok(201)
    kinds = [act["kind"] for act in opened.get("/v1/audit").ok()["items"] if act["kind"].startswith("passkey")]
    assert kinds == ["passkey_revoked", "passkey_registered", "passkey_registered"]


def test_a_service_account_has_none(opened: World) -> None:
    robot = opened.key_of(Principal("robot", Role.OPERATOR, is_automaton=True))
    opened.call("POST", f"{PASSKEYS}/options", key=robot).problem(403, "user-required")
    opened.call("POST", f"{PASSKEYS}/options", key=opened.key(Role.TABLE)).problem(403, "role-forbidden")


def test_an_approval_is_signed_and_the_answer_shows_by_what(opened: World) -> None:
    blue, key = Authenticator(), bob(opened)
    made = register(opened, blue, key).ok(201)
    opened.ask("adjustment", PAYLOADS["adjustment"]).ok(201)
    approve(opened, key).problem(403, "passkey-required")
    shown = options(opened, key, f"{APPROVAL}/options")
    assert shown["publicKey"]["rpId"] == "localhost"
    assert [known["id"] for known in shown["publicKey"]["allowCredentials"]] == [made["credential_id"]]
    assert shown["effect"]["after"]["amount"] == "1"

    assertion = body_of_assertion(blue.sign(shown["publicKey"]))
    done = approve(opened, key, assertion=assertion).ok()
    signed = done["decision"]["assertion"]
    assert signed["passkey_id"] == made["passkey_id"]
    assert signed["signature"] == assertion["response"]["signature"]
    assert signed["effect"]["figured_at"] == shown["effect"]["figured_at"]
    assert approve(opened, key, assertion=assertion).ok()["decision"] == done["decision"]
    opened.call("POST", f"{APPROVAL}/options", key=key).problem(409, "change-decided")


def test_a_dry_run_is_not_signed_and_uses_nothing_up(opened: World) -> None:
    blue, key = Authenticator(), bob(opened)
    register(opened, blue, key).ok(201)
    opened.ask("adjustment", PAYLOADS["adjustment"]).ok(201)
    assertion = sign(opened, blue, key)
    before = opened.books.counts()
    for more in ({}, {"assertion": assertion}):
        shown = opened.post(f"{APPROVAL}?dry_run=true", {"reason": "x", **more}, key=key).ok()
        assert (shown["dry_run"], shown["state"], shown["effect"]["after"]["amount"]) == (True, "pending", "1")
    assert opened.books.counts() == before
    approve(opened, key, assertion=assertion).ok()


def test_options_of_who_has_none_or_of_what_cannot_be_done_are_refused(opened: World) -> None:
    opened.ask("adjustment", PAYLOADS["adjustment"]).ok(201)
    opened.call("POST", f"{APPROVAL}/options", key=bob(opened)).problem(403, "passkey-required")
    path = "/v1/change-requests/nothing/approval/options"
    opened.call("POST", path, key=bob(opened)).problem(404, "change-unknown")


def test_options_are_for_who_may_approve_and_as_they_may(opened: World) -> None:
    opened.ask("adjustment", PAYLOADS["adjustment"]).ok(201)
    red, ann = Authenticator(), opened.person("Ann", Role.OPERATOR)
    register(opened, red, ann).ok(201)
    opened.call("POST", f"{APPROVAL}/options", key=ann).problem(403, "same-user")
    opened.call("POST", f"{APPROVAL}/options?emergency=true", key=ann).problem(403, "emergency-off")
    opened.switch_emergency()
    shown = options(opened, ann, f"{APPROVAL}/options?emergency=true")["publicKey"]
    assertion = body_of_assertion(red.sign(shown))
    approve(opened, ann, assertion=assertion, emergency=True).ok()


def test_books_that_moved_since_it_was_signed_take_the_approval_back(opened: World) -> None:
    blue, key = Authenticator(), bob(opened)
    register(opened, blue, key).ok(201)
    owe(opened, "w1")
    opened.ask("prize-fund-true-up", {"jackpot_id": "j1"}).ok(201)
    assertion = sign(opened, blue, key)
    owe(opened, "w2")
    approve(opened, key, assertion=assertion).problem(409, "effect-moved")
    approve(opened, key, assertion=sign(opened, blue, key)).ok()


def owe(world: World, round_id: str) -> None:
    """Have the prize fund pay more than it holds."""
    world.bet(bet("w", stake_minor=1000), round_id=round_id)
    world.settle(hand("1", FLUSH), round_id=round_id)


@pytest.mark.parametrize("member", ["rawId", "response"])
def test_an_assertion_that_lacks_a_part_points_at_it(opened: World, member: str) -> None:
    blue, key = Authenticator(), bob(opened)
    register(opened, blue, key).ok(201)
    opened.ask("adjustment", PAYLOADS["adjustment"]).ok(201)
    assertion = sign(opened, blue, key)
    del assertion[member]
    approve(opened, key, assertion=assertion).problem(422, "validation", f"/assertion/{member}")


@pytest.mark.parametrize("member", ["authenticatorData", "clientDataJSON", "signature"])
def test_a_part_that_is_no_base64url_or_too_long_points_at_it(opened: World, member: str) -> None:
    key = bob(opened)
    opened.ask("adjustment", PAYLOADS["adjustment"]).ok(201)
    for value in WRONG:
        assertion = {"rawId": "YQ", "response": {"authenticatorData": "YQ", "clientDataJSON": "YQ", "signature": "YQ"}}
        assertion["response"][member] = value  # type: ignore[index]
        refused = approve(opened, key, assertion=assertion)
        refused.problem(422, "validation", f"/assertion/response/{member}")


def test_a_megabyte_is_refused_and_never_read(opened: World) -> None:
    key, megabyte = bob(opened), "a" * 1_000_000
    opened.ask("adjustment", PAYLOADS["adjustment"]).ok(201)
    assertion = {"rawId": "YQ", "response": {"authenticatorData": "YQ", "clientDataJSON": "YQ", "signature": megabyte}}
    approve(opened, key, assertion=assertion).problem(422, "validation", "/assertion/response/signature")
    approve(opened, key, assertion=assertion, reason="b" * 100_000).problem(413, "body-too-large")
    credential = {"rawId": "YQ", "response": {"clientDataJSON": "YQ", "attestationObject": megabyte}}
    body = {"request_id": "p1", "name": "blue", "reason": "mine", "credential": credential}
    opened.post(PASSKEYS, body, key=key).problem(422, "validation", "/credential/response/attestationObject")


@pytest.mark.parametrize(
    "stated",
    [
        {"origin": "https://evil.example"},
        {"rp_id": "evil.example"},
        {"flags": USER_PRESENT},
        {"counter": -1},
    ],
    ids=str,
)
def test_what_is_signed_elsewhere_by_nobody_or_by_a_copy_is_refused(opened: World, stated: dict[str, Any]) -> None:
    blue, key = Authenticator(counter=3), bob(opened)
    register(opened, blue, key).ok(201)
    opened.ask("adjustment", PAYLOADS["adjustment"]).ok(201)
    for name, value in stated.items():
        setattr(blue, name, value)
    approve(opened, key, assertion=sign(opened, blue, key)).problem(422, "assertion-invalid")


def test_where_the_pages_have_an_address_passkeys_are_for_it_alone(database_url: str) -> None:
    world = World(database_url, public_url="https://jackpot.example")
    try:
        key = bob(world)
        assert options(world, key)["publicKey"]["rp"]["id"] == "jackpot.example"
        register(world, Authenticator(), key).problem(422, "passkey-invalid")
        there = Authenticator(origin="https://jackpot.example", rp_id="jackpot.example")
        assert register(world, there, key).ok(201)["rp_id"] == "jackpot.example"
    finally:
        world.close()
