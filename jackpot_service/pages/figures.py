"""The one place where pages write what a person reads: amounts, numbers and times."""

from datetime import UTC, datetime
from typing import Final

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""Written out: the names of months follow the language of the page, not of the machine."""


def moment(at: datetime) -> str:
    """Write a time to the second, in UTC: 23 Nov 2026, 19:45:53 UTC."""
    at = at.astimezone(UTC)
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}, {at:%H:%M:%S} UTC"


FILTERS: Final = {"moment": moment}
"""By their names in templates."""
