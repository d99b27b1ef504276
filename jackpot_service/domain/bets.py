"""A jackpot bet, and a batch of them: compared with its round, a bet of it is new, a replay or void."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import repeat
from typing import NamedTuple, TypeVar

from jackpot_service.domain.errors import Conflict, FieldError, Refused

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
        """The fields that must be equal for a repeated bet id to be a replay. The time is a remark, not content."""
        return self.player_id, self.hand, self.currency, self.stake_minor


@dataclass(frozen=True, slots=True)
class Bets:
    """
    Bets of a batch, at least one, column by column: on the way in nothing asks for one bet alone.

    Columns cost a third of a tuple of bets. `occurred_at` is None if no bet states a time. `places` are those of the
    bets in the batch as it was sent, from 0.

    `wrong` are the names of the fields of each place that could not be read: they are empty, 0 or None. Such bets are
    only examined. It is None if all fields are right.
    """

    bet_ids: Sequence[str]
    player_ids: Sequence[str]
    hands: Sequence[str]
    currencies: Sequence[str]
    stakes_minor: Sequence[int]
    occurred_at: Sequence[datetime | None] | None
    places: Sequence[int]
    wrong: Mapping[int, frozenset[str]] | None = None

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

    def right_in(self, *names: str) -> "Bets":
        """Return the bets whose fields of these names are right; there may be none."""
        wrong = self.wrong
        if wrong is None:
            return self
        return self.picked([index for index, place in enumerate(self.places) if wrong[place].isdisjoint(names)])

    def completed_by(self, booked: Iterable["BookedBet"]) -> "Bets":
        """Fill the wrong fields of bets that are booked with what was booked: they may have meant the same."""
        wrong = self.wrong
        if wrong is None:
            return self
        known = {booked_bet.bet.bet_id: booked_bet.bet for booked_bet in booked}
        bets = [
            bet._replace(**{name: getattr(known[bet.bet_id], name) for name in wrong[place]})
            if bet.bet_id in known
            else bet
            for place, bet in zip(self.places, self, strict=True)
        ]
        return replace(Bets.of(bets), places=self.places)

    def picked(self, chosen: Sequence[int]) -> "Bets":
        """Take some of the bets by their index, in that order."""
        times = None if self.occurred_at is None else _picked(self.occurred_at, chosen)
        return Bets(
            _picked(self.bet_ids, chosen),
            _picked(self.player_ids, chosen),
            _picked(self.hands, chosen),
            _picked(self.currencies, chosen),
            _picked(self.stakes_minor, chosen),
            times,
            _picked(self.places, chosen),
            self.wrong,
        )

    def by_id(self) -> "Bets":
        """Put the bets in the order of their ids."""
        if all(map(str.__le__, self.bet_ids, self.bet_ids[1:])):
            return self
        return self.picked(sorted(range(len(self)), key=self.bet_ids.__getitem__))


def _picked(column: Sequence[T], chosen: Sequence[int]) -> list[T]:
    return [column[index] for index in chosen]


class BookedBet(NamedTuple):
    """
    A bet as the books hold it: the step of its round that accepted it, and the one that made it void, if any.

    A tuple for the reason that a bet is.
    """

    bet: Bet
    step: int
    void_step: int | None

    @property
    def is_void(self) -> bool:
        """Whether it was made void."""
        return self.void_step is not None


class DuplicateBet(Refused, code="duplicate-bet", title="Duplicate bet in the batch"):
    """A bet id stands twice in one batch."""


class BetConflict(Conflict, code="bet-conflict", title="The bet id belongs to another bet"):
    """A bet id was used before, for another bet."""


_CONTENT = ("player_id", "hand", "currency", "stake_minor")
"""The names of `Bet.content`, in its order."""


@dataclass(frozen=True, slots=True)
class SortedBatch:
    """A batch held against what the round already knows: its new bets, how many are replays, which are void."""

    new: Bets | None
    replayed: int
    void: tuple[str, ...]


def require_distinct(bets: Bets) -> None:
    """Raises: DuplicateBet if a bet id stands twice in a batch."""
    if len(set(bets.bet_ids)) == len(bets):
        return
    counts = Counter(bets.bet_ids)
    twice = [bet_id for bet_id, count in counts.items() if count > 1]
    field_errors = tuple(
        FieldError(f"/bets/{place}/bet_id", DuplicateBet.code, f"{bet_id} stands more than once in the batch.")
        for place, bet_id in zip(bets.places, bets.bet_ids, strict=True)
        if counts[bet_id] > 1
    )
    message = f"Bet ids that stand more than once in the batch: {len(twice)}."
    raise DuplicateBet(message, field_errors=field_errors, bet_ids=twice)


def sort_out(bets: Bets, booked: Sequence[BookedBet], tombstones: Collection[str]) -> SortedBatch:
    """Divide a batch into new bets, replays and void ones. Raises: BetConflict."""
    if not booked and not tombstones:
        return SortedBatch(new=bets, replayed=0, void=())
    known = require_same(bets, booked)
    new = [index for index, bet_id in enumerate(bets.bet_ids) if bet_id not in known and bet_id not in tombstones]
    void = {bet_id for bet_id in bets.bet_ids if bet_id in tombstones or (bet_id in known and known[bet_id].is_void)}
    return SortedBatch(
        new=bets.picked(new) if new else None,
        replayed=len(bets) - len(new) - len(void),
        void=tuple(bet_id for bet_id in bets.bet_ids if bet_id in void),
    )


def require_same(bets: Bets, booked: Sequence[BookedBet]) -> Mapping[str, BookedBet]:
    """
    Require that bets whose ids were booked before have the content that was booked; returns the booked ones by id.

    Raises: BetConflict, naming every such bet.
    """
    known = {booked_bet.bet.bet_id: booked_bet for booked_bet in booked}
    field_errors = tuple(
        FieldError(f"/bets/{place}", BetConflict.code, _difference(known[bet.bet_id].bet, bet))
        for place, bet in zip(bets.places, bets, strict=True)
        if bet.bet_id in known and known[bet.bet_id].bet.content != bet.content
    )
    if field_errors:
        ids = [bet.bet_id for bet in bets if bet.bet_id in known and known[bet.bet_id].bet.content != bet.content]
        message = f"Bets of the batch that were booked with other content: {', '.join(ids)}."
        raise BetConflict(message, field_errors=field_errors, bet_ids=ids)
    return known


def _difference(booked: Bet, sent: Bet) -> str:
    pairs = zip(_CONTENT, booked.content, sent.content, strict=True)
    differences = [f"{name} {before} was booked, {after} was sent" for name, before, after in pairs if before != after]
    return f"Bet {booked.bet_id}: {'; '.join(differences)}."
