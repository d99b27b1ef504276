"""The event loop answers as Flask does, also what is wrong, and leaves to Flask whatever it does not answer."""

import gc
import math
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NoReturn

import flask
import orjson
import pytest
import sqlalchemy
from werkzeug.exceptions import MethodNotAllowed, RequestEntityTooLarge

from jackpot_service.api.asgi import InThreads, Receive, Scope, Send
from jackpot_service.api.bet_groups import BetGroups
from jackpot_service.api.entrance import TooManyRequests
from jackpot_service.api.fast_path import Call
from jackpot_service.api.parsing import DuplicateMember, Invalid, NotJson
from jackpot_service.api.places import Caller, Places, Turns
from jackpot_service.api.request_context import EXTENSION
from jackpot_service.api.requests import LONGEST_BODY
from jackpot_service.app import Application
from jackpot_service.database.failures import Busy, OutcomeUnknown
from jackpot_service.domain.errors import BooksBroken, Conflict, FieldError, Forbidden, NotFound, Unauthenticated
from jackpot_service.domain.money import NoRate
from jackpot_service.domain.principals import Role
from jackpot_service.records.immutable import NoJackpot
from jackpot_service.usecases.accept_bets import AcceptBets, BetsAccepted
from jackpot_service.usecases.keys import revoke_key
from tests.support.answers import PROBLEM, Answer, Body
from tests.support.asgi import answer_to
from tests.support.bets import bet
from tests.support.hands import NOTHING, hand
from tests.support.logins import owner_url
from tests.support.world import World

pytestmark = pytest.mark.slow

PATH = "/v1/tables/{table}/rounds/{round}/bets"
METER = "/v1/jackpots/{jackpot}/meter"


@pytest.fixture
def opened(world: World) -> World:
    """
    Two jackpots of one stripe each, so that nothing of an answer is left to chance; the application has seen their
    tables, and the keys of those who ask.
    """
    for jackpot, table in (("j1", "T1"), ("j2", "T2")):
        world.open(jackpot_id=jackpot, tables=(table,), stripes=1, base_amount="1000")
        world.post_bets(bet("first"), table_id=table, round_id="r0").ok(201)
        world.get(METER.format(jackpot=jackpot)).ok()
    return world


def without_fast_path(world: World) -> Application:
    """Another process of the application, which has Flask alone: nothing is looked at on the loop."""
    app = world.start()
    in_threads = InThreads(app, ThreadPoolExecutor(2), longest_s=5)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await in_threads(scope, receive, send, body=(await receive())["body"])

    app.asgi = answer  # type: ignore[assignment]
    return app


@contextmanager
def seen_by_flask(app: Application) -> Iterator[list[str]]:
    """Tell which requests reach Flask."""
    seen: list[str] = []

    def see(_app: Application, **_: Any) -> None:
        seen.append(flask.request.path)

    with flask.request_started.connected_to(see, app):
        yield seen


def shown_by(answer: Answer) -> tuple[int, dict[str, str], Any]:
    """What of an answer must not depend on who gave it; Flask dates what has a tag, as any server does."""
    headers = {name: value for name, value in answer.headers.items() if name not in {"x-request-id", "date"}}
    return answer.status, headers, answer.body if answer.text else None


def posted(world: World, table: str, body: object, app: Application, **headers: str) -> Answer:
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    key = world.key(Role.TABLE)
    return world.call("POST", PATH.format(table=table, round="r1"), key=key, data=data, headers=headers, app=app)


