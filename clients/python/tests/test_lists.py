"""Lists are read to their last page, one page after another as their items are taken."""

import itertools
from datetime import UTC, datetime

import pytest

from jackpot_client import Casino, JackpotClient, ProtocolError, RoundState
from tests.support.scripted import JACKPOT_JSON, ROUND_JSON, TABLE, Reply, Scripted

pytestmark = pytest.mark.slow

FOUND_JSON = {
    **{name: value for name, value in ROUND_JSON.items() if name != "cycle"},
    "casino_id": "c1",
    "opened_at": "2026-01-02T03:04:05.000000Z",
}


def test_jackpots_are_read_to_the_last_page(client: JackpotClient, service: Scripted) -> None:
    pages = [(["a", "b"], "c 1"), (["c"], None)]
    service.script = [
        Reply(200, {"items": [{**JACKPOT_JSON, "jackpot_id": name} for name in names], "next": cursor})
        for names, cursor in pages
    ]
    assert [jackpot.jackpot_id for jackpot in client.jackpots()] == ["a", "b", "c"]
    assert [request.path for request in service.received] == ["/v1/jackpots", "/v1/jackpots?after=c+1"]


def test_casinos_are_read_to_the_last_page(client: JackpotClient, service: Scripted) -> None:
    riga = {"casino_id": "riga", "name": "Casino Riga", "zone": "Europe/Riga", "day_starts": "06:00"}
    service.script = [
        Reply(200, {"items": [riga], "next": "riga"}),
        Reply(200, {"items": [{**riga, "casino_id": "york"}], "next": None}),
    ]
    casinos = list(client.casinos())
    assert casinos[0] == Casino(casino_id="riga", name="Casino Riga", zone="Europe/Riga", day_starts="06:00")
    assert [casino.casino_id for casino in casinos] == ["riga", "york"]
    assert [request.path for request in service.received] == ["/v1/casinos", "/v1/casinos?after=riga"]


def test_a_page_is_asked_for_when_its_items_are_needed(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(200, {"items": [JACKPOT_JSON, JACKPOT_JSON], "next": "more"})]
    assert len(list(itertools.islice(client.jackpots(), 2))) == 2
    assert len(service.received) == 1


def test_a_list_that_never_ends_is_an_error(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(200, {"items": [], "next": "again"})]
    with pytest.raises(ProtocolError, match="comes back"):
        list(client.jackpots())


def test_open_rounds_are_asked_for_by_what_they_wait_for(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(200, {"items": [FOUND_JSON], "next": None})]
    since = datetime(2026, 1, 2, tzinfo=UTC)
    (round_,) = client.rounds(ended=False, table_id=TABLE, state=RoundState.OPEN, from_=since)
    assert (round_.round_id, round_.bet_count) == ("r1", 1)
    assert round_.opened_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    (request,) = service.received
    assert request.path == "/v1/rounds?ended=false&table_id=live-1&state=open&from=2026-01-02T00%3A00%3A00%2B00%3A00"


def test_a_period_without_an_offset_is_not_asked_for(client: JackpotClient, service: Scripted) -> None:
    with pytest.raises(ValueError, match="from must have an offset"):
        list(client.rounds(from_=datetime(2026, 1, 2)))  # noqa: DTZ001
    assert service.received == []
