"""The client itself: one pool for many threads, and nothing that could never work."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from jackpot_client import Bet, JackpotClient
from tests.support.scripted import PLACED, PLACED_JSON, MakeClient, Reply, Scripted, place

pytestmark = pytest.mark.slow


def test_threads_share_one_client(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(201, PLACED_JSON, {"ETag": '"v1"'})]
    bets = [Bet(player_id="p", currency="EUR", stake_minor=1) for _ in range(40)]
    with ThreadPoolExecutor(8) as threads:
        assert all(placed.accepted == 1 for placed in threads.map(lambda bet: place(client, bet), bets))
    sent = {json.loads(request.body)["bets"][0]["bet_id"] for request in service.received}
    assert sent == {bet.bet_id for bet in bets}


@pytest.mark.parametrize("key", ["", "a b", "é", "a\r\nX: y"])
def test_a_key_that_could_not_be_sent_makes_no_client(key: str) -> None:
    with pytest.raises(ValueError, match="key"):
        JackpotClient("http://127.0.0.1:1", key)


def test_an_address_without_scheme_makes_no_client() -> None:
    with pytest.raises(ValueError, match="http://"):
        JackpotClient("127.0.0.1:8000", "key")


def test_the_environments_proxy_is_not_used_unless_asked_for(
    make_client: MakeClient, service: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    service.script = [PLACED]
    assert place(make_client()).accepted == 1
