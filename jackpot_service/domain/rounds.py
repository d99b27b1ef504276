"""A round as the ledger knows it, its key, the month it falls in, and how a call can come too late for it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple

from jackpot_service.domain.accounts import Meter
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.rules import JackpotRules

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


RANDOM_BITS = 21
"""The low bits of a key, which chance fills; the 42 above count milliseconds since 1970, up to the year 2109."""

LAST_KEY = 2**63 - 1

GROWTH: Final = 4
"""By how much ranges of keys grow. Eight of them reach back beyond 1970."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_MILLISECOND: Final = timedelta(milliseconds=1)

_DAY_OF_KEYS: Final = (timedelta(days=1) // _MILLISECOND) << RANDOM_BITS


class KeyRange(NamedTuple):
    """The keys from one, up to another that is not among them."""

    first: int
    end: int

    @classmethod
    def between(cls, start: datetime | None, end: datetime | None, *, upto: int | None = None) -> "KeyRange":
        """The keys of rounds that were opened from an instant on and before another, up to a key that is among them."""
        last = LAST_KEY if end is None else first_key_at(end)
        if upto is not None:
            last = min(last, upto + 1)
        return cls(0 if start is None else first_key_at(start), min(last, LAST_KEY))

    def overlaps(self, other: "KeyRange") -> bool:
        """Whether they have a key in common."""
        return self.first < other.end and other.first < self.end


def first_key_at(instant: datetime) -> int:
    """The smallest round key of an instant's millisecond; the first or last key there is, if it has none."""
    return min(LAST_KEY, max(0, (instant - _EPOCH) // _MILLISECOND) << RANDOM_BITS)


def keys_of(month: Month) -> KeyRange:
    """The keys of the rounds that are opened in a month."""
    return KeyRange(first_key_at(month.begins_at), first_key_at(month.later(1).begins_at))


def spans_back(keys: KeyRange, *, now: datetime) -> Iterator[KeyRange]:
    """
    Divide keys into ranges, the latest first: a day, then each `GROWTH` times as long as the one before.

    Questions for the latest of something look at one after another, and need not look at all.
    """
    end, length = keys.end, _DAY_OF_KEYS
    while end > keys.first:
        first = max(keys.first, min(end, first_key_at(now)) - length)
        yield KeyRange(first, end)
        end, length = first, length * GROWTH


class RoundState(StrEnum):
    """Open takes bets; closed waits for its result; the other two are final."""

    OPEN = "open"
    CLOSED = "closed"
    SETTLED = "settled"
    CANCELLED = "cancelled"


ENDED: Final = frozenset({RoundState.SETTLED, RoundState.CANCELLED})


class RoundSettled(Conflict, code="round-settled", title="The round is settled"):
    """The round has its result."""


class RoundCancelled(Conflict, code="round-cancelled", title="The round is cancelled"):
    """The round was cancelled."""


class BettingClosed(Conflict, code="betting-closed", title="Betting is closed"):
    """The round's betting was closed before the bet came."""


class GameNumberConflict(Conflict, code="game-number-conflict", title="The round has another game number"):
    """A call said another game number than one before it. Often a round id was given to two rounds."""


class Round(NamedTuple):
    """
    One table's round, with the rules version and the rate sheet that were fixed at its opening.

    `steps` counts its entries; `bet_count` and `weight` (base units) are of its live bets. `game_number` is what the
    table shows its players, such as 21:10:10: the first that a call said which booked something. It need not be unique.
    """

    jackpot_id: str
    round_key: int
    table_id: str
    round_id: str
    casino_id: str
    state: RoundState
    rules_version: int
    rate_sheet: int
    steps: int
    bet_count: int
    weight: Decimal
    opened_at: datetime
    game_number: str | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the round is settled or cancelled."""
        return self.state in ENDED

    def require_open(self) -> None:
        """Require that the round takes bets. Raises: RoundSettled, RoundCancelled, BettingClosed."""
        self.require_not_ended()
        if self.state is RoundState.CLOSED:
            message = f"Betting on round {self.round_id} of table {self.table_id} was closed."
            raise BettingClosed(message, table_id=self.table_id, round_id=self.round_id)

    def require_not_ended(self) -> None:
        """Raises: RoundSettled or RoundCancelled."""
        if self.state is RoundState.SETTLED:
            message = f"Round {self.round_id} of table {self.table_id} already has its result."
            raise RoundSettled(message, table_id=self.table_id, round_id=self.round_id)
        if self.state is RoundState.CANCELLED:
            message = f"Round {self.round_id} of table {self.table_id} was cancelled."
            raise RoundCancelled(message, table_id=self.table_id, round_id=self.round_id)

    def numbered(self, game_number: str | None) -> "Round":
        """The round with the game number that a call says, if it says one. Raises: GameNumberConflict."""
        if game_number is None or game_number == self.game_number:
            return self
        if self.game_number is None:
            return self._replace(game_number=game_number)
        message = f"Round {self.round_id} of table {self.table_id} has the game number {self.game_number}."
        raise GameNumberConflict(message, table_id=self.table_id, round_id=self.round_id, game_number=self.game_number)

    def stepped(self, *, bets: int = 0, weight: Decimal = Decimal(0), state: RoundState | None = None) -> "Round":
        """The round after one more entry, with so many live bets and so much weight more (or less)."""
        return self._replace(
            state=state or self.state,
            steps=self.steps + 1,
            bet_count=self.bet_count + bets,
            weight=self.weight + weight,
        )


@dataclass(frozen=True, slots=True)
class RoundView:
    """A round, and the cycle it settled or was cancelled in; while it is open, the running one."""

    round: Round
    cycle: int


def share_per_unit(round_: Round, *, rules: JackpotRules, meter: Meter) -> Decimal | None:
    """
    M / W for display: what one unit staked would get of a royal flush, in its own currency.

    None where the round has ended or carries no live bet, or its rules, `rules`, do not share.
    """
    return meter.share_per_unit(round_.weight) if rules.is_shared and not round_.has_ended else None
