"""The feed of a display: every frame, again after every break, and stale when nobody speaks."""

import itertools
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from jackpot_client import FeedState, JackpotClient, ProtocolError, Refusal, Retry
from tests.support.scripted import FRAME_JSON, Clock, MakeClient, Reply, Scripted, event_bytes, problem, streamed

pytestmark = pytest.mark.slow

BEGINNING = b"retry: 3000\n\n"
ALIVE = b": alive\n\n"


def frame(amount_minor: int) -> bytes:
    return event_bytes({**FRAME_JSON, "amounts": [{"currency": "EUR", "exponent": 2, "amount_minor": amount_minor}]})


def shown(feed: Iterator[FeedState], count: int) -> list[tuple[int, bool]]:
    """Take so many states, as their amount and whether they are stale."""
    return [(state.frame.amounts[0].amount_minor, state.is_stale) for state in itertools.islice(feed, count)]


def test_frames_are_shown_as_they_come(client: JackpotClient, service: Scripted) -> None:
    service.script = [streamed(BEGINNING + frame(1), ALIVE, frame(2) + frame(3)[:9], frame(3)[9:], 5.0)]
    assert shown(client.feed(jackpot_id="live", currency=["EUR", "GBP"]), 3) == [(1, False), (2, False), (3, False)]
    (request,) = service.received
    assert (request.path, request.headers["Accept"]) == (
        "/v1/jackpots/live/feed?currency=EUR%2CGBP",
        "text/event-stream",
    )


def test_after_a_break_it_listens_again_and_not_all_at_once(
    make_client: MakeClient, service: Scripted, clock: Clock
) -> None:
    retries: list[Retry] = []
    service.script = [streamed(BEGINNING + frame(1)), streamed(BEGINNING + frame(2)), streamed(frame(3), 5.0)]
    client = make_client(on_retry=retries.append)
    assert shown(client.feed(jackpot_id="live"), 3) == [(1, False), (2, False), (3, False)]
    assert [retry.reason for retry in retries] == ["the service ended the stream"] * 2
    # The wait that the stream asked for is the width of the spread, so a crowd does not return at once.
    assert all(0 <= retry.delay_seconds <= 3 for retry in retries)
    assert any(retry.delay_seconds > 0.1 for retry in retries)
    assert sum(clock.slept) == pytest.approx(sum(retry.delay_seconds for retry in retries))


@pytest.mark.parametrize("words", [[], [b"retry: 3000\n\n"], [frame(2).removesuffix(b"\n")]])
def test_streams_that_end_before_the_service_is_heard_are_begun_again_ever_later(
    make_client: MakeClient, service: Scripted, words: list[bytes]
) -> None:
    retries: list[Retry] = []
    service.script = [*[streamed(*words)] * 9, streamed(frame(1), 5.0)]
    assert shown(make_client(on_retry=retries.append).feed(jackpot_id="live"), 1) == [(1, False)]
    assert [retry.attempt for retry in retries] == list(range(2, 11))
    # The last five may take up to 1.6, 3.2, 5, 5 and 5 seconds: that they come to so little has a chance of 1e-5.
    assert sum(retry.delay_seconds for retry in retries[-5:]) > 0.7


@pytest.mark.parametrize("word", [frame(1), ALIVE])
def test_a_frame_or_a_comment_makes_the_pauses_short_again(
    make_client: MakeClient, service: Scripted, word: bytes
) -> None:
    retries: list[Retry] = []
    service.script = [*[streamed()] * 4, streamed(word), streamed(), streamed(frame(2), 5.0)]
    shown(make_client(on_retry=retries.append).feed(jackpot_id="live"), 2 if word != ALIVE else 1)
    assert [retry.attempt for retry in retries] == [2, 3, 4, 5, 2, 3]


def test_a_frame_that_was_cut_off_is_not_shown(client: JackpotClient, service: Scripted) -> None:
    service.script = [streamed(frame(1) + frame(2).removesuffix(b"\n")), streamed(frame(3), 5.0)]
    assert shown(client.feed(jackpot_id="live"), 2) == [(1, False), (3, False)]


