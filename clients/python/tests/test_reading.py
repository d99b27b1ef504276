"""Answers are read exactly, and what is not the contract's is an error that names it."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from jackpot_client import AwardState, JackpotClient, ProtocolError, Refund, RoundState
from tests.support.scripted import (
    METER_JSON,
    PLACED,
    PLACED_JSON,
    ROUND,
    ROUND_JSON,
    SETTLED_JSON,
    SETTLEMENT_JSON,
    SHOWN_METER_JSON,
    TABLE,
    Reply,
    Scripted,
    place,
)

pytestmark = pytest.mark.slow


def test_placed_bets_are_read_exactly(client: JackpotClient, service: Scripted) -> None:
    service.script = [PLACED]
    placed = place(client)
    assert (placed.accepted, placed.replayed, placed.void) == (1, 0, ())
    assert placed.payout_per_unit == Decimal("1785.7541899441")
    assert placed.meter.amount_exact == Decimal("5434.050000000000000001")
    assert placed.meter.amount_minor == 543405
    assert placed.meter.last_movement_at == datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)
    assert (placed.round.state, placed.round.total_stake_base, placed.round.rate_sheet) == (
        RoundState.OPEN,
        Decimal(1),
        3,
    )


def test_a_settlement_is_read_exactly(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(201, SETTLED_JSON)]
    settled = client.put_result(table_id=TABLE, round_id=ROUND, bet_count=1, hands=[])
    settlement = settled.settlement
    assert settled.round.state is RoundState.SETTLED
    assert (settlement.policy, settlement.cycle_after) == ("shared_by_stake", 2)
    assert settlement.meter_before == Decimal("5434.050000000000000001")
    assert settlement.prize_fund_after == Decimal("-2.5")
    assert settlement.carried == Decimal("0.000000000000000001")
    (award,) = settlement.awards
    assert (award.tier, award.amount_minor, award.currency) == ("royal_flush", 543405, "EUR")
    assert (award.cost_base, award.state) == (Decimal("5434.05"), AwardState.PAYABLE)
    assert settlement.refunds == (Refund(bet_id="b2", player_id="p2", amount_minor=50, currency="JPY"),)


def test_a_settlement_without_a_hit_carries_nothing(client: JackpotClient, service: Scripted) -> None:
    losing = {**SETTLEMENT_JSON, "carried": None, "awards": [], "refunds": []}
    service.script = [Reply(201, {**SETTLED_JSON, "settlement": losing})]
    settlement = client.put_result(table_id=TABLE, round_id=ROUND, bet_count=1, hands=[]).settlement
    assert settlement.carried is None
    assert (settlement.awards, settlement.refunds) == ((), ())


def test_a_field_of_a_later_version_is_tolerated(client: JackpotClient, service: Scripted) -> None:
    later = {**PLACED_JSON, "later": 1.5, "round": {**ROUND_JSON, "later": {}}, "meter": {**METER_JSON, "later": []}}
    service.script = [Reply(200, later)]
    assert place(client).accepted == 1


@pytest.mark.parametrize("name", sorted(PLACED_JSON))
def test_a_missing_field_is_an_error_never_a_default(client: JackpotClient, service: Scripted, name: str) -> None:
    service.script = [Reply(200, {key: value for key, value in PLACED_JSON.items() if key != name})]
    with pytest.raises(ProtocolError, match=f"lacks /{name}"):
        place(client)
    assert len(service.received) == 1


@pytest.mark.parametrize("name", sorted(SETTLEMENT_JSON))
def test_a_missing_field_of_a_settlement_is_an_error_even_if_it_may_be_null(
    client: JackpotClient, service: Scripted, name: str
) -> None:
    rest = {key: value for key, value in SETTLEMENT_JSON.items() if key != name}
    service.script = [Reply(200, {**SETTLED_JSON, "settlement": rest})]
    with pytest.raises(ProtocolError, match=f"lacks /settlement/{name}"):
        client.put_result(table_id=TABLE, round_id=ROUND, bet_count=1, hands=[])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("amount_minor", 543405.0),
        ("amount_minor", "543405"),
        ("amount_minor", True),
        ("amount_minor", None),
        ("amount_exact", 5434.05),
        ("amount_exact", 5434),
        ("amount_exact", "5.4e3"),
        ("amount_exact", "NaN"),
        ("amount_exact", "\u0665"),
        ("amount_exact", None),
        ("cycle", True),
        ("cycle", "1"),
        ("cycle", 1.0),
        ("currency", 7),
        ("last_movement_at", "2026-01-02T03:04:05"),
        ("last_movement_at", "yesterday"),
        ("last_movement_at", None),
    ],
)
def test_a_field_of_another_type_is_an_error(
    client: JackpotClient, service: Scripted, name: str, value: object
) -> None:
    service.script = [Reply(200, {**SHOWN_METER_JSON, name: value})]
    with pytest.raises(ProtocolError, match=name):
        client.meter(jackpot_id="live")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"null",
        b'{"a": NaN}',
        b'{"a": 1, "a": 2}',
        b'{"unread": [{"price_minor": 1.5}]}',
        b'{"a": ' + b"[" * 100_000,
        b'{"a": ' + b"9" * 5000 + b"}",
        b"\xff\xfe{}",
    ],
)
def test_what_is_not_the_services_json_is_an_error(client: JackpotClient, service: Scripted, body: bytes) -> None:
    service.script = [Reply(200, body)]
    with pytest.raises(ProtocolError):
        client.paytable(jackpot_id="live")


def test_a_state_that_nobody_knows_is_an_error(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(200, {**PLACED_JSON, "round": {**ROUND_JSON, "state": "limbo"}})]
    with pytest.raises(ProtocolError, match="/round/state"):
        place(client)


def test_an_answer_about_another_round_is_an_error(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(200, {**PLACED_JSON, "round": {**ROUND_JSON, "round_id": "r2"}})]
    with pytest.raises(ProtocolError, match="live-1/r2, not live-1/r1"):
        place(client)
