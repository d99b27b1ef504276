"""A jackpot's door to bets over the time of its life: by which entries it closed and opened."""

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
"""Where each kind of entry that moves the door leaves its jackpot."""


@dataclass(frozen=True, slots=True)
class Door:
    """The door from an entry on stripe 0 on: what stands beyond its positions came after it."""

    seq: int
    life: Life
    positions: tuple[int, ...]

    def is_before(self, entry: BookedEntry) -> bool:
        """Whether an entry was booked after the door moved. A stripe that it does not name was added later."""
        number = entry.stripe_no
        return (self.positions[number] if number < len(self.positions) else 0) < entry.seq


def doors_of(effects: Mapping[int, RecordedEffect]) -> tuple[Door, ...]:
    """Read from what acts say how a jackpot's door moved, in the order of stripe 0."""
    return tuple(
        Door(seq, LIFE_AFTER[effect.kind], effect.positions)
        for seq, effect in sorted(effects.items())
        if effect.kind in LIFE_AFTER and effect.positions is not None
    )


def life_before(doors: Sequence[Door], seq: int) -> Life:
    """Where a jackpot stood right before an entry of its stripe 0."""
    return next((door.life for door in reversed(doors) if door.seq < seq), Life.OPEN)


def stripes_follow(book: str, stripes: Sequence[BookedStripe], doors: Sequence[Door]) -> Iterator[Mismatch]:
    """Every stripe takes bets, or none does, as the last entry that moved the door says."""
    is_open = not doors or doors[-1].life is Life.OPEN
    for stripe in stripes:
        if stripe.accepting is not is_open:
            detail = "takes no bets, by no entry" if is_open else f"takes bets, the jackpot is {doors[-1].life}"
            yield Mismatch(Code.STRIPE_ACCEPTING, book, f"stripe {stripe.stripe_no}", detail)
