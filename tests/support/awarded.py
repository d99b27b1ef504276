"""A world with awards to be paid, to be decided, and of another casino; and how a test finds and sends their forms."""

import re
from collections.abc import Mapping
from html import unescape

from jackpot_service.domain.payout_tiers import Evidence
from jackpot_service.domain.principals import Principal, Role
from tests.support.answers import Answer, Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, hand
from tests.support.payouts import held_from
from tests.support.visitor import Visitor
from tests.support.world import World

PAYABLE_MINOR = 2_500
"""What a flush pays for a stake of EUR 1.00."""


def furnish(world: World) -> World:
    """
    Have a held award, which needs evidence, a payable one of each casino, and one in pounds.

    Of the rounds `held`, `payable` and `pounds` at table T1 of casino c1, and `other` at T2 of casino c2.
    """
    world.open(base_amount="1000", settings={"payout_tiers": held_from("200", Evidence.SURVEILLANCE)})
    world.add_casino("c2")
    world.add_table("T2", jackpot_id="j1", casino_id="c2")
    win(world, "payable")
    win(world, "held", cards=FOUR_OF_A_KIND)
    win(world, "other", table_id="T2")
    win(world, "pounds", currency="GBP")
    return world


def win(
    world: World, round_id: str, *, cards: tuple[str, ...] = FLUSH, table_id: str = "T1", currency: str = "EUR"
) -> str:
    """Have a bet win in a round of its own; the id of its award."""
    world.bet(bet("b1", currency=currency), round_id=round_id, table_id=table_id)
    award_id: str = world.settle(hand("1", cards), round_id=round_id, table_id=table_id)["awards"][0]["award_id"]
    return award_id


def award_id_of(world: World, round_id: str) -> str:
    """The award of a round."""
    table_id = "T2" if round_id == "other" else "T1"
    award_id: str = world.round(round_id, table_id)["settlement"]["awards"][0]["award_id"]
    return award_id


def award_of(world: World, round_id: str) -> Body:
    """The award of a round, as the API shows it."""
    return world.get(f"/v1/awards/{award_id_of(world, round_id)}").ok()


def path_of(world: World, round_id: str) -> str:
    """The page of a round's award."""
    return f"/awards/{award_id_of(world, round_id)}"


def record_surveillance(world: World, round_id: str = "held") -> None:
    """Have somebody record the evidence that the payout tier asks for."""
    body = {"request_id": f"e-{round_id}", "kind": "surveillance", "statement": "camera 12, 21:10"}
    world.post(f"/v1/tables/T1/rounds/{round_id}/evidence", body, key=world.person("Sue", Role.AUDITOR)).ok(201)


def decide(world: World, decision: str, round_id: str = "held") -> None:
    """Have two people decide on the awards of a round."""
    payload = {"jackpot_id": "j1", "table_id": "T1", "round_id": round_id, "decision": decision}
    world.change("held-awards", payload, request_id=f"{decision}-{round_id}")


def pay(world: World, round_id: str, reference: str, amount_minor: int | None = None) -> None:
    """Have an operator record a payment."""
    body: Body = {"request_id": reference.replace(" ", "-"), "reference": reference}
    if amount_minor is not None:
        body["amount_minor"] = amount_minor
    world.put(f"/v1{path_of(world, round_id)}/payment", body, key=world.person("Olga", Role.OPERATOR)).ok(201)


def stop(world: World, round_id: str) -> None:
    """Have somebody stop the payment of a round's award."""
    body = {"request_id": f"stop-{round_id}", "reason": "the cards are in doubt"}
    world.put(f"/v1{path_of(world, round_id)}/stop", body, key=world.person("Sue", Role.AUDITOR)).ok(201)


def casino_finance(world: World, casino_id: str) -> Visitor:
    """Somebody of a casino's finance, who has signed in."""
    return Visitor(world).sign_in(key=world.key_of(Principal(f"Carl of {casino_id}", Role.FINANCE, casino_id)))


def forms_on(page: str) -> set[str]:
    """The acts that a page of an award offers: the last words of its forms' addresses."""
    return {unescape(action).rpartition("/")[2] for action in re.findall(r'<form[^>]* action="(/awards/[^"]+)"', page)}


def hidden_in(page: str, act: str) -> dict[str, str]:
    """The hidden fields of an act's form."""
    match = re.search(rf'<form[^>]* action="/awards/[^"]+/{act}".*?</form>', page, re.DOTALL)
    assert match, page
    return {
        name: unescape(value) for name, value in re.findall(r'type="hidden" name="([^"]+)" value="([^"]+)"', match[0])
    }


def send(visitor: Visitor, path: str, act: str, fields: Mapping[str, str], *, page: str | None = None) -> Answer:
    """Fill in and send the form of an act on the page of an award, as it is now or as it was shown before."""
    shown = visitor.open(path).text if page is None else page
    return visitor.post(f"{path}/{act}", {**hidden_in(shown, act), **fields})


def error_at(page: str, field: str) -> str:
    """What is said to be wrong at a field; empty if nothing is."""
    match = re.search(rf'id="{field}-error"[^>]*>([^<]*)<', page)
    return "" if match is None else unescape(match[1])
