"""A batch of bets held against what its round already holds: what is new, what is a replay, what is void."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.errors import Conflict, FieldError, Refused


@dataclass(frozen=True, slots=True)
class BookedBet:
    """A bet as the books hold it: the step of its round that accepted it, and the one that made it void, if any."""

    bet: Bet
    step: int
    void_step: int | None

    @property
    def is_void(self) -> bool:
        """Whether it was made void."""
        return self.void_step is not None


class DuplicateBet(Refused):
    """A bet id stands twice in one batch."""

    code = "duplicate-bet"
    title = "Duplicate bet in the batch"


class BetConflict(Conflict):
    """A bet id was used before, for another bet."""

    code = "bet-conflict"
    title = "The bet id belongs to another bet"


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
    message = f"{len(twice)} bet id(s) stand more than once in the batch."
    raise DuplicateBet(message, field_errors=field_errors, bet_ids=twice)


def sort_out(bets: Bets, booked: Sequence[BookedBet], tombstones: Collection[str]) -> SortedBatch:
    """Tell new bets from replays and void ones. Raises: BetConflict."""
    if not booked and not tombstones:
        return SortedBatch(new=bets, replayed=0, void=())
    known = {one.bet.bet_id: one for one in booked}
    _require_same(bets, known)
    new = [index for index, bet_id in enumerate(bets.bet_ids) if bet_id not in known and bet_id not in tombstones]
    void = {bet_id for bet_id in bets.bet_ids if bet_id in tombstones or (bet_id in known and known[bet_id].is_void)}
    return SortedBatch(
        new=bets.picked(new) if new else None,
        replayed=len(bets) - len(new) - len(void),
        void=tuple(bet_id for bet_id in bets.bet_ids if bet_id in void),
    )


def _require_same(bets: Bets, known: Mapping[str, BookedBet]) -> None:
    field_errors = tuple(
        FieldError(f"/bets/{place}", BetConflict.code, _difference(known[bet.bet_id].bet, bet))
        for place, bet in zip(bets.places, bets, strict=True)
        if bet.bet_id in known and known[bet.bet_id].bet.content != bet.content
    )
    if field_errors:
        ids = [bet.bet_id for bet in bets if bet.bet_id in known and known[bet.bet_id].bet.content != bet.content]
        message = f"{len(field_errors)} bet id(s) of the batch were booked with other content: {', '.join(ids)}."
        raise BetConflict(message, field_errors=field_errors, bet_ids=ids)


def _difference(booked: Bet, sent: Bet) -> str:
    pairs = zip(_CONTENT, booked.content, sent.content, strict=True)
    said = [f"{name} {before} was booked, {after} was sent" for name, before, after in pairs if before != after]
    return f"Bet {booked.bet_id}: {'; '.join(said)}."
