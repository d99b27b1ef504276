"""A world in which every kind of change can be asked for, and a payload for each."""

from collections.abc import Mapping
from datetime import timedelta
from hashlib import sha256
from typing import Final

from jackpot_service.domain.principals import Role
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, STRAIGHT, forfeited, hand
from tests.support.payouts import held_from
from tests.support.world import World

PAID: Final = f"aw_{sha256(b'j1/T1/paid/b1/flush').hexdigest()[:32]}"
"""The award of round `paid`."""

UNCLAIMED: Final = f"aw_{sha256(b'j1/T1/unclaimed/b1/flush').hexdigest()[:32]}"
"""The award of round `unclaimed`."""

PAYLOADS: Final[Mapping[str, Body]] = {
    "rate-sheet": {"base": "EUR", "rates": {"GBP": "1.18"}},
    "rules": {"jackpot_id": "j1", "settings": {"payout_tiers": [{"from": "500"}]}},
    "table-limits": {"jackpot_id": "j1", "table_id": "T1", "largest_stake": "50"},
    "retirement": {"jackpot_id": "j2", "to": "j1"},
    "adjustment": {
        "jackpot_id": "j1",
        "account": "reserve",
        "amount": "1",
        "document": "memo 1",
        "cause": "count-error",
    },
    "seed-recovery": {"jackpot_id": "j1", "amount": "1"},
    "prize-fund-true-up": {"jackpot_id": "j1"},
    "held-awards": {"jackpot_id": "j1", "table_id": "T1", "round_id": "held", "decision": "approve"},
    "compensation": {
        "jackpot_id": "j1",
        "table_id": "T1",
        "round_id": "cancelled",
        "bet_id": "b1",
        "amount_minor": 100,
        "currency": "EUR",
        "document": "minutes 1",
    },
    "declined-compensation": {"jackpot_id": "j1", "table_id": "T1", "round_id": "denied", "bet_id": "b1"},
    "round-correction": {
        "jackpot_id": "j1",
        "table_id": "T1",
        "round_id": "lost",
        "result": {"bet_count": 1, "hands": [hand("1", STRAIGHT)]},
    },
    "casino-claims": {"casino_id": "c1", "claim_days": 7},
    "award-forfeiture": {"jackpot_id": "j1", "award_id": UNCLAIMED},
    "payment-reversal": {"jackpot_id": "j1", "award_id": PAID, "reference": "slip"},
    "statement-settlement": {
        "jackpot_id": "j1",
        "casino_id": "c1",
        "currency": "EUR",
        "from": "2026-10-01T00:00:00Z",
        "to": "2026-11-01T00:00:00Z",
        "amount": "1.00",
        "reference": "2026-10",
    },
    "casino-withholding": {"casino_id": "c1", "currency": "EUR", "report_at_minor": 60_000},
    "change-policy": {"kinds": {"rules": {"requested_by": ["operator"], "decided_by": ["operator"]}}},
}
"""A payload of every kind of change that may be asked for in the world `played`."""


def played(world: World) -> World:
    """A jackpot with a lost round, a held, a paid, an unclaimed award, a cancelled round, a denied prize; and j2."""
    world.open(base_amount="1000", settings={"reset_amount": "300", "payout_tiers": held_from("200")})
    world.open(jackpot_id="j2", tables=("T2",))
    world.bet(bet(stake_minor=10_000), round_id="lost")
    world.settle(hand("1", NOTHING), round_id="lost")
    world.bet(bet(), round_id="held")
    world.settle(hand("1", FOUR_OF_A_KIND), round_id="held")
    world.bet(bet(), round_id="paid")
    world.settle(hand("1", FLUSH), round_id="paid")
    payment = {"request_id": "payment", "reference": "slip"}
    world.put(f"/v1/awards/{PAID}/payment", payment, key=world.key(Role.TABLE)).ok(201)
    world.bet(bet(), round_id="unclaimed")
    world.settle(hand("1", FLUSH), round_id="unclaimed")
    world.change("casino-claims", {"casino_id": "c1", "claim_days": 1}, request_id="claims")
    world.clock.advance(timedelta(days=2))
    world.bet(bet(), round_id="cancelled")
    world.cancel(round_id="cancelled")
    world.bet(bet(), round_id="denied")
    world.settle(forfeited("1", FLUSH), round_id="denied")
    return world
