"""All that the pages have at hand besides the context of a request that they share with the API."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import flask

from jackpot_service.api.entrance import RateLimit
from jackpot_service.auth.authenticator import Authenticator
from jackpot_service.auth.browser_sessions import BrowserSessions
from jackpot_service.auth.company_accounts import CompanyAccounts
from jackpot_service.domain.errors import Unauthenticated

EXTENSION: Final = "jackpot-pages"

ATTEMPTS_PER_MINUTE: Final = 10
"""Sign-ins that may fail from an address, of a process."""


class Attempts:
    """Bounds sign-ins that fail, by address. A limit that is reached keeps out no key that is in force."""

    def __init__(self, authenticator: Authenticator, *, monotonic: Callable[[], float]) -> None:
        self._authenticator = authenticator
        rate = ATTEMPTS_PER_MINUTE / 60
        self._limit = RateLimit("address", rate=rate, burst=ATTEMPTS_PER_MINUTE, monotonic=monotonic)
        self._lock = threading.Lock()

    @contextmanager
    def attempt(self, address: str, key: str) -> Iterator[None]:
        """
        Count a sign-in by a key, unless the block ends well or by something that is not the key's fault.

        Raises: TooManyRequests; Unavailable.
        """
        has_token = self._has_taken(address)
        if not has_token and self._authenticator.key_id_in(f"Bearer {key}") not in self._authenticator.ids_in_force():
            self._refuse(address)
        try:
            yield
        except Unauthenticated:
            if not has_token:
                self._refuse(address)
            raise
        except BaseException:
            self._give_back(address, has_token=has_token)
            raise
        self._give_back(address, has_token=has_token)

    @contextmanager
    def attempt_by_account(self, address: str) -> Iterator[None]:
        """
        Count a sign-in by an account, unless the block ends well or by something that is not its fault.

        Raises: TooManyRequests, also for an account that would be admitted: nobody knows it yet.
        """
        if not self._has_taken(address):
            self._refuse(address)
        try:
            yield
        except Unauthenticated:
            raise
        except BaseException:
            self._give_back(address, has_token=True)
            raise
        self._give_back(address, has_token=True)

    def _has_taken(self, address: str) -> bool:
        with self._lock:
            return self._limit.has_taken(address)

    def _refuse(self, address: str) -> None:
        with self._lock:
            self._limit.refuse(address)

    def _give_back(self, address: str, *, has_token: bool) -> None:
        if has_token:
            with self._lock:
                self._limit.give_back(address)


@dataclass(frozen=True, slots=True)
class PagesContext:
    """The sessions of people, the sign-ins that fail, and the company accounts by which people sign in, if any."""

    sessions: BrowserSessions
    attempts: Attempts
    accounts: CompanyAccounts | None


def pages() -> PagesContext:
    """Return what the pages of this application have at hand."""
    context: PagesContext = flask.current_app.extensions[EXTENSION]
    return context
