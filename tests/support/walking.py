"""A walk over the pages: every link that somebody finds, from the first page on."""

from collections import Counter, deque
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from tests.support.page_text import links_of
from tests.support.visitor import Visitor

MOST: Final = 2000
"""More pages than a small world has: a walk that never ends fails."""

MOST_ALIKE: Final = 2
"""
Of addresses that differ only in the values of their query, so many are opened.

A figure of a report leads to rows of its own period, and as of its own instant: there is no end of those.
"""

MOST_ENTRIES: Final = 60
"""Entries lead to the ones before and after: so many are opened, and all other pages without a query."""


def walk(visitor: Visitor, *, most_of_a_view: int | None = None) -> dict[str, int]:
    """Open every page that can be reached from the first one, or so many of each view; their statuses."""
    statuses: dict[str, int] = {}
    waiting, alike = deque(["/"]), Counter[tuple[str, ...]]()
    views = visitor.app.url_map.bind("")
    while waiting:
        path = waiting.popleft()
        if most_of_a_view is None:
            kind, most = _kind_of(path)
        else:
            kind, most = (views.match(urlsplit(path).path)[0],), most_of_a_view
        if path in statuses or alike[kind] >= most:
            continue
        alike[kind] += 1
        answer = visitor.open(path)
        statuses[path] = answer.status
        assert len(statuses) < MOST, f"{len(statuses)} pages, and there is no end"
        if answer.status == 303:
            waiting.append(answer.headers["Location"].partition("#")[0])
        elif answer.media_type == "text/html":
            waiting.extend(sorted(links_of(answer.text)))
    return statuses


def _kind_of(path: str) -> tuple[tuple[str, ...], int]:
    """What an address has in common with others, and how many of these are opened."""
    parts = urlsplit(path)
    if parts.query:
        return (parts.path, *sorted({name for name, _ in parse_qsl(parts.query)})), MOST_ALIKE
    return (("/entries/",), MOST_ENTRIES) if path.startswith("/entries/") else ((path,), 1)
