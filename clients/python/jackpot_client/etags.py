"""Answers that are used again for as long as the service says by their ETag that nothing has changed."""

import threading
from dataclasses import dataclass, replace
from typing import Any, Final

from jackpot_client.steps import Request

_MOST_KEPT: Final = 1000
"""Meters in so many currencies; the one that was kept first makes way."""


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer and its ETag."""

    etag: str
    value: Any

    def asked_for(self, request: Request) -> Request:
        """Return the request for a change since this answer."""
        return replace(request, headers={**request.headers, "If-None-Match": self.etag})


class ETags:
    """Answers with their ETags, by request; threads may share it."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, tuple[tuple[str, str], ...]], StoredAnswer] = {}
        self._lock = threading.Lock()

    def stored(self, request: Request) -> StoredAnswer | None:
        """Return the stored answer to a request."""
        with self._lock:
            return self._answers.get(_name(request))

    def keep(self, request: Request, etag: str | None, value: object) -> None:
        """Keep an answer under its ETag, if it has one."""
        if etag is None:
            return
        with self._lock:
            self._answers[_name(request)] = StoredAnswer(etag, value)
            if len(self._answers) > _MOST_KEPT:
                del self._answers[next(iter(self._answers))]


def _name(request: Request) -> tuple[str, tuple[tuple[str, str], ...]]:
    return request.path, tuple(sorted(request.params.items()))
