"""
What no history by chance may lack: it is played on purpose, at instants that chance chooses.

Bets wait while the jackpot is won, and are refunded afterwards; a round that was settled before is corrected on the
next day; an award is held, and decided about on the next day too; another is paid. Chance alone brings all of that
about in few histories.
"""

import random
from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from jackpot_service.domain.principals import Role
from tests.support import correcting
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, ROYAL_FLUSH, hand
from tests.support.world import World

WITHIN: Final = 60
"""By as many acts of a history the whole story is told."""

_STEPS: Final = 8

_HAPPENED: Final = {
    "hit": "SELECT count(*) FROM cycles WHERE cycle > 1",
    "void after a hit": """
        SELECT count(*) FROM entries e JOIN postings p USING (jackpot_id, stripe_no, seq)
        WHERE e.kind = 'voids' AND p.movement = 'reversal' AND p.account = 'house:adjustments'
    """,
    "cancellation after a hit": """
        SELECT count(*) FROM entries e JOIN postings p USING (jackpot_id, stripe_no, seq)
        WHERE e.kind = 'cancellation' AND p.movement = 'reversal' AND p.account = 'house:adjustments'
    """,
    "correction after a hit, on another day than the result": """
        SELECT count(*)
        FROM corrections n
        JOIN acts t ON t.seq = n.act_seq
        CROSS JOIN jsonb_array_elements(t.effects) AS effect
        JOIN entries e ON e.jackpot_id = n.jackpot_id AND e.stripe_no = 0 AND e.seq = CAST(effect ->> 'seq' AS bigint)
        JOIN settlements s ON s.jackpot_id = n.jackpot_id AND s.round_key = n.round_key
        JOIN entries settled ON settled.jackpot_id = s.jackpot_id AND settled.round_key = s.round_key
                            AND settled.step = s.step
        JOIN cycles hit ON hit.jackpot_id = n.jackpot_id AND hit.cycle > s.cycle_after AND hit.cut[1] < e.seq
        WHERE effect ->> 'book' = n.jackpot_id AND cardinality(e.amounts) > 0
          AND CAST(e.booked_at AT TIME ZONE 'UTC' AS date) > CAST(settled.booked_at AT TIME ZONE 'UTC' AS date)
    """,
    "held award that was decided about on another day": """
        SELECT count(*)
        FROM award_steps decided
        JOIN entries act ON act.jackpot_id = '-' AND act.seq = decided.act_seq
        JOIN settlements s ON s.jackpot_id = decided.jackpot_id AND s.round_key = decided.round_key
        JOIN entries settled ON settled.jackpot_id = s.jackpot_id AND settled.round_key = s.round_key
                            AND settled.step = s.step
        WHERE decided.step IN ('approved', 'rejected')
          AND CAST(act.booked_at AT TIME ZONE 'UTC' AS date) > CAST(settled.booked_at AT TIME ZONE 'UTC' AS date)
    """,
    "payment": "SELECT count(*) FROM payments",
}
"""How often each of it happened, as the books tell."""


CORRECTED: Final = "corrected"
"""The round that a story corrects: until then no award of it may be paid in part, since a correction waits for that."""


def require_whole(world: World) -> None:
    """Whoever adds a history up says first that there was something in it that could go wrong."""
    missing = [what for what, counted in _HAPPENED.items() if not world.books.value(counted)]
    assert not missing, f"The history has no {', no '.join(missing)}."


class Story:
    """Goes on beside the acts of chance, in a world whose jackpot `j1` holds the prize of a four of a kind."""

    def __init__(self, world: World, seed: int) -> None:
        self._world = world
        self._steps = self._told()
        self._acts = 0
        self._instants = random.Random(seed).sample(range(WITHIN), _STEPS)

    def go_on(self) -> None:
        """Do the next step, if chance chose that it comes after this act."""
        if self._acts in self._instants:
            next(self._steps)
        self._acts += 1

    def _told(self) -> Iterator[None]:
        world = self._world
        world.bet(bet("a"), bet("b", currency="GBP", hand="2"), round_id="refunded")
        yield
        world.bet(bet("a"), bet("b", hand="2"), round_id=CORRECTED)
        world.settle(hand("1", NOTHING), hand("2", FLUSH), round_id=CORRECTED)
        yield
        world.bet(bet("a"), bet("b", hand="2"), round_id="won")
        world.settle(hand("1", ROYAL_FLUSH), hand("2", FOUR_OF_A_KIND), round_id="won")
        world.clock.advance(timedelta(days=1))
        yield
        world.void("a", round_id="refunded")
        yield
        world.cancel(round_id="refunded")
        yield
        right = (hand("1", ROYAL_FLUSH), hand("2", NOTHING))
        correcting.correct(world, *right, round_id=CORRECTED, request_id="corrected")
        yield
        self._decide()
        yield
        self._pay()
        yield

    def _decide(self) -> None:
        """Unless chance decided about it meanwhile."""
        awards = self._world.round("won")["settlement"]["awards"]
        if ("four_of_a_kind", "held") in {(award["tier"], award["state"]) for award in awards}:
            decision = {"table_id": "T1", "round_id": "won", "bets": ["b"], "decision": "approve"}
            self._world.change("held-awards", {"jackpot_id": "j1", **decision}, request_id="decided")

    def _pay(self) -> None:
        """What a correction awards is payable at once; unless chance paid all there is."""
        for award in self._world.get("/v1/awards?state=payable").ok()["items"][:1]:
            path, body = f"/v1/awards/{award['award_id']}/payment", {"request_id": "paid", "reference": "slip"}
            self._world.put(path, body, key=self._world.person("Olga", Role.OPERATOR)).ok(201)
