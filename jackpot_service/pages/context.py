"""All that the pages have at hand besides the context of a request that they share with the API."""

import threading
from dataclasses import dataclass
from typing import Final

import flask

from jackpot_service.api.entrance import RateLimit
from jackpot_service.auth.browser_sessions import BrowserSessions

EXTENSION: Final = "jackpot-pages"

ATTEMPTS_PER_MINUTE: Final = 10
"""Sign-ins that may fail from an address, of a process."""


class Attempts:
    """Bounds sign-ins that fail, by address."""

    def __init__(self) -> None:
        self._limit = RateLimit("address", rate=ATTEMPTS_PER_MINUTE / 60, burst=ATTEMPTS_PER_MINUTE)
        self._lock = threading.Lock()

    def take(self, address: str) -> None:
        """Count a sign-in before it is known whether it fails. Raises: TooManyRequests."""
        with self._lock:
            self._limit.take(address)

    def give_back(self, address: str) -> None:
        """Count it no more: it did not fail."""
        with self._lock:
            self._limit.give_back(address)


@dataclass(frozen=True, slots=True)
class PagesContext:
    """The sessions of people, and the sign-ins that fail."""

    sessions: BrowserSessions
    attempts: Attempts


def pages() -> PagesContext:
    """Return what the pages of this application have at hand."""
    context: PagesContext = flask.current_app.extensions[EXTENSION]
    return context
