"""Round keys: what orders rounds by time, and so what an instant, or a month, is among them."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from jackpot_service.domain.months import Month

RANDOM_BITS = 21
"""The low bits of a key, which chance fills; the 42 above count milliseconds since 1970, up to the year 2109."""

LAST_KEY = 2**63 - 1

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class KeyRange(NamedTuple):
    """The keys from one, up to another that is not among them."""

    first: int
    end: int

    def overlaps(self, other: "KeyRange") -> bool:
        """Whether they have a key in common."""
        return self.first < other.end and other.first < self.end


def first_key_at(instant: datetime) -> int:
    """The smallest round key of an instant's millisecond; the first or last key there is, if it has none."""
    return min(LAST_KEY, max(0, (instant - _EPOCH) // timedelta(milliseconds=1)) << RANDOM_BITS)


def keys_of(month: Month) -> KeyRange:
    """The keys of the rounds that are opened in a month."""
    return KeyRange(first_key_at(month.begins_at), first_key_at(month.later(1).begins_at))
