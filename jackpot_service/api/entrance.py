"""
The way in: the event loop finds who calls, from where and how often, before it keeps the body of a request.

A key that was seen of late is known without asking anybody. Any other is looked up by one of a few threads, which serve
nothing else. Sign-ins that fail are limited by address. That limit keeps no good key out. Where it is reached, a key is
looked up only if its id is that of a key in force. These ids are known for a second at a time. All other keys
are refused without a look into the database.

A limit is a token bucket: `burst` tokens, refilled at `rate` a second, one token a call. It is kept as one number,
the time at which it will be full again (docs/decisions/fair-queueing.md says why it is not a library's).
"""

import asyncio
import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from functools import lru_cache, partial
from typing import Any, Final

from jackpot_service.api.asgi import by_thread
from jackpot_service.auth.authenticator import Authenticator, require_role
from jackpot_service.config.settings import Config
from jackpot_service.domain.errors import LimitReached, Unauthenticated
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.telemetry import counters
from jackpot_service.telemetry.logs import Seldom

MOST_BUCKETS: Final = 10_000
"""Of a limit. The name that was not seen for the longest time is forgotten first: its bucket is full again."""


class TooManyRequests(LimitReached, code="too-many-requests", title="Too many requests"):
    """Calls came faster than the limit of their key, or of their address, allows."""


class RateLimit:
    """A limit of one kind, `of` a key or a sign-in, in one process; each name has a bucket of its own."""

    def __init__(
        self,
        of: str,
        *,
        rate: float,
        burst: int,
        monotonic: Callable[[], float] = time.monotonic,
        most_buckets: int = MOST_BUCKETS,
    ) -> None:
        self._of = of
        self._token_s = 1 / rate
        self._burst_s = burst / rate
        self._monotonic = monotonic
        self._most_buckets = most_buckets
        self._full_at: OrderedDict[str, float] = OrderedDict()
        self._log = Seldom(most_known=most_buckets, monotonic=monotonic)

    def take(self, name: str) -> None:
        """Take a token. Raises: TooManyRequests if there is none."""
        if not self.has_taken(name):
            self.refuse(name)

    def has_taken(self, name: str) -> bool:
        """Take a token if there is one; returns whether there was."""
        now = self._monotonic()
        full_at = max(self._full_at.get(name, now), now) + self._token_s
        if full_at - now > self._burst_s:
            return False
        self._full_at[name] = full_at
        self._full_at.move_to_end(name)
        if len(self._full_at) > self._most_buckets:
            self._full_at.popitem(last=False)
        return True

    def give_back(self, name: str) -> None:
        """Give back a token that was taken; a name that was forgotten meanwhile has a full bucket."""
        if name in self._full_at:
            self._full_at[name] -= self._token_s

    def refuse(self, name: str) -> None:
        """Count a call that came without a token, and log it, once a minute. Raises: TooManyRequests."""
        now = self._monotonic()
        counters.count(counters.CALLS_LIMITED, limit=self._of)
        self._log.warning("limit-reached", about=name, limit=self._of, name=name)
        wait_s = max(1, math.ceil(self._full_at.get(name, now) + self._token_s - self._burst_s - now))
        raise TooManyRequests(f"The limit of this {self._of} is reached.", retry_after_s=wait_s)


Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_BITS_OF_A_SITE: Final = 64
"""Of an address of IPv6: a site has all that begin with the same ones."""

_LONGEST_ADDRESS: Final = 64
"""Characters. An address of IPv6 may name a zone, as long as a caller likes, and what was read is kept."""

_FORWARDED_FOR: Final = b"x-forwarded-for"


def address_of(scope: Mapping[str, Any], *, trusted: Sequence[Network]) -> str:
    """
    Name where a call comes from; callers of one IPv6 site are one.

    `X-Forwarded-For` is read from its end, as far as those who wrote it are trusted: what stands further in front is
    the caller's own word. A text there that is no address is not believed, and ends the reading.
    """
    client = scope.get("client") or ("",)
    address = _read(str(client[0]))
    if address is None:
        return ""
    forwarded = b",".join(value for name, value in scope["headers"] if name == _FORWARDED_FOR)
    for text in reversed(forwarded.decode("latin-1").split(",")) if forwarded else ():
        if not any(address in network for network in trusted):
            break
        further = _read(text.strip())
        if further is None:
            break
        address = further
    return _site_of(address)


@lru_cache(MOST_BUCKETS)  # A flood comes from few addresses.
def _read(text: str) -> Address | None:
    if len(text) > _LONGEST_ADDRESS:
        return None
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


@lru_cache(MOST_BUCKETS)
def _site_of(address: Address) -> str:
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(ipaddress.IPv6Network((address, _BITS_OF_A_SITE), strict=False))


THREADS: Final = 4
"""For keys, and as many for tokens: these may have to wait for their issuer."""

IDS_BELIEVED_S: Final = 1.0

SECONDS_OF_CALLS: Final = 2
SECONDS_OF_SIGN_INS: Final = 10
"""A bucket holds as many tokens as come in so many seconds."""


_seldom = Seldom()


class Entrance:
    """The way in for callers, who show a key or a token."""

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

    def address(self, scope: Mapping[str, Any]) -> str:
        """Name where a call comes from."""
        return address_of(scope, trusted=self._trusted)

    async def _signed_in(self, scope: Mapping[str, Any], authorization: str, ends_at: float) -> Principal:
        address = self.address(scope)
        # Before it is known whether it fails: many may try at the same time. Without a key, nothing is tried.
        has_token = bool(authorization) and self._failures.has_taken(address)
        with ExitStack() as unless_it_fails:
            if has_token:
                unless_it_fails.callback(self._failures.give_back, address)
            try:
                return await self._looked_up(authorization, address, ends_at, is_limited=not has_token)
            except Unauthenticated:
                unless_it_fails.pop_all()
                counters.count(counters.SIGN_INS_REFUSED)
                _seldom.warning("sign-in-refused", about=address, address=address)
                if authorization and not has_token:
                    self._failures.refuse(address)
                raise

    async def _looked_up(self, authorization: str, address: str, ends_at: float, *, is_limited: bool) -> Principal:
        if not authorization:
            return self._authenticator.principal(None)
        if self._authenticator.is_token(authorization):
            return await self._by_thread(self._for_tokens, authorization, ends_at)
        key_id = self._authenticator.key_id_in(authorization)
        if key_id is None:
            return self._authenticator.principal(authorization)  # It is no key, which is seen without asking anybody.
        if is_limited and key_id not in await self._ids_in_force(ends_at):
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
