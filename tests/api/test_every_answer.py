"""What every answer carries: a request id, a problem where there is one, Allow on 405; and that a failure is told."""

import re
from decimal import Decimal
from typing import Final

import pytest
import sqlalchemy

from jackpot_service.app import create_app
from jackpot_service.database.connections import create_engine
from jackpot_service.domain.principals import Role
from tests.support.answers import PROBLEM, Answer
from tests.support.bets import bet
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.logins import owner_url
from tests.support.world import World

REQUEST_ID = "X-Request-Id"


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000")
    return world


def one_of_each(world: World) -> dict[int, Answer]:
    """Answers of every status that a caller can bring about."""
    bets = world.post_bets(bet())
    etag = world.get("/v1/jackpots/j1/meter").headers["ETag"]
    answers = [
        bets,
        world.post_bets(bet()),
        world.get("/v1/jackpots/j1/meter", headers={"If-None-Match": etag}),
        world.send("POST", "T1", "r1/bets", b"["),
        world.call("GET", "/v1/jackpots", key=None),
        world.send("POST", "T1", "r1/bets", {"bets": []}, key=world.key(Role.FINANCE)),
        world.get("/v1/nothing"),
        world.call("DELETE", "/v1/jackpots", key=world.key(Role.OPERATOR)),
        world.put_result(hand("1"), bet_count=7),
        world.send("POST", "T1", "r1/bets", b"x" * 2_000_000),
        world.call("PUT", "/v1/tables/T1/rounds/r1/result", key=world.key(Role.TABLE)),
        world.post_bets(),
    ]
    return {answer.status: answer for answer in answers}


def test_every_answer_carries_an_id_of_its_own(opened: World) -> None:
    answers = one_of_each(opened)

    assert set(answers) == {200, 201, 304, 400, 401, 403, 404, 405, 409, 413, 415, 422}
    ids = [answer.headers[REQUEST_ID] for answer in answers.values()]
    assert all(re.fullmatch(r"[0-9a-f]{32}", request_id) for request_id in ids)
    assert len(set(ids)) == len(ids)


def test_no_answer_is_kept_or_guessed_at_but_a_meter_that_is_asked_for_again(opened: World) -> None:
    for answer in one_of_each(opened).values():
        cache_control = "no-cache" if answer.status == 304 else "no-store"
        assert answer.headers.getlist("X-Content-Type-Options") == ["nosniff"]
        assert answer.headers.getlist("Cache-Control") == [cache_control]


def test_no_answer_of_any_route_is_kept_or_guessed_at(opened: World) -> None:
    """As an operator, an auditor and a stranger are answered without a body, whatever the answer is."""
    opened.get("/v1/jackpots/j1/meter").ok()
    calls = 0
    for rule in opened.app.url_map.iter_rules():
        path = re.sub(r"<id:jackpot_id>", "j1", rule.rule)
        path = re.sub(r"<[^>]*>", "x", path)
        for method in sorted(rule.methods or ()):
            for key in (opened.key(Role.OPERATOR), opened.key(Role.AUDITOR), None):
                answer = opened.call(method, path, key=key)
                is_meter = rule.rule.endswith("/meter") and answer.status == 200 and method != "OPTIONS"
                cache_control = "no-cache" if is_meter else "no-store"
                if rule.endpoint.startswith("pages.") and answer.media_type != PROBLEM:
                    cache_control = "private, no-store"
                assert answer.headers.getlist("X-Content-Type-Options") == ["nosniff"], (method, path)
                assert answer.headers.getlist("Cache-Control") == [cache_control], (method, path)
                calls += 1
    assert calls > 150


def test_every_refusal_is_a_problem(opened: World) -> None:
    for status, answer in one_of_each(opened).items():
        if status >= 400:
            problem = answer.problem(status, answer.body["code"])
            assert problem["type"] == f"/problems/{problem['code']}"
            assert problem["retryable"] is False
            assert problem["instance"].startswith("/v1/")


@pytest.mark.parametrize("sent", ["abc", "A-1_b.c:d", "x" * 64])
def test_a_request_id_that_was_sent_comes_back(world: World, sent: str) -> None:
    assert world.call("GET", "/healthz", key=None, headers={REQUEST_ID: sent}).headers[REQUEST_ID] == sent


def test_a_request_id_that_is_no_id_is_replaced(world: World, subtests: pytest.Subtests) -> None:
    for sent in ("", "a b", "x" * 65, "<script>", "é", "a,b", "{}"):
        with subtests.test(sent):
            answered = world.call("GET", "/healthz", key=None, headers={REQUEST_ID: sent}).headers[REQUEST_ID]

            assert re.fullmatch(r"[0-9a-f]{32}", answered)


