"""
Rate limits: how many calls a second a key may make, and how many sign-ins may fail that come from one address.

Each is a token bucket: `burst` tokens, refilled at `rate` a second, one token a call. A bucket is kept as one number,
the time at which it will be full again (docs/decisions/fair-queueing.md says why it is not a library's).
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import structlog

from jackpot_service.domain.errors import LimitReached
from jackpot_service.telemetry import counters

MOST_BUCKETS: Final = 10_000
"""Of a limit. Whoever was not seen for the longest time is forgotten first: that one's bucket is full again."""

LOG_EVERY_S: Final = 60.0

log = structlog.get_logger()


class TooManyRequests(LimitReached):
    """Calls came faster than the limit of their key, or of the address, lets them."""

    code = "too-many-requests"
    title = "Too many requests"


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
        self._logged: OrderedDict[str, tuple[float, int]] = OrderedDict()

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

    def is_reached(self, name: str) -> bool:
        """Whether there is no token; takes none."""
        now = self._monotonic()
        return max(self._full_at.get(name, now), now) + self._token_s - now > self._burst_s

    def refuse(self, name: str) -> None:
        """Count a call that came without a token, and log it, once a minute. Raises: TooManyRequests."""
        now = self._monotonic()
        counters.count(counters.CALLS_LIMITED, limit=self._of)
        self._log(name, now)
        wait_s = max(1, math.ceil(self._full_at.get(name, now) + self._token_s - self._burst_s - now))
        raise TooManyRequests(f"The limit of this {self._of} is reached.", retry_after_s=wait_s)

    def _log(self, name: str, now: float) -> None:
        log_at, unlogged = self._logged.pop(name, (now, 0))
        unlogged += 1
        if now >= log_at:
            log.warning("limit-reached", limit=self._of, name=name, refused=unlogged)
            log_at, unlogged = now + LOG_EVERY_S, 0
        self._logged[name] = log_at, unlogged
        if len(self._logged) > self._most_buckets:
            self._logged.popitem(last=False)
