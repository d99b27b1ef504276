"""Whether what people did to a jackpot's rules, life and money is what their decision makes of what they saw."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from sqlalchemy import Row

from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.lives import facts_of_life
from jackpot_service.ledger import replay
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof.jackpots import Jackpot
from jackpot_service.proof.references import RecordedEffect
from jackpot_service.proof.sequence_checks import Seen
from jackpot_service.proof.status_changes import LIFE_AFTER, life_before
from jackpot_service.usecases.acts import Done
from jackpot_service.usecases.changes.jackpots import JackpotKind, JackpotState
from jackpot_service.usecases.changes.kinds import Conditions
from jackpot_service.usecases.changes.registry import CARRIES_OUT
from jackpot_service.usecases.changes.retirement import RetireJackpot, receive

Found = Iterator[Mismatch]

_UNDERIVABLE = (LedgerError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError)
"""What is raised where an act could not have been done, or says something that no such act says."""


@dataclass(frozen=True)
class Scene:
    """An effect with all that it depends on, as it was when it was booked."""

    jackpot: Jackpot
    entry: BookedEntry
    effect: RecordedEffect

    @property
    def act(self) -> Row[Any]:
        """The act that booked it."""
        return self.jackpot.references.acts[self.effect.act]

    def request(self, kind: type[JackpotKind]) -> JackpotKind:
        """What its maker asked for, read as a kind of change."""
        payload = self.jackpot.references.change_requests[self.act.decides].payload
        return kind.read(payload).completed(Conditions(self.entry.booked_at, self.act.decides))

    @property
    def positions(self) -> tuple[int, ...]:
        """Where the stripes stood. Raises: LookupError if it does not say so."""
        if self.effect.positions is None:
            message = "it names no positions"
            raise LookupError(message)
        return self.effect.positions

    @cached_property
    def state(self) -> JackpotState:
        """The jackpot as the decision saw it."""
        jackpot, cycle = self.jackpot, self.jackpot.cycle_at(self.entry)
        newest = max(version for version, seq in jackpot.rules_seqs.items() if seq < self.entry.seq)
        return JackpotState(
            jackpot.jackpot_id,
            life_before(jackpot.status_changes, self.entry.seq),
            jackpot.pools.at(self.positions),
            self.positions,
            cycle.cycle,
            jackpot.rules[cycle.rules_version],
            newest,
            jackpot.rules,
            Decimal(jackpot.effects[1].recorded["base_amount"]),
        )


def _suspension(scene: Scene) -> Done:
    kind = EntryKind(scene.entry.kind)
    life = life_before(scene.jackpot.status_changes, scene.entry.seq)
    recorded = facts_of_life(LIFE_AFTER[kind], positions=scene.positions)
    return Done(kind, {"state": life.value}, recorded)


def _transfer(scene: Scene) -> Done:
    request = RetireJackpot(jackpot_id=scene.act.jackpot_id, to=scene.entry.book, request_id=scene.act.decides)
    return receive(scene.state, scene.act.after, request)


def _decided(kind: type[JackpotKind]) -> Callable[[Scene], Done]:
    return lambda scene: scene.request(kind).decide(scene.state)


DUE: Mapping[str, Callable[[Scene], Done]] = {
    EntryKind.JACKPOT_SUSPENDED: _suspension,
    EntryKind.JACKPOT_RESUMED: _suspension,
    EntryKind.TRANSFER_RECEIVED: _transfer,
    **{act: _decided(kind) for act, kind in CARRIES_OUT.items() if issubclass(kind, JackpotKind)},
}
"""What each kind of effect makes due."""


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
    due = DUE[scene.entry.kind](scene)
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


def seen_by_acts(jackpot: Jackpot) -> list[Seen]:
    """What such acts saw: all stripes, so whatever comes later saw at least that."""
    return [
        (effect.positions, 0, seq, True)
        for seq, effect in sorted(jackpot.effects.items())
        if effect.kind in SAW_ALL and effect.positions is not None
    ]
