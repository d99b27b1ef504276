"""What a jackpot bet is, and a batch of them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import repeat
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Bet(NamedTuple):
    """
    One player's jackpot bet on one hand of a round; the stake in whole minor units of its currency.

    A tuple rather than a dataclass: rounds hold thousands, and it is made four times as fast.
    """

    bet_id: str
    player_id: str
    hand: str
    currency: str
    stake_minor: int
    occurred_at: datetime | None = None

    @property
    def content(self) -> tuple[str, str, str, int]:
        """What must be equal for a repeated bet id to be a replay. The time is a remark, not content."""
        return self.player_id, self.hand, self.currency, self.stake_minor


@dataclass(frozen=True, slots=True)
class Bets:
    """
    Bets of a batch, at least one, column by column: on the way in nothing asks for one bet alone.

    Columns cost a third of a tuple of bets. `occurred_at` is None if no bet states a time. `places` are those of the
    bets in the batch as it was sent, from 0.
    """

    bet_ids: Sequence[str]
    player_ids: Sequence[str]
    hands: Sequence[str]
    currencies: Sequence[str]
    stakes_minor: Sequence[int]
    occurred_at: Sequence[datetime | None] | None
    places: Sequence[int]

    @classmethod
    def of(cls, bets: Iterable[Bet]) -> "Bets":
        """Turn bets, at least one, into columns; their places are in their order."""
        bet_ids, player_ids, hands, currencies, stakes_minor, times = zip(*bets, strict=True)
        occurred_at = times if any(times) else None
        return cls(bet_ids, player_ids, hands, currencies, stakes_minor, occurred_at, places=range(len(bet_ids)))

    def __len__(self) -> int:
        return len(self.bet_ids)

    def __iter__(self) -> Iterator[Bet]:
        times = repeat(None) if self.occurred_at is None else self.occurred_at
        return map(Bet, self.bet_ids, self.player_ids, self.hands, self.currencies, self.stakes_minor, times)

    def dated(self, moment: datetime) -> "Bets":
        """Give a time to the bets that do not state their own."""
        return replace(self, occurred_at=[own or moment for own in self.occurred_at or [None] * len(self)])

    def picked(self, chosen: Sequence[int]) -> "Bets":
        """Take some of the bets, at least one, by their index, in that order."""
        times = None if self.occurred_at is None else _picked(self.occurred_at, chosen)
        return Bets(
            _picked(self.bet_ids, chosen),
            _picked(self.player_ids, chosen),
            _picked(self.hands, chosen),
            _picked(self.currencies, chosen),
            _picked(self.stakes_minor, chosen),
            times,
            _picked(self.places, chosen),
        )

    def by_id(self) -> "Bets":
        """Put the bets in the order of their ids."""
        if all(map(str.__le__, self.bet_ids, self.bet_ids[1:])):
            return self
        return self.picked(sorted(range(len(self)), key=self.bet_ids.__getitem__))


def _picked(column: Sequence[T], chosen: Sequence[int]) -> list[T]:
    return [column[index] for index in chosen]
