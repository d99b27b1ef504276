"""Events as a consumer gets them; and a house in which every one of them happens."""

from collections.abc import Iterable

from jackpot_service.domain.principals import Role
from tests.support import correcting
from tests.support.answers import Body
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, ROYAL_FLUSH, dead, hand
from tests.support.house import House

ROUND: Body = {"jackpot_id": "j1", "table_id": "T1"}


def page(house: House, *, after: str | None = None, key: str | None = None, **query: int) -> Body:
    """One page of events, for an auditor unless a key is given."""
    stated = {"after": after, **query}
    written = "&".join(f"{name}={value}" for name, value in stated.items() if value is not None)
    return house.get(f"/v1/events?{written}", key=key).ok()


def follow(house: House, *, after: str | None = None, key: str | None = None, limit: int = 1000) -> list[Body]:
    """All events after a cursor, from the beginning unless one is given, page by page."""
    told: list[Body] = []
    while True:
        found = page(house, after=after, key=key, limit=limit)
        assert len(found["items"]) <= limit
        told += found["items"]
        after = found["next"]
        if not found["has_more"]:
            return told


def now(house: House) -> str:
    """The cursor of what comes from now on."""
    cursor: str = page(house, after="now")["next"]
    return cursor


def types(events: Iterable[Body]) -> list[str]:
    return [event["type"].removeprefix("jackpot.") for event in events]


def bring_about_everything(house: House) -> None:
    """Let every type of event happen, each in the plainest way; all on one stripe, so that ids are the same again."""
    house.open(base_amount="1000", settings={"held_threshold": "200"}, stripes=1)
    house.open(jackpot_id="j2", tables=("T2",), stripes=1)
    _play(house)
    _decide_awards(house)
    _move_money(house)
    _end(house)


def _play(house: House) -> None:
    house.bet(bet("a"), bet("b", currency="GBP", hand="2"), bet("c", hand="3"), bet("d", hand="4"))
    house.void("d", "unknown")
    house.settle(hand("1", FLUSH), hand("2", FOUR_OF_A_KIND), dead("3"))
    house.bet(bet("a"), bet("b", currency="GBP", hand="2"), round_id="r2")
    house.cancel(round_id="r2")
    house.bet(bet("a"), round_id="r3")
    house.settle(hand("1", FLUSH), round_id="r3")
    house.bet(bet("a"), bet("b", currency="GBP", hand="2"), round_id="won", table_id="T2")
    house.settle(hand("1", ROYAL_FLUSH), hand("2"), round_id="won", table_id="T2")


def _decide_awards(house: House) -> None:
    held = ROUND | {"round_id": "r1"}
    house.change("held-awards", held | {"decision": "reject"}, request_id="reject")
    house.change("held-awards", held | {"decision": "reinstate", "bets": ["b"]}, request_id="reinstate")
    house.bet(bet("a"), round_id="r4")
    house.settle(hand("1", FOUR_OF_A_KIND), round_id="r4")
    house.change("held-awards", ROUND | {"round_id": "r4", "decision": "approve"}, request_id="approve")
    correcting.pay(house, "a", round_id="r4")
    house.change("compensation", COMPENSATION, request_id="compensate")
    correcting.correct(house, hand("1", NOTHING), request_id="correct", round_id="r3")


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


def _move_money(house: House) -> None:
    house.change("adjustment", ADJUSTMENT, request_id="adjust")
    house.change("seed-recovery", {"jackpot_id": "j1", "amount": "-500"}, request_id="seed")
    house.change("prize-fund-true-up", {"jackpot_id": "j1"}, request_id="true-up")
    house.change("statement-settlement", STATEMENT, request_id="statement")


def _end(house: House) -> None:
    house.change("rules", {"jackpot_id": "j1", "settings": {"limit": "20000"}}, request_id="rules")
    rates = {"base": "EUR", "rates": {"GBP": "1.18"}}
    house.ask("rate-sheet", rates, request_id="rates", by="Rita", role=Role.RATES).ok(201)
    house.approve("rates", by="Rolf", role=Role.RATES).ok()
    for path, reason in (("suspension", "the display shows another meter"), ("resumption", "it shows the right one")):
        body = {"request_id": path, "reason": reason}
        house.put(f"/v1/jackpots/j1/{path}", body, key=house.person("Ann", Role.OPERATOR)).ok(201)
    house.change("retirement", {"jackpot_id": "j1", "to": "j2"}, request_id="retire")
