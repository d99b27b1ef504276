"""A history of several days in casinos of three zones, with every kind of movement; made through the HTTP door."""

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from jackpot_service.domain.principals import Role
from jackpot_service.domain.settings import Setting
from jackpot_service.ledger import days as kept_days
from tests.support import correcting, rolling
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, ROYAL_FLUSH, dead, hand
from tests.support.payouts import held_from
from tests.support.world import World

TABLES: Final = {"T1": "c1", "R1": "riga", "N1": "reno"}

HALF: Final = 6

EVENING: Final = datetime(2026, 11, 20, 21, 0, tzinfo=UTC)


def write(url: str) -> None:
    """
    Jackpot j1 is played for at a casino of UTC, one of Riga (days from 06:00) and one of Reno (days from 12:00).

    Over three days it is hit, voids and cancels, pays awards and forfeits some, corrects, holds, compensates, adjusts,
    settles a statement, recovers its seed and is retired into j2. The bets of the first half are rolled up, the others
    are not.
    """
    random.seed(3)
    kept_days.CHANCE.seed(3)
    world = World(url)
    world.add_casino("riga", zone="Europe/Riga", day_starts="06:00")
    world.add_casino("reno", zone="America/Los_Angeles", day_starts="12:00")
    settings: dict[str, Setting] = {"payout_tiers": held_from("275"), "reset_amount": "40", "limit": "5000"}
    world.open(base_amount="1000", settings=settings, stripes=3, tables=())
    for table_id, casino_id in TABLES.items():
        world.add_table(table_id, jackpot_id="j1", casino_id=casino_id)
    world.open(jackpot_id="j2", tables=("J2",), stripes=2)
    world.clock.at = EVENING
    for number in range(2 * HALF):
        _play(world, f"r{number}")
        world.clock.advance(timedelta(hours=4, minutes=59))
        if number == HALF:
            rolling.roll_up(world.engine)
    _end(world)
    world.close()


def _play(world: World, name: str) -> None:
    """A lost round, a won one, one with voids, a cancelled one, and at times one with a hit, at every table."""
    for table_id in TABLES:
        at: dict[str, Any] = {"table_id": table_id}
        world.bet(bet("a"), bet("b", hand="2", currency="GBP"), bet("c", hand="3"), round_id=f"{name}-won", **at)
        world.bet(bet("d", hand="4", currency="SEK", stake_minor=777), round_id=f"{name}-won", **at)
        world.void("c", "unknown", round_id=f"{name}-won", **at)
        world.settle(hand("1", FLUSH), hand("2", NOTHING), dead("4"), round_id=f"{name}-won", **at)
        world.bet(bet("a", currency="JPY"), bet("b", currency="EUR"), round_id=f"{name}-cancelled", **at)
        world.cancel(round_id=f"{name}-cancelled", **at)
    if name in {"r0", "r8"}:
        _pay(world, world.round(f"{name}-won", table_id="R1")["settlement"]["awards"], "R1")
    if name == "r8":
        (correction,) = world.round("r1-won")["corrections"]
        _pay(world, correction["awards"], "T1")
    if name == "r5":
        _hit_and_correct(world)


def _pay(world: World, awards: Sequence[Mapping[str, Any]], table_id: str) -> None:
    """Its casino says that it paid awards."""
    server = world.key(Role.TABLE, casino_id=TABLES[table_id])
    for award in awards:
        body = {"request_id": f"paid-{award['award_id']}", "reference": "slip"}
        world.put(f"/v1/awards/{award['award_id']}/payment", body, key=server).ok(201)


def _hit_and_correct(world: World) -> None:
    world.bet(bet("a"), bet("b", hand="2", currency="GBP"), round_id="late", table_id="R1")
    world.bet(bet("a", stake_minor=200), bet("b", hand="2", currency="GBP"), round_id="held", table_id="R1")
    world.settle(hand("1", FOUR_OF_A_KIND), hand("2", NOTHING), round_id="held", table_id="R1")
    world.bet(bet("a", stake_minor=9000), round_id="hit", table_id="N1")
    world.settle(hand("1", ROYAL_FLUSH), round_id="hit", table_id="N1")
    world.cancel(round_id="late", table_id="R1")
    world.change("held-awards", _about("held", "R1", decision="reject"), request_id="no")
    world.change("held-awards", _about("held", "R1", decision="reinstate"), request_id="yes")
    world.change("held-awards", _about("hit", "N1", decision="approve"), request_id="pay")
    correcting.correct(world, hand("1", NOTHING), hand("2", FLUSH), dead("4"), request_id="cor", round_id="r1-won")


def _forfeit(world: World) -> None:
    """The rest of an award of c1 goes to the state, an award of Riga back to the jackpot."""
    for number, (table_id, to) in enumerate((("T1", "statutory"), ("R1", "meter"))):
        claims = {"casino_id": TABLES[table_id], "claim_days": 1, "forfeited_to": to}
        world.change("casino-claims", claims, request_id=f"claims-{number}")
        (award,) = world.round("r2-won", table_id=table_id)["settlement"]["awards"]
        path, server = f"/v1/awards/{award['award_id']}", world.key(Role.TABLE, casino_id=TABLES[table_id])
        body = {"request_id": f"part-{number}", "reference": "slip", "amount_minor": 100}
        world.put(f"{path}/payment", body, key=server).ok(201)
        forfeiture = {"jackpot_id": "j1", "award_id": award["award_id"]}
        world.change("award-forfeiture", forfeiture, request_id=f"forfeit-{number}")


def _about(round_id: str, table_id: str, **more: str) -> dict[str, str]:
    return {"jackpot_id": "j1", "table_id": table_id, "round_id": round_id, **more}


def _end(world: World) -> None:
    _forfeit(world)
    compensation = {"bet_id": "a", "amount_minor": 500, "currency": "JPY", "document": "minutes 7"}
    world.change("compensation", _about("r3-cancelled", "R1") | compensation, request_id="given")
    paid = {"jackpot_id": "j1", "casino_id": "reno", "currency": "GBP", "amount": "-12.50", "reference": "november"}
    paid |= {"from": "2026-11-01T00:00:00Z", "to": "2026-11-20T00:00:00Z"}
    world.change("statement-settlement", paid, request_id="paid")
    added = {"jackpot_id": "j1", "account": "meter", "amount": "60", "document": "d", "cause": "count-error"}
    world.change("adjustment", added, request_id="added")
    world.change("seed-recovery", {"jackpot_id": "j1", "amount": "10"}, request_id="seed")
    world.change("prize-fund-true-up", {"jackpot_id": "j1"}, request_id="fund")
    world.change("retirement", {"jackpot_id": "j1", "to": "j2"}, request_id="end")
