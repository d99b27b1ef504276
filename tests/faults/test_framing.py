"""What the server takes for a request, to the byte; and what it answers by itself to all else."""

import time

import pytest

from tests.faults.service import Service
from tests.faults.wire import Wire, answer_to_bytes
from tests.support.answers import STANDARD_MEMBERS

pytestmark = pytest.mark.long

HOST = b"Host: h\r\n"
GET = b"GET /healthz HTTP/1.1\r\n"
POST = b"POST /v1/tables/T1/rounds/r1/bets HTTP/1.1\r\n"
CHUNKED = POST + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
BODY = b'{"bets":[]}'
WHOLE = GET + HOST + b"\r\n"

REFUSED = {
    "a line that ends with LF": b"GET /healthz HTTP/1.1\n" + HOST + b"\r\n",
    "a field that ends with LF": GET + b"Host: h\nA: b\r\n\r\n",
    "a head that ends with LF": GET + HOST + b"\n",
    "a field that ends with CR": GET + b"Host: h\rA: b\r\n\r\n",
    "a folded field": GET + HOST + b"A: b\r\n c\r\n\r\n",
    "a first field that is folded": GET + b" Host: h\r\n\r\n",
    "a space before the colon": GET + b"Host : h\r\n\r\n",
    "a field without a name": GET + HOST + b": a\r\n\r\n",
    "a field without a colon": GET + HOST + b"A\r\n\r\n",
    "a bracket in a name": GET + HOST + b"A(b: c\r\n\r\n",
    "NUL in a value": GET + HOST + b"A: \x00\r\n\r\n",
    "a control character in a value": GET + HOST + b"A: \x01\r\n\r\n",
    "no Host": GET + b"\r\n",
    "two Hosts": GET + HOST + HOST + b"\r\n",
    "two Hosts in HTTP/1.0": b"GET /healthz HTTP/1.0\r\n" + HOST + HOST + b"\r\n",
    "a Host with a path": GET + b"Host: h/a\r\n\r\n",
    "a Host with a user": GET + b"Host: u@h\r\n\r\n",
    "HTTP/0.9": b"GET /healthz\r\n\r\n",
    "HTTP/0.9 by name": b"GET /healthz HTTP/0.9\r\n\r\n",
    "HTTP/1.2": b"GET /healthz HTTP/1.2\r\n" + HOST + b"\r\n",
    "HTTP/2.0": b"GET /healthz HTTP/2.0\r\n" + HOST + b"\r\n",
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "http in small letters": b"GET /healthz http/1.1\r\n" + HOST + b"\r\n",
    "a tab after the method": b"GET\t/healthz HTTP/1.1\r\n" + HOST + b"\r\n",
    "a space after the version": b"GET /healthz HTTP/1.1 \r\n" + HOST + b"\r\n",
    "a method of RTSP": b"ANNOUNCE /healthz HTTP/1.1\r\n" + HOST + b"\r\n",
    "no method": b" /healthz HTTP/1.1\r\n" + HOST + b"\r\n",
    "a byte that is no text in the method": b"G\xc3T /healthz HTTP/1.1\r\n" + HOST + b"\r\n",
    "the greeting of TLS": b"\x16\x03\x01\x00\xee\x01\x00\x00\xea\x03\x03",
    "a fragment": b"GET /healthz#a HTTP/1.1\r\n" + HOST + b"\r\n",
    "a byte that is no text in the path": b"GET /\xff HTTP/1.1\r\n" + HOST + b"\r\n",
    "no HTTP": b"\x00\x01\x02\r\n\r\n",
    "a length and a coding": POST + HOST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a coding and a length": POST + HOST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "two lengths": POST + HOST + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\na",
    "a list of lengths": POST + HOST + b"Content-Length: 1, 1\r\n\r\na",
    "a length with a sign": POST + HOST + b"Content-Length: +1\r\n\r\na",
    "a negative length": POST + HOST + b"Content-Length: -1\r\n\r\na",
    "a length in hexadecimal": POST + HOST + b"Content-Length: 0x1\r\n\r\na",
    "a length of words": POST + HOST + b"Content-Length: 1_0\r\n\r\n0123456789",
    "no number as a length": POST + HOST + b"Content-Length: \r\n\r\n",
    "a length beyond all": POST + HOST + b"Content-Length: 99999999999999999999\r\n\r\na",
    "a coding that is not known": POST + HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "a coding after chunks": POST + HOST + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
    "a coding that is none": POST + HOST + b"Transfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "chunks twice": POST + HOST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "nearly chunks": POST + HOST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunks in HTTP/1.0": b"POST /healthz HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "LF in a chunk's extension": CHUNKED + b"5;a\nb\r\nhello\r\n0\r\n\r\n",
    "LF after a chunk's size": CHUNKED + b"5\nhello\r\n0\r\n\r\n",
    "LF after a chunk": CHUNKED + b"5\r\nhello\n0\r\n\r\n",
    "nothing after a chunk": CHUNKED + b"5\r\nhello0\r\n\r\n",
    "a chunk's size with a prefix": CHUNKED + b"0x5\r\nhello\r\n0\r\n\r\n",
    "a chunk's size and a space": CHUNKED + b"5 \r\nhello\r\n0\r\n\r\n",
    "a chunk's size beyond all": CHUNKED + b"10000000000000005\r\nhello\r\n0\r\n\r\n",
    "LF in a trailer": CHUNKED + b"0\r\nA: b\n\r\n",
    "a length in a trailer": CHUNKED + b"0\r\nContent-Length: 5\r\n\r\n",
}

