"""Bodies that are wrong whatever is asked: a problem that says so, nothing written, never a 500."""

import codecs
import gzip
from collections.abc import Mapping
from typing import Final

import orjson
import pytest

from jackpot_service.api.places import Caller
from jackpot_service.app import PLACES_FOR_BETS
from jackpot_service.domain.principals import Role
from tests.support.answers import PROBLEM, Answer, Body, places
from tests.support.bets import bet
from tests.support.world import World

pytestmark = pytest.mark.long

CALLS: Final[Mapping[str, tuple[str, Body]]] = {
    "bets": ("POST", {"bets": [bet()]}),
    "voids": ("POST", {"bet_ids": ["b1"]}),
    "result": ("PUT", {"bet_count": 0, "hands": []}),
    "cancellation": ("PUT", {"reason": "misdeal"}),
}
"""Every call that takes a body, with a body that it takes."""

NO_JSON: Final = {
    "nothing": b"",
    "white space": b" \n\t",
    "a word": b"misdeal",
    "cut off": b'{"reason":"misdeal"',
    "two documents": b"{}{}",
    "a comma too many": b'{"reason":"misdeal",}',
    "single quotes": b"{'reason':'misdeal'}",
    "a comment": b'{"reason":"misdeal"/**/}',
    "100,000 brackets": b"[" * 100_000,
    "100,000 brackets, closed": b"[" * 100_000 + b"]" * 100_000,
    "100,000 braces": b'{"a":' * 100_000,
    "NaN": b'{"bet_count":NaN}',
    "Infinity": b'{"bet_count":Infinity}',
    "-Infinity": b'{"bet_count":-Infinity}',
    "5,000 digits": b'{"bet_count":' + b"9" * 5000 + b"}",
    "a huge exponent": b'{"bet_count":1e999999999}',
    "a leading zero": b'{"bet_count":01}',
    "hexadecimal": b'{"bet_count":0x10}',
    "a lone surrogate": b'{"reason":"\\ud800"}',
    "a surrogate as UTF-8": b'{"reason":"\xed\xa0\x80"}',
    "no UTF-8": b'{"reason":"\xff\xfe"}',
    "an overlong NUL": b'{"reason":"\xc0\x80"}',
    "a raw NUL": b'{"reason":"mis\x00deal"}',
    "a NUL behind": b'{"reason":"misdeal"}\x00',
    "a byte order mark": codecs.BOM_UTF8 + b'{"reason":"misdeal"}',
    "UTF-16": '{"reason":"misdeal"}'.encode("utf-16"),
    "gzip without saying so": gzip.compress(b'{"reason":"misdeal"}'),
}

DUPLICATE_MEMBERS: Final = {
    "plainly": b'{"reason":"a","reason":"b"}',
    "with the same value": b'{"bets":[],"bets":[]}',
    "with white space before the colon": b'{"reason" :"a","reason"\n\t:"b"}',
    "behind colons in a string": b'{"reason":"a:b:c","reason":"d"}',
    "with colons in the key": b'{"a:b":1,"a:b":2}',
    "with an escaped letter": b'{"reason":"a","\\u0072eason":"b"}',
    "with an escaped colon": b'{"reason":"a\\u003ab","reason":"c"}',
    "deep inside": b'{"bets":[{"bet_id":"b1","stake_minor":1,"stake_minor":100}]}',
    "deep inside, behind colons": b'{"bets":[{"occurred_at":"09:30:00","bet_id":"b1","bet_id":"b2"}]}',
    "in an object that another swallows": b'{"reason":{"a":1,"a":2},"reason":"b"}',
}

NO_OBJECT: Final = {
    "an array": b"[]",
    "an array of objects": b'[{"reason":"misdeal"}]',
    "a number": b"1",
    "a string": b'"misdeal"',
    "null": b"null",
    "true": b"true",
}