OTHER_METHODS: Final = (
    ("GET", "/v1/tables/T1/rounds/r1/bets", {"POST", "OPTIONS"}),
    ("PUT", "/v1/tables/T1/rounds/r1/bets", {"POST", "OPTIONS"}),
    ("DELETE", "/v1/tables/T1/rounds/r1/voids", {"POST", "OPTIONS"}),
    ("POST", "/v1/tables/T1/rounds/r1/result", {"PUT", "OPTIONS"}),
    ("POST", "/v1/tables/T1/rounds/r1/cancellation", {"PUT", "OPTIONS"}),
    ("DELETE", "/v1/tables/T1/rounds/r1", {"GET", "HEAD", "OPTIONS"}),
    ("POST", "/v1/tables/T1/rounds", {"GET", "HEAD", "OPTIONS"}),
    ("PATCH", "/v1/jackpots/j1/meter", {"GET", "HEAD", "OPTIONS"}),
    ("POST", "/v1/rates", {"GET", "HEAD", "OPTIONS"}),
    ("DELETE", "/readyz", {"GET", "HEAD", "OPTIONS"}),
    ("TRACE", "/v1/jackpots", {"GET", "HEAD", "OPTIONS", "POST"}),
    ("NONSENSE", "/v1/jackpots", {"GET", "HEAD", "OPTIONS", "POST"}),
)


def test_another_method_is_answered_with_those_that_are_allowed(opened: World, subtests: pytest.Subtests) -> None:
    for method, path, allowed in OTHER_METHODS:
        with subtests.test(f"{method} {path}"):
            answer = opened.call(method, path, key=opened.key(Role.TABLE), data=b"{}" if method != "TRACE" else None)

            answer.problem(405, "method-not-allowed")
            assert {name.strip() for name in answer.headers["Allow"].split(",")} == allowed


def test_a_path_that_is_none_of_ours_is_not_found(opened: World, subtests: pytest.Subtests) -> None:
    for path in (
        "/docs/none",
        "/v1",
        "/v2/jackpots",
        "/v1//jackpots",
        "/v1/jackpots/j1/nothing",
        "/v1/%00",
        "/favicon.ico",
    ):
        with subtests.test(path):
            opened.get(path).problem(404, "not-found")


def test_a_head_request_is_answered_without_a_body(opened: World) -> None:
    answer = opened.call("HEAD", "/v1/jackpots/j1/meter", key=opened.key(Role.AUDITOR))

    assert (answer.status, answer.text) == (200, "")
    assert answer.headers["ETag"]


def no_fraction_in(value: object) -> bool:
    """Whether no number of a body is written with a point or an exponent: those are read as Decimals."""
    if isinstance(value, dict):
        return all(map(no_fraction_in, value.values()))
    if isinstance(value, list):
        return all(map(no_fraction_in, value))
    return not isinstance(value, Decimal)


def test_every_number_of_every_answer_is_whole(opened: World) -> None:
    writes = {
        "bets": opened.post_bets(bet(currency="SEK", stake_minor=777), bet("b2", hand="2")).ok(201),
        "voids": opened.post_voids("b2", "unknown").ok(),
        "closing": opened.put_closing().ok(201),
        "result": opened.put_result(hand("1", ROYAL_FLUSH)).ok(201),
        "cancellation": opened.put_cancellation(round_id="r2").ok(201),
    }
    paths = ("/v1/jackpots", "/v1/jackpots/j1/meter?currency=GBP", "/v1/jackpots/j1/hits", "/v1/jackpots/j1/rules")

    for call, answered in writes.items():
        assert no_fraction_in(answered), call
    for path in (*paths, "/v1/jackpots/j1/paytable", "/v1/tables/T1/rounds/r1", "/v1/rates?base=EUR"):
        assert no_fraction_in(opened.get(path).ok()), path


def test_without_its_database_the_service_says_try_again(opened: World) -> None:
    nowhere = create_engine(opened.config, "postgresql+psycopg://nobody@/nothing?host=/nowhere")
    app = create_app(opened.config, nowhere, clock=opened.clock, guards_clock=False)
    key = opened.key(Role.TABLE)

    bets = opened.post_bets(bet(), app=app)
    ready = opened.call("GET", "/readyz", key=None, app=app)

    assert bets.problem(503, "busy")["retryable"] is True
    assert int(bets.headers["Retry-After"]) >= 1
    assert (ready.status, ready.body["status"]) == (503, "not-ready")
    assert opened.call("GET", "/healthz", key=None, app=app).status == 200
    assert key not in bets.text


def test_a_failure_of_ours_is_a_problem_that_tells_nothing_of_the_inside(opened: World, database_url: str) -> None:
    owner = sqlalchemy.create_engine(owner_url(database_url), poolclass=sqlalchemy.NullPool)
    with owner.begin() as connection:
        connection.execute(sqlalchemy.text("ALTER TABLE bets RENAME TO lost"))

    answer = opened.post_bets(bet())

    problem = answer.problem(500, "internal-error")
    assert problem["retryable"] is False
    assert answer.headers[REQUEST_ID]
    for inside in ("bets b", "psycopg", "SELECT", "Traceback", "relation"):
        assert inside not in answer.text