UNKNOWN_METHODS = {
    "one that nobody knows": [b"BREW /healthz HTTP/1.1\r\n" + HOST + b"\r\n"],
    "one in small letters": [b"get /healthz HTTP/1.1\r\n" + HOST + b"\r\n"],
    "the beginning of one": [b"GE /healthz HTTP/1.1\r\n" + HOST + b"\r\n"],
    "more than one": [b"GETS /healthz HTTP/1.1\r\n" + HOST + b"\r\n"],
    "one behind an empty line": [b"\r\nBREW /healthz HTTP/1.1\r\n" + HOST + b"\r\n"],
    "one where there is no such path": [b"BREW /v1/coffee HTTP/1.1\r\n" + HOST + b"\r\n"],
    "one in two pieces": [b"GET", b"S /healthz HTTP/1.1\r\n" + HOST + b"\r\n"],
    "CONNECT": [b"CONNECT h:80 HTTP/1.1\r\n" + HOST + b"\r\n"],
    "CONNECT to a path": [b"CONNECT /healthz HTTP/1.1\r\n" + HOST + b"\r\n"],
}

TAKEN = {
    "as everybody does": WHOLE,
    "empty lines before": b"\r\n\r\n" + WHOLE,
    "HTTP/1.0 without Host, as balancers ask": b"GET /healthz HTTP/1.0\r\n\r\n",
    "the whole address": b"GET http://here:80/healthz HTTP/1.1\r\nHost: here:80\r\n\r\n",
    "an address of IPv6": GET + b"Host: [::1]:8000\r\n\r\n",
    "an empty Host": GET + b"Host: \r\n\r\n",
    "a body that nobody asked for": GET + HOST + b"Content-Length: 5\r\n\r\nhello",
    "a byte that is no text in a value": GET + HOST + b"A: \xff\r\n\r\n",
}


@pytest.mark.parametrize("request_", REFUSED.values(), ids=REFUSED)
def test_what_is_no_request_is_refused_as_a_problem_and_its_connection_is_closed(
    standing_service: Service, request_: bytes
) -> None:
    with Wire(standing_service) as wire:
        answer = wire.send(request_).answer()
        assert wire.rest() == b""
    # A body in chunks that breaks off may have been refused before: its request shows no key.
    if answer.status == 401 and request_.startswith(CHUNKED):
        answer.problem(401, "unauthenticated")
    else:
        answer.problem(400, "bad-request")
    assert len(answer.headers["x-request-id"]) == 32
    assert answer.status == 401 or answer.headers["connection"] == "close"
    assert answer.json().keys() >= STANDARD_MEMBERS


@pytest.mark.parametrize("pieces", UNKNOWN_METHODS.values(), ids=UNKNOWN_METHODS)
def test_a_method_that_the_service_does_not_know_is_answered_501(
    standing_service: Service, pieces: list[bytes]
) -> None:
    with Wire(standing_service) as wire:
        for piece in pieces:
            wire.send(piece)
            time.sleep(0.1 * (len(pieces) > 1))  # So that they come one by one; if not, the answer is the same.
        answer = wire.answer()
        assert wire.rest() == b""
    answer.problem(501, "method-unknown")
    assert answer.headers["connection"] == "close"


