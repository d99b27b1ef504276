"""Events as a consumer gets them; and a world in which every one of them happens."""

from collections.abc import Iterable
from datetime import timedelta

from jackpot_service.domain.principals import Role
from tests.support import correcting
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, ROYAL_FLUSH, dead, forfeited, hand
from tests.support.payouts import held_from
from tests.support.world import World

ROUND: Body = {"jackpot_id": "j1", "table_id": "T1"}


def page(world: World, *, after: str | None = None, key: str | None = None, **query: int) -> Body:
    """One page of events, for an auditor unless a key is given."""
    stated = {"after": after, **query}
    written = "&".join(f"{name}={value}" for name, value in stated.items() if value is not None)
    return world.get(f"/v1/events?{written}", key=key).ok()


def follow(world: World, *, after: str | None = None, key: str | None = None, limit: int = 1000) -> list[Body]:
    """All events after a cursor, from the beginning unless one is given, page by page."""
    notified: list[Body] = []
    while True:
        page_ = page(world, after=after, key=key, limit=limit)
        assert len(page_["items"]) <= limit
        notified += page_["items"]
        after = page_["next"]
        if not page_["has_more"]:
            return notified


def now(world: World) -> str:
    """The cursor of what comes from now on."""
    cursor: str = page(world, after="now")["next"]
    return cursor


def types(events: Iterable[Body]) -> list[str]:
    return [event["type"].removeprefix("jackpot.") for event in events]


def bring_about_everything(world: World) -> None:
    """Let every type of event happen, each in the plainest way; all on one stripe, so that ids are the same again."""
    world.open(base_amount="1000", settings={"payout_tiers": held_from("200")}, stripes=1)
    world.open(jackpot_id="j2", tables=("T2",), stripes=1)
    _play(world)
    _decide_awards(world)
    _move_money(world)
    _end(world)
    _close_betting(world)
    _decline(world)
    _stop(world)
    _limit(world)
    _change_policy(world)
    _withhold(world)
    _forfeit(world)


def _withhold(world: World) -> None:
    rule = {"casino_id": "c1", "currency": "EUR", "report_at_minor": 60_000, "withhold_at_minor": 500_000}
    world.change("casino-withholding", {**rule, "percent": "24", "least_multiple": 300}, request_id="withholding")


def _limit(world: World) -> None:
    world.open(jackpot_id="j7", tables=("T7",), stripes=1)
    world.change("table-limits", {"jackpot_id": "j7", "table_id": "T7", "largest_stake": "50"}, request_id="limit")


def _play(world: World) -> None:
    world.bet(bet("a"), bet("b", currency="GBP", hand="2"), bet("c", hand="3"), bet("d", hand="4"))
    world.void("d", "unknown")
    world.settle(hand("1", FLUSH), hand("2", FOUR_OF_A_KIND), dead("3"))
    world.bet(bet("a"), bet("b", currency="GBP", hand="2"), round_id="r2")
    world.cancel(round_id="r2")
    world.bet(bet("a"), round_id="r3")
    world.settle(hand("1", FLUSH), round_id="r3")
    world.bet(bet("a"), bet("b", currency="GBP", hand="2"), round_id="won", table_id="T2")
    world.settle(hand("1", ROYAL_FLUSH), hand("2"), round_id="won", table_id="T2")


def _decide_awards(world: World) -> None:
    held = ROUND | {"round_id": "r1"}
    world.change("held-awards", held | {"decision": "reject"}, request_id="reject")
    world.change("held-awards", held | {"decision": "reinstate", "bets": ["b"]}, request_id="reinstate")
    world.bet(bet("a"), round_id="r4")
    world.settle(hand("1", FOUR_OF_A_KIND), round_id="r4")
    seen = {"request_id": "seen", "kind": "surveillance", "statement": "recording 4711", "sha256": "ab" * 32}
    world.post("/v1/tables/T1/rounds/r4/evidence", seen, key=world.person("Fay", Role.FINANCE)).ok(201)
    world.change("held-awards", ROUND | {"round_id": "r4", "decision": "approve"}, request_id="approve")
    correcting.pay(world, "a", round_id="r4")
    world.change("compensation", COMPENSATION, request_id="compensate")
    correcting.correct(world, hand("1", NOTHING), request_id="correct", round_id="r3")


