"""The payment of a hit that many share is answered by one of its awards, also while the tables are not analysed."""

from collections.abc import Callable
from typing import Final

import pytest

from jackpot_service.domain.payout_tiers import PayoutTier
from jackpot_service.domain.principals import Role
from jackpot_service.reports import hit_payments
from tests.records.kept_plans import executed, prepared
from tests.support.bets import bet
from tests.support.hands import ROYAL_FLUSH, hand
from tests.support.payouts import held_from
from tests.support.reading import past_the_service
from tests.support.work import work_of
from tests.support.world import LIVE, World

pytestmark = pytest.mark.slow

ROUNDS: Final = 20
WINNERS: Final = 60
FEW: Final = 12
"""Each of the nine steps that an award can take among them."""


def stays(_: World) -> None:
    """Nothing was decided or paid."""


def pays_all(world: World) -> None:
    for number, award in enumerate(world.round("r1")["settlement"]["awards"]):
        body = {"request_id": f"p{number}", "reference": f"slip {number}"}
        world.put(f"/v1/awards/{award['award_id']}/payment", body, key=world.key(Role.TABLE)).ok(201)


@pytest.mark.parametrize("are_analysed", [False, True])
@pytest.mark.parametrize(
    ("tiers", "happens", "payment"),
    [((), stays, "released"), (held_from("1"), stays, "pending"), ((), pays_all, "paid")],
)
def test_the_payment_of_a_hit_is_asked_of_few_rows(
    world: World, tiers: tuple[PayoutTier, ...], happens: Callable[[World], None], payment: str, *, are_analysed: bool
) -> None:
    world.open(LIVE, base_amount="1000", settings={"payout_tiers": tiers})
    for number in range(ROUNDS):
        world.bet(bet(f"a{number:02}"), round_id=f"r{number + 2}")
    with world.engine.connect() as session:
        prepared(session, hit_payments._LAST, {"jackpot_id": "j1"})  # Its plan is made while few rows are known.
        session.rollback()
        world.bet(*(bet(f"b{number:02}") for number in range(WINNERS)))
        world.settle(hand("1", ROYAL_FLUSH))
        happens(world)
        if are_analysed:
            past_the_service(world.database_url, "ANALYZE")

        session.begin()
        done = "\n".join(executed(session, hit_payments._LAST, {"jackpot_id": "j1"}))

    assert world.get("/v1/jackpots/j1/meter").ok()["payment"] == payment
    assert work_of(done) <= FEW, done
