"""A service of another version, or something else at its address: each a message that says so."""

import pytest

from jackpot_client import JackpotClient, ProtocolError, Refusal
from tests.support.scripted import (
    FRAME_JSON,
    JACKPOT_JSON,
    PLACED_JSON,
    ROUND_JSON,
    MakeClient,
    Reply,
    Scripted,
    place,
    problem,
)

pytestmark = pytest.mark.slow

PROBLEM = {"Content-Type": "application/problem+json"}


def test_a_call_that_the_service_does_not_know_is_named(client: JackpotClient, service: Scripted) -> None:
    service.script = [problem(404, "not-found")]
    with pytest.raises(ProtocolError, match=r"knows no GET /v1/me: .* version that this client was not made for"):
        client.me()
    assert len(service.received) == 1


def test_what_is_not_there_for_this_key_is_a_refusal(client: JackpotClient, service: Scripted) -> None:
    service.script = [problem(404, "table-unknown")]
    with pytest.raises(Refusal, match="404 table-unknown"):
        client.table(table_id="T1")


@pytest.mark.parametrize("status", [200, 403, 404])
def test_a_proxys_page_is_named_as_one(client: JackpotClient, service: Scripted, status: int) -> None:
    service.script = [Reply(status, b"<html>Sign in</html>", {"Content-Type": "text/html"})]
    with pytest.raises(ProtocolError, match=r"text/html|not JSON of this service") as raised:
        client.me()
    assert "Sign in" in str(raised.value)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ({}, "lacks /code"),
        ({"code": "gone"}, "lacks /title"),
        ({"code": 7, "title": "No", "detail": "No.", "retryable": False}, "/code is not a string"),
        ({"code": "gone", "title": "No", "detail": "No.", "retryable": "no"}, "/retryable is not true or false"),
        ({"code": "gone", "title": "No", "detail": "No.", "retryable": False, "errors": [{}]}, "/errors/0/pointer"),
    ],
)
def test_a_problem_of_an_unknown_shape_is_an_error_that_names_it(
    client: JackpotClient, service: Scripted, content: object, named: str
) -> None:
    service.script = [Reply(404, content, PROBLEM)]
    with pytest.raises(ProtocolError, match=named):
        client.me()


def test_a_problem_that_is_unknown_and_retryable_is_asked_again(client: JackpotClient, service: Scripted) -> None:
    service.script = [problem(409, "in-a-moment", retryable=True), Reply(201, PLACED_JSON)]
    assert place(client).accepted == 1


@pytest.mark.parametrize("status", [501, 505])
def test_a_service_that_never_takes_such_a_request_is_not_asked_again(
    client: JackpotClient, service: Scripted, status: int
) -> None:
    service.script = [problem(status, "method-unknown")]
    with pytest.raises(Refusal, match="method-unknown"):
        client.me()
    assert len(service.received) == 1


def test_a_missing_member_names_the_version(client: JackpotClient, service: Scripted) -> None:
    older = {name: value for name, value in ROUND_JSON.items() if name != "game_number"}
    service.script = [Reply(200, {**PLACED_JSON, "round": older})]
    with pytest.raises(ProtocolError, match="lacks /round/game_number: the service is of a version"):
        place(client)


def test_a_word_for_display_that_is_new_is_passed_on(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(200, {**JACKPOT_JSON, "state": "resting"})]
    assert client.jackpot(jackpot_id="live").state == "resting"


def test_a_feed_that_is_no_stream_is_an_error(client: JackpotClient, service: Scripted) -> None:
    service.script = [Reply(200, FRAME_JSON)]
    with pytest.raises(ProtocolError, match=r"status 200 with application/json in answer to GET .*, not a stream"):
        next(client.feed(jackpot_id="live"))


def test_a_service_with_a_path_in_front_is_reached(make_client: MakeClient, service: Scripted) -> None:
    service.script = [Reply(201, PLACED_JSON)]
    place(make_client(f"{service.url}/ledger"))
    assert service.received[0].path == "/ledger/v1/tables/live-1/rounds/r1/bets"
