"""Correcting a settled round as two people do: Ann asks, Bob approves."""

from typing import Any

from jackpot_service.domain.principals import Role
from tests.support.answers import Answer, Body
from tests.support.world import World


def payload(*hands: Body, round_id: str = "r1", table_id: str = "T1", bet_count: int = 1, **more: Any) -> Body:
    """A right result, as a change request carries it."""
    result = {"bet_count": bet_count, "hands": list(hands), **more}
    return {"jackpot_id": "j1", "table_id": table_id, "round_id": round_id, "result": result}


def ask(world: World, *hands: Body, request_id: str = "q1", round_id: str = "r1", table_id: str = "T1") -> Answer:
    """Ask for a correction by a result that counts the live bets as the ledger does."""
    payload_ = payload(*hands, round_id=round_id, table_id=table_id, bet_count=world.live_bets(table_id, round_id))
    return world.ask("round-correction", payload_, request_id=request_id)


def correct(world: World, *hands: Body, request_id: str = "q1", round_id: str = "r1", table_id: str = "T1") -> Body:
    """Have a round corrected; what that did."""
    ask(world, *hands, request_id=request_id, round_id=round_id, table_id=table_id).ok(201)
    effect: Body = world.approve(request_id).ok()["effect"]
    return effect


def pay(world: World, bet_id: str, *, round_id: str = "r1") -> None:
    """Have an operator record that a casino paid out what a bet of the first verdict won."""
    awards_ = world.round(round_id)["settlement"]["awards"]
    (award_id,) = (award["award_id"] for award in awards_ if award["bet_id"] == bet_id)
    body = {"request_id": f"payment-{bet_id}", "reference": "slip"}
    world.put(f"/v1/awards/{award_id}/payment", body, key=world.person("Ann", Role.OPERATOR)).ok(201)


def reject(world: World, bet_id: str) -> None:
    """Have two people reject a held award."""
    held = {"jackpot_id": "j1", "table_id": "T1", "round_id": "r1", "bets": [bet_id], "decision": "reject"}
    world.change("held-awards", held, request_id=f"rejection-{bet_id}")


def awards(effect: Body) -> list[tuple[str, str, int]]:
    """The awards that a correction made: bet, tier, amount."""
    return [(award["bet_id"], award["tier"], award["amount_minor"]) for award in effect["after"]["awards"]]


def reversed_awards(effect: Body) -> list[tuple[str, str, int]]:
    """The awards that a correction took back: bet, tier, amount."""
    return [(award["bet_id"], award["tier"], award["amount_minor"]) for award in effect["after"]["reversed"]]


def posted(effect: Body) -> list[tuple[str, ...]]:
    """The postings of a correction, as one reads them: account, currency, amount, movement."""
    return [tuple(line) for line in effect["after"]["postings"]]