def test_a_line_behind_a_request_in_the_same_piece_is_no_request_if_its_method_is_unknown(
    standing_service: Service,
) -> None:
    with Wire(standing_service) as wire:
        wire.send(WHOLE + b"BREW /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
        assert [wire.answer().status for _ in range(2)] == [200, 400]
        assert wire.rest() == b""


METHODS = (
    *("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "PROPPATCH", "MKCOL", "COPY"),
    *("MOVE", "LOCK", "UNLOCK", "SEARCH", "REPORT", "MKACTIVITY", "CHECKOUT", "MERGE", "M-SEARCH", "NOTIFY", "PURGE"),
    *("SUBSCRIBE", "UNSUBSCRIBE", "MKCALENDAR", "LINK", "UNLINK", "SOURCE", "QUERY", "BIND", "REBIND", "UNBIND", "ACL"),
)
"""Those that the parser knows."""

ALLOWED = {
    "/healthz": {"GET", "HEAD", "OPTIONS"},
    "/v1/events": {"GET", "HEAD", "OPTIONS"},
    "/v1/tables/T1/rounds/r1/bets": {"POST", "OPTIONS"},
    "/v1/tables/T1/rounds/r1/result": {"PUT", "OPTIONS"},
}


@pytest.mark.parametrize("path", ALLOWED)
def test_a_method_that_a_path_does_not_take_is_answered_405_with_those_that_it_takes(
    standing_service: Service, path: str
) -> None:
    for method in sorted({*METHODS} - ALLOWED[path] - {"HEAD"}):  # An answer to HEAD has no body to be read.
        answer = answer_to_bytes(standing_service, f"{method} {path} HTTP/1.1\r\nHost: h\r\n\r\n".encode())
        assert (answer.status, answer.json()["code"]) == (405, "method-not-allowed"), method
        assert set(answer.headers["allow"].split(", ")) == ALLOWED[path]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "target", ["*", "/", "/healthz", "/v1/keys", "//", "http://h", "/v1/tables/%ff/rounds/%00/bets"]
)
def test_no_method_and_target_together_make_an_error_of_the_service(
    standing_service: Service, method: str, target: str
) -> None:
    with Wire(standing_service) as wire:
        wire.send(f"{method} {target} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".encode())
        status = int(wire.rest()[9:12])
    assert status in {200, 303, 400, 401, 404, 405}


@pytest.mark.parametrize("request_", TAKEN.values(), ids=TAKEN)
def test_what_is_a_request_is_answered(standing_service: Service, request_: bytes) -> None:
    assert answer_to_bytes(standing_service, request_).status == 200


def test_a_refusal_repeats_the_id_of_its_request_and_names_its_path(standing_service: Service) -> None:
    answer = answer_to_bytes(standing_service, b"GET /v1/a?b HTTP/1.1\r\nX-Request-Id: mine-1\r\n\r\n")
    assert (answer.headers["x-request-id"], answer.json()["instance"]) == ("mine-1", "/v1/a")


def test_what_came_before_is_answered_before_it_is_refused_what_follows(standing_service: Service) -> None:
    with Wire(standing_service) as wire:
        wire.send(WHOLE + WHOLE + GET + b"\r\n" + WHOLE)
        assert [wire.answer().status for _ in range(3)] == [200, 200, 400]
        assert wire.rest() == b""


@pytest.mark.parametrize("pieces", [1, 7, 100_000])
def test_requests_that_come_before_their_turn_wait_for_it(standing_service: Service, pieces: int) -> None:
    body = b"[" * 5_000
    request = POST + HOST + b"Content-Length: %d\r\n\r\n" % len(body) + body
    sent = (request + WHOLE) * 10
    with Wire(standing_service) as wire:
        for start in range(0, len(sent), len(sent) // pieces + 1):
            wire.send(sent[start : start + len(sent) // pieces + 1])
        assert [wire.answer().status for _ in range(20)] == [401, 200] * 10


def test_a_client_that_says_that_it_sends_no_more_gets_its_answers(standing_service: Service) -> None:
    with Wire(standing_service) as wire:
        wire.send(WHOLE + WHOLE).say_no_more()
        assert [wire.answer().status for _ in range(2)] == [200, 200]
        assert wire.rest() == b""


def test_a_bet_of_a_client_that_sends_no_more_is_booked_and_answered(standing_service: Service, table_key: str) -> None:
    body = b'{"bets":[{"bet_id":"b1","player_id":"p","currency":"EUR","stake_minor":100,"hand":"1"}]}'
    with Wire(standing_service) as wire:
        answer = wire.send(bet(table_key, body)).say_no_more().answer()
        assert answer.status == 201
        assert wire.rest() == b""


def test_half_a_request_of_a_client_that_sends_no_more_ends_the_connection(standing_service: Service) -> None:
    with Wire(standing_service) as wire:
        assert wire.send(GET).say_no_more().rest() == b""


@pytest.mark.parametrize("protocol", [b"h2c", b"websocket", b"TLS/1.0"])
@pytest.mark.parametrize("framing", ["length", "chunks"])
def test_a_call_that_asks_for_another_protocol_is_answered_as_if_it_did_not(
    standing_service: Service, table_key: str, protocol: bytes, framing: str
) -> None:
    body = b'{"bets":[{"bet_id":"b2","player_id":"q","currency":"EUR","stake_minor":100,"hand":"2"}]}'
    upgrade = b"Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nUpgrade: %b\r\n" % protocol
    request = bet(table_key, body, upgrade, in_chunks=framing == "chunks")
    with Wire(standing_service) as wire:
        assert wire.send(request).answer().status in {200, 201}
        assert wire.send(request[:-20]).send(request[-20:] + WHOLE).answer().status == 200
        assert wire.answer().status == 200


def bet(key: str, body: bytes, fields: bytes = b"", *, in_chunks: bool = False) -> bytes:
    length = b"Transfer-Encoding: chunked" if in_chunks else b"Content-Length: %d" % len(body)
    sent = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if in_chunks else body
    head = POST + HOST + b"Authorization: Bearer " + key.encode() + b"\r\nContent-Type: application/json\r\n" + fields
    return head + length + b"\r\n\r\n" + sent


def test_what_follows_a_body_in_chunks_is_no_header(standing_service: Service, table_key: str) -> None:
    trailer = b"Authorization: Bearer %b\r\n" % table_key.encode()
    request = CHUNKED + b"b\r\n" + BODY + b"\r\n0\r\n" + trailer + b"\r\n"
    with Wire(standing_service) as wire:
        assert wire.send(request).answer().status == 401
        assert wire.send(WHOLE).answer().status == 200
