"""Whether what people did to a jackpot's rules, door and money is what was approved, and booked what it should."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from sqlalchemy import Row

from jackpot_service.domain import adjustments, life_facts, retirement
from jackpot_service.domain.accounts import HOUSE_SEED, PRIZE_FUND
from jackpot_service.domain.adjustments import Adjustment, Cause, Pool
from jackpot_service.domain.changes import ChangeKind, Outcome
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind, Postings
from jackpot_service.domain.pools import Pools
from jackpot_service.domain.retirement import Estate
from jackpot_service.domain.rule_changes import changed
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.ledger import replay
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.reports.verification.doors import LIFE_AFTER, life_before
from jackpot_service.reports.verification.jackpots import Jackpot
from jackpot_service.reports.verification.order import Seen
from jackpot_service.reports.verification.references import RecordedEffect

Found = Iterator[Mismatch]

_UNDERIVABLE = (LedgerError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError)
"""What is raised where an act could not have been done, or says something that no such act says."""


NO_POSTINGS = Postings()


@dataclass(frozen=True, slots=True)
class Due:
    """What an effect should have booked and recorded, and what its act should show as before."""

    recorded: Facts
    before: Facts
    postings: Postings = NO_POSTINGS


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

    @property
    def payload(self) -> Mapping[str, Any]:
        """What its maker asked for."""
        payload: Mapping[str, Any] = self.jackpot.references.change_requests[self.act.decides].payload
        return payload

    @property
    def positions(self) -> tuple[int, ...]:
        """Where the stripes stood. Raises: LookupError if it does not say so."""
        if self.effect.positions is None:
            message = "it names no positions"
            raise LookupError(message)
        return self.effect.positions

    @cached_property
    def pools(self) -> Pools:
        """What the jackpot held."""
        return self.jackpot.pools.at(self.positions)

    @property
    def running(self) -> JackpotRules:
        """The rules of the running cycle."""
        return self.jackpot.rules[self.jackpot.cycle_at(self.entry).rules_version]


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
    concerns = None if request is None else {request.jackpot_id, request.payload.get("to")}
    if (
        request is None
        or decision is None
        or (request.kind, decision.outcome) != (kind, Outcome.APPROVED)
        or scene.jackpot.jackpot_id not in (concerns or ())
        or decision.entry_seq >= scene.effect.act
        or carried_out[decides] != 1
    ):
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


def _door(scene: Scene) -> Due:
    recorded = life_facts.of_life(LIFE_AFTER[scene.entry.kind], positions=scene.positions)
    return Due(recorded, _state(scene))


def _state(scene: Scene) -> Facts:
    return {"state": life_before(scene.jackpot.doors, scene.entry.seq).value}


def _rules(scene: Scene) -> Due:
    newest = max(version for version, seq in scene.jackpot.rules_seqs.items() if seq < scene.entry.seq)
    before = scene.jackpot.rules[newest]
    on_offer = scene.pools.on_offer(scene.running.limit)
    after = changed(before, scene.payload["settings"], on_offer=on_offer)
    recorded = life_facts.of_rules_change(newest + 1, after, positions=scene.positions)
    return Due(recorded, life_facts.of_rules(newest, before))


def _adjustment(scene: Scene) -> Due:
    asked = scene.payload
    adjustment = Adjustment(Pool(asked["account"]), Decimal(asked["amount"]), asked["document"], Cause(asked["cause"]))
    postings = adjustments.adjusted(adjustment, scene.pools, limit=scene.running.limit, base=scene.jackpot.base)
    after = scene.pools + postings.pools()
    recorded = life_facts.of_adjustment(adjustment, positions=scene.positions, after=after)
    return Due(recorded, life_facts.of_pools(scene.pools), postings)


def _recovery(scene: Scene) -> Due:
    amount = Decimal(scene.payload["amount"])
    promised = adjustments.promised(
        scene.running.reset_amount,
        base_amount=Decimal(scene.jackpot.effects[1].recorded["base_amount"]),
        cycle=scene.jackpot.cycle_at(scene.entry).cycle,
    )
    postings = adjustments.recovered(
        amount, scene.pools, limit=scene.running.limit, promised=promised, base=scene.jackpot.base
    )
    recorded = life_facts.of_amount(amount, positions=scene.positions, after=scene.pools + postings.pools())
    return Due(recorded, life_facts.of_pools(scene.pools), postings)


def _true_up(scene: Scene) -> Due:
    asked = scene.payload.get("amount")
    postings = adjustments.trued_up(None if asked is None else Decimal(asked), scene.pools, base=scene.jackpot.base)
    recorded = life_facts.of_amount(
        postings.moved(PRIZE_FUND), positions=scene.positions, after=scene.pools + postings.pools()
    )
    return Due(recorded, life_facts.of_pools(scene.pools), postings)


def _retirement(scene: Scene) -> Due:
    postings = retirement.left(scene.pools, request_id=scene.act.decides, base=scene.jackpot.base)
    recorded = life_facts.of_retirement(
        retirement.estate_of(scene.pools),
        to=scene.payload["to"],
        house=postings.moved(HOUSE_SEED),
        positions=scene.positions,
        after=scene.pools + postings.pools(),
    )
    _require_both_halves(scene)
    return Due(recorded, {**_state(scene), **life_facts.of_pools(scene.pools)}, postings)


def _receipt(scene: Scene) -> Due:
    came_from, estate = _require_both_halves(scene)
    postings = retirement.received(
        estate,
        request_id=scene.act.decides,
        fixed_prizes_from=scene.running.fixed_prizes_from,
        base=scene.jackpot.base,
    )
    recorded = life_facts.of_transfer_received(
        estate, came_from=came_from, positions=scene.positions, after=scene.pools + postings.pools()
    )
    return Due(recorded, {}, postings)


def _require_both_halves(scene: Scene) -> tuple[str, Estate]:
    """
    Find from whom the estate of a transfer came, and the estate.

    Raises: ValueError unless the act booked both halves and nothing else, in the books that were asked for.
    """
    halves = [(half["book"], half["kind"]) for half in scene.act.effects]
    due = [
        (scene.act.jackpot_id, EntryKind.JACKPOT_RETIRED),
        (scene.payload["to"], EntryKind.TRANSFER_RECEIVED),
    ]
    if halves != due:
        message = f"a transfer of {halves}, due was {due}"
        raise ValueError(message)
    estate = scene.act.effects[0]["recorded"]["estate"]
    return scene.act.jackpot_id, Estate(**{name: Decimal(amount) for name, amount in estate.items()})


DUE: Mapping[EntryKind, Callable[[Scene], Due]] = {
    EntryKind.JACKPOT_SUSPENDED: _door,
    EntryKind.JACKPOT_RESUMED: _door,
    EntryKind.RULES_CHANGED: _rules,
    EntryKind.ADJUSTMENT: _adjustment,
    EntryKind.SEED_RECOVERED: _recovery,
    EntryKind.PRIZE_FUND_TRUED_UP: _true_up,
    EntryKind.JACKPOT_RETIRED: _retirement,
    EntryKind.TRANSFER_RECEIVED: _receipt,
}
"""What each kind of effect makes due."""

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
    """What these acts saw, in the order of stripe 0: all stripes, so whatever comes later saw at least that."""
    return [
        (effect.positions, 0, seq, True)
        for seq, effect in sorted(jackpot.effects.items())
        if effect.kind in DUE and effect.positions is not None
    ]
