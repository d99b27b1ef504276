"""Calls are sent as the contract spells them."""

import json
from datetime import UTC, datetime

import pytest

from jackpot_client import AwardState, Bet, Hand, HandStatus, JackpotClient, Refund, RoundState
from tests.support.scripted import PLACED, REFUND_JSON, ROUND, ROUND_JSON, SETTLED_JSON, TABLE, Reply, Scripted, place

pytestmark = pytest.mark.slow


def test_bets_are_sent_as_the_contract_spells_them(client: JackpotClient, service: Scripted) -> None:
    service.script = [PLACED]
    place(client)
    (request,) = service.received
    assert (request.method, request.path) == ("POST", "/v1/tables/live-1/rounds/r1/bets")
    assert json.loads(request.body) == {
        "bets": [{"bet_id": "b1", "player_id": "p1", "hand": "1", "currency": "EUR", "stake_minor": 100}]
    }
    assert request.headers["Authorization"] == "Bearer key"
    assert request.headers["Content-Type"] == "application/json"


def test_a_result_is_sent_as_the_contract_spells_it(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(201, SETTLED_JSON)]
    hands = [Hand(hand="1", cards=("As", "Ks", "Qs", "Js", "Ts")), Hand(hand="2", status=HandStatus.DEAD)]
    client.put_result(table_id=TABLE, round_id=ROUND, bet_count=3, hands=hands, dealer=["2h", "3h"])
    (request,) = service.received
    assert (request.method, request.path) == ("PUT", "/v1/tables/live-1/rounds/r1/result")
    assert json.loads(request.body) == {
        "bet_count": 3,
        "hands": [
            {"hand": "1", "status": "dealt", "cards": ["As", "Ks", "Qs", "Js", "Ts"]},
            {"hand": "2", "status": "dead"},
        ],
        "dealer": ["2h", "3h"],
    }


def test_a_game_number_is_sent_with_bets_and_results(client: JackpotClient, service: Scripted) -> None:
    service.script = [PLACED, Reply(201, SETTLED_JSON)]
    bet = Bet(player_id="p1", currency="EUR", stake_minor=100)
    client.place_bets(table_id=TABLE, round_id=ROUND, bets=[bet], game_number="21:10:10")
    client.put_result(table_id=TABLE, round_id=ROUND, bet_count=1, hands=[], game_number="21:10:10")
    assert [json.loads(request.body)["game_number"] for request in service.received] == ["21:10:10"] * 2
    with pytest.raises(ValueError, match="game_number"):
        client.put_result(table_id=TABLE, round_id=ROUND, bet_count=1, hands=[], game_number="21 10")


def test_voids_are_sent_and_answered(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(200, {"round": ROUND_JSON, "voided": ["b1"], "unknown": ["b9"]})]
    voided = client.void_bets(table_id=TABLE, round_id=ROUND, bet_ids=["b1", "b9"])
    assert (voided.voided, voided.unknown) == (("b1",), ("b9",))
    assert json.loads(service.received[0].body) == {"bet_ids": ["b1", "b9"]}


def test_a_void_after_the_closing_states_its_reason(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(200, {"round": {**ROUND_JSON, "state": "closed"}, "voided": ["b1"], "unknown": []})]
    client.void_bets(table_id=TABLE, round_id=ROUND, bet_ids=["b1"], reason="misdealt")
    assert json.loads(service.received[0].body) == {"bet_ids": ["b1"], "reason": "misdealt"}


def test_a_closing_is_sent_and_answered(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(201, {"round": {**ROUND_JSON, "state": "closed"}})]
    closed = client.close_betting(table_id=TABLE, round_id=ROUND, bet_count=2)
    assert closed.round.state is RoundState.CLOSED
    assert (service.received[0].method, json.loads(service.received[0].body)) == ("PUT", {"bet_count": 2})


def test_a_cancellation_is_sent_and_answered(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(201, {"round": {**ROUND_JSON, "state": "cancelled"}, "refunds": [REFUND_JSON]})]
    cancelled = client.cancel_round(table_id=TABLE, round_id=ROUND, reason="misdeal")
    assert cancelled.round.state is RoundState.CANCELLED
    assert cancelled.refunds == (Refund(bet_id="b2", player_id="p2", amount_minor=50, currency="JPY"),)
    assert (service.received[0].method, json.loads(service.received[0].body)) == ("PUT", {"reason": "misdeal"})


