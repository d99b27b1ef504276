"""Who calls is found before anything is kept of a call; calls and failed sign-ins are limited."""

import asyncio
from collections.abc import Iterable
from ipaddress import ip_network
from typing import Any

import pytest
import sqlalchemy
from structlog.testing import capture_logs

from jackpot_service.api.asgi import Message, Scope
from jackpot_service.domain.principals import Role
from jackpot_service.usecases.keys import revoke_key
from tests.support.answers import Answer
from tests.support.asgi import PEER, replied
from tests.support.bets import bet
from tests.support.loop import on_loop
from tests.support.world import World

JACKPOTS = "/v1/jackpots"
LIMITED = "jackpot_calls_limited_total"
REFUSED = "jackpot_sign_ins_refused_total"


@pytest.fixture
def slow(database_url: str) -> Any:
    """A house in which a key may make two calls at once, and one address may fail to sign in twice; then none."""
    world = World(database_url, key_rate=1.0, sign_in_rate=0.2, trusted_proxies=(ip_network(f"{PEER}/32"),))
    world.app = world.start(monotonic=lambda: 1000.0)
    yield world
    world.close()


def shown(world: World, key: str | None, *, address: str = "198.51.100.7") -> Answer:
    return world.call("GET", JACKPOTS, key=key, headers={"X-Forwarded-For": address})


def shown_at_once(world: World, keys: Iterable[str], *, address: str = "198.51.100.7") -> list[int]:
    """Show each key by a call of its own, all at the same time; returns the statuses."""

    async def play() -> list[Answer]:
        shown = [{"Authorization": f"Bearer {key}", "X-Forwarded-For": address} for key in keys]
        return await asyncio.gather(
            *(replied(world.app.asgi, "GET", JACKPOTS, headers=header_set) for header_set in shown)
        )

    return [answer.status for answer in on_loop(play())]


def unknown(number: int) -> str:
    return f"jk_{number:016x}_secret"


def counted(world: World, limit: str) -> int:
    return in_metrics(world, f'{LIMITED}{{limit="{limit}"}}')


def in_metrics(world: World, series: str) -> int:
    lines = world.get("/metrics", key=world.person("Mo", Role.AUDITOR)).text.splitlines()
    (line,) = (line for line in lines if line.startswith(f"{series} "))
    return int(float(line.rpartition(" ")[2]))


def lookups(world: World) -> list[str]:
    """List every look into the table of keys from now on."""
    seen: list[str] = []

    def note(_c: object, _cursor: object, statement: str, *_: object) -> None:
        if "FROM keys" in statement:
            seen.append(statement)

    sqlalchemy.event.listen(world.engine, "before_cursor_execute", note)
    return seen


def test_a_key_that_calls_too_often_is_told_when_to_come_again_and_others_are_not(slow: World) -> None:
    before = counted(slow, "key")
    key = slow.key(Role.AUDITOR)
    assert [shown(slow, key).status for _ in range(4)] == [200, 200, 429, 429]
    limited = shown(slow, key)

    assert limited.problem(429, "too-many-requests")["retryable"] is True
    assert limited.headers["Retry-After"] == "1"
    assert "X-Request-Id" in limited.headers
    assert shown(slow, slow.person("Ann", Role.AUDITOR)).status == 200
    slow.app = slow.start(monotonic=lambda: 5000.0)  # What has been counted is the process's, not the application's.
    assert counted(slow, "key") == before + 3


def test_bets_are_limited_with_all_other_calls_of_their_key_and_nothing_of_them_is_written(slow: World) -> None:
    slow.open()
    slow.post_bets(bet("b1"), round_id="r1").ok(201)
    slow.post_bets(bet("b2"), round_id="r2").ok(201)
    before = slow.books.counts()
    slow.post_bets(bet("b3"), round_id="r3").problem(429, "too-many-requests")
    slow.put_cancellation(round_id="r1").problem(429, "too-many-requests")
    assert slow.books.counts() == before


def test_sign_ins_that_fail_are_limited_by_address(slow: World) -> None:
    before = counted(slow, "address")
    assert [shown(slow, unknown(number)).status for number in range(4)] == [401, 401, 429, 429]
    limited = shown(slow, "jk_no_key")
    limited.problem(429, "too-many-requests")
    assert limited.headers["Retry-After"] == "5"
    assert shown(slow, unknown(9), address="198.51.100.8").status == 401
    assert counted(slow, "address") == before + 3


