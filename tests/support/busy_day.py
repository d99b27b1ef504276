"""A day with everything that moves money in it, where casinos and people are named as badly as may be."""

from jackpot_service.domain.principals import Principal, Role
from jackpot_service.domain.settings import Setting
from tests.support.bets import bet
from tests.support.correcting import correct
from tests.support.hands import (
    FLUSH,
    FOUR_OF_A_KIND,
    NOTHING,
    ROYAL_FLUSH,
    STRAIGHT,
    STRAIGHT_FLUSH,
    THREE_OF_A_KIND,
    dead,
    hand,
)
from tests.support.payouts import held_from
from tests.support.world import CYBER, World

JACKPOTS = ("j1", "j:2", "Cyber_3")
CASINOS = ("c1", "C1", "c:1", "-c.1_", "1")
SPITEFUL = 'Eve "the; comma," | date:2020-01-01 \\ [=2020-01-01] 100 % ($1) é'


def play(world: World) -> None:
    """Play it; the jackpots are `JACKPOTS`, the first of which is retired into the second."""
    _open(world)
    _bet_and_win(world)
    _administer(world)


def _open(world: World) -> None:
    settings: dict[str, Setting] = {"limit": "5434", "reset_amount": "500", "payout_tiers": held_from("1000")}
    world.open(base_amount="5432.68065", settings=settings, tables=("T1", "T2"), stripes=3)
    world.open(jackpot_id="j:2", tables=(), stripes=2)
    world.open(CYBER, jackpot_id="Cyber_3", tables=("C1",), stripes=2)
    for casino_id in CASINOS[1:]:
        world.add_casino(casino_id)
        world.add_table(f"of-{casino_id}", jackpot_id="j:2", casino_id=casino_id)
    # A table's server may have any name that is printable.
    name = Principal(SPITEFUL, Role.TABLE, "c1", frozenset({"T1"}))
    world.send(
        "POST", "T1", "spite/bets", {"bets": [bet("a", currency="SEK", stake_minor=777)]}, key=world.key_of(name)
    )


def _bet_and_win(world: World) -> None:
    four = (bet("a"), bet("b", hand="2", currency="GBP"), bet("c", hand="3", currency="SEK", stake_minor=1000))
    world.bet(*four, bet("d", hand="3", currency="JPY", stake_minor=151), round_id="open")
    world.cancel(round_id="open")
    world.bet(*four, round_id="shared", table_id="T2")
    world.bet(*four, round_id="late", table_id="T1")
    world.void("b", "never", round_id="shared", table_id="T2")
    world.settle(hand("1", ROYAL_FLUSH), hand("2"), dead("3", ("2c",)), round_id="shared", table_id="T2")
    world.cancel(round_id="late")
    world.settle(hand("1", NOTHING), round_id="spite")
    world.bet(bet("a", stake_minor=4000), round_id="fixed")
    world.settle(hand("1", FOUR_OF_A_KIND), round_id="fixed")
    world.bet(bet("a"), bet("b", hand="2"), round_id="r1", table_id="C1")
    world.settle(hand("1", STRAIGHT_FLUSH), hand("2", FLUSH), round_id="r1", table_id="C1")
    for casino_id in CASINOS[1:]:
        world.bet(bet("a", currency="GBP"), bet("b", hand="2", stake_minor=333), table_id=f"of-{casino_id}")
        world.settle(hand("1", THREE_OF_A_KIND), hand("2", FLUSH), table_id=f"of-{casino_id}")


def _administer(world: World) -> None:
    held = {"table_id": "T2", "round_id": "shared", "bets": ["a"], "decision": "approve"}
    world.change("held-awards", {"jackpot_id": "j1", **held}, request_id="held")
    correct(world, hand("1", STRAIGHT), round_id="fixed", request_id="correction")
    adjustment = {"account": "reserve", "amount": "-0.000000000000000001", "document": "memo", "cause": "count-error"}
    world.change("adjustment", {"jackpot_id": "j1", **adjustment}, request_id="adjustment")
    compensation = {"table_id": "T1", "round_id": "open", "bet_id": "b", "amount_minor": 2500, "document": "minutes"}
    world.change("compensation", {"jackpot_id": "j1", "currency": "GBP", **compensation}, request_id="compensation")
    paid = {"from": "2026-10-01T00:00:00Z", "to": "2026-11-01T00:00:00Z", "amount": "3.01", "reference": "october"}
    for currency in ("EUR", "GBP"):
        statement = {"jackpot_id": "j1", "casino_id": "c1", "currency": currency, **paid}
        world.change("statement-settlement", statement, request_id=f"statement-{currency}")
    world.change("prize-fund-true-up", {"jackpot_id": "j1"}, request_id="true-up")
    world.change("retirement", {"jackpot_id": "j1", "to": "j:2"}, request_id="the_End:1.")