OTHER_MEDIA: Final[Mapping[str, Mapping[str, str]]] = {
    "none": {"Content-Type": ""},
    "text": {"Content-Type": "text/plain"},
    "a form": {"Content-Type": "application/x-www-form-urlencoded"},
    "a file": {"Content-Type": "multipart/form-data; boundary=x"},
    "something like JSON": {"Content-Type": "application/vnd.api+json"},
    "JSON in the parameter": {"Content-Type": "text/html; application/json"},
    "gzip": {"Content-Encoding": "gzip"},
    "an unknown encoding": {"Content-Encoding": "zstd"},
}


@pytest.fixture
def opened(world: World) -> World:
    world.open(base_amount="1000")
    return world


def send(world: World, call: str, data: bytes, headers: Mapping[str, str] | None = None) -> Answer:
    method, _ = CALLS[call]
    path = f"/v1/tables/T1/rounds/r1/{call}"
    return world.call(method, path, key=world.key(Role.TABLE), data=data, headers=headers)


def require_refused(world: World, answer: Answer, before: Mapping[str, int], status: int, code: str) -> None:
    answer.problem(status, code)
    assert world.books.counts() == before


def require_all_refused(world: World, call: str, bodies: Mapping[str, bytes], status: int, code: str) -> None:
    before = world.books.counts()
    for name, body in bodies.items():
        answer = send(world, call, body)
        assert (answer.status, answer.body["code"]) == (status, code), (name, answer.text)
    assert world.books.counts() == before


def test_what_is_no_json_is_refused(opened: World, subtests: pytest.Subtests) -> None:
    for call in CALLS:
        with subtests.test(call):
            require_all_refused(opened, call, NO_JSON, 400, "not-json")


def test_a_key_that_stands_twice_in_an_object_is_refused(opened: World, subtests: pytest.Subtests) -> None:
    for call in CALLS:
        with subtests.test(call):
            require_all_refused(opened, call, DUPLICATE_MEMBERS, 400, "duplicate-member")


def test_a_key_that_stands_twice_among_90000_is_found_without_comparing_all_with_all(
    opened: World, subtests: pytest.Subtests
) -> None:
    for call in CALLS:
        with subtests.test(call):
            keys = [b'"%06d":1' % number for number in range(90_000)]
            before = opened.books.counts()

            answer = send(opened, call, b"{" + b",".join([*keys, keys[0]]) + b"}")

            require_refused(opened, answer, before, 400, "duplicate-member")


def test_what_is_no_object_is_refused(opened: World, subtests: pytest.Subtests) -> None:
    for call in CALLS:
        with subtests.test(call):
            require_all_refused(opened, call, NO_OBJECT, 422, "validation")
            send(opened, call, b"[]").problem(422, "validation", "")


def test_deep_nesting_is_refused_whether_or_not_a_reader_can_follow_it(
    opened: World, subtests: pytest.Subtests
) -> None:
    for call in CALLS:
        with subtests.test(call):
            before = opened.books.counts()

            for depth in (200, 254, 255, 500, 990, 1000, 1023, 1024, 1025):
                for left, inside, right in ((b"[", b"", b"]"), (b'{"a":', b"1", b"}"), (b'{"a:":[', b'":"', b"]}")):
                    answer = send(opened, call, left * depth + inside + right * depth)
                    where = (depth, left, answer.text)
                    assert (answer.status, answer.media_type) in {(400, PROBLEM), (422, PROBLEM)}, where

            assert opened.books.counts() == before


def test_another_media_type_is_refused(opened: World, subtests: pytest.Subtests) -> None:
    for call in CALLS:
        with subtests.test(call):
            before = opened.books.counts()
            data = orjson.dumps(CALLS[call][1])

            for name, headers in OTHER_MEDIA.items():
                answer = send(opened, call, data, headers)
                assert (answer.status, answer.body["code"]) == (415, "unsupported-media-type"), (name, answer.text)

            assert opened.books.counts() == before


