"""Whether whatever came to a jackpot came while its life let it."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.lives import Life
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot
from jackpot_service.proof.status_changes import life_before
from jackpot_service.usecases.changes.registry import CARRIES_OUT

Found = Iterator[Mismatch]

_NOT_RETIRED = frozenset({Life.OPEN, Life.SUSPENDED})

POSSIBLE_IN: Mapping[str, frozenset[Life]] = {
    EntryKind.JACKPOT_SUSPENDED: frozenset({Life.OPEN}),
    EntryKind.JACKPOT_RESUMED: frozenset({Life.SUSPENDED}),
    EntryKind.TRANSFER_RECEIVED: frozenset({Life.OPEN}),
    EntryKind.STRIPES_ADDED: _NOT_RETIRED,
    **{act: _NOT_RETIRED for act, kind in CARRIES_OUT.items() if kind.needs_unretired},
}
"""Where a jackpot stands when an entry of some kind is booked; what is not named here comes at any time."""


def acts_were_possible(jackpot: Jackpot, entries: Sequence[BookedEntry]) -> Found:
    """No act came when the jackpot's life did not let it; `entries` are those that belong to no round."""
    for entry in entries:
        life = life_before(jackpot.status_changes, entry.seq)
        if entry.stripe_no == 0 and life not in POSSIBLE_IN.get(entry.kind, frozenset(Life)):
            yield Mismatch(Code.JACKPOT_LIFE, entry.book, entry.place, f"a {entry.kind} of a jackpot that was {life}")


def bets_met_an_open_door(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """No bets were booked while their jackpot took none."""
    for entry in round_.entries:
        change = next((change for change in reversed(jackpot.status_changes) if change.is_before(entry)), None)
        if entry.kind == EntryKind.BETS and change is not None and change.life is not Life.OPEN:
            detail = f"{round_.place}: its jackpot was {change.life}"
            yield Mismatch(Code.BET_SUSPENDED, entry.book, entry.place, detail)


def no_bet_outlived_its_jackpot(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """When its jackpot was retired, the round was over or had no live bet."""
    retired = next((change for change in jackpot.status_changes if change.life is Life.RETIRED), None)
    before = [entry for entry in round_.entries if retired is not None and not retired.is_before(entry)]
    if not before or before[-1].kind in {EntryKind.RESULT, EntryKind.CANCELLATION, EntryKind.ROUND_CORRECTED}:
        return
    live = round_.live(before_step=(before[-1].step or 0) + 1)
    if live:
        detail = f"had {len(live)} live bet(s) when its jackpot was retired"
        yield Mismatch(Code.RETIRED_IN_PLAY, round_.round.jackpot_id, round_.place, detail)


CHECKS: tuple[Callable[[RoundDocuments, Jackpot], Found], ...] = (bets_met_an_open_door, no_bet_outlived_its_jackpot)
