"""Calendar months in UTC: what bets are kept apart by."""

from dataclasses import dataclass
from datetime import UTC, datetime

MONTHS_A_YEAR = 12


@dataclass(frozen=True, slots=True, order=True)
class Month:
    """A month of a year, in UTC; its first instant belongs to it, the next one's does not."""

    year: int
    number: int

    @classmethod
    def of(cls, instant: datetime) -> "Month":
        """The month that an instant lies in, whatever its offset from UTC."""
        in_utc = instant.astimezone(UTC)
        return cls(in_utc.year, in_utc.month)

    @property
    def begins_at(self) -> datetime:
        """Its first instant."""
        return datetime(self.year, self.number, 1, tzinfo=UTC)

    def later(self, months: int) -> "Month":
        """The month that comes so many months later."""
        year, number = divmod(self.year * MONTHS_A_YEAR + self.number - 1 + months, MONTHS_A_YEAR)
        return Month(year, number + 1)

    def __str__(self) -> str:
        return f"{self.year:04}-{self.number:02}"
