"""An entry of the books is read to its last field, and what is not the entry that was asked for is an error."""

from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from jackpot_client import (
    BetsFacts,
    BookEntry,
    CancellationFacts,
    Entitlement,
    EntryRound,
    Figure,
    HandRow,
    HandStatus,
    JackpotClient,
    Policy,
    Posting,
    ProtocolError,
    ResultFacts,
    SettlementFacts,
    StakeRow,
    StatedCount,
    StatedResult,
    Tier,
    VoidsFacts,
)
from tests.support.scripted import ROUND, TABLE, Content, Reply, Scripted

pytestmark = pytest.mark.slow

FIGURE_JSON: Content = {
    "kind": "awards-paid",
    "currency": "EUR",
    "tier": "flush",
    "account": None,
    "detail": None,
    "made_on": "2026-01-02",
    "number": 1,
    "minor": 5000,
    "value": "50.000000000000000001",
}
RESULT_JSON: Content = {
    "result": {
        "bet_count": 1,
        "hands": [["1", "dealt", ["As", "Ks"]], ["2", "dead", []]],
        "dealer": ["2h"],
        "occurred_at": None,
    },
    "settlement": {
        "stakes": [["EUR", 100, 1]],
        "cycle": 1,
        "positions": [5, 0],
        "policy": "aggregate_pro_rata",
        "meter_before": "100.000000000000000001",
        "weight": "1",
        "entitlements": [{"bet_id": "b1", "tier": "flush", "amount": "5007/50"}],
        "refunds": ["b2"],
        "meter_after": "50",
        "reserve_after": "0",
        "prize_fund_after": "-2.5",
        "overflow": "0",
        "carried": None,
        "house_seed": "0",
        "cycle_after": 1,
    },
    "game_number": "21:10:10",
}
ENTRY_JSON: Content = {
    "book": "live",
    "stripe": 3,
    "seq": 17,
    "kind": "result",
    "principal": "table server",
    "received_at": "2026-01-02T03:04:05.000000Z",
    "booked_at": "2026-01-02T03:04:05.678901Z",
    "round": {"table_id": TABLE, "round_id": ROUND, "step": 2},
    "casino_id": "riga",
    "table_id": TABLE,
    "rules_version": 1,
    "postings": [
        {"account": "pool:prize_fund", "currency": "EUR", "amount": "-50.000000000000000001", "movement": "award"}
    ],
    "figures": [FIGURE_JSON],
    "facts": RESULT_JSON,
    "digest": "d" * 64,
    "head": "e" * 64,
    "head_before": "f" * 64,
}
OF_NO_ROUND: Content = {
    **dict.fromkeys(("round", "casino_id", "table_id", "rules_version", "principal", "facts")),
    "postings": [],
    "figures": [{**dict.fromkeys(FIGURE_JSON), "kind": "bets"}],
}


def test_an_entry_is_read_exactly(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(200, ENTRY_JSON)]

    entry = client.entry(book="live", stripe=3, seq=17)

    assert entry == BookEntry(
        book="live",
        stripe=3,
        seq=17,
        kind="result",
        principal="table server",
        received_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        booked_at=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
        round=EntryRound(table_id=TABLE, round_id=ROUND, step=2),
        casino_id="riga",
        table_id=TABLE,
        rules_version=1,
        postings=(
            Posting(
                account="pool:prize_fund", currency="EUR", amount=Decimal("-50.000000000000000001"), movement="award"
            ),
        ),
        figures=(
            Figure(
                kind="awards-paid",
                currency="EUR",
                tier="flush",
                account=None,
                detail=None,
                made_on=date(2026, 1, 2),
                number=1,
                minor=5000,
                value=Decimal("50.000000000000000001"),
            ),
        ),
        facts=ResultFacts(
            result=StatedResult(
                bet_count=1,
                occurred_at=None,
                hands=(HandRow("1", HandStatus.DEALT, ("As", "Ks")), HandRow("2", HandStatus.DEAD, ())),
                dealer=("2h",),
            ),
            settlement=SettlementFacts(
                stakes=(StakeRow("EUR", 100, 1),),
                cycle=1,
                positions=(5, 0),
                policy=Policy.AGGREGATE_PRO_RATA,
                meter_before=Decimal("100.000000000000000001"),
                weight=Decimal(1),
                entitlements=(Entitlement(bet_id="b1", tier=Tier.FLUSH, amount=Fraction(5007, 50)),),
                refunds=("b2",),
                meter_after=Decimal(50),
                reserve_after=Decimal(0),
                prize_fund_after=Decimal("-2.5"),
                overflow=Decimal(0),
                carried=None,
                house_seed=Decimal(0),
                cycle_after=1,
            ),
            game_number="21:10:10",
        ),
        digest="d" * 64,
        head="e" * 64,
        head_before="f" * 64,
    )
    assert [request.path for request in service.received] == ["/v1/entries/live/3/17"]


def test_an_entry_of_no_round_has_none_of_its_members(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(200, {**ENTRY_JSON, **OF_NO_ROUND})]
    entry = client.entry(book="live", stripe=3, seq=17)
    assert (entry.round, entry.casino_id, entry.principal, entry.facts, entry.postings) == (None, None, None, None, ())
    assert (entry.figures[0].kind, entry.figures[0].value, entry.figures[0].made_on) == ("bets", None, None)


