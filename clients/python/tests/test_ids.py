"""Ids are made before anything is sent, and one that would lead elsewhere is never sent."""

import re
import time
from decimal import Decimal
from typing import Any

import pytest

from jackpot_client import Bet, JackpotClient, new_bet_id, new_round_id
from tests.support.scripted import TABLE, Scripted

pytestmark = pytest.mark.slow

ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")


def test_new_ids_fit_the_contract_and_sort_by_the_time_they_were_made() -> None:
    ids = []
    for make in (new_bet_id, new_round_id) * 20:
        ids.append(make())
        time.sleep(0.00002)
    assert ids == sorted(ids)
    assert all(ID.fullmatch(made) for made in ids)


def test_a_thousand_ids_made_at_once_differ() -> None:
    assert len({new_bet_id() for _ in range(1000)}) == 1000


def test_a_new_id_is_a_uuid_of_version_7_that_carries_the_time() -> None:
    made = new_bet_id()
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", made)
    assert abs(int(made.replace("-", "")[:12], 16) - time.time_ns() // 1_000_000) < 5000


def test_a_bet_is_given_its_id_when_it_is_made() -> None:
    first, other = (Bet(player_id="p", currency="EUR", stake_minor=1) for _ in range(2))
    assert first.bet_id != other.bet_id


@pytest.mark.parametrize("stake", [1.0, True, "1", Decimal(1)])
def test_a_stake_that_is_no_int_makes_no_bet(stake: Any) -> None:
    with pytest.raises(TypeError, match="stake_minor"):
        Bet(player_id="p", currency="EUR", stake_minor=stake)


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("stake_minor", 0, ValueError),
        ("stake_minor", -100, ValueError),
        ("currency", "eur", ValueError),
        ("currency", "EURO", ValueError),
        ("player_id", "Ann B", ValueError),
        ("player_id", 4711, TypeError),
        ("hand", "", ValueError),
        ("bet_id", None, TypeError),
    ],
)
def test_what_could_not_be_right_makes_no_bet(field: str, value: object, error: type[Exception]) -> None:
    stated: dict[str, Any] = {"player_id": "p", "currency": "EUR", "stake_minor": 1, field: value}
    with pytest.raises(error, match=field):
        Bet(**stated)


@pytest.mark.parametrize("round_id", ["", ".", "..", "a/b", "a b", "é", "x" * 65, "a\n", "%2e"])
def test_an_id_that_would_lead_elsewhere_is_not_sent(client: JackpotClient, service: Scripted, round_id: str) -> None:
    with pytest.raises(ValueError, match="round_id"):
        client.cancel_round(table_id=TABLE, round_id=round_id, reason="misdeal")
    assert service.received == []
