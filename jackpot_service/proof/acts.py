"""
Whether acts say what the documents that they are about make due, and booked what their decisions make of it.

The decision of an act is made again, by the same code, of the request and of what it saw.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, Final

from sqlalchemy import Row

from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.lives import Life, facts_of_life
from jackpot_service.ledger import replay
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof import figures, table_limits
from jackpot_service.proof.decoding import UNDERIVABLE
from jackpot_service.proof.jackpots import LIFE_AFTER, Jackpot, life_before
from jackpot_service.proof.references import RecordedEffect, References
from jackpot_service.proof.sequence_checks import Seen
from jackpot_service.usecases.acts import Done
from jackpot_service.usecases.changes.jackpots import JackpotKind, JackpotState
from jackpot_service.usecases.changes.kinds import BookedKind, Conditions
from jackpot_service.usecases.changes.registry import CARRIES_OUT
from jackpot_service.usecases.changes.retirement import RetireJackpot, receive

BOOKS_AN_ENTRY: Final = frozenset(act for act, kind in CARRIES_OUT.items() if issubclass(kind, BookedKind)) | {
    EntryKind.JACKPOT_OPENED,
    EntryKind.STRIPES_ADDED,
    EntryKind.JACKPOT_SUSPENDED,
    EntryKind.JACKPOT_RESUMED,
    EntryKind.AWARD_STOPPED,
}
"""The acts that book an entry of their own kind in the book of the jackpot that they are about."""


def effects_are_due(act: Row[Any], _references: References) -> Found:
    """An act booked the entries that such an act books, in the books that it is about, and no others."""
    stored, expected = [(effect.get("book"), effect.get("kind")) for effect in act.effects], list(_entries_due(act))
    if stored != expected:
        detail = f"a {act.kind} that booked {stored}, due was {expected}"
        yield Mismatch(Code.ACT_RECORD, REFERENCE_BOOK, f"act {act.seq}", detail)


def _entries_due(act: Row[Any]) -> Iterator[tuple[str | None, str]]:
    """
    Book and kind of each entry: none if the jackpot had that status. A retirement books one more, at its target.

    A payment, or its reversal, books one if it withheld something.
    """
    after, payment = act.after, act.after.get("payment")
    stood_so = act.kind in LIFE_AFTER and act.before == {"state": after.get("state")}
    if act.kind in BOOKS_AN_ENTRY and not stood_so:
        yield act.jackpot_id, act.kind
    if act.kind in figures.OF_PAYMENTS and isinstance(payment, dict) and payment.get("withheld_minor"):
        yield act.jackpot_id, EntryKind.AMOUNT_WITHHELD.value
    if act.kind == EntryKind.JACKPOT_RETIRED:
        yield after.get("to"), EntryKind.TRANSFER_RECEIVED.value


def no_two_booked_one_entry(references: References) -> Found:
    """No two acts, nor one twice, say that they booked the same entry."""
    for (book, seq), times in references.index.booked_again.items():
        detail = f"booked by {times + 1} acts, as they say"
        yield Mismatch(Code.ACT_EFFECTS, book, f"stripe 0, seq {seq}", detail)


def says(row: Row[Any], expected: Facts, book: str) -> Found:
    """The act shows exactly this as what is after it."""
    if row.after != expected:
        yield Mismatch(
            Code.ACT_RECORD, book, f"act {row.seq}", f"a {row.kind} that says {row.after}, due was {expected}"
        )


def booked(row: Row[Any], done: Done, book: str, entries: Mapping[int, BookedEntry]) -> Found:
    """The act's entry of its own kind recorded what the act shows, with the postings and figures that were due."""
    expected = done.postings
    for effect in row.effects:
        if (effect.get("book"), effect.get("kind")) != (book, row.kind):
            continue  # Named by `effects_are_due`.
        if effect.get("recorded") != row.after:
            detail = f"a {row.kind} whose entry recorded something else than the act shows"
            yield Mismatch(Code.ACT_RECORD, book, f"act {row.seq}", detail)
        entry = entries.get(effect.get("seq"))
        if entry is not None and entry.lines != replay.lines_of(expected):
            detail = f"{row.kind}: booked {entry.lines}, due was {replay.lines_of(expected)}"
            yield Mismatch(Code.ENTRY_POSTINGS, book, entry.place, detail)
        if entry is not None and done.attributed_to is not None:
            yield from figures.are(entry, done.attributed_to, done.figures)


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
        """The change that its maker requested, read as a kind of change."""
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
        limits = [change for change in jackpot.limits_changes if change.seq < self.entry.seq]
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
            table_limits.version_after(limits),
            table_limits.in_force(limits),
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


