"""All that the pages have at hand besides the context of a request that they share with the API."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import flask

from jackpot_service.api.entrance import RateLimit
from jackpot_service.auth.browser_sessions import BrowserSessions
from jackpot_service.auth.company_accounts import CompanyAccounts
from jackpot_service.domain.errors import Unauthenticated
from jackpot_service.pages.cached import Cache

EXTENSION: Final = "jackpot-pages"

ATTEMPTS_PER_MINUTE: Final = 10
"""Sign-ins that may fail from an address, or proofs in a session, of a process."""


class Attempts:
    """Bounds sign-ins that fail, by who tries. A limit that is reached keeps out no key or passkey that is in force."""

    def __init__(self, *, monotonic: Callable[[], float]) -> None:
        rate = ATTEMPTS_PER_MINUTE / 60
        self._limit = RateLimit("address", rate=rate, burst=ATTEMPTS_PER_MINUTE, monotonic=monotonic)
        self._lock = threading.Lock()

    @contextmanager
    def attempt(self, name: str, *, is_known: Callable[[], bool] = lambda: False) -> Iterator[None]:
        """
        Count a sign-in, unless the block ends well or by something that is not the fault of what was shown.

        `is_known` says whether it names something in force, and is asked once the limit is reached. An account names
        nothing that is known here. Raises: TooManyRequests; Unavailable.
        """
        has_token = self._has_taken(name)
        if not has_token and not is_known():
            self._refuse(name)
        try:
            yield
        except Unauthenticated:
            if not has_token:
                self._refuse(name)
            raise
        except BaseException:
            self._give_back(name, has_token=has_token)
            raise
        self._give_back(name, has_token=has_token)

    def _has_taken(self, name: str) -> bool:
        with self._lock:
            return self._limit.has_taken(name)

    def _refuse(self, name: str) -> None:
        with self._lock:
            self._limit.refuse(name)

    def _give_back(self, name: str, *, has_token: bool) -> None:
        if has_token:
            with self._lock:
                self._limit.give_back(name)


@dataclass(frozen=True, slots=True)
class PagesContext:
    """Sessions of people, sign-ins that fail, the accounts of their company, if any, and panels that were read."""

    sessions: BrowserSessions
    attempts: Attempts
    accounts: CompanyAccounts | None
    panels: Cache


def pages() -> PagesContext:
    """Return what the pages of this application have at hand."""
    context: PagesContext = flask.current_app.extensions[EXTENSION]
    return context
