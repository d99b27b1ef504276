"""
Who calls, found on the event loop from the head of a request: before its body is kept, and before it gets a thread.

A key that was seen of late is known without asking anybody. Any other is looked up by one of a few threads, which serve
nothing else. Sign-ins that fail are limited by address. That limit keeps no good key out: where it is reached, a key is
looked up only if its id is that of a key in force, which is known for a second at a time, and all others are refused
without a look into the database.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import Any, Final

from jackpot_service.api.addresses import Network, address_of
from jackpot_service.api.in_time import by_thread
from jackpot_service.api.rate_limits import RateLimit
from jackpot_service.auth.authenticator import Authenticator, require_role
from jackpot_service.config.settings import Config
from jackpot_service.domain.errors import Unauthenticated
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.telemetry import counters
from jackpot_service.telemetry.seldom import Seldom

THREADS: Final = 4
"""For keys, and as many for tokens: these may have to wait for their issuer."""

IDS_BELIEVED_S: Final = 1.0

SECONDS_OF_CALLS: Final = 2
SECONDS_OF_SIGN_INS: Final = 10
"""A bucket holds as many tokens as come in so many seconds."""


_seldom = Seldom()


class Entrance:
    """The way in for whoever shows a key or a token."""

    def __init__(
        self, config: Config, authenticator: Authenticator, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._authenticator = authenticator
        self._trusted: Sequence[Network] = config.trusted_proxies
        self._monotonic = monotonic
        self._calls = _limit("key", config.key_rate, SECONDS_OF_CALLS, monotonic)
        self._failures = _limit("address", config.sign_in_rate, SECONDS_OF_SIGN_INS, monotonic)
        self._for_keys = ThreadPoolExecutor(THREADS, "keys")
        self._for_tokens = ThreadPoolExecutor(THREADS, "tokens")
        self._ids: frozenset[str] = frozenset()
        self._ids_read_at = float("-inf")
        self._reading_ids = asyncio.Lock()

    async def admitted(
        self, scope: Mapping[str, Any], authorization: str, roles: frozenset[Role], *, ends_at: float
    ) -> Principal:
        """
        Find who calls, and whether it may make this call, now. The call has to be answered at `ends_at`.

        Raises: BadKeyShown, BadToken; TooManyRequests; RoleForbidden; Unavailable if that is not found out in time.
        """
        caller = self._authenticator.remembered(authorization)
        if caller is None:
            caller = await self._signed_in(scope, authorization, ends_at)
        self._calls.take(caller.name)
        require_role(caller, roles)
        return caller

    async def _signed_in(self, scope: Mapping[str, Any], authorization: str, ends_at: float) -> Principal:
        address = address_of(scope, trusted=self._trusted)
        try:
            return await self._looked_up(authorization, address, ends_at)
        except Unauthenticated:
            counters.count(counters.SIGN_INS_REFUSED)
            _seldom.warning("sign-in-refused", about=address, address=address)
            if authorization:  # Without it, nothing was tried.
                self._failures.take(address)
            raise

    async def _looked_up(self, authorization: str, address: str, ends_at: float) -> Principal:
        if not authorization:
            return self._authenticator.principal(None)
        if self._authenticator.is_token(authorization):
            return await self._by_thread(self._for_tokens, authorization, ends_at)
        key_id = self._authenticator.key_id_in(authorization)
        if key_id is None:
            return self._authenticator.principal(authorization)  # It is no key, which is seen without asking anybody.
        if self._failures.is_reached(address) and key_id not in await self._ids_in_force(ends_at):
            self._failures.refuse(address)
        return await self._by_thread(self._for_keys, authorization, ends_at)

    async def _by_thread(self, threads: Executor, authorization: str, ends_at: float) -> Principal:
        return await by_thread(threads, partial(self._authenticator.principal, authorization), ends_at=ends_at)

    async def _ids_in_force(self, ends_at: float) -> frozenset[str]:
        async with self._reading_ids:  # Calls wait here in the order in which they end, and none asks beyond its end.
            now = self._monotonic()
            if now - self._ids_read_at > IDS_BELIEVED_S:
                self._ids = await by_thread(self._for_keys, self._authenticator.ids_in_force, ends_at=ends_at)
                self._ids_read_at = now
            return self._ids


def _limit(of: str, rate: float, seconds: int, monotonic: Callable[[], float]) -> RateLimit:
    return RateLimit(of, rate=rate, burst=max(1, round(rate * seconds)), monotonic=monotonic)
