"""A jackpot's status over time: the entries that suspended, resumed and retired it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.lives import Life
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.replay import BookedEntry, BookedStripe
from jackpot_service.proof.references import RecordedEffect

LIFE_AFTER: Mapping[str, Life] = {
    EntryKind.JACKPOT_SUSPENDED: Life.SUSPENDED,
    EntryKind.JACKPOT_RESUMED: Life.OPEN,
    EntryKind.JACKPOT_RETIRED: Life.RETIRED,
}
"""The status in which each kind of entry leaves its jackpot."""


@dataclass(frozen=True, slots=True)
class StatusChange:
    """A status of a jackpot from an entry on stripe 0 on: entries beyond its positions came after it."""

    seq: int
    life: Life
    positions: tuple[int, ...]

    def is_before(self, entry: BookedEntry) -> bool:
        """Whether the status changed before an entry was booked. A stripe that it does not name was added later."""
        number = entry.stripe_no
        return (self.positions[number] if number < len(self.positions) else 0) < entry.seq


def status_changes_of(effects: Mapping[int, RecordedEffect]) -> tuple[StatusChange, ...]:
    """Read from the acts how a jackpot's status changed, in the order of stripe 0."""
    return tuple(
        StatusChange(seq, LIFE_AFTER[effect.kind], effect.positions)
        for seq, effect in sorted(effects.items())
        if effect.kind in LIFE_AFTER and effect.positions is not None
    )


def life_before(changes: Sequence[StatusChange], seq: int) -> Life:
    """Where a jackpot stood right before an entry of its stripe 0."""
    return next((change.life for change in reversed(changes) if change.seq < seq), Life.OPEN)


def stripes_follow(book: str, stripes: Sequence[BookedStripe], changes: Sequence[StatusChange]) -> Iterator[Mismatch]:
    """Every stripe takes bets, or none does, as the last change of status says."""
    is_open = not changes or changes[-1].life is Life.OPEN
    for stripe in stripes:
        if stripe.accepting is not is_open:
            detail = "takes no bets, by no entry" if is_open else f"takes bets, the jackpot is {changes[-1].life}"
            yield Mismatch(Code.STRIPE_ACCEPTING, book, f"stripe {stripe.stripe_no}", detail)
