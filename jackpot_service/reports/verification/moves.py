"""Whether what people did to a jackpot's rules, door and money is what was approved, and booked what it should."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from jackpot_service.domain.changes import ChangeKind, Outcome
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.journal import EntryKind
from jackpot_service.ledger import replay
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.reports.verification.dues import DUE, Scene
from jackpot_service.reports.verification.jackpots import Jackpot
from jackpot_service.reports.verification.order import Seen

Found = Iterator[Mismatch]

_UNDERIVABLE = (LedgerError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError)
"""What is raised where an act could not have been done, or says something that no such act says."""


def check(jackpot: Jackpot, entries: Sequence[BookedEntry]) -> Found:
    """Check every effect of the kinds in DUE: that two people agreed, what they saw, what it booked and recorded."""
    carried_out = Counter(row.decides for row in jackpot.references.acts.values() if row.effects)
    for entry in entries:
        effect = jackpot.effects.get(entry.seq) if entry.stripe_no == 0 else None
        if effect is None or effect.kind != entry.kind or entry.kind not in DUE:
            continue  # Named by the checks of all effects.
        scene = Scene(jackpot, entry, effect)
        try:
            yield from two_people_agreed(scene, carried_out)
            yield from positions_are_right(scene)
            yield from it_did_what_was_due(scene)
        except _UNDERIVABLE as error:
            detail = f"{entry.kind}: {type(error).__name__}: {error}"
            yield Mismatch(Code.EFFECT_FIGURES, entry.book, entry.place, detail)


def two_people_agreed(scene: Scene, carried_out: Mapping[str, int]) -> Found:
    """What needs two people carries out, once, a change of its kind that was approved before."""
    kind = APPROVED_AS.get(EntryKind(scene.entry.kind))
    if kind is None:
        return
    references, decides = scene.jackpot.references, scene.act.decides
    request, decision = references.change_requests.get(decides), references.change_decisions.get(decides)
    is_approved = (
        request is not None
        and decision is not None
        and (request.kind, decision.outcome) == (kind, Outcome.APPROVED)
        and scene.jackpot.jackpot_id in {request.jackpot_id, request.payload.get("to")}
        and decision.entry_seq < scene.effect.act
    )
    if not is_approved or carried_out[decides] != 1:
        detail = f"act {scene.effect.act} carries out {decides}, which is no approved {kind} of this jackpot, or twice"
        yield _mismatch(Code.ACT_UNAPPROVED, scene, detail)


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


APPROVED_AS: Mapping[EntryKind, ChangeKind] = {
    EntryKind.RULES_CHANGED: ChangeKind.RULES,
    EntryKind.ADJUSTMENT: ChangeKind.ADJUSTMENT,
    EntryKind.SEED_RECOVERED: ChangeKind.SEED_RECOVERY,
    EntryKind.PRIZE_FUND_TRUED_UP: ChangeKind.PRIZE_FUND_TRUE_UP,
    EntryKind.JACKPOT_RETIRED: ChangeKind.RETIREMENT,
    EntryKind.TRANSFER_RECEIVED: ChangeKind.RETIREMENT,
}
"""The change that each kind carries out; the others are one person's."""


def seen_by_moves(jackpot: Jackpot) -> list[Seen]:
    """What these acts, and corrections of rounds, saw: all stripes, so whatever comes later saw at least that."""
    return [
        (effect.positions, 0, seq, True)
        for seq, effect in sorted(jackpot.effects.items())
        if effect.kind in {*DUE, EntryKind.ROUND_CORRECTED} and effect.positions is not None
    ]