def test_a_service_that_does_not_come_back_makes_the_frame_stale_once(
    make_client: MakeClient, service: Scripted, clock: Clock
) -> None:
    busy = problem(503, "busy", retryable=True, retry_after=4)
    service.script = [streamed(frame(1)), *[busy] * 9, streamed(frame(1), 5.0)]
    began = clock.now
    feed = make_client().feed(jackpot_id="live", stale_after=10)
    assert shown(feed, 1) == [(1, False)]
    assert shown(feed, 1) == [(1, True)]
    assert clock.now - began == pytest.approx(10, abs=0.01)
    assert shown(feed, 1) == [(1, False)]
    assert clock.now - began >= 36


def test_silence_makes_the_frame_stale_and_a_word_makes_it_fresh(service: Scripted) -> None:
    """By the real clock, as the silence is of a socket; the connection is replaced, since it may be dead."""
    over = threading.Event()
    busy = problem(503, "busy", retryable=True, retry_after=1)  # For longer than a frame is fresh.
    service.script = [streamed(frame(1), over), busy, streamed(frame(1), over)]
    with JackpotClient(service.url, "key") as client:
        feed = client.feed(jackpot_id="live", stale_after=0.4)
        assert shown(feed, 3) == [(1, False), (1, True), (1, False)]
        over.set()


def test_a_comment_makes_a_stale_frame_fresh(client: JackpotClient, service: Scripted, clock: Clock) -> None:
    is_shown = threading.Event()
    service.script = [streamed(frame(1), is_shown), streamed(ALIVE, 5.0)]
    feed = client.feed(jackpot_id="live", stale_after=15)
    assert shown(feed, 1) == [(1, False)]
    clock.now += 20
    is_shown.set()
    assert shown(feed, 2) == [(1, True), (1, False)]


def test_a_place_that_is_taken_is_waited_for_as_the_service_asks(
    client: JackpotClient, service: Scripted, clock: Clock
) -> None:
    service.script = [problem(503, "busy", retryable=True, retry_after=5), streamed(frame(1), 5.0)]
    assert shown(client.feed(jackpot_id="live"), 1) == [(1, False)]
    assert sum(clock.slept) >= 5


@pytest.mark.parametrize(("status", "code"), [(401, "unauthenticated"), (404, "jackpot-unknown"), (422, "no-rate")])
def test_a_feed_that_is_refused_ends(client: JackpotClient, service: Scripted, status: int, code: str) -> None:
    service.script = [streamed(frame(1)), problem(status, code)]
    feed = client.feed(jackpot_id="live")
    assert shown(feed, 1) == [(1, False)]
    with pytest.raises(Refusal, match=code):
        next(feed)


@pytest.mark.parametrize("wrong", [{"amounts": []}, {**FRAME_JSON, "cycle": 1.5}])
def test_a_frame_that_is_none_is_an_error(client: JackpotClient, service: Scripted, wrong: Any) -> None:
    service.script = [streamed(event_bytes(wrong), 5.0)]
    with pytest.raises(ProtocolError):
        next(client.feed(jackpot_id="live"))


def test_a_display_that_leaves_closes_its_connection(client: JackpotClient, service: Scripted) -> None:
    has_left = threading.Event()

    def speak(handler: Any) -> bool:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + frame(1))
        handler.wfile.flush()
        assert handler.connection.recv(1) == b""
        has_left.set()
        return True

    service.script = [Reply(act=speak)]
    feed = client.feed(jackpot_id="live")
    assert shown(feed, 1) == [(1, False)]
    feed.close()
    assert has_left.wait(5)


def test_a_display_of_an_open_jackpot_shows_no_key(make_client: MakeClient, service: Scripted) -> None:
    service.script = [streamed(frame(1), 5.0)]
    next(make_client(key=None).feed(jackpot_id="live"))
    assert "Authorization" not in service.received[0].headers


def test_feeds_take_no_connection_that_bets_need(service: Scripted) -> None:
    over = threading.Event()
    service.script = [streamed(frame(1), over)] * 3 + [Reply(200, FRAME_JSON)]
    with JackpotClient(service.url, "key", connections=1, deadline=5) as client:
        feeds = [client.feed(jackpot_id="live") for _ in range(3)]
        for feed in feeds:
            next(feed)
        assert client.feed_frame(jackpot_id="live").cycle == 1
        over.set()