def test_a_gzip_bomb_is_not_unpacked(opened: World, subtests: pytest.Subtests) -> None:
    for call in CALLS:
        with subtests.test(call):
            before = opened.books.counts()
            bomb = gzip.compress(b" " * 10_000_000)

            answer = send(opened, call, bomb, {"Content-Encoding": "gzip"})

            require_refused(opened, answer, before, 415, "unsupported-media-type")


@pytest.mark.parametrize("call", CALLS)
def test_a_charset_may_be_named(opened: World, call: str) -> None:
    data = orjson.dumps(CALLS[call][1])

    answer = send(opened, call, data, {"Content-Type": "application/json; charset=utf-8"})

    assert answer.status in {200, 201}


def test_a_body_of_ten_megabytes_is_refused(opened: World, subtests: pytest.Subtests) -> None:
    for call in CALLS:
        with subtests.test(call):
            before = opened.books.counts()

            answer = send(opened, call, b'{"reason":"' + b"x" * 10_000_000 + b'"}')

            require_refused(opened, answer, before, 413, "body-too-large")


def test_a_body_of_unstated_length_is_refused_where_it_goes_too_far(opened: World) -> None:
    """As the server hands over what comes in chunks: a stream that ends, of no stated length."""
    before = opened.books.counts()
    client = opened.app.test_client()

    response = client.put(
        "/v1/tables/T1/rounds/r1/cancellation",
        data=b'{"reason":"misdeal"}' + b" " * 2_000_000 + b"and more",
        headers={
            "Authorization": f"Bearer {opened.key(Role.TABLE)}",
            "Content-Type": "application/json",
            "Transfer-Encoding": "chunked",
        },
        environ_overrides={"CONTENT_LENGTH": "", "wsgi.input_terminated": True},
    )

    require_refused(opened, Answer.of(response), before, 413, "body-too-large")


def test_a_field_that_the_contract_does_not_name_is_refused(opened: World, subtests: pytest.Subtests) -> None:
    for call in CALLS:
        with subtests.test(call):
            before = opened.books.counts()
            body = {**CALLS[call][1], "~/": 1}

            answer = send(opened, call, orjson.dumps(body))

            answer.problem(422, "validation", "/~0~1")
            assert opened.books.counts() == before


def test_everything_that_is_missing_is_named(opened: World, subtests: pytest.Subtests) -> None:
    for call in CALLS:
        with subtests.test(call):
            needed = {
                "bets": ("/bets",),
                "voids": ("/bet_ids",),
                "result": ("/bet_count", "/hands"),
                "cancellation": ("/reason",),
            }
            before = opened.books.counts()

            send(opened, call, b"{}").problem(422, "validation", *needed[call])

            assert opened.books.counts() == before


IMPOSSIBLE_IDS: Final = (
    f"/v1/tables/{'T' * 65}/rounds/r1",
    f"/v1/tables/T1/rounds/{'r' * 65}",
    "/v1/tables/T%001/rounds/r1",
    "/v1/tables/T1/rounds/r%00",
    "/v1/tables/T1/rounds/r%0A",
    "/v1/tables/T 1/rounds/r1",
    "/v1/tables/T1/rounds/%ff",
    "/v1/tables/T1/rounds/r%C3%A9",
    "/v1/tables/T1/rounds/%ED%A0%80",
)

OTHER_PATHS: Final = ("/v1/tables/T%2F1/rounds/r1", "/v1/tables//rounds/r1")
"""An id with a slash in it is two parts of a path, and one that is empty is none."""


@pytest.mark.parametrize(
    ("paths", "status", "code"), [(IMPOSSIBLE_IDS, 422, "validation"), (OTHER_PATHS, 404, "not-found")]
)
def test_an_id_that_cannot_be_is_refused(
    opened: World, subtests: pytest.Subtests, paths: tuple[str, ...], status: int, code: str
) -> None:
    for call in CALLS:
        with subtests.test(call):
            method, body = CALLS[call]
            before = opened.books.counts()

            for path in paths:
                answer = opened.call(method, f"{path}/{call}", key=opened.key(Role.TABLE), data=orjson.dumps(body))
                answer.problem(status, code)

            assert opened.books.counts() == before


