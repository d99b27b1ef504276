"""Whether what people did to a jackpot's rules, door and money booked what was asked for, from what they saw."""

from collections.abc import Iterator, Sequence

from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.journal import EntryKind
from jackpot_service.ledger import replay
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof.dues import DUE, Scene
from jackpot_service.proof.jackpots import Jackpot
from jackpot_service.proof.order import Seen

Found = Iterator[Mismatch]

_UNDERIVABLE = (LedgerError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError)
"""What is raised where an act could not have been done, or says something that no such act says."""


def check(jackpot: Jackpot, entries: Sequence[BookedEntry]) -> Found:
    """Check every effect of the kinds in DUE: what they saw, what it booked and recorded. Approvals: see `changes`."""
    for entry in entries:
        effect = jackpot.effects.get(entry.seq) if entry.stripe_no == 0 else None
        if effect is None or effect.kind != entry.kind or entry.kind not in DUE:
            continue  # Named by the checks of all effects.
        scene = Scene(jackpot, entry, effect)
        try:
            yield from positions_are_right(scene)
            yield from it_did_what_was_due(scene)
        except _UNDERIVABLE as error:
            detail = f"{entry.kind}: {type(error).__name__}: {error}"
            yield Mismatch(Code.EFFECT_FIGURES, entry.book, entry.place, detail)


def positions_are_right(scene: Scene) -> Found:
    """It saw all stripes, its own right before it."""
    positions = scene.positions
    if positions[0] != scene.entry.seq - 1:
        yield _mismatch(Code.EFFECT_POSITIONS, scene, f"{list(positions)} does not end right before it")
    if len(positions) != scene.jackpot.stripes_at(positions[0]):
        yield _mismatch(Code.EFFECT_POSITIONS, scene, f"{list(positions)} does not name all stripes")
    ends = {stripe.stripe_no: stripe.seq for stripe in scene.jackpot.stripes}
    if any(seq > ends.get(stripe_no, 0) for stripe_no, seq in enumerate(positions)):
        yield _mismatch(Code.EFFECT_POSITIONS, scene, f"{list(positions)} lies beyond the stripes' ends")


def it_did_what_was_due(scene: Scene) -> Found:
    """The same code that decided it makes the same postings and figures of the request and of the pools then."""
    due = DUE[EntryKind(scene.entry.kind)](scene)
    if scene.entry.lines != replay.lines_of(due.postings):
        yield _mismatch(Code.ENTRY_POSTINGS, scene, f"booked {scene.entry.lines}, due was {due.postings}")
    if scene.effect.recorded != due.recorded:
        yield _mismatch(Code.EFFECT_FIGURES, scene, f"recorded {scene.effect.recorded}, due was {due.recorded}")
    if scene.entry.kind == EntryKind.TRANSFER_RECEIVED:
        return  # Its act shows the other half.
    if (scene.act.before, scene.act.after) != (due.before, due.recorded):
        detail = f"act {scene.effect.act} shows {scene.act.before} and {scene.act.after}, due was {due}"
        yield _mismatch(Code.EFFECT_FIGURES, scene, detail)


def _mismatch(code: Code, scene: Scene, detail: str) -> Mismatch:
    return Mismatch(code, scene.entry.book, scene.entry.place, f"{scene.entry.kind}: {detail}")


SAW_ALL = frozenset({*DUE, EntryKind.ROUND_CORRECTED, EntryKind.AWARDS_REINSTATED})
"""The kinds of effect that depend on all pools, and so name a position of every stripe."""


def seen_by_moves(jackpot: Jackpot) -> list[Seen]:
    """What such acts saw: all stripes, so whatever comes later saw at least that."""
    return [
        (effect.positions, 0, seq, True)
        for seq, effect in sorted(jackpot.effects.items())
        if effect.kind in SAW_ALL and effect.positions is not None
    ]
