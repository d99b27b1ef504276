"""Whoever answers where the environment says that the service is: as a test has it answer."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest

from jackpot_service.version import service_version

JSON: Final = "application/json"
PROBLEM: Final = "application/problem+json"
HTML: Final = "text/html"

ABOUT: Final = "/v1/service"


@dataclass
class Reply:
    """What is answered: a status, a type, a body, and further headers; the body may break off."""

    status: int = 200
    body: Any = None
    type: str = JSON
    headers: dict[str, str] = field(default_factory=dict)
    breaks_off: bool = False


Answers = Callable[[str, dict[str, list[str]]], Reply]


def about(version: str | None = None) -> Reply:
    """What a ledger says of itself: of this version, or of another one."""
    own = service_version()
    return Reply(body={"service": "jackpot-ledger", "version": version or own, "sign_in": None})


class Stranger:
    """
    Whoever answers at an address: no ledger of this version, or one that is in trouble.

    It says of itself that it is `about`; without that it answers the question as every other call.
    """

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.bodies: list[bytes] = []
        self.authorizations: list[str | None] = []
        self.about: Reply | None = about()
        self.looks = 0
        self.answers: Answers = lambda _path, _query: Reply(404, "nothing here", "text/plain")


@pytest.fixture
def stranger(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stranger]:
    """Somebody who answers where the environment says that the service is."""
    result = Stranger()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            parts = urlsplit(self.path)
            if parts.path == ABOUT and result.about is not None:
                result.looks += 1
                self._reply(result.about)
                return
            result.bodies.append(sent)
            result.calls.append(f"{self.command} {self.path}")
            result.authorizations.append(self.headers["Authorization"])
            self._reply(result.answers(parts.path, parse_qs(parts.query)))

        def _reply(self, reply: Reply) -> None:
            body = reply.body.encode() if isinstance(reply.body, str) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in {"Content-Type": reply.type, **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body) + reply.breaks_off))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = _answer  # noqa: N815  the names that the base calls

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
    thread.start()
    monkeypatch.setenv("JACKPOT_URL", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setenv("JACKPOT_KEY", "jk_0123456789abcdef_secret")
    yield result
    server.shutdown()
    thread.join()
    server.server_close()