BATCHES: dict[str, Body] = {
    "of one bet": {"bets": [bet("a")]},
    "sent again": {"bets": [bet("a")]},
    "in part sent again": {"bets": [bet("a"), bet("b", hand="2")]},
    "with a bet that is void": {"bets": [bet("c", hand="3"), bet("voided", hand="4")]},
    "of several currencies": {
        "bets": [bet("d", player_id="q", currency="SEK", stake_minor=777), bet("e", player_id="r", currency="GBP")]
    },
    "with a game number": {"bets": [bet("n", player_id="n")], "game_number": "21:10:10"},
    "with a game number again": {"bets": [bet("o", player_id="o")], "game_number": "21:10:10"},
    "with a time": {"bets": [bet("f", player_id="s")], "occurred_at": "2026-11-20T09:30:00+02:00"},
    "with a bet's own time": {
        "bets": [{**bet("g", player_id="t"), "occurred_at": "2026-11-20T08:30:00Z"}],
        "occurred_at": "2026-11-20T08:31:00Z",
    },
}


def test_every_batch_is_answered_by_the_fast_path_as_flask_answers_it(opened: World, subtests: pytest.Subtests) -> None:
    alone = without_fast_path(opened)
    for table in ("T1", "T2"):
        opened.post_voids("voided", table_id=table).ok()
    for app in (opened.app, alone):  # Whoever sees a key for the first time looks at the clock once more.
        opened.call("GET", METER.format(jackpot="j1"), key=opened.key(Role.TABLE), app=app)
    for name, body in BATCHES.items():
        with subtests.test(name):
            at = opened.clock()
            with seen_by_flask(opened.app) as seen:
                fast = posted(opened, "T1", body, opened.app)
            opened.clock.at = at
            by_flask = posted(opened, "T2", body, alone)
            assert seen == []
            status, headers, shown = shown_by(by_flask)
            as_if = orjson.loads(orjson.dumps(shown).replace(b'"j2"', b'"j1"').replace(b'"T2"', b'"T1"'))
            assert shown_by(fast) == (status, headers, as_if)


@pytest.mark.parametrize(
    "query", ["", "?max_age=1", "?currency=GBP", "?currency=GBP,EUR,JPY", "?currency=SEK,GBP&max_age=1"]
)
def test_the_meter_is_shown_by_the_fast_path_as_flask_shows_it(opened: World, query: str) -> None:
    opened.bet(bet())
    opened.get(METER.format(jackpot="j1")).ok()  # So that what is a second old is this.
    key, path = opened.key(Role.AUDITOR), METER.format(jackpot="j1") + query

    with seen_by_flask(opened.app) as seen:
        fast = opened.call("GET", path, key=key)
    by_flask = opened.call("GET", path, key=key, app=without_fast_path(opened))

    assert (seen, fast.status) == ([], 200)
    assert shown_by(fast) == shown_by(by_flask)


@pytest.mark.parametrize(
    ("tag", "status"),
    [("{}", 304), ('"other", {}', 304), ("W/{}", 304), ("*", 304), ('"other"', 200), ("not a tag", 200), ("", 200)],
)
def test_a_meter_that_is_known_is_not_shown_again_by_the_fast_path_as_by_flask(
    opened: World, tag: str, status: int
) -> None:
    key, path = opened.key(Role.AUDITOR), METER.format(jackpot="j1")
    known = opened.call("GET", path, key=key).headers["ETag"]

    with seen_by_flask(opened.app) as seen:
        fast = opened.call("GET", path, key=key, headers={"If-None-Match": tag.format(known)})
    by_flask = opened.call(
        "GET", path, key=key, headers={"If-None-Match": tag.format(known)}, app=without_fast_path(opened)
    )

    assert (seen, fast.status) == ([], status)
    assert shown_by(fast) == shown_by(by_flask)


def test_a_body_with_a_character_set_is_for_the_fast_path_too(opened: World) -> None:
    for media_type in ("application/json; charset=utf-8", "Application/JSON"):
        with seen_by_flask(opened.app) as seen:
            posted(opened, "T1", {"bets": [bet()]}, opened.app, **{"Content-Type": media_type})
        assert seen == []


