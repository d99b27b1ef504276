"""The European Central Bank's document of a day, as tests make it, and an address that answers with one."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
<gesmes:subject>Reference rates</gesmes:subject>
<Cube><Cube time='{day}'>{quotes}</Cube></Cube>
</gesmes:Envelope>"""

QUOTES = {"USD": "1.0500", "GBP": "0.83450", "SEK": "11.5715"}
"""One euro in each currency; not all that a world's sheet has."""


def document(day: date, **quotes: str) -> bytes:
    """Make the document of a day, with other quotes than the usual where they are stated."""
    cubes = "".join(f"<Cube currency='{code}' rate='{rate}'/>" for code, rate in {**QUOTES, **quotes}.items())
    return DOCUMENT.format(day=day, quotes=cubes).encode()


@contextmanager
def answering(content: bytes, *, status: int = 200, headers: dict[str, str] | None = None) -> Iterator[str]:
    """Serve one answer on the loopback interface."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/eurofxref-daily.xml"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
