"""People at browsers: each signs in, opens a page of finance with its panels, looks at it, and opens it again."""

import asyncio
import html
import multiprocessing
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count as counting
from typing import Final

import httpx

from bench import servers
from bench.servers import Server
from bench.wire import HOST

LOOKS_FOR_S: Final = 5.0
"""So long somebody looks at a page before opening it again."""

_PAGE: Final = "/finance"
_TOKEN: Final = re.compile(r'name="csrf_token" value="([^"]+)"')
_PANEL: Final = re.compile(r'hx-get="([^"]+)"')
_LONGEST_START_S: Final = 60.0
_TIMEOUT_S: Final = 30.0


@contextmanager
def looking(server: Server, count: int) -> Iterator[None]:
    """Have so many people look at the finance of a service until the end. Raises: RuntimeError."""
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    key = servers.add_key(server.database, "finance")
    process = context.Process(target=_look, args=(ready, server, key, count), daemon=True)
    process.start()
    try:
        if not ready.wait(_LONGEST_START_S):
            message = f"People could not look at {_PAGE}; their process is {process.exitcode}."
            raise RuntimeError(message)
        yield
        if not process.is_alive():
            message = f"People were refused {_PAGE}."
            raise RuntimeError(message)
    finally:
        process.terminate()
        process.join()


def _look(ready: "multiprocessing.synchronize.Event", server: Server, key: str, count: int) -> None:
    asyncio.run(_look_all(ready, server, key, count))


async def _look_all(ready: "multiprocessing.synchronize.Event", server: Server, key: str, count: int) -> None:
    async with httpx.AsyncClient(
        base_url=f"http://{HOST}:{server.port}", trust_env=False, timeout=_TIMEOUT_S
    ) as client:
        people = [_Person(client, await _signed_in(client, key)) for _ in range(count)]
        for person in people:
            await person.open(_PAGE)
        ready.set()
        await asyncio.gather(*(person.look(first_s=LOOKS_FOR_S * at / count) for at, person in enumerate(people)))


async def _signed_in(client: httpx.AsyncClient, key: str) -> str:
    """Sign in, and return the session's cookie. It is for HTTPS alone, so that a library sends it nowhere here."""
    page = await client.get("/sign-in", headers={"Accept": "text/html"})
    token = _TOKEN.search(page.text)
    assert token is not None, page.text  # noqa: S101  the service's own page
    form = {"csrf_token": html.unescape(token[1]), "key": key, "next": "/"}
    answer = await client.post("/sign-in", data=form, headers={"Cookie": _cookies(page)})
    if answer.status_code != httpx.codes.SEE_OTHER:
        answer.raise_for_status()
    client.cookies.clear()
    return _cookies(answer)


def _cookies(answer: httpx.Response) -> str:
    return "; ".join(line.partition(";")[0] for line in answer.headers.get_list("Set-Cookie"))


class _Person:
    def __init__(self, client: httpx.AsyncClient, cookies: str) -> None:
        self._client = client
        self._headers = {"Cookie": cookies, "Accept": "text/html"}

    async def look(self, *, first_s: float) -> None:
        """Open the page again and again, the first time after a while: people do not all click at once."""
        for number in counting():
            await asyncio.sleep(LOOKS_FOR_S if number else first_s)
            await self.open(_PAGE)

    async def open(self, path: str) -> None:
        """Open a page, then its panels one after another, as the page has a browser do it."""
        page = await self._client.get(path, headers=self._headers)
        page.raise_for_status()
        for panel in _PANEL.findall(page.text):
            answer = await self._client.get(html.unescape(panel), headers={**self._headers, "HX-Request": "true"})
            answer.raise_for_status()