EXPECTED: Mapping[str, Callable[[Scene], Done]] = {
    EntryKind.JACKPOT_SUSPENDED: _suspension,
    EntryKind.JACKPOT_RESUMED: _suspension,
    EntryKind.TRANSFER_RECEIVED: _transfer,
    **{act: _decided(kind) for act, kind in CARRIES_OUT.items() if issubclass(kind, JackpotKind)},
}
"""The expected act of each kind of effect."""


def check_decisions(jackpot: Jackpot, entries: Sequence[BookedEntry]) -> Found:
    """Check each effect of the kinds in `EXPECTED`: what it saw, booked and recorded. Approvals: see `changes`."""
    for entry in entries:
        effect = jackpot.effects.get(entry.seq) if entry.stripe_no == 0 else None
        if effect is None or effect.kind != entry.kind or entry.kind not in EXPECTED:
            continue  # Named by the checks of all effects.
        scene = Scene(jackpot, entry, effect)
        try:
            yield from positions_are_right(scene)
            yield from it_did_what_was_due(scene)
        except UNDERIVABLE as error:
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
    expected = EXPECTED[scene.entry.kind](scene)
    if scene.entry.lines != replay.lines_of(expected.postings):
        yield _mismatch(Code.ENTRY_POSTINGS, scene, f"booked {scene.entry.lines}, due was {expected.postings}")
    if scene.effect.recorded != expected.recorded:
        yield _mismatch(Code.EFFECT_FIGURES, scene, f"recorded {scene.effect.recorded}, due was {expected.recorded}")
    if scene.entry.kind == EntryKind.TRANSFER_RECEIVED:
        return  # Its act shows the other half.
    if (scene.act.before, scene.act.after) != (expected.before, expected.recorded):
        detail = f"act {scene.effect.act} shows {scene.act.before} and {scene.act.after}, due was {expected}"
        yield _mismatch(Code.EFFECT_FIGURES, scene, detail)


def _mismatch(code: Code, scene: Scene, detail: str) -> Mismatch:
    return Mismatch(code, scene.entry.book, scene.entry.place, f"{scene.entry.kind}: {detail}")


SAW_ALL = frozenset({*EXPECTED, EntryKind.ROUND_CORRECTED, EntryKind.AWARDS_REINSTATED})
"""The kinds of effect that depend on all pools, and so name a position of every stripe."""


def seen_by_acts(jackpot: Jackpot) -> list[Seen]:
    """The positions that such acts saw: all stripes, so an entry that comes later saw at least those."""
    return [
        (effect.positions, 0, seq, True)
        for seq, effect in sorted(jackpot.effects.items())
        if effect.kind in SAW_ALL and effect.positions is not None
    ]


_NOT_RETIRED = frozenset({Life.OPEN, Life.SUSPENDED})

POSSIBLE_IN: Mapping[str, frozenset[Life]] = {
    EntryKind.JACKPOT_SUSPENDED: frozenset({Life.OPEN}),
    EntryKind.JACKPOT_RESUMED: frozenset({Life.SUSPENDED}),
    EntryKind.TRANSFER_RECEIVED: frozenset({Life.OPEN}),
    EntryKind.STRIPES_ADDED: _NOT_RETIRED,
    **{
        act: _NOT_RETIRED
        for act, kind in CARRIES_OUT.items()
        if kind.needs_unretired and act not in kind.after_retirement
    },
}
"""Where a jackpot stands when an entry of some kind is booked; what is not named here comes at any time."""


def acts_were_possible(jackpot: Jackpot, entries: Sequence[BookedEntry]) -> Found:
    """No act came when the jackpot's life did not let it; `entries` are those that belong to no round."""
    for entry in entries:
        life = life_before(jackpot.status_changes, entry.seq)
        if entry.stripe_no == 0 and life not in POSSIBLE_IN.get(entry.kind, frozenset(Life)):
            yield Mismatch(Code.JACKPOT_STATUS, entry.book, entry.place, f"a {entry.kind} of a jackpot that was {life}")