BAD_BODIES: dict[str, bytes] = {
    "no JSON": b"{",
    "no body": b"",
    "no object": b"[]",
    "no bets": b"{}",
    "a list of none": b'{"bets":[]}',
    "a name twice": b'{"bets":[],"bets":[]}',
    "an unknown name": orjson.dumps({"bets": [bet()], "more": 1}),
    "a bad_field bet": orjson.dumps({"bets": [bet(stake_minor=0), bet("b2", currency="eur")]}),
    "a bet twice": orjson.dumps({"bets": [bet(), bet()]}),
    "too many bets": orjson.dumps({"bets": [bet(f"b{number}") for number in range(2001)]}),
    "an unknown currency": orjson.dumps({"bets": [bet("new", currency="XXX")]}),
    "no rate": orjson.dumps({"bets": [bet("new", currency="CHF")]}),
    "a stake too large": orjson.dumps({"bets": [bet("new", stake_minor=10**12)]}),
    "no game number": orjson.dumps({"bets": [bet("new")], "game_number": "21 10"}),
    "another game number": orjson.dumps({"bets": [bet("new", hand="9")], "game_number": "another"}),
    "a conflict": orjson.dumps({"bets": [bet("known", stake_minor=200)]}),
}


def test_every_bad_body_is_refused_as_flask_refuses_it(opened: World, subtests: pytest.Subtests) -> None:
    alone = without_fast_path(opened)
    opened.post_bets(bet("known"), game_number="21:10:10").ok(201)
    for name, body in BAD_BODIES.items():
        with subtests.test(name):
            refusal = posted(opened, "T1", body, opened.app)
            assert refusal.status in {400, 409, 422}
            assert shown_by(refusal) == shown_by(posted(opened, "T1", body, alone))


def test_every_call_that_is_not_as_others_are_is_answered_by_flask(opened: World, subtests: pytest.Subtests) -> None:
    alone, table, auditor = without_fast_path(opened), opened.key(Role.TABLE), opened.key(Role.AUDITOR)
    bets, meter = PATH.format(table="T1", round="r1"), METER.format(jackpot="j1")
    body = orjson.dumps({"bets": [bet()]})
    known, again = PATH.format(table="T1", round="r0"), orjson.dumps({"bets": [bet("first")]})
    calls: dict[str, tuple[str, str, str | None, bytes | None, dict[str, str]]] = {
        "another method": ("PUT", bets, table, body, {}),
        "a query": ("POST", f"{bets}?dry_run=true", table, body, {}),
        "another media type": ("POST", bets, table, body, {"Content-Type": "text/plain"}),
        "an encoding": ("POST", bets, table, body, {"Content-Encoding": "gzip"}),
        "an id that is none": ("POST", PATH.format(table="T1", round="r%201"), table, body, {}),
        "more than may be sent": ("POST", bets, table, body.ljust(opened.config.max_body_bytes + 1), {}),
        "more than the loop reads": ("POST", known, table, again.ljust(LONGEST_BODY + 1), {}),
        "a meter in a currency twice": ("GET", f"{meter}?currency=GBP,GBP", auditor, None, {}),
        "a meter if it is the same": ("GET", meter, auditor, None, {"If-Match": '"other"'}),
        "no such call": ("GET", "/v1/nothing", None, None, {}),
        "a path of strange letters": ("GET", "/v1/%ff%C3%A9/x", None, None, {}),
    }
    for name, (method, path, key, data, headers) in calls.items():
        with subtests.test(name):
            with seen_by_flask(opened.app) as seen:
                answer = opened.call(method, path, key=key, data=data, headers=headers)
            assert len(seen) == 1
            by_flask = opened.call(method, path, key=key, data=data, headers=headers, app=alone)
            assert shown_by(answer) == shown_by(by_flask)


