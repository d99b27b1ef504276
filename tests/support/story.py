"""
What no history by chance may lack: it is played on purpose, at instants that chance chooses.

Bets wait while the jackpot is won, and are refunded afterwards; a round that was settled before is corrected on the
next day; an award is held, and decided about on the next day too; another is paid. Betting is closed, and a bet is void
afterwards; a part of an award is withheld; awards that nobody claims are forfeited, also one that was paid in part.
Chance alone brings all of that about in few histories.
"""

import random
from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from jackpot_service.domain.principals import Role
from tests.support import correcting
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, ROYAL_FLUSH, hand
from tests.support.world import World

WITHIN: Final = 60
"""By as many acts of a history the whole story is told."""

_STEPS: Final = 11

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
    "void after a closing": "SELECT count(*) FROM exceptions WHERE kind = 'late-void'",
    "payment of which a part was withheld": "SELECT count(*) FROM payments WHERE withheld_minor > 0",
    "award that was paid in part and forfeited": """
        SELECT count(*) FROM award_steps s JOIN payments p USING (jackpot_id, round_key, bet_id, tier, correction)
        WHERE s.step = 'forfeited'
    """,
    "award that was forfeited to the authority": """
        SELECT count(*) FROM postings WHERE movement = 'forfeiture' AND account LIKE 'statutory:%'
    """,
    "award that was forfeited to the jackpot": """
        SELECT count(*) FROM postings WHERE movement = 'forfeiture' AND account LIKE 'pool:%'
    """,
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
        self._steps = self._played()
        self._acts = 0
        self._instants = random.Random(seed).sample(range(WITHIN), _STEPS)

    def go_on(self) -> None:
        """Do the next step, if chance chose that it comes after this act."""
        if self._acts in self._instants:
            next(self._steps)
        self._acts += 1

    def _played(self) -> Iterator[None]:
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
        self._close()
        yield
        self._withhold()
        yield
        self._forfeit()
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

    def _close(self) -> None:
        """Close a round, and make a bet void after that: it is refunded, and an exception."""
        world = self._world
        world.bet(bet("a"), bet("b", hand="2"), round_id="closed")
        world.put_closing(round_id="closed").ok(201)
        world.post_voids("b", round_id="closed", reason="the hand was misdealt").ok()
        world.settle(hand("1", NOTHING), round_id="closed")

    def _withhold(self) -> None:
        """Withhold a part of an award; the rule stays in force for rounds in euros at casino c1."""
        rule = {"casino_id": "c1", "currency": "EUR", "report_at_minor": 1, "withhold_at_minor": 1, "percent": "24"}
        self._world.change("casino-withholding", rule, request_id="story-withholding")
        (award,) = self._won("withheld", bet("a"))
        due_minor = self._award(award["award_id"])["withholding_due_minor"]
        self._pay_one(award, withheld_minor=due_minor)

    def _forfeit(self) -> None:
        """Forfeit an award that was paid in part to the authority, and another to the jackpot."""
        part_paid, unpaid = self._won("unclaimed", bet("a"), bet("b"))
        self._pay_one(part_paid, amount_minor=part_paid["amount_minor"] // 3)
        for award, to in ((part_paid, "statutory"), (unpaid, "meter")):
            forfeit(self._world, award, to=to)

    def _won(self, round_id: str, *bets: Body) -> list[Body]:
        self._world.bet(*bets, round_id=round_id)
        awards: list[Body] = self._world.settle(hand("1", FLUSH), round_id=round_id)["awards"]
        return awards

    def _award(self, award_id: str) -> Body:
        return self._world.get(f"/v1/awards/{award_id}").ok()

    def _pay_one(self, award: Body, **more: int) -> None:
        path, body = f"/v1/awards/{award['award_id']}/payment", {"request_id": f"story-{award['award_id']}"}
        operator = self._world.person("Olga", Role.OPERATOR)
        self._world.put(path, {**body, "reference": "slip", **more}, key=operator).ok(201)


def forfeit(world: World, award: Body, *, to: str, casino_id: str = "c1") -> None:
    """
    Forfeit the unpaid rest of an award that is payable, a day later.

    Only meanwhile the casino has a claim period, so nothing else is unclaimed before or afterwards.
    """
    for number, claim_days in enumerate((1, None)):
        claims = {"casino_id": casino_id, "claim_days": claim_days, "forfeited_to": to}
        world.change("casino-claims", claims, request_id=f"claims-{number}-{award['award_id']}")
        if claim_days is not None:
            world.clock.advance(timedelta(days=claim_days, hours=1))
            payload = {"jackpot_id": award.get("jackpot_id", "j1"), "award_id": award["award_id"]}
            world.change("award-forfeiture", payload, request_id=f"forfeit-{award['award_id']}")