AT = datetime(2026, 1, 2, 3, 4, 5, 6, UTC)
SENT_AT = "2026-01-02T03:04:05.000006+00:00"


def test_the_tables_own_times_are_sent(client: JackpotClient, service: Scripted) -> None:
    cancelled = {"round": {**ROUND_JSON, "state": "cancelled"}, "refunds": []}
    service.script = [PLACED, Reply(200, {"round": ROUND_JSON, "voided": [], "unknown": []})]
    service.script += [Reply(201, {"round": ROUND_JSON}), Reply(201, SETTLED_JSON), Reply(201, cancelled)]
    bet = Bet(bet_id="b1", player_id="p1", currency="EUR", stake_minor=100, occurred_at=AT)
    client.place_bets(table_id=TABLE, round_id=ROUND, bets=[bet], occurred_at=AT)
    client.void_bets(table_id=TABLE, round_id=ROUND, bet_ids=["b1"], occurred_at=AT)
    client.close_betting(table_id=TABLE, round_id=ROUND, bet_count=1, occurred_at=AT)
    client.put_result(table_id=TABLE, round_id=ROUND, bet_count=1, hands=[], occurred_at=AT)
    client.cancel_round(table_id=TABLE, round_id=ROUND, reason="misdeal", occurred_at=AT)
    sent = [json.loads(request.body) for request in service.received]
    assert [content["occurred_at"] for content in sent] == [SENT_AT] * 5
    assert sent[0]["bets"][0]["occurred_at"] == SENT_AT


def test_a_time_without_an_offset_is_not_sent(client: JackpotClient, service: Scripted) -> None:
    naive = datetime(2026, 1, 2)  # noqa: DTZ001
    with pytest.raises(ValueError, match="occurred_at must have an offset"):
        Bet(player_id="p1", currency="EUR", stake_minor=100, occurred_at=naive)
    with pytest.raises(ValueError, match="occurred_at must have an offset"):
        client.close_betting(table_id=TABLE, round_id=ROUND, bet_count=1, occurred_at=naive)
    assert service.received == []


def test_a_cancellation_states_the_hands_that_were_dealt(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(201, {"round": {**ROUND_JSON, "state": "cancelled"}, "refunds": []})]
    hands = [Hand(hand="1", cards=("As", "Ks", "Qs", "Js", "Ts"))]
    client.cancel_round(table_id=TABLE, round_id=ROUND, reason="misdeal", hands=hands)
    assert json.loads(service.received[0].body) == {
        "reason": "misdeal",
        "hands": [{"hand": "1", "status": "dealt", "cards": ["As", "Ks", "Qs", "Js", "Ts"]}],
    }


def test_a_text_is_never_taken_for_the_texts_of_its_letters(client: JackpotClient, service: Scripted) -> None:
    """`bet_ids="b1"` would make the bets `b` and `1` void, before they come."""
    with pytest.raises(TypeError, match=r"bet_ids must be several texts, such as \['b1'\]"):
        client.void_bets(table_id=TABLE, round_id=ROUND, bet_ids="b1")
    with pytest.raises(TypeError, match="dealer must be several texts"):
        client.put_result(table_id=TABLE, round_id=ROUND, bet_count=1, hands=[], dealer="2h")
    with pytest.raises(TypeError, match="cards must be several texts"):
        Hand(cards="As")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="bet_ids"):
        client.void_bets(table_id=TABLE, round_id=ROUND, bet_ids=["b 1"])
    assert service.received == []


def test_awards_that_wait_are_listed(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(200, {"items": [], "next": None})]
    assert list(client.awards(open_=True, oldest_first=True, claimable_before=AT)) == []
    assert list(client.awards(state=AwardState.HELD)) == []
    at = SENT_AT.replace(":", "%3A").replace("+", "%2B")
    paths = [request.path for request in service.received]
    assert paths == [f"/v1/awards?open=true&claimable_before={at}&oldest_first=true", "/v1/awards?state=held"]
