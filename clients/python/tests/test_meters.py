"""A meter that has not moved is not sent again."""

import pytest

from jackpot_client import JackpotClient, ProtocolError
from tests.support.scripted import SHOWN_METER_JSON, Reply, Scripted

pytestmark = pytest.mark.slow


def test_a_meter_that_has_not_moved_is_used_again(client: JackpotClient, service: Scripted) -> None:
    service.script = [
        Reply(200, SHOWN_METER_JSON, {"ETag": '"v1"'}),
        Reply(304),
        Reply(200, {**SHOWN_METER_JSON, "amount_minor": 543406}, {"ETag": '"v2"'}),
        Reply(304),
    ]
    meters = [client.meter(jackpot_id="live", currency="EUR") for _ in range(4)]
    assert [meter.amount_minor for meter in meters] == [543405, 543405, 543406, 543406]
    assert [request.headers.get("If-None-Match") for request in service.received] == [None, '"v1"', '"v1"', '"v2"']
    assert service.received[0].path == "/v1/jackpots/live/meter?currency=EUR"


def test_each_currency_and_jackpot_has_its_own_tag(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(200, SHOWN_METER_JSON, {"ETag": '"v1"'})]
    client.meter(jackpot_id="live", currency="EUR")
    client.meter(jackpot_id="live", currency="GBP")
    client.meter(jackpot_id="live")
    client.meter(jackpot_id="cyber", currency="EUR")
    assert [request.headers.get("If-None-Match") for request in service.received] == [None] * 4


def test_unchanged_in_answer_to_an_untagged_question_is_an_error(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(304)]
    with pytest.raises(ProtocolError, match="status 304"):
        client.meter(jackpot_id="live")