FLOODS: Final[Mapping[str, tuple[str, str, bytes]]] = {
    "bets": ("POST", "/bets", b'{"bets":[' + b"{}," * 300_000 + b"{}]}"),
    "voids": ("POST", "/bet_ids", b'{"bet_ids":[' + b"0," * 500_000 + b"0]}"),
    "result": ("PUT", "/hands", b'{"bet_count":0,"hands":[' + b"0," * 500_000 + b"0]}"),
    "cancellation": ("PUT", "/hands", b'{"reason":"misdeal","hands":[' + b"0," * 500_000 + b"0]}"),
}


def test_a_list_that_is_far_too_long_is_refused_for_that_alone(opened: World, subtests: pytest.Subtests) -> None:
    """Each of its items is wrong too: to say so of half a million would take ten seconds and a hundred megabytes."""
    for call, (method, pointer, flood) in FLOODS.items():
        with subtests.test(call):
            answer = opened.send(method, "T1", f"r1/{call}", flood)
            (error,) = answer.problem(422, "validation")["errors"]
            assert error["pointer"] == pointer
            assert "must hold at most" in error["detail"]


def test_a_body_of_unknown_names_is_told_of_some(opened: World) -> None:
    names = b",".join(b'"x%d":0' % number for number in range(50_000))
    answer = opened.send("PUT", "T1", "r1/cancellation", b'{"reason":"misdeal",' + names + b"}")
    assert 0 < len(answer.problem(422, "validation")["errors"]) <= 1000


def test_a_batch_for_a_table_that_may_not_be_seen_is_not_found_whatever_is_in_it(opened: World) -> None:
    opened.post_bets(bet("b1"), bet("b1"), table_id="T9").problem(404, "table-unknown")


@pytest.mark.long
def test_beyond_the_calls_that_can_be_taken_the_answer_comes_before_the_body_is_looked_at(opened: World) -> None:
    bets = opened.app.extensions["jackpot"].bets.places
    with bets.place(Caller("c1", "a table"), PLACES_FOR_BETS):
        for body in (b"no JSON", orjson.dumps({"bets": [bet()]})):
            answer = opened.send("POST", "T1", "r1/bets", body)
            assert answer.problem(503, "busy")["retryable"] is True
            assert int(answer.headers["Retry-After"]) > 0
    assert opened.books.counts()["bets"] == 0
    opened.send("POST", "T1", "r1/bets", b"no JSON").problem(400, "not-json")


def test_a_query_where_none_is_taken_is_refused_and_nothing_is_written(
    opened: World, subtests: pytest.Subtests
) -> None:
    """Whoever believes that a call has an option must not find out later that it was not looked at."""
    for call in CALLS:
        for query in ("?dry_run=true", "?limit=1&limit=2", "?=", "?%00=%ff"):
            with subtests.test(f"{call}{query}"):
                method, body = CALLS[call]
                before = opened.books.counts()
                answer = opened.send(method, "T1", f"r1/{call}{query}", orjson.dumps(body))
                assert places(answer.problem(422, "validation"))[0].startswith("?")
                assert opened.books.counts() == before


@pytest.mark.parametrize("path", ["/v1/jackpots", "/v1/jackpots/j1", "/v1/jackpots/j1/rules"])
def test_a_reading_that_takes_no_query_says_so(opened: World, path: str) -> None:
    opened.get(f"{path}?since=yesterday").problem(422, "validation", "?since")
    opened.get(path).ok()


def test_a_balancer_may_add_what_it_likes(opened: World) -> None:
    assert [opened.get(f"{path}?from=balancer").status for path in ("/healthz", "/readyz")] == [200, 200]
