"""A real HTTP server on this machine that answers as a script has it, for tests of the client."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from jackpot_client import Bet, JackpotClient, PlacedBets

TABLE = "live-1"
ROUND = "r1"
BET = Bet(bet_id="b1", player_id="p1", currency="EUR", stake_minor=100)

Content = dict[str, Any]

ROUND_JSON: Content = {
    "jackpot_id": "live",
    "table_id": TABLE,
    "round_id": ROUND,
    "state": "open",
    "cycle": 1,
    "rules_version": 1,
    "rate_sheet": 3,
    "bet_count": 1,
    "total_stake_base": "1",
    "game_number": None,
}
METER_JSON: Content = {
    "jackpot_id": "live",
    "cycle": 1,
    "currency": "EUR",
    "amount_minor": 543405,
    "amount": "5434.05",
    "amount_exact": "5434.050000000000000001",
    "overflow": "0",
    "last_movement_at": "2026-01-02T03:04:05.678901Z",
    "version": "7.1",
}
SHOWN_METER_JSON: Content = {
    **METER_JSON,
    "rate": "1",
    "rate_sheet": 3,
    "payment": None,
    "amounts": [
        {"currency": "EUR", "amount_minor": 543405, "amount": "5434.05", "rate": "1", "rate_sheet": 3},
        {"currency": "GBP", "amount_minor": 464448, "amount": "4644.48", "rate": "1.17", "rate_sheet": 3},
    ],
}
PLACED_JSON: Content = {
    "round": ROUND_JSON,
    "accepted": 1,
    "replayed": 0,
    "void": [],
    "meter": METER_JSON,
    "payout_per_unit": "1785.7541899441",
}
AWARD_JSON: Content = {
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
REFUND_JSON: Content = {"bet_id": "b2", "player_id": "p2", "amount_minor": 50, "currency": "JPY"}
SETTLEMENT_JSON: Content = {
    "policy": "shared_by_stake",
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
SETTLED_JSON: Content = {"round": {**ROUND_JSON, "state": "settled"}, "settlement": SETTLEMENT_JSON}
JACKPOT_JSON: Content = {
    "jackpot_id": "live",
    "rulebook": "live-caribbean-stud",
    "currency": "EUR",
    "state": "open",
    "is_accepting": True,
    "rules_version": 1,
    "meter": {name: value for name, value in SHOWN_METER_JSON.items() if name != "amounts"},
    "reserve": "0.1",
    "prize_fund": "-2.5",
}
FRAME_JSON: Content = {
    "jackpot_id": "live",
    "state": "open",
    "cycle": 1,
    "rate_sheet": 3,
    "amounts": [{"currency": "EUR", "exponent": 2, "amount_minor": 543405}],
    "last_hit": None,
}

MakeClient = Callable[..., JackpotClient]


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


Act = Callable[[BaseHTTPRequestHandler], bool | None]


@dataclass(frozen=True)
class Reply:
    """One scripted answer; `act` runs first, and one that returns True has closed the connection."""

    status: int = 200
    content: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    act: Act | None = None

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
class Scripted:
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


@contextlib.contextmanager
def scripted_service() -> Iterator[Scripted]:
    """Run a scripted server."""
    scripted = Scripted()

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


def problem(status: int, code: str, **more: object) -> Reply:
    """Return a refusal as the contract words it."""
    content = {"type": f"/problems/{code}", "title": "No", "status": status, "detail": "It is so.", "code": code}
    headers = {"Content-Type": "application/problem+json", "X-Request-Id": "q1"}
    if "retry_after" in more:
        headers["Retry-After"] = str(more.pop("retry_after"))
    return Reply(status, {**content, "instance": "/x", "retryable": False, **more}, headers)


def drop(handler: BaseHTTPRequestHandler) -> bool:
    """Close the connection instead of answering."""
    handler.connection.close()
    handler.rfile.close()
    return True


def streamed(*pieces: bytes | float | threading.Event) -> Reply:
    """Return a stream of server-sent events: its pieces, pauses in seconds, and what is waited for; then its end."""

    def act(handler: BaseHTTPRequestHandler) -> bool:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.flush()
        with contextlib.suppress(OSError):
            for piece in pieces:
                if isinstance(piece, bytes):
                    handler.wfile.write(piece)
                    handler.wfile.flush()
                elif isinstance(piece, threading.Event):
                    piece.wait(10)
                else:
                    threading.Event().wait(piece)
        return True

    return Reply(act=act)


def event_bytes(content: object) -> bytes:
    """Return a server-sent event."""
    return b"data: " + json.dumps(content).encode() + b"\n\n"


def place(client: JackpotClient, *bets: Bet) -> PlacedBets:
    """Place bets, one by default."""
    return client.place_bets(table_id=TABLE, round_id=ROUND, bets=bets or (BET,))


PLACED = Reply(201, PLACED_JSON)
BUSY = Reply(503, b"busy", {"Content-Type": "text/plain"})