@pytest.mark.parametrize(
    ("kind", "content", "facts"),
    [
        ("bets", {"limits_version": 2}, BetsFacts(game_number=None, limits_version=2)),
        ("bets", {"game_number": "7", "later": []}, BetsFacts(game_number="7", limits_version=None)),
        (
            "voids",
            {"voided": ["b1"], "tombstones": [], "occurred_at": None, "reason": "misdealt"},
            VoidsFacts(voided=("b1",), tombstones=(), occurred_at=None, reason="misdealt"),
        ),
        (
            "closing",
            {"bet_count": 3, "occurred_at": "2026-01-02T03:04:05.000000Z"},
            StatedCount(bet_count=3, occurred_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ),
        (
            "cancellation",
            {"reason": "misdeal", "cycle": 1, "hands": [["1", "later", []]], "occurred_at": None},
            CancellationFacts(reason="misdeal", cycle=1, hands=(HandRow("1", "later", ()),), occurred_at=None),
        ),
        ("later", {"any": [1, {"thing": None}]}, {"any": [1, {"thing": None}]}),
    ],
)
def test_the_facts_are_those_of_the_kind(
    client: JackpotClient, service: Scripted, kind: str, content: Content, facts: Any
) -> None:
    service.script = [Reply(200, {**ENTRY_JSON, "kind": kind, "facts": content})]
    entry = client.entry(book="live", stripe=3, seq=17)
    assert (entry.kind, entry.facts) == (kind, facts)
    assert type(entry.facts) is type(facts)


@pytest.mark.parametrize(
    ("part", "value", "named"),
    [
        ("result", {**RESULT_JSON["result"], "hands": [["1", "dealt"]]}, "/facts/result/hands/0 is not a list of 3"),
        ("result", {**RESULT_JSON["result"], "hands": ["1"]}, "/facts/result/hands/0 is not a list of 3"),
        ("result", {**RESULT_JSON["result"], "hands": [["1", 2, []]]}, "/facts/result/hands/0/1"),
        ("settlement", {**RESULT_JSON["settlement"], "stakes": [["EUR", 1.5, 1]]}, "/facts/settlement/stakes/0/1"),
        ("settlement", {**RESULT_JSON["settlement"], "entitlements": [{}]}, "/facts/settlement/entitlements/0/bet_id"),
        ("settlement", None, "/facts/settlement is not an object"),
        ("game_number", 7, "/facts/game_number is not a string"),
    ],
)
def test_facts_of_another_shape_are_an_error_that_names_the_place(
    client: JackpotClient, service: Scripted, part: str, value: object, named: str
) -> None:
    service.script = [Reply(200, {**ENTRY_JSON, "facts": {**RESULT_JSON, part: value}})]
    with pytest.raises(ProtocolError, match=named):
        client.entry(book="live", stripe=3, seq=17)


@pytest.mark.parametrize("amount", ["1/0", "1/00", "1.5", "1/-2", "/2", "1/", "1 / 2", "", 1, None, "\u0661/2"])
def test_an_amount_that_is_no_fraction_is_an_error(client: JackpotClient, service: Scripted, amount: object) -> None:
    entitled = [{"bet_id": "b1", "tier": "flush", "amount": amount}]
    settlement = {**RESULT_JSON["settlement"], "entitlements": entitled}
    service.script = [Reply(200, {**ENTRY_JSON, "facts": {**RESULT_JSON, "settlement": settlement}})]
    with pytest.raises(ProtocolError, match="amount is not a fraction"):
        client.entry(book="live", stripe=3, seq=17)


@pytest.mark.parametrize("name", sorted(ENTRY_JSON))
def test_a_missing_field_of_an_entry_is_an_error_even_if_it_may_be_null(
    client: JackpotClient, service: Scripted, name: str
) -> None:
    service.script = [Reply(200, {key: value for key, value in ENTRY_JSON.items() if key != name})]
    with pytest.raises(ProtocolError, match=f"lacks /{name}"):
        client.entry(book="live", stripe=3, seq=17)


@pytest.mark.parametrize(("name", "value"), [("book", "other"), ("stripe", 4), ("seq", 18)])
def test_an_answer_about_another_entry_is_an_error(
    client: JackpotClient, service: Scripted, name: str, value: object
) -> None:
    service.script = [Reply(200, {**ENTRY_JSON, name: value})]
    with pytest.raises(ProtocolError, match="not live/3/17"):
        client.entry(book="live", stripe=3, seq=17)


@pytest.mark.parametrize(
    ("place", "named"),
    [
        ({"book": "a/b"}, "book"),
        ({"book": ".."}, "book"),
        ({"stripe": -1}, "stripe"),
        ({"seq": True}, "seq"),
        ({"seq": 1.0}, "seq"),
    ],
)
def test_a_place_that_could_not_be_is_not_asked_for(
    client: JackpotClient, service: Scripted, place: Content, named: str
) -> None:
    with pytest.raises(ValueError, match=f"{named} must be"):
        client.entry(**{"book": "live", "stripe": 3, "seq": 17, **place})
    assert service.received == []
