"""
An issuer of tokens on this machine: it publishes its keys over HTTP and signs what a test wants signed.

With a `code_flow` it takes sign-ins of people too; see `tests.support.code_flow`.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from joserfc import jws
from joserfc.jwk import ECKey, OctKey, RSAKey

if TYPE_CHECKING:
    from tests.support.code_flow import CodeFlow

AUDIENCE = "jackpot-ledger"

Key = RSAKey | ECKey | OctKey


class LocalIssuer:
    """
    What it answers by path, and the key that it signs with now.

    `paths` are those that were asked for, `posted` the forms; nothing is answered while `open` is not set. Of what
    is answered to forms by path, the last is answered for ever.
    """

    def __init__(self, url: str, server: ThreadingHTTPServer) -> None:
        self.url = url
        self.server = server
        self.paths: list[str] = []
        self.open = threading.Event()
        self.open.set()
        self.key: Key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"}, auto_kid=False)
        self.posted: list[tuple[str, dict[str, str]]] = []
        self.answers: dict[str, bytes | int] = {}
        self.code_flow: CodeFlow | None = None
        self.replies: dict[str, list[tuple[int, object]]] = {}
        self.publish(self.key)
        self.answer("/.well-known/openid-configuration", {"issuer": url, "jwks_uri": f"{url}/keys"})

    def answer(self, path: str, document: object) -> None:
        self.answers[path] = json.dumps(document).encode()

    def publish(self, *keys: Key, **more: Any) -> None:
        self.answer("/keys", {"keys": [key.as_dict(private=False) for key in keys], **more})

    def claims(self, at: datetime, **changed: Any) -> dict[str, Any]:
        """Claims that are in force at a time; None leaves one out."""
        now = int(at.timestamp())
        claims: dict[str, Any] = {"iss": self.url, "aud": AUDIENCE, "sub": "sub-ann", "iat": now}
        claims |= {"nbf": now, "exp": now + int(timedelta(hours=1).total_seconds())} | changed
        return {name: value for name, value in claims.items() if value is not None}

    def token(
        self, at: datetime, *, header: dict[str, Any] | None = None, key: Key | None = None, **claims: Any
    ) -> str:
        signing = key or self.key
        header_ = {"alg": "RS256", "kid": signing.kid} | (header or {})
        header_ = {name: value for name, value in header_.items() if value is not None}
        return jws.serialize_compact(header_, json.dumps(self.claims(at, **claims)), signing, [header_["alg"]])


@contextmanager
def local_issuer() -> Iterator[LocalIssuer]:
    """Serve an issuer on a free port of this machine, until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    issuer = LocalIssuer(f"http://127.0.0.1:{server.server_port}", server)
    server.issuer = issuer  # type: ignore[attr-defined]
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
    thread.start()
    try:
        yield issuer
    finally:
        issuer.open.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    """Answers what the issuer has by path; a number is a status without a body."""

    def do_GET(self) -> None:
        issuer: LocalIssuer = self.server.issuer  # type: ignore[attr-defined]
        issuer.paths.append(self.path)
        issuer.open.wait()
        if issuer.code_flow is not None and self.path.startswith("/authorize?"):
            self._lead_to(issuer.code_flow.authorize(self.path))
            return
        answer = issuer.answers.get(self.path, 404)
        status, body = (answer, b"") if isinstance(answer, int) else (200, answer)
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if 300 <= status < 400:
            self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        issuer: LocalIssuer = self.server.issuer  # type: ignore[attr-defined]
        content = self.rfile.read(int(self.headers["Content-Length"])).decode()
        issuer.posted.append((self.path, dict(parse_qsl(content))))
        issuer.open.wait()
        if issuer.code_flow is not None and self.path == "/token":
            status, document = issuer.code_flow.exchange(issuer.posted[-1][1], self.headers["Authorization"])
            self._reply(status, document)
            return
        replies = issuer.replies.get(self.path, [(404, {})])
        self._reply(*(replies.pop(0) if len(replies) > 1 else replies[0]))

    def _lead_to(self, location: str) -> None:
        self.send_response(302)
        self.send_header("Location", location)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _reply(self, status: int, document: object) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
