"""The client against a real HTTP server on this machine that answers as it is told."""

import contextlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from jackpot_client import (
    AwardState,
    Bet,
    Hand,
    HandStatus,
    JackpotClient,
    NoAnswer,
    OutcomeUnknown,
    ProtocolError,
    Refund,
    Refusal,
    Retry,
    RoundState,
    new_bet_id,
    new_round_id,
)

pytestmark = pytest.mark.slow

ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
TABLE = "live-1"
ROUND = "r1"
BET = Bet(bet_id="b1", player_id="p1", currency="EUR", stake_minor=100)

ROUND_JSON = {
    "jackpot_id": "live",
    "table_id": TABLE,
    "round_id": ROUND,
    "state": "open",
    "cycle": 1,
    "rules_version": 1,
    "rate_sheet": 3,
    "bet_count": 1,
    "total_stake_base": "1",
}
METER_JSON = {
    "jackpot_id": "live",
    "cycle": 1,
    "currency": "EUR",
    "amount_minor": 543405,
    "amount": "5434.05",
    "amount_exact": "5434.050000000000000001",
    "last_movement_at": "2026-01-02T03:04:05.678901Z",
    "version": 7,
}
PLACED_JSON = {
    "round": ROUND_JSON,
    "accepted": 1,
    "replayed": 0,
    "void": [],
    "meter": METER_JSON,
    "payout_per_unit": "1785.7541899441",
}
AWARD_JSON = {
    "award_id": "a1",
    "bet_id": "b1",
    "player_id": "p1",
    "hand": "1",
    "tier": "royal_flush",
    "amount_minor": 543405,
    "currency": "EUR",
    "cost_base": "5434.05",
    "state": "payable",
}
REFUND_JSON = {"bet_id": "b2", "player_id": "p2", "amount_minor": 50, "currency": "JPY"}
SETTLEMENT_JSON: dict[str, object] = {
    "policy": "share_by_stake",
    "meter_before": "5434.050000000000000001",
    "total_stake_base": "1",
    "awards": [AWARD_JSON],
    "refunds": [REFUND_JSON],
    "meter_after": "0.5",
    "reserve_after": "0",
    "prize_fund_after": "-2.5",
    "carried": "0.000000000000000001",
    "house_seed": "0",
    "cycle_after": 2,
}
SETTLED_JSON: dict[str, object] = {"round": {**ROUND_JSON, "state": "settled"}, "settlement": SETTLEMENT_JSON}
LOSING_SETTLEMENT_JSON: dict[str, object] = {**dict.fromkeys(SETTLEMENT_JSON), "awards": [], "refunds": []}


@dataclass(frozen=True)
class Reply:
    """One scripted answer; `act` runs first, and one that returns True has closed the connection."""

    status: int = 200
    content: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    act: Callable[[BaseHTTPRequestHandler], bool | None] | None = None

    @property
    def body(self) -> bytes:
        """Return what is sent."""
        return self.content if isinstance(self.content, bytes) else json.dumps(self.content).encode()


@dataclass(frozen=True)
class Received:
    """One request as the server saw it."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Service:
    """The server's script and what it received; a script that has run out repeats its last answer."""

    url: str = ""
    script: list[Reply] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next_reply(self, request: Received) -> Reply:
        """Note a request and return its answer."""
        with self.lock:
            self.received.append(request)
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]


@pytest.fixture
def service() -> Iterator[Service]:
    """Run a scripted server for one test."""
    scripted = Service()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 5
        wbufsize = -1

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  its name in the base class
            """Say nothing."""

        def answer(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            reply = scripted.next_reply(Received(self.command, self.path, dict(self.headers), self.rfile.read(length)))
            if reply.act is not None and reply.act(self):
                self.close_connection = True
                return
            body = b"" if reply.status == 304 else reply.body
            self.send_response(reply.status)
            headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **reply.headers}
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = answer  # noqa: N815  their names in the base class

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    scripted.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield scripted
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)


