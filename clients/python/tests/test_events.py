"""Events are followed by cursors that a consumer stores: nothing skipped, whatever breaks."""

import itertools
import threading
from typing import Any

import pytest

from jackpot_client import JackpotClient, NotSent, Refusal, Retry
from tests.support.scripted import BUSY, Content, MakeClient, Reply, Scripted, drop, problem

pytestmark = pytest.mark.slow


HIT_JSON: Content = {
    "jackpot_id": "live",
    "table_id": "T1",
    "round_id": "won",
    "cycle": 1,
    "currency": "EUR",
    "meter_before": "0.9765",
    "paid": "0.9765",
    "carried": "0",
    "overflow": "0",
    "house_seed": "0",
}


def event(number: int) -> dict[str, Any]:
    return {
        "specversion": "1.0",
        "id": f"live/0/{number}/1",
        "source": "urn:jackpot:book:live",
        "type": "jackpot.hit",
        "subject": "jackpot live",
        "time": "2026-01-02T03:04:05.678901Z",
        "datacontenttype": "application/json",
        "data": HIT_JSON,
    }


def page(next_: str, *numbers: int) -> Reply:
    return Reply(200, {"items": [event(number) for number in numbers], "next": next_, "has_more": bool(numbers)})


def taken(client: JackpotClient, count: int, **options: Any) -> list[tuple[str, str | None]]:
    """Take so many events, as their number and the cursor to store."""
    return [(event.id.split("/")[2], event.cursor) for event in itertools.islice(client.events(**options), count)]


def test_a_cursor_to_store_loses_nothing_that_was_not_handled(client: JackpotClient, service: Scripted) -> None:
    """Within a page the cursor is the one before it; what was handled of the page comes again, the rest for sure."""
    service.script = [page("c1", 1, 2), page("c2"), page("c3", 3, 4)]
    assert taken(client, 4) == [("1", None), ("2", "c1"), ("3", "c2"), ("4", "c3")]
    paths = [request.path for request in service.received]
    assert paths == ["/v1/events?wait=20", "/v1/events?after=c1&wait=20", "/v1/events?after=c2&wait=20"]


def test_a_stored_cursor_is_gone_on_from(client: JackpotClient, service: Scripted) -> None:
    service.script = [page("c8", 8)]
    assert taken(client, 1, after="c7", limit=50) == [("8", "c8")]
    assert service.received[0].path == "/v1/events?after=c7&limit=50&wait=20"


def test_from_now_on_there_is_a_cursor_before_the_first_event(client: JackpotClient, service: Scripted) -> None:
    """`now` is never handed out to be stored: stored, it would skip what happened in between."""
    service.script = [page("c0"), page("c1", 1, 2)]
    assert taken(client, 2, after="now") == [("1", "c0"), ("2", "c1")]
    assert [request.path for request in service.received] == ["/v1/events?after=now", "/v1/events?after=c0&wait=20"]


def test_pages_are_handed_out_even_if_they_are_empty(client: JackpotClient, service: Scripted) -> None:
    service.script = [page("c1"), page("c2", 1)]
    pages = list(itertools.islice(client.event_pages(after="c0"), 2))
    assert [(len(page.items), page.next) for page in pages] == [(0, "c1"), (1, "c2")]


@pytest.mark.parametrize("break_", [Reply(act=drop), BUSY, Reply(429, {}), Reply(502, b"<html>")])
def test_after_a_break_it_goes_on_after_the_last_page(client: JackpotClient, service: Scripted, break_: Reply) -> None:
    service.script = [page("c1", 1), *[break_] * 200, page("c2", 2)]
    assert taken(client, 2) == [("1", "c1"), ("2", "c2")]
    assert {request.path for request in service.received[1:]} == {"/v1/events?after=c1&wait=20"}
    assert len(service.received) == 202


def test_with_a_deadline_it_gives_up(make_client: MakeClient) -> None:
    retries: list[Retry] = []
    with pytest.raises(NotSent, match="within 30 s"):
        taken(make_client("http://127.0.0.1:1", on_retry=retries.append), 1, deadline=30)
    assert len(retries) > 5


@pytest.mark.parametrize("code", ["validation", "cursor-ahead"])
def test_a_cursor_that_was_changed_is_a_refusal_at_once(client: JackpotClient, service: Scripted, code: str) -> None:
    error = {"pointer": "", "parameter": "after", "code": code, "detail": "must be unchanged"}
    service.script = [problem(422, code, errors=[error])]
    with pytest.raises(Refusal, match="after: must be unchanged") as raised:
        next(client.events(after="c1x"))
    assert raised.value.errors[0].parameter == "after"
    assert len(service.received) == 1


def test_waiting_takes_no_connection_that_bets_need(service: Scripted) -> None:
    is_asked, over = threading.Event(), threading.Event()

    def hold(_: object) -> None:
        is_asked.set()
        over.wait(10)

    waiting = page("c2", 2)
    service.script = [Reply(200, waiting.content, act=hold), page("c1", 1)]
    with JackpotClient(service.url, "key", connections=1, deadline=5) as client:
        follower = threading.Thread(target=taken, args=(client, 1), daemon=True)
        follower.start()
        assert is_asked.wait(10)
        assert client.event_page(after="c0").next == "c1"
        over.set()
        follower.join(10)


def test_a_wait_is_given_its_time(service: Scripted) -> None:
    """An attempt may take as long as the service may wait, and `timeout` on top."""

    def hold(_: object) -> None:
        threading.Event().wait(1.5)

    service.script = [Reply(200, page("c1", 1).content, act=hold)]
    with JackpotClient(service.url, "key", timeout=0.3, deadline=0.5) as client:
        assert taken(client, 1) == [("1", "c1")]
    assert len(service.received) == 1