def test_a_call_without_any_key_is_no_sign_in(slow: World) -> None:
    assert [shown(slow, None).status for _ in range(10)] == [401] * 10
    assert shown(slow, unknown(1)).status == 401


def test_an_address_that_fails_keeps_no_good_key_out_not_even_one_that_was_never_seen(slow: World) -> None:
    ann, bob = slow.person("Ann", Role.AUDITOR), slow.person("Bob", Role.AUDITOR)
    assert shown(slow, ann).status == 200
    for number in range(50):
        shown(slow, unknown(number))
    assert [shown(slow, ann).status, shown(slow, bob).status] == [200, 200]
    assert shown(slow, f"{bob}x").status == 429


def test_a_secret_that_is_guessed_is_a_sign_in_that_failed_whether_the_limit_is_reached_or_not(slow: World) -> None:
    key, before = slow.person("Bob", Role.AUDITOR), in_metrics(slow, REFUSED)
    with capture_logs() as logged:
        assert [shown(slow, f"{key}x").status for _ in range(4)] == [401, 401, 429, 429]
    assert [line["event"] for line in logged] == ["sign-in-refused", "limit-reached"]
    assert in_metrics(slow, REFUSED) == before + 4


def test_where_the_limit_is_reached_keys_that_nobody_has_cost_no_look_into_the_database(slow: World) -> None:
    seen = lookups(slow)
    for number in range(100):
        shown(slow, unknown(number))
    assert len(seen) <= 2 + 1  # Two failed; then all ids in force were read, once.


def test_keys_that_are_tried_at_the_same_time_are_limited_as_if_one_came_after_the_other(slow: World) -> None:
    seen = lookups(slow)
    assert sorted(shown_at_once(slow, map(unknown, range(30)))) == [401] * 2 + [429] * 28
    assert len(seen) <= 2 + 1


def test_good_keys_that_are_seen_for_the_first_time_use_up_nothing_of_the_limit(slow: World) -> None:
    keys = [slow.person(f"Person {number}", Role.AUDITOR) for number in range(10)]
    assert shown_at_once(slow, keys) == [200] * 10
    assert [shown(slow, unknown(number)).status for number in range(3)] == [401, 401, 429]


def test_a_key_that_was_made_while_the_limit_is_reached_is_known_a_second_later(database_url: str) -> None:
    now = [1000.0]
    world = World(database_url, sign_in_rate=0.1)
    world.app = world.start(monotonic=lambda: now[0])
    for number in range(10):
        world.call("GET", JACKPOTS, key=unknown(number))
    key = world.person("Ann", Role.AUDITOR)
    now[0] += 1.1
    assert world.call("GET", JACKPOTS, key=key).status == 200
    world.transact(lambda session: revoke_key(session, world.act(), key.split("_")[1]))
    now[0] += 16
    assert world.call("GET", JACKPOTS, key=key).status in {401, 429}
    world.close()


def asked_without_body(world: World, key: str | None, path: str = "/v1/tables/T1/rounds/r1/bets") -> int:
    """Send the head of a request; its body never comes, and must not be waited for. Returns the answer's status."""
    headers = [(b"host", b"here"), (b"content-type", b"application/json"), (b"content-length", b"900000")]
    if key is not None:
        headers.append((b"authorization", f"Bearer {key}".encode()))
    scope: Scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": headers,
        "client": (PEER, 1),
    }
    sent: list[Message] = []

    async def receive() -> Message:
        raise AssertionError("The body was asked for.")

    async def send(message: Message) -> None:
        sent.append(message)

    on_loop(world.app.asgi(scope, receive, send))
    status: int = sent[0]["status"]
    return status


def test_of_a_call_that_is_refused_by_its_head_no_body_is_read(slow: World) -> None:
    slow.open()
    auditor, table = slow.key(Role.AUDITOR), slow.key(Role.TABLE)
    assert asked_without_body(slow, None) == 401
    assert asked_without_body(slow, unknown(1)) == 401
    assert asked_without_body(slow, auditor) == 403
    assert asked_without_body(slow, auditor, "/v1/tables/T1/rounds/r1/voids") == 403
    for _ in range(3):
        shown(slow, table)
    assert asked_without_body(slow, table) == 429
