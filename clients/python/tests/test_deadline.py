"""A call ends at its deadline, and says what may have been booked."""

import pytest

from jackpot_client import Bet, JackpotClient, NoAnswer, OutcomeUnknown
from tests.support.scripted import BET, BUSY, ROUND, TABLE, Clock, Reply, Scripted, place

pytestmark = pytest.mark.slow


def test_after_the_deadline_the_outcome_is_unknown_and_the_ids_to_repeat_are_named(
    client: JackpotClient, service: Scripted, clock: Clock
) -> None:
    service.script = [BUSY]
    with pytest.raises(OutcomeUnknown, match=r"table_id=live-1, round_id=r1, bet_ids=b1, b2$") as raised:
        place(client, BET, Bet(bet_id="b2", player_id="p2", currency="EUR", stake_minor=1))
    assert (raised.value.table_id, raised.value.round_id, raised.value.bet_ids) == (TABLE, ROUND, ("b1", "b2"))
    assert raised.value.attempts == len(service.received) > 5
    assert sum(clock.slept) < 60


def test_a_wait_beyond_the_deadline_is_not_waited_for(client: JackpotClient, service: Scripted, clock: Clock) -> None:
    service.script = [Reply(503, {}, {"Retry-After": "3600"})]
    with pytest.raises(OutcomeUnknown):
        client.put_result(table_id=TABLE, round_id=ROUND, bet_count=1, hands=[])
    assert (len(service.received), clock.slept) == (1, [])


def test_a_read_without_an_answer_leaves_nothing_to_repeat(client: JackpotClient, service: Scripted) -> None:
    service.script = [BUSY]
    with pytest.raises(NoAnswer) as raised:
        client.meter(jackpot_id="live")
    assert not isinstance(raised.value, OutcomeUnknown)
