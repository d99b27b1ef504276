"""Keys over HTTP: listed by name without anything secret, created and shown once, revoked for every process."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import psycopg
import pytest
from sqlalchemy import event, text

from jackpot_service.api.lists import ListQuerySchema
from jackpot_service.app import create_app
from jackpot_service.auth.authenticator import KEPT_S, Authenticator, BadKeyShown
from jackpot_service.database.connections import create_engine
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.records.keys import USES_APART
from tests.support.answers import Answer, Body
from tests.support.cursors import forged
from tests.support.world import World

pytestmark = pytest.mark.slow

SERVER: Final[Body] = {
    "request_id": "k1",
    "principal": "server of Riga",
    "role": "table",
    "casino_id": "c1",
    "reason": "new",
}
REVOCATION: Final[Body] = {"request_id": "v1", "reason": "it was lost"}


def post(world: World, body: Mapping[str, Any] = SERVER, *, by: str = "Ann") -> Answer:
    return world.post("/v1/keys", body, key=world.person(by, Role.OPERATOR))


def revoke(world: World, key_id: str, body: Mapping[str, Any] = REVOCATION, *, by: str = "Ann") -> Answer:
    return world.post(f"/v1/keys/{key_id}/revocation", body, key=world.person(by, Role.OPERATOR))


def listed(world: World) -> dict[str, Body]:
    return {item["key_id"]: item for item in world.get("/v1/keys?limit=200").ok()["items"]}


def id_of(key: str) -> str:
    return key.split("_")[1]


def test_a_key_is_in_the_first_answer_and_in_no_replay(world: World) -> None:
    first = post(world).ok(201)
    before = world.books.counts()
    again = post(world)

    assert again.ok(200) == {**first, "key": None}
    assert again.headers["Cache-Control"] == "no-store"
    post(world, SERVER | {"principal": "another"}).problem(409, "request-conflict")
    post(world, by="Bob").problem(409, "request-conflict")
    assert world.get("/v1/jackpots", key=first["key"]).status == 200
    assert world.books.counts()["keys"] == before["keys"] + 1  # Bob's own
    assert world.books.mismatches() == ()


def test_keys_are_listed_by_name_and_none_shows_its_secret_or_its_hash(world: World) -> None:
    for name in ("Zoe", "ann", "Bob"):
        world.person(name, Role.OPERATOR)
    created = post(world, by="Bob").ok(201)

    pages, after = [], ""
    while True:
        page = world.get(f"/v1/keys?limit=2{after}").ok()
        pages.append(page["items"])
        if page["next"] is None:
            break
        after = f"&after={page['next']}"

    names = [item["principal"] for items in pages for item in items]
    assert names == ["Bob", "Zoe", "a auditor", "a table", "ann", "server of Riga"]
    assert {len(items) for items in pages} == {2}
    (item,) = (item for items in pages for item in items if item["key_id"] == created["key_id"])
    assert item == {name: value for name, value in created.items() if name != "key"}
    assert item | {"created_at": None} == {
        "key_id": created["key_id"],
        "principal": "server of Riga",
        "role": "table",
        "casino_id": "c1",
        "department": "table",
        "table_ids": [],
        "is_service_account": True,
        "issuer": None,
        "subject": None,
        "created_at": None,
        "last_used_at": None,
        "revoked_at": None,
    }
    assert item["created_at"] == created["created_at"]
    hashes = world.books.rows("SELECT encode(secret_hash, 'hex') AS hash FROM keys")
    assert not [row for row in hashes if row["hash"] in str(pages)]


def test_a_cursor_of_no_list_is_refused_and_one_past_the_end_ends_it(world: World) -> None:
    world.get("/v1/keys?after=zzz").problem(422, "validation")
    world.get("/v1/keys?after=kffff").problem(422, "validation")
    past = forged(world, "/v1/keys", ListQuerySchema, "kffff")
    assert world.get(f"/v1/keys?after={past}").ok() == {"items": [], "next": None}


WRONG_KEYS: Final[Sequence[tuple[Body, int, str]]] = (
    ({"role": "king"}, 422, "validation"),
    ({"principal": ""}, 422, "validation"),
    ({"principal": 5}, 422, "validation"),
    ({"principal": "x" * 101}, 422, "principal-invalid"),
    ({"principal": "cli"}, 422, "principal-invalid"),
    ({"principal": " x"}, 422, "principal-invalid"),
    ({"principal": "a\u0000b"}, 422, "validation"),
    ({"request_id": "no id"}, 422, "validation"),
    ({"request_id": None}, 422, "validation"),
    ({"service_account": 1}, 422, "validation"),
    ({"service_account": "yes"}, 422, "validation"),
    ({"table_ids": ["T1"] * 1001}, 422, "validation"),
    ({"table_ids": "T1"}, 422, "validation"),
    ({"casino_id": "c9"}, 404, "casino-unknown"),
    ({"casino_id": None}, 422, "principal-invalid"),
    ({"table_ids": ["T9"]}, 404, "table-unknown"),
    ({"role": "auditor"}, 422, "principal-invalid"),
    ({"role": "operator", "casino_id": None}, 403, "key-forbidden"),
    ({"role": "rates", "casino_id": None}, 403, "key-forbidden"),
    ({"role": "finance", "casino_id": None}, 403, "key-forbidden"),
    ({"role": "finance", "casino_id": None, "service_account": True}, 403, "key-forbidden"),
    ({"department": "Cage"}, 422, "validation"),
    ({"department": ""}, 422, "validation"),
    ({"department": None}, 422, "validation"),
    ({"department": "x" * 65}, 422, "validation"),
    ({"principal": "a table", "department": "cage"}, 409, "principal-conflict"),
    ({"role": "operator", "casino_id": None, "service_account": True}, 403, "key-forbidden"),
    ({"principal": "A TABLE"}, 409, "principal-conflict"),
    ({"principal": "a auditor"}, 409, "principal-conflict"),
    ({"secret": "mine"}, 422, "validation"),
)


def test_a_key_that_cannot_be_is_refused_and_nothing_is_written(world: World, subtests: pytest.Subtests) -> None:
    world.person("Ann", Role.OPERATOR)
    for change, status, code in WRONG_KEYS:
        with subtests.test(str(change)[:60]):
            before = world.books.counts()

            refused = post(world, SERVER | change)

            assert (refused.status, refused.body["code"]) == (status, code), refused.text
            assert world.books.counts() == before


def test_a_third_live_key_is_refused(world: World) -> None:
    post(world).ok(201)
    post(world, SERVER | {"request_id": "k2"}).ok(201)

    post(world, SERVER | {"request_id": "k3"}).problem(409, "key-limit-reached")


def test_a_revocation_is_repeatable(world: World) -> None:
    key_id = post(world).ok(201)["key_id"]
    revoked = revoke(world, key_id).ok(201)

    assert revoke(world, key_id).ok(200) == revoked
    assert listed(world)[key_id]["revoked_at"] == revoked["revoked_at"] is not None
    revoke(world, key_id, REVOCATION | {"request_id": "v2"}).problem(409, "key-revoked")
    revoke(world, key_id, REVOCATION | {"reason": "another"}).problem(409, "request-conflict")
    revoke(world, "0a", REVOCATION | {"request_id": "v3"}).problem(404, "key-unknown")
    revoke(world, key_id, {"request_id": "v4"}).problem(422, "validation")
    assert world.books.mismatches() == ()


def test_every_process_refuses_a_revoked_key_within_30_seconds(world: World) -> None:
    seconds = [1000.0]
    first, second = (world.start(lambda: seconds[0]) for _ in range(2))
    key = post(world).ok(201)["key"]
    statuses = {app: world.call("GET", "/v1/jackpots", key=key, app=app).status for app in (first, second)}
    assert set(statuses.values()) == {200}

    revoke(world, id_of(key)).ok(201)

    seconds[0] += KEPT_S - 0.001
    assert world.call("GET", "/v1/jackpots", key=key, app=second).status == 200  # A copy that it keeps, not for long.
    seconds[0] += 0.001
    for app in (first, second):
        world.call("GET", "/v1/jackpots", key=key, app=app).problem(401, "unauthenticated")
    assert KEPT_S <= 30


def test_a_copy_of_a_key_is_as_old_as_the_question_for_it(world: World) -> None:
    key = world.key(Role.AUDITOR)
    looks = iter([0.0, float(KEPT_S)])  # One look a call, before the database is asked, however long it takes.
    authenticator = Authenticator(world.engine, lambda: next(looks))
    authenticator.principal(f"Bearer {key}")
    revoke(world, id_of(key)).ok(201)

    with pytest.raises(BadKeyShown):
        authenticator.principal(f"Bearer {key}")


# When it was last used.


def refuse_writing(connection: psycopg.Connection[Any], _: object) -> None:
    connection.execute("SET default_transaction_read_only = on")
    connection.commit()


def last_use(world: World, key: str) -> str | None:
    last_used_at: str | None = listed(world)[id_of(key)]["last_used_at"]
    return last_used_at


def test_the_last_use_of_a_key_is_told_to_the_minute(world: World) -> None:
    key = post(world).ok(201)["key"]
    assert last_use(world, key) is None

    world.get("/v1/jackpots", key=key).ok()
    first = last_use(world, key)
    assert first is not None
    for _ in range(5):  # Other processes see it at once, and write nothing.
        world.call("GET", "/v1/jackpots", key=key, app=world.start()).ok()
    assert last_use(world, key) == first

    world.clock.advance(USES_APART)
    world.call("GET", "/v1/jackpots", key=key, app=world.start()).ok()
    assert last_use(world, key) > first  # type: ignore[operator]


def test_a_key_that_nobody_showed_whole_was_not_used(world: World) -> None:
    key = post(world).ok(201)["key"]

    world.get("/v1/jackpots", key=f"{key}x").problem(401, "unauthenticated")
    assert last_use(world, key) is None
    world.get("/v1/jackpots", key=key).ok()
    assert last_use(world, key) is not None


def test_a_database_that_cannot_be_written_still_tells_who_calls(world: World, database_url: str) -> None:
    key = post(world).ok(201)["key"]
    engine = create_engine(world.config, database_url)
    event.listen(engine, "connect", refuse_writing)

    answer = world.call(
        "GET", "/v1/jackpots", key=key, app=create_app(world.config, engine, clock=world.clock, guards_clock=False)
    )

    engine.dispose()
    assert answer.status == 200
    assert last_use(world, key) is None


def test_a_key_whose_note_is_being_written_by_another_keeps_nobody_waiting(world: World) -> None:
    key = post(world).ok(201)["key"]
    with world.engine.begin() as other:
        other.execute(text("SELECT FROM keys WHERE key_id = :id FOR UPDATE"), {"id": id_of(key)})
        assert world.call("GET", "/v1/jackpots", key=key, app=world.start()).status == 200
    assert last_use(world, key) is None


def test_the_use_of_a_revoked_key_by_a_process_that_still_believes_it_does_no_harm(world: World) -> None:
    key = post(world).ok(201)["key"]
    seconds = [0.0]
    app = world.start(lambda: seconds[0])
    world.call("GET", "/v1/jackpots", key=f"{key}x", app=app).problem(401, "unauthenticated")
    revoke(world, id_of(key)).ok(201)

    assert world.call("GET", "/v1/jackpots", key=key, app=app).status == 200
    assert last_use(world, key) is None


def test_a_machine_says_that_it_is_one(world: World) -> None:
    body = {
        "request_id": "k2",
        "principal": "importer",
        "role": "finance",
        "casino_id": "c1",
        "department": "cage",
        "service_account": True,
        "reason": "reports at night",
    }
    created = post(world, body).ok(201)

    assert (created["is_service_account"], created["department"]) == (True, "cage")
    assert world.post("/v1/change-requests/q1/approval", {"reason": "checked"}, key=created["key"]).status == 404


def test_the_hands_of_a_clock_that_went_back_change_nothing(world: World) -> None:
    key = world.key_of(Principal("Zoe", Role.AUDITOR))
    world.get("/v1/jackpots", key=key).ok()
    world.clock.advance(-timedelta(days=1))

    world.call("GET", "/v1/jackpots", key=key, app=world.start()).ok()