def test_what_the_loop_finds_wrong_before_flask_is_asked_is_told_as_flask_tells_it(
    opened: World, subtests: pytest.Subtests
) -> None:
    alone, table, auditor = without_fast_path(opened), opened.key(Role.TABLE), opened.key(Role.AUDITOR)
    bets, meter, voids = (
        PATH.format(table="T1", round="r1"),
        METER.format(jackpot="j1"),
        "/v1/tables/T1/rounds/r1/voids",
    )
    body = orjson.dumps({"bets": [bet()]})
    revoked = opened.person("Rex", Role.AUDITOR)
    opened.transact(lambda session: revoke_key(session, opened.act(), revoked.split("_")[1]))
    calls: dict[str, tuple[str, str, str | None, bytes | None, dict[str, str]]] = {
        "no key": ("POST", bets, None, body, {}),
        "no key in what is shown": ("POST", bets, "jk", body, {}),
        "another scheme": ("POST", bets, None, body, {"Authorization": "Basic eDp5"}),
        "an unknown key": ("POST", bets, "jk_00_00", body, {}),
        "a wrong secret": ("POST", bets, f"{table}x", body, {}),
        "a revoked key": ("GET", "/v1/jackpots", revoked, None, {}),
        "a key of another role": ("POST", bets, auditor, body, {}),
        "no key for a call of Flask's": ("POST", voids, None, b"{}", {}),
        "a role that may not make a call of Flask's": ("POST", voids, auditor, b"{}", {}),
        "an unknown table": ("POST", PATH.format(table="T9", round="r1"), table, body, {}),
        "a meter of no jackpot": ("GET", METER.format(jackpot="j9"), auditor, None, {}),
        "a meter without a key": ("GET", meter, None, None, {}),
        "no key for a head": ("HEAD", "/v1/jackpots", None, None, {}),
        "an id that is written otherwise": ("POST", "/v1/tables/T%31/rounds/r1/bets", None, body, {}),
    }
    for name, (method, path, key, data, headers) in calls.items():
        with subtests.test(name):
            with seen_by_flask(opened.app) as seen:
                answer = opened.call(method, path, key=key, data=data, headers=headers)
            assert (seen, answer.media_type) == ([], PROBLEM)
            assert bool(answer.text) is (method != "HEAD")
            by_flask = opened.call(method, path, key=key, data=data, headers=headers, app=alone)
            assert shown_by(answer) == shown_by(by_flask)