@dataclass
class Clock:
    """Time that passes only while somebody sleeps."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self.now += seconds

    def read(self) -> float:
        """Return the time."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """Return a clock at its start."""
    return Clock()


@pytest.fixture
def client(service: Service, clock: Clock) -> Iterator[JackpotClient]:
    """Return a client of the scripted server."""
    with JackpotClient(service.url, "key", sleep=clock.sleep, clock=clock.read) as made:
        yield made


def problem(status: int, code: str, **more: object) -> Reply:
    """Return a refusal as the contract words it."""
    content = {"type": f"/problems/{code}", "title": "No", "status": status, "detail": "It is so.", "code": code}
    return Reply(
        status,
        {**content, "instance": "/x", "retryable": False, **more},
        {"Content-Type": "application/problem+json", "X-Request-Id": "q1"},
    )


def drop(handler: BaseHTTPRequestHandler) -> bool:
    """Close the connection instead of answering."""
    handler.connection.close()
    handler.rfile.close()
    return True


PLACED = Reply(201, PLACED_JSON)
BUSY = Reply(503, b"busy", {"Content-Type": "text/plain"})


def place(client: JackpotClient, *bets: Bet) -> Any:
    """Place bets, one by default."""
    return client.place_bets(table_id=TABLE, round_id=ROUND, bets=bets or (BET,))


# Ids


def test_new_ids_fit_the_contract_and_sort_by_the_time_they_were_made() -> None:
    ids = []
    for make in (new_bet_id, new_round_id) * 20:
        ids.append(make())
        time.sleep(0.00002)
    assert ids == sorted(ids)
    assert all(ID.fullmatch(made) for made in ids)


def test_a_thousand_ids_made_at_once_differ() -> None:
    assert len({new_bet_id() for _ in range(1000)}) == 1000


def test_a_new_id_is_a_uuid_of_version_7_that_carries_the_time() -> None:
    made = new_bet_id()
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", made)
    assert abs(int(made.replace("-", "")[:12], 16) - time.time_ns() // 1_000_000) < 5000


def test_a_bet_is_given_its_id_when_it_is_made() -> None:
    one, other = (Bet(player_id="p", currency="EUR", stake_minor=1) for _ in range(2))
    assert one.bet_id != other.bet_id


@pytest.mark.parametrize("stake", [1.0, True, "1", Decimal(1)])
def test_a_stake_that_is_no_int_makes_no_bet(stake: Any) -> None:
    with pytest.raises(TypeError, match="stake_minor"):
        Bet(player_id="p", currency="EUR", stake_minor=stake)


@pytest.mark.parametrize("round_id", ["", ".", "..", "a/b", "a b", "é", "x" * 65, "a\n", "%2e"])
def test_an_id_that_would_lead_elsewhere_is_not_sent(client: JackpotClient, service: Service, round_id: str) -> None:
    with pytest.raises(ValueError, match="round_id"):
        client.cancel_round(table_id=TABLE, round_id=round_id, reason="misdeal")
    assert service.received == []


# What is sent


def test_bets_are_sent_as_the_contract_spells_them(client: JackpotClient, service: Service) -> None:
    service.script = [PLACED]
    place(client)
    (request,) = service.received
    assert (request.method, request.path) == ("POST", "/v1/tables/live-1/rounds/r1/bets")
    assert json.loads(request.body) == {
        "bets": [{"bet_id": "b1", "player_id": "p1", "hand": "1", "currency": "EUR", "stake_minor": 100}]
    }
    assert request.headers["Authorization"] == "Bearer key"
    assert request.headers["Content-Type"] == "application/json"


def test_a_result_is_sent_as_the_contract_spells_it(client: JackpotClient, service: Service) -> None:
    service.script = [Reply(201, SETTLED_JSON)]
    hands = [Hand(hand="1", cards=("As", "Ks", "Qs", "Js", "Ts")), Hand(hand="2", status=HandStatus.DEAD)]
    client.put_result(table_id=TABLE, round_id=ROUND, bet_count=3, hands=hands, dealer=["2h", "3h"])
    (request,) = service.received
    assert (request.method, request.path) == ("PUT", "/v1/tables/live-1/rounds/r1/result")
    assert json.loads(request.body) == {
        "bet_count": 3,
        "hands": [
            {"hand": "1", "status": "dealt", "cards": ["As", "Ks", "Qs", "Js", "Ts"]},
            {"hand": "2", "status": "dead"},
        ],
        "dealer": ["2h", "3h"],
    }


def test_a_game_number_is_sent_with_bets_and_results(client: JackpotClient, service: Service) -> None:
    service.script = [PLACED, Reply(201, SETTLED_JSON)]
    bet = Bet(player_id="p1", currency="EUR", stake_minor=100)
    client.place_bets(table_id=TABLE, round_id=ROUND, bets=[bet], game_number="21:10:10")
    client.put_result(table_id=TABLE, round_id=ROUND, bet_count=1, hands=[], game_number="21:10:10")
    assert [json.loads(request.body)["game_number"] for request in service.received] == ["21:10:10"] * 2
    with pytest.raises(ValueError, match="game_number"):
        client.put_result(table_id=TABLE, round_id=ROUND, bet_count=1, hands=[], game_number="21 10")


def test_voids_are_sent_and_answered(client: JackpotClient, service: Service) -> None:
    service.script = [Reply(200, {"round": ROUND_JSON, "voided": ["b1"], "unknown": ["b9"]})]
    voided = client.void_bets(table_id=TABLE, round_id=ROUND, bet_ids=["b1", "b9"])
    assert (voided.voided, voided.unknown) == (("b1",), ("b9",))
    assert json.loads(service.received[0].body) == {"bet_ids": ["b1", "b9"]}


def test_a_void_after_the_closing_states_its_reason(client: JackpotClient, service: Service) -> None:
    service.script = [Reply(200, {"round": {**ROUND_JSON, "state": "closed"}, "voided": ["b1"], "unknown": []})]
    client.void_bets(table_id=TABLE, round_id=ROUND, bet_ids=["b1"], reason="misdealt")
    assert json.loads(service.received[0].body) == {"bet_ids": ["b1"], "reason": "misdealt"}


def test_a_closing_is_sent_and_answered(client: JackpotClient, service: Service) -> None:
    service.script = [Reply(201, {"round": {**ROUND_JSON, "state": "closed"}})]
    closed = client.close_betting(table_id=TABLE, round_id=ROUND, bet_count=2)
    assert closed.round.state is RoundState.CLOSED
    assert (service.received[0].method, json.loads(service.received[0].body)) == ("PUT", {"bet_count": 2})


def test_a_cancellation_is_sent_and_answered(client: JackpotClient, service: Service) -> None:
    service.script = [Reply(201, {"round": {**ROUND_JSON, "state": "cancelled"}, "refunds": [REFUND_JSON]})]
    cancelled = client.cancel_round(table_id=TABLE, round_id=ROUND, reason="misdeal")
    assert cancelled.round.state is RoundState.CANCELLED
    assert cancelled.refunds == (Refund(bet_id="b2", player_id="p2", amount_minor=50, currency="JPY"),)
    assert (service.received[0].method, json.loads(service.received[0].body)) == ("PUT", {"reason": "misdeal"})


# What is sent again


@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(Reply(act=drop), id="dropped connection"),
        pytest.param(BUSY, id="503"),
        pytest.param(Reply(429, {}), id="429"),
        pytest.param(Reply(500, b"<h1>"), id="500"),
        pytest.param(Reply(502, b"<h1>"), id="502"),
        pytest.param(Reply(200, b"{}", {"Content-Encoding": "gzip"}), id="damaged answer"),
        pytest.param(Reply(200, b"{}", {"Content-Length": "9"}, lambda h: h.close_connection), id="cut answer"),
    ],
)
def test_after_a_failure_the_very_same_request_is_sent_again(service: Service, clock: Clock, failure: Reply) -> None:
    closing = Reply(failure.status, failure.content, {**failure.headers, "Connection": "close"}, failure.act)
    service.script = [closing, closing, PLACED]
    with JackpotClient(service.url, "key", sleep=clock.sleep, clock=clock.read) as client:
        place(client, BET, Bet(player_id="p2", currency="JPY", stake_minor=500))
    first, second, third = service.received
    assert first.body == second.body == third.body
    assert (first.method, first.path) == (second.method, second.path) == (third.method, third.path)
    assert len(clock.slept) == 2


def test_after_a_timeout_the_very_same_request_is_sent_again(service: Service, clock: Clock) -> None:
    over = threading.Event()
    service.script = [Reply(act=lambda handler: over.wait(2) and drop(handler)), PLACED]
    with JackpotClient(service.url, "key", timeout=0.2, sleep=clock.sleep, clock=clock.read) as client:
        placed = place(client)
    over.set()
    assert placed.accepted == 1
    assert [request.body for request in service.received] == [service.received[0].body] * 2


def test_an_answer_that_trickles_is_cut_off_and_asked_for_again(service: Service, clock: Clock) -> None:
    def trickle(handler: BaseHTTPRequestHandler) -> bool:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(PLACED.body)))
        handler.end_headers()
        with contextlib.suppress(OSError):
            for at in range(0, len(PLACED.body), 100):
                handler.wfile.write(PLACED.body[at : at + 100])
                handler.wfile.flush()
                clock.now += 3
                time.sleep(0.02)
        return True

    service.script = [Reply(act=trickle), PLACED]
    with JackpotClient(service.url, "key", timeout=5, sleep=clock.sleep, clock=clock.read) as client:
        assert place(client).accepted == 1
    assert len(service.received) == 2


def test_a_refused_connection_is_tried_again(service: Service, clock: Clock) -> None:
    service.script = [PLACED]
    retries: list[Retry] = []

    class NobodyAtFirst(httpx.HTTPTransport):
        """The real transport, pointed at a port where nobody listens until a retry."""

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if not retries:
                request = httpx.Request(request.method, request.url.copy_with(port=1), headers=request.headers)
            return super().handle_request(request)

    with JackpotClient(
        service.url, "key", transport=NobodyAtFirst(), sleep=clock.sleep, clock=clock.read, on_retry=retries.append
    ) as client:
        assert place(client).accepted == 1
    (retry,) = retries
    assert (retry.request, retry.attempt) == ("POST /v1/tables/live-1/rounds/r1/bets", 2)
    assert "ConnectError" in retry.reason


@pytest.mark.parametrize("status", [503, 429])
def test_the_wait_the_service_asks_for_is_honoured(
    client: JackpotClient, service: Service, clock: Clock, status: int
) -> None:
    service.script = [Reply(status, {}, {"Retry-After": "7"}), PLACED]
    place(client)
    assert 7 <= clock.slept[0] <= 7.1


def test_the_wait_may_be_asked_for_as_a_date(client: JackpotClient, service: Service, clock: Clock) -> None:
    until = format_datetime(datetime.fromtimestamp(time.time() + 20, UTC), usegmt=True)
    service.script = [Reply(503, {}, {"Retry-After": until}), PLACED]
    place(client)
    assert 15 <= clock.slept[0] <= 20.1


def test_a_wait_that_is_nonsense_is_not_waited_for(client: JackpotClient, service: Service, clock: Clock) -> None:
    service.script = [Reply(503, {}, {"Retry-After": "soon"}), PLACED]
    place(client)
    assert 0 <= clock.slept[0] <= 0.1


def test_waits_grow_up_to_a_cap(service: Service, clock: Clock) -> None:
    service.script = [BUSY] * 12 + [PLACED]
    with JackpotClient(
        service.url, "key", sleep=clock.sleep, clock=clock.read, first_backoff=1, largest_backoff=4, deadline=100
    ) as client:
        place(client)
    caps = [1, 2] + [4] * 10
    assert all(0 <= slept <= cap for slept, cap in zip(clock.slept, caps, strict=True))
    assert len(set(clock.slept)) > 1


# Refusals


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 413, 415, 422])
def test_a_definite_refusal_is_raised_and_never_sent_again(
    client: JackpotClient, service: Service, clock: Clock, status: int
) -> None:
    service.script = [problem(status, "some-code")]
    with pytest.raises(Refusal) as raised:
        place(client)
    assert (raised.value.status, raised.value.code, raised.value.detail) == (status, "some-code", "It is so.")
    assert raised.value.request_id == "q1"
    assert len(service.received) == 1
    assert clock.slept == []


def test_a_refusal_carries_the_problems_facts_and_errors(client: JackpotClient, service: Service) -> None:
    error = {"pointer": "/bets/0/stake_minor", "code": "stake-out-of-range", "detail": "Too much."}
    service.script = [problem(409, "bet-count-mismatch", bet_count=2, bet_ids=["b1", "b2"], errors=[error])]
    with pytest.raises(Refusal, match=r"409 bet-count-mismatch: It is so\.; /bets/0/stake_minor: Too much\.") as raised:
        place(client)
    assert raised.value.facts == {"bet_count": 2, "bet_ids": ["b1", "b2"]}
    assert [(error.pointer, error.code) for error in raised.value.errors] == [
        ("/bets/0/stake_minor", "stake-out-of-range")
    ]


def test_a_refusal_after_a_lost_answer_says_that_one_was_lost(client: JackpotClient, service: Service) -> None:
    service.script = [Reply(429, {}), BUSY, problem(401, "unauthenticated")]
    with pytest.raises(Refusal) as raised:
        place(client)
    assert raised.value.earlier_attempts_unknown == 1


def test_a_proxys_page_is_no_refusal_of_the_service(client: JackpotClient, service: Service) -> None:
    service.script = [Reply(404, b"<html>", {"Content-Type": "text/html"})]
    with pytest.raises(ProtocolError, match="status 404 with text/html"):
        place(client)
    assert len(service.received) == 1


def test_a_redirection_is_not_followed(client: JackpotClient, service: Service) -> None:
    service.script = [Reply(302, {}, {"Location": "/elsewhere"})]
    with pytest.raises(ProtocolError, match="status 302"):
        place(client)
    assert len(service.received) == 1


# The deadline


def test_after_the_deadline_the_outcome_is_unknown_and_the_ids_to_repeat_are_named(
    client: JackpotClient, service: Service, clock: Clock
) -> None:
    service.script = [BUSY]
    with pytest.raises(OutcomeUnknown, match=r"table_id=live-1, round_id=r1, bet_ids=b1, b2$") as raised:
        place(client, BET, Bet(bet_id="b2", player_id="p2", currency="EUR", stake_minor=1))
    assert (raised.value.table_id, raised.value.round_id, raised.value.bet_ids) == (TABLE, ROUND, ("b1", "b2"))
    assert raised.value.attempts == len(service.received) > 5
    assert sum(clock.slept) < 60


def test_a_wait_beyond_the_deadline_is_not_waited_for(client: JackpotClient, service: Service, clock: Clock) -> None:
    service.script = [Reply(503, {}, {"Retry-After": "3600"})]
    with pytest.raises(OutcomeUnknown):
        client.put_result(table_id=TABLE, round_id=ROUND, bet_count=1, hands=[])
    assert (len(service.received), clock.slept) == (1, [])


def test_a_read_without_an_answer_leaves_nothing_to_repeat(client: JackpotClient, service: Service) -> None:
    service.script = [BUSY]
    with pytest.raises(NoAnswer) as raised:
        client.meter(jackpot_id="live")
    assert not isinstance(raised.value, OutcomeUnknown)


# What is read


def test_placed_bets_are_read_exactly(client: JackpotClient, service: Service) -> None:
    service.script = [PLACED]
    placed = place(client)
    assert (placed.accepted, placed.replayed, placed.void) == (1, 0, ())
    assert placed.payout_per_unit == Decimal("1785.7541899441")
    assert placed.meter.amount_exact == Decimal("5434.050000000000000001")
    assert placed.meter.amount_minor == 543405
    assert placed.meter.last_movement_at == datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)
    assert (placed.round.state, placed.round.total_stake_base, placed.round.rate_sheet) == (
        RoundState.OPEN,
        Decimal(1),
        3,
    )


def test_a_settlement_is_read_exactly(client: JackpotClient, service: Service) -> None:
    service.script = [Reply(201, SETTLED_JSON)]
    settled = client.put_result(table_id=TABLE, round_id=ROUND, bet_count=1, hands=[])
    settlement = settled.settlement
    assert settled.round.state is RoundState.SETTLED
    assert (settlement.policy, settlement.cycle_after) == ("share_by_stake", 2)
    assert settlement.meter_before == Decimal("5434.050000000000000001")
    assert settlement.prize_fund_after == Decimal("-2.5")
    assert settlement.carried == Decimal("0.000000000000000001")
    (award,) = settlement.awards
    assert (award.tier, award.amount_minor, award.currency) == ("royal_flush", 543405, "EUR")
    assert (award.cost_base, award.state) == (Decimal("5434.05"), AwardState.PAYABLE)
    assert settlement.refunds == (Refund(bet_id="b2", player_id="p2", amount_minor=50, currency="JPY"),)


def test_a_settlement_that_touched_nothing_has_nulls_where_the_contract_says_so(
    client: JackpotClient, service: Service
) -> None:
    service.script = [Reply(201, {**SETTLED_JSON, "settlement": LOSING_SETTLEMENT_JSON})]
    settlement = client.put_result(table_id=TABLE, round_id=ROUND, bet_count=1, hands=[]).settlement
    assert (settlement.policy, settlement.meter_before, settlement.total_stake_base, settlement.cycle_after) == (
        None,
    ) * 4
    assert (settlement.awards, settlement.refunds) == ((), ())


def test_a_field_of_a_later_version_is_tolerated(client: JackpotClient, service: Service) -> None:
    later = {**PLACED_JSON, "later": 1.5, "round": {**ROUND_JSON, "later": {}}, "meter": {**METER_JSON, "later": []}}
    service.script = [Reply(200, later)]
    assert place(client).accepted == 1


@pytest.mark.parametrize("name", sorted(PLACED_JSON))
def test_a_missing_field_is_an_error_never_a_default(client: JackpotClient, service: Service, name: str) -> None:
    service.script = [Reply(200, {key: value for key, value in PLACED_JSON.items() if key != name})]
    with pytest.raises(ProtocolError, match=f"lacks /{name}"):
        place(client)
    assert len(service.received) == 1


@pytest.mark.parametrize("name", sorted(SETTLEMENT_JSON))
def test_a_missing_field_of_a_settlement_is_an_error_even_if_it_may_be_null(
    client: JackpotClient, service: Service, name: str
) -> None:
    rest = {key: value for key, value in SETTLEMENT_JSON.items() if key != name}
    service.script = [Reply(200, {**SETTLED_JSON, "settlement": rest})]
    with pytest.raises(ProtocolError, match=f"lacks /settlement/{name}"):
        client.put_result(table_id=TABLE, round_id=ROUND, bet_count=1, hands=[])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("amount_minor", 543405.0),
        ("amount_minor", "543405"),
        ("amount_minor", True),
        ("amount_minor", None),
        ("amount_exact", 5434.05),
        ("amount_exact", 5434),
        ("amount_exact", "5.4e3"),
        ("amount_exact", "NaN"),
        ("amount_exact", "\u0665"),
        ("amount_exact", None),
        ("cycle", True),
        ("cycle", "1"),
        ("cycle", 1.0),
        ("currency", 7),
        ("last_movement_at", "2026-01-02T03:04:05"),
        ("last_movement_at", "yesterday"),
        ("last_movement_at", None),
    ],
)
def test_a_field_of_another_type_is_an_error(client: JackpotClient, service: Service, name: str, value: object) -> None:
    service.script = [Reply(200, {**METER_JSON, name: value})]
    with pytest.raises(ProtocolError, match=name):
        client.meter(jackpot_id="live")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"null",
        b'{"a": NaN}',
        b'{"a": 1, "a": 2}',
        b'{"unread": [{"price_minor": 1.5}]}',
        b'{"a": ' + b"[" * 100_000,
        b'{"a": ' + b"9" * 5000 + b"}",
        b"\xff\xfe{}",
    ],
)
def test_what_is_not_the_services_json_is_an_error(client: JackpotClient, service: Service, body: bytes) -> None:
    service.script = [Reply(200, body)]
    with pytest.raises(ProtocolError):
        client.paytable(jackpot_id="live")


def test_a_state_that_nobody_knows_is_an_error(client: JackpotClient, service: Service) -> None:
    service.script = [Reply(200, {**PLACED_JSON, "round": {**ROUND_JSON, "state": "limbo"}})]
    with pytest.raises(ProtocolError, match="/round/state"):
        place(client)


def test_an_answer_about_another_round_is_an_error(client: JackpotClient, service: Service) -> None:
    service.script = [Reply(200, {**PLACED_JSON, "round": {**ROUND_JSON, "round_id": "r2"}})]
    with pytest.raises(ProtocolError, match="live-1/r2, not live-1/r1"):
        place(client)


def test_a_rounds_whole_record_is_returned_as_it_came(client: JackpotClient, service: Service) -> None:
    service.script = [Reply(200, {"round": ROUND_JSON, "bets": [{"stake_minor": 100}]})]
    record = client.round(table_id=TABLE, round_id=ROUND)
    assert record.round.round_id == ROUND
    assert record.content["bets"] == [{"stake_minor": 100}]


def test_the_limits_of_tables_are_returned_as_they_came(client: JackpotClient, service: Service) -> None:
    limits = {"jackpot_id": "live", "currency": "EUR", "tables": [{"table_id": "T1", "version": 1}]}
    service.script = [Reply(200, limits)]
    assert client.table_limits(jackpot_id="live") == limits
    assert [request.path for request in service.received] == ["/v1/jackpots/live/table-limits"]


def test_jackpots_are_read_to_the_last_page(client: JackpotClient, service: Service) -> None:
    pages = [([{"jackpot_id": "a"}, {"jackpot_id": "b", "currency": "EUR"}], "c 1"), ([{"jackpot_id": "c"}], None)]
    service.script = [Reply(200, {"items": items, "next": cursor}) for items, cursor in pages]
    assert [jackpot.jackpot_id for jackpot in client.jackpots()] == ["a", "b", "c"]
    assert [request.path for request in service.received] == ["/v1/jackpots", "/v1/jackpots?after=c+1"]


def test_a_list_that_never_ends_is_an_error(client: JackpotClient, service: Service) -> None:
    service.script = [Reply(200, {"items": [], "next": "again"})]
    with pytest.raises(ProtocolError, match="comes back"):
        client.jackpots()


# The meter's tag


def test_a_meter_that_has_not_moved_is_used_again(client: JackpotClient, service: Service) -> None:
    service.script = [
        Reply(200, METER_JSON, {"ETag": '"v1"'}),
        Reply(304),
        Reply(200, {**METER_JSON, "amount_minor": 543406}, {"ETag": '"v2"'}),
        Reply(304),
    ]
    meters = [client.meter(jackpot_id="live", currency="EUR") for _ in range(4)]
    assert [meter.amount_minor for meter in meters] == [543405, 543405, 543406, 543406]
    assert [request.headers.get("If-None-Match") for request in service.received] == [None, '"v1"', '"v1"', '"v2"']
    assert service.received[0].path == "/v1/jackpots/live/meter?currency=EUR"


def test_each_currency_and_jackpot_has_its_own_tag(client: JackpotClient, service: Service) -> None:
    service.script = [Reply(200, METER_JSON, {"ETag": '"v1"'})]
    client.meter(jackpot_id="live", currency="EUR")
    client.meter(jackpot_id="live", currency="GBP")
    client.meter(jackpot_id="live")
    client.meter(jackpot_id="cyber", currency="EUR")
    assert [request.headers.get("If-None-Match") for request in service.received] == [None] * 4


def test_unchanged_in_answer_to_an_untagged_question_is_an_error(client: JackpotClient, service: Service) -> None:
    service.script = [Reply(304)]
    with pytest.raises(ProtocolError, match="status 304"):
        client.meter(jackpot_id="live")


# The client itself


def test_threads_share_one_client(client: JackpotClient, service: Service) -> None:
    service.script = [Reply(201, PLACED_JSON, {"ETag": '"v1"'})]
    bets = [Bet(player_id="p", currency="EUR", stake_minor=1) for _ in range(40)]
    with ThreadPoolExecutor(8) as threads:
        assert all(placed.accepted == 1 for placed in threads.map(lambda bet: place(client, bet), bets))
    sent = {json.loads(request.body)["bets"][0]["bet_id"] for request in service.received}
    assert sent == {bet.bet_id for bet in bets}


@pytest.mark.parametrize("key", ["", "a b", "é", "a\r\nX: y"])
def test_a_key_that_could_not_be_sent_makes_no_client(key: str) -> None:
    with pytest.raises(ValueError, match="key"):
        JackpotClient("http://127.0.0.1:1", key)


def test_an_address_without_scheme_makes_no_client() -> None:
    with pytest.raises(ValueError, match="http://"):
        JackpotClient("127.0.0.1:8000", "key")


def test_the_environments_proxy_is_not_used_unless_asked_for(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    service.script = [PLACED]
    with JackpotClient(service.url, "key", deadline=0.05) as client:
        assert place(client).accepted == 1