def _stop(world: World) -> None:
    world.open(jackpot_id="j6", tables=("T6",), stripes=1)
    world.bet(bet("a"), round_id="stopped", table_id="T6")
    (award,) = world.settle(hand("1", FLUSH), round_id="stopped", table_id="T6")["awards"]
    body = {"request_id": "stop", "reason": "the cards are being checked"}
    world.put(f"/v1/awards/{award['award_id']}/stop", body, key=world.person("Fay", Role.FINANCE)).ok(201)
    released = {"jackpot_id": "j6", "table_id": "T6", "round_id": "stopped", "decision": "release"}
    world.change("held-awards", released, request_id="release")
    payment = {"request_id": "part", "reference": "slip 8", "amount_minor": 1000, "channel": "cage", "payer": "Cleo"}
    world.put(f"/v1/awards/{award['award_id']}/payment", payment, key=world.key(Role.TABLE)).ok(201)
    reversal = {"jackpot_id": "j6", "award_id": award["award_id"], "reference": "slip 8"}
    world.change("payment-reversal", reversal, request_id="reversal")


def _forfeit(world: World) -> None:
    """The rest of an award goes to the state, another award back to its jackpot."""
    world.open(jackpot_id="j8", tables=("T8",), stripes=1)
    world.bet(bet("a"), bet("b"), round_id="unclaimed", table_id="T8")
    awards = world.settle(hand("1", FLUSH), round_id="unclaimed", table_id="T8")["awards"]
    for number, (award, to) in enumerate(zip(awards, ("statutory", "meter"), strict=True)):
        claims = {"casino_id": "c1", "claim_days": 1, "forfeited_to": to}
        world.change("casino-claims", claims, request_id=f"claims-{number}")
        world.clock.advance(timedelta(days=2))
        forfeiture = {"jackpot_id": "j8", "award_id": award["award_id"]}
        world.change("award-forfeiture", forfeiture, request_id=f"forfeit-{number}")


def _decline(world: World) -> None:
    world.open(jackpot_id="j5", tables=("T5",), stripes=1)
    world.bet(bet("a"), round_id="denied", table_id="T5")
    world.settle(forfeited("1", FLUSH), round_id="denied", table_id="T5")
    denied = {"jackpot_id": "j5", "table_id": "T5", "round_id": "denied", "bet_id": "a"}
    world.change("declined-compensation", denied, request_id="decline")


def _close_betting(world: World) -> None:
    world.open(jackpot_id="j4", tables=("T4",), stripes=1)
    world.bet(bet("a"), round_id="closed", table_id="T4")
    world.put_closing(round_id="closed", table_id="T4").ok(201)


COMPENSATION: Body = ROUND | {
    "round_id": "r2",
    "bet_id": "b",
    "amount_minor": 2500,
    "currency": "GBP",
    "document": "incident 12",
}
ADJUSTMENT: Body = {
    "jackpot_id": "j1",
    "account": "meter",
    "amount": "100",
    "document": "memo 7",
    "cause": "count-error",
}
STATEMENT: Body = {
    "jackpot_id": "j1",
    "casino_id": "c1",
    "currency": "EUR",
    "from": "2026-10-01T00:00:00Z",
    "to": "2026-11-01T00:00:00Z",
    "amount": "3.00",
    "reference": "2026-10",
}


def _move_money(world: World) -> None:
    world.change("adjustment", ADJUSTMENT, request_id="adjust")
    world.change("seed-recovery", {"jackpot_id": "j1", "amount": "-500"}, request_id="seed")
    world.change("prize-fund-true-up", {"jackpot_id": "j1"}, request_id="true-up")
    world.change("statement-settlement", STATEMENT, request_id="statement")


def _end(world: World) -> None:
    world.change("rules", {"jackpot_id": "j1", "settings": {"limit": "20000"}}, request_id="rules")
    rates = {"base": "EUR", "rates": {"GBP": "1.18"}}
    world.ask("rate-sheet", rates, request_id="rates", by="Rita", role=Role.RATES).ok(201)
    world.approve("rates", by="Rolf", role=Role.RATES).ok()
    for path, reason in (("suspension", "the display shows another meter"), ("resumption", "it shows the right one")):
        body = {"request_id": path, "reason": reason}
        world.put(f"/v1/jackpots/j1/{path}", body, key=world.person("Ann", Role.OPERATOR)).ok(201)
    world.change("retirement", {"jackpot_id": "j1", "to": "j2"}, request_id="retire")


def _change_policy(world: World) -> None:
    rules = {"requested_by": ["operator"], "decided_by": ["finance"], "needs_other_department": True}
    world.change("change-policy", {"kinds": {"rules": rules}}, request_id="policy")