ERRORS: dict[str, Exception] = {
    "refused": NoJackpot("The table has none.", table_id="T1"),
    "refused with field errors": NoRate(
        "No rate.", field_errors=(FieldError("/bets/0", "no-rate", "has none"),), currency="CHF"
    ),
    "conflict": Conflict("It contradicts."),
    "not found": NotFound("There is none."),
    "forbidden": Forbidden("It may not."),
    "unauthenticated": Unauthenticated("It shows no key."),
    "limit reached": TooManyRequests("Too many.", retry_after_s=7),
    "busy": Busy("As many as can be."),
    "outcome unknown": OutcomeUnknown("It broke."),
    "books broken": BooksBroken("They do not add up."),
    "not JSON": NotJson("It is none."),
    "a member twice": DuplicateMember("It names one twice."),
    "invalid": Invalid((FieldError("/bets", "validation", "is missing"),)),
    "too large": RequestEntityTooLarge(),
    "another method": MethodNotAllowed(["GET"]),
    "nobody foresaw it": ZeroDivisionError("made up"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_every_kind_of_error_has_the_same_answer_from_the_loop_and_from_flask(opened: World, name: str) -> None:
    alone, key = without_fast_path(opened), opened.key(Role.AUDITOR)

    def raise_it(**_: object) -> flask.Response:
        raise ERRORS[name]

    async def take(*_: object) -> NoReturn:
        raise ERRORS[name]

    alone.view_functions["jackpots.get_jackpots"] = raise_it
    opened.app.asgi._calls = (Call("GET", re.compile("/v1/jackpots"), frozenset(Role), take),)
    shown = {"Authorization": f"Bearer {key}"}  # Not by `call`, which minds that the operation has no such errors.
    answers = [answer_to(app.asgi, "GET", "/v1/jackpots", headers=shown) for app in (opened.app, alone)]

    assert answers[0].media_type == PROBLEM
    assert shown_by(answers[0]) == shown_by(answers[1])


class Counting(BetGroups):
    """The groups of an application, which count what they are asked, and may fail when they have done it."""

    def __init__(self, groups: BetGroups, *, failing: Exception | None = None) -> None:
        self.groups = groups
        self.failing = failing
        self.calls = 0
        self.then: Callable[[], object] = lambda: None

    def accept(self, command: AcceptBets) -> BetsAccepted:
        self.calls += 1
        return self.groups.accept(command)

    async def accept_async(self, command: AcceptBets, *, ends_at: float = math.inf) -> BetsAccepted:
        self.calls += 1
        accepted = await self.groups.accept_async(command, ends_at=ends_at)
        self.then()
        if self.failing is not None:
            raise self.failing
        return accepted


def counting(world: World, failing: Exception | None = None) -> Counting:
    context = world.app.extensions[EXTENSION]
    groups = Counting(context.bet_groups, failing=failing)
    object.__setattr__(context, "bet_groups", groups)
    return groups


def test_what_finance_must_see_of_a_refusal_on_the_fast_path_is_kept_once_and_nothing_asked_twice(
    opened: World,
) -> None:
    opened.bet(bet())
    groups = counting(opened)
    posted(opened, "T1", {"bets": [bet(stake_minor=200)]}, opened.app).problem(409, "bet-conflict")
    posted(opened, "T1", {"bets": [bet("large", stake_minor=10**12)]}, opened.app).problem(422, "stake-out-of-range")
    opened.settle(hand("1", NOTHING))
    posted(opened, "T1", {"bets": [bet("late")]}, opened.app).problem(409, "round-settled")

    assert groups.calls == 3
    kinds = [exception["kind"] for exception in opened.get("/v1/exceptions").ok()["items"]]
    assert sorted(kinds) == ["bet-conflict", "late-bet", "stake-out-of-range"]


class LastPlace(Places):
    """One place is left, and when it is free again somebody else has it."""

    def __init__(self) -> None:
        super().__init__("bets", 1)
        self.is_given = False

    def has_taken(self, caller: Caller, count: int = 1) -> bool:
        was_given, self.is_given = self.is_given, True
        return not was_given and super().has_taken(caller, count)


def test_what_the_fast_path_came_to_needs_no_second_place(opened: World) -> None:
    """A batch may be in the books whose outcome is unknown: whoever is told «nothing was written» would lose it."""
    context = opened.app.extensions[EXTENSION]
    opened.bet(bet())
    object.__setattr__(context, "bets", Turns(LastPlace(), longest_wait_s=0))
    posted(opened, "T1", {"bets": [bet(stake_minor=200)]}, opened.app).problem(409, "bet-conflict")

    object.__setattr__(context, "bets", Turns(LastPlace(), longest_wait_s=0))
    groups = counting(opened, OutcomeUnknown("The connection broke."))
    posted(opened, "T1", {"bets": [bet("b2")]}, opened.app).problem(503, "outcome-unknown")

    assert groups.calls == 1


def test_an_unknown_outcome_stays_one_though_the_key_cannot_be_asked_for_any_more(
    opened: World, database_url: str
) -> None:
    now = 0.0
    app = opened.start(monotonic=lambda: now)
    posted(opened, "T1", {"bets": [bet("first")]}, app).ok(201)
    groups = Counting(app.extensions[EXTENSION].bet_groups, failing=OutcomeUnknown("The connection broke."))
    object.__setattr__(app.extensions[EXTENSION], "bet_groups", groups)

    def forget_keys() -> None:
        nonlocal now
        now += 60
        owner = sqlalchemy.create_engine(owner_url(database_url), poolclass=sqlalchemy.NullPool)
        with owner.begin() as connection:
            connection.execute(sqlalchemy.text("ALTER TABLE keys RENAME TO lost"))

    groups.then = forget_keys
    posted(opened, "T1", {"bets": [bet()]}, app).problem(503, "outcome-unknown")

    owner = sqlalchemy.create_engine(owner_url(database_url), poolclass=sqlalchemy.NullPool)
    with owner.begin() as connection:
        connection.execute(sqlalchemy.text("ALTER TABLE lost RENAME TO keys"))


def test_a_failure_that_nobody_foresaw_is_told_and_what_it_came_from_not_done_again(opened: World) -> None:
    groups = counting(opened, ZeroDivisionError("made up"))

    answer = posted(opened, "T1", {"bets": [bet()]}, opened.app)

    assert "made up" not in answer.problem(500, "internal-error")["detail"]
    assert groups.calls == 1


def test_a_meter_that_cannot_be_read_is_not_asked_for_again(opened: World) -> None:
    meters = opened.app.extensions[EXTENSION].meters
    read_jackpots: list[str] = []
    read = meters._read

    def read_counted(jackpot_id: str) -> object:
        read_jackpots.append(jackpot_id)
        return read(jackpot_id)

    meters._read = read_counted

    opened.call("GET", METER.format(jackpot="j9"), key=opened.key(Role.AUDITOR)).problem(404, "jackpot-unknown")

    assert read_jackpots == ["j9"]


def test_a_refused_call_leaves_no_more_behind_than_flask_does(opened: World) -> None:
    def left_by(app: Application) -> int:
        posted(opened, "T1", {"bets": [bet(stake_minor=200)]}, app)
        while gc.collect():  # What earlier tests left may go in several steps.
            pass
        posted(opened, "T1", {"bets": [bet(stake_minor=200)]}, app)
        return gc.collect()

    opened.bet(bet())
    assert left_by(opened.app) <= left_by(without_fast_path(opened)) + 5


def test_a_body_longer_than_it_says_is_not_read_to_its_end(opened: World) -> None:
    """A server that tells a length and sends in chunks would have the length believed."""
    body = orjson.dumps({"bets": [bet()]}).ljust(opened.config.max_body_bytes + 1)
    answer = posted(opened, "T1", body, opened.app, **{"Content-Length": "10"})
    answer.problem(413, "body-too-large")


@pytest.mark.parametrize("length", ["9" * 5000, "-1", "+10", "ten", "1_0", ""])
def test_a_length_that_is_none_is_answered_as_flask_answers_it(opened: World, length: str) -> None:
    opened.bet(bet())

    def sent(app: Application) -> Answer:
        return posted(opened, "T1", {"bets": [bet()]}, app, **{"Content-Length": length})

    assert shown_by(sent(opened.app)) == shown_by(sent(without_fast_path(opened)))


def test_what_was_not_seen_before_is_asked_for_by_a_thread_and_the_call_goes_on_on_the_loop(opened: World) -> None:
    calls: list[tuple[str, str, str, bytes | None]] = []
    opened.add_table("T3", jackpot_id="j1")
    body = orjson.dumps({"bets": [bet()]})
    calls += [("POST", PATH.format(table="T3", round="r1"), opened.key(Role.TABLE), body)]
    calls += [("GET", METER.format(jackpot="j1"), opened.person("Nora", Role.AUDITOR), None)]
    for method, path, key, data in calls:
        for _ in range(2):
            with seen_by_flask(opened.app) as seen:
                assert opened.call(method, path, key=key, data=data).status in {200, 201}
            assert seen == []


def test_an_answer_of_the_fast_path_carries_the_id_that_the_request_sent(opened: World) -> None:
    for sent, told_id in (("mine-1", True), ("not an id", False), ("", False)):
        with seen_by_flask(opened.app) as seen:
            answer = posted(opened, "T1", {"bets": [bet()]}, opened.app, **{"X-Request-Id": sent})
        assert seen == []
        assert (answer.headers["X-Request-Id"] == sent) is told_id
        assert len(answer.headers["X-Request-Id"]) == (len(sent) if told_id else 32)
