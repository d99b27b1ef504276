"""What an act on a jackpot's rules, door or money should have booked, figured again by the code that decided it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from sqlalchemy import Row

from jackpot_service.domain import adjustments, life_facts, retirement
from jackpot_service.domain.accounts import HOUSE_SEED, PRIZE_FUND
from jackpot_service.domain.adjustments import Adjustment, Cause, Pool
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind, Postings
from jackpot_service.domain.pools import Pools
from jackpot_service.domain.retirement import Estate
from jackpot_service.domain.rule_changes import changed
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof.doors import LIFE_AFTER, life_before
from jackpot_service.proof.jackpots import Jackpot
from jackpot_service.proof.references import RecordedEffect

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
    return Due(recorded, {**_state(scene), **life_facts.of_pools(scene.pools)}, postings)


def _receipt(scene: Scene) -> Due:
    estate = Estate(**{name: Decimal(amount) for name, amount in scene.act.after["estate"].items()})
    postings = retirement.received(
        estate,
        request_id=scene.act.decides,
        fixed_prizes_from=scene.running.fixed_prizes_from,
        base=scene.jackpot.base,
    )
    recorded = life_facts.of_transfer_received(
        estate, came_from=scene.act.jackpot_id, positions=scene.positions, after=scene.pools + postings.pools()
    )
    return Due(recorded, {}, postings)


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
