"""Answers that end a call: refusals, and what is no answer of this service."""

import pytest

from jackpot_client import JackpotClient, ProtocolError, Refusal
from tests.support.scripted import BUSY, Clock, Reply, Scripted, place, problem

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 413, 415, 422])
def test_a_definite_refusal_is_raised_and_never_sent_again(
    client: JackpotClient, service: Scripted, clock: Clock, status: int
) -> None:
    service.script = [problem(status, "some-code")]
    with pytest.raises(Refusal) as raised:
        place(client)
    assert (raised.value.status, raised.value.code, raised.value.detail) == (status, "some-code", "It is so.")
    assert raised.value.request_id == "q1"
    assert len(service.received) == 1
    assert clock.slept == []


def test_a_refusal_carries_the_problems_facts_and_errors(client: JackpotClient, service: Scripted) -> None:
    error = {"pointer": "/bets/0/stake_minor", "code": "stake-out-of-range", "detail": "Too much."}
    service.script = [problem(409, "bet-count-mismatch", bet_count=2, bet_ids=["b1", "b2"], errors=[error])]
    with pytest.raises(Refusal, match=r"409 bet-count-mismatch: It is so\.; /bets/0/stake_minor: Too much\.") as raised:
        place(client)
    assert raised.value.facts == {"bet_count": 2, "bet_ids": ["b1", "b2"]}
    assert [(error.pointer, error.code) for error in raised.value.errors] == [
        ("/bets/0/stake_minor", "stake-out-of-range")
    ]


def test_an_error_of_a_parameter_or_a_header_names_it(client: JackpotClient, service: Scripted) -> None:
    error = {"pointer": "", "parameter": "Idempotency-Key", "code": "validation", "detail": "Too long."}
    service.script = [problem(422, "validation", errors=[error, {**error, "parameter": "limit"}])]
    with pytest.raises(Refusal, match=r"; Idempotency-Key: Too long\.; limit: Too long\.") as raised:
        place(client)
    assert [(error.pointer, error.parameter) for error in raised.value.errors] == [
        ("", "Idempotency-Key"),
        ("", "limit"),
    ]


def test_an_error_of_the_body_names_no_parameter(client: JackpotClient, service: Scripted) -> None:
    service.script = [problem(422, "validation", errors=[{"pointer": "", "code": "validation", "detail": "No JSON."}])]
    with pytest.raises(Refusal, match=r"; the request: No JSON\.") as raised:
        place(client)
    assert raised.value.errors[0].parameter is None


def test_a_refusal_after_a_lost_answer_says_that_one_was_lost(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(429, {}), BUSY, problem(401, "unauthenticated")]
    with pytest.raises(Refusal) as raised:
        place(client)
    assert raised.value.earlier_attempts_unknown == 1


def test_a_proxys_page_is_no_refusal_of_the_service(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(404, b"<html>", {"Content-Type": "text/html"})]
    with pytest.raises(ProtocolError, match="status 404 with text/html"):
        place(client)
    assert len(service.received) == 1


def test_a_redirection_is_not_followed(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(302, {}, {"Location": "/elsewhere"})]
    with pytest.raises(ProtocolError, match="status 302"):
        place(client)
    assert len(service.received) == 1
