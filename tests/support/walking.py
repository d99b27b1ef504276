"""A walk over the pages: every link that somebody finds, from the first page on."""

from collections import deque
from typing import Final

from tests.support.page_text import links_of
from tests.support.visitor import Visitor

MOST: Final = 400
"""More pages than a small world has: a walk that never ends fails."""


def walk(visitor: Visitor) -> dict[str, int]:
    """Open every page that can be reached from the first one; their statuses."""
    statuses: dict[str, int] = {}
    waiting = deque(["/"])
    while waiting:
        path = waiting.popleft()
        if path in statuses:
            continue
        answer = visitor.open(path)
        statuses[path] = answer.status
        assert len(statuses) < MOST, f"{len(statuses)} pages, and there is no end"
        if answer.status == 303:
            waiting.append(answer.headers["Location"].partition("#")[0])
        elif answer.media_type == "text/html":
            waiting.extend(sorted(links_of(answer.text)))
    return statuses
