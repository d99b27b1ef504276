"""Whole bodies: read to their end, bounded each and all together, and shared by those who send them."""

import asyncio
from typing import Any

import pytest

from jackpot_service.api.places import Caller, Places
from jackpot_service.api.requests import SMALL, Body, Gone, length_of
from jackpot_service.database.failures import Busy

FLOOD, OTHER = Caller("c1", "flood"), Caller("c2", "other")
MOST = 100 * SMALL


def sent(*pieces: bytes, ends: bool = True) -> Any:
    """Receive pieces of a body; then the client goes away, if that was not its end."""
    messages: list[dict[str, Any]] = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    if ends:
        messages[-1]["more_body"] = False
    left = iter([*messages, {"type": "http.disconnect"}])

    async def receive() -> dict[str, Any]:
        return next(left)

    return receive


def read(room: Places, receive: Any, caller: Caller = FLOOD, *, most_bytes: int = MOST) -> Body:
    body = Body(room)
    asyncio.run(body.read(receive, caller, most_bytes=most_bytes))
    return body


def room(most: int = MOST) -> Places:
    return Places("bytes of bodies", most)


@pytest.mark.parametrize("pieces", [(b"",), (b"abc",), (b"a", b"", b"bc"), (b"x" * 3 * SMALL,), (b"y" * SMALL, b"z")])
def test_a_body_is_what_was_sent(pieces: tuple[bytes, ...]) -> None:
    assert read(room(), sent(*pieces)).data == b"".join(pieces)


@pytest.mark.parametrize("pieces", [(b"x" * 50,), (b"x" * 10, b"y" * 10, b"z" * 30), (b"x", b"", b"z" * 11)])
def test_of_a_body_that_is_too_long_no_more_is_kept_than_shows_it(pieces: tuple[bytes, ...]) -> None:
    assert read(room(), sent(*pieces), most_bytes=10).data == b"".join(pieces)[:11]


def test_a_client_that_goes_away_within_a_body_has_sent_none() -> None:
    of = room()
    body = Body(of)
    with pytest.raises(Gone):
        asyncio.run(body.read(sent(b"x" * SMALL, ends=False), FLOOD, most_bytes=MOST))
    body.forget()
    assert of.has_taken(OTHER, MOST)


def test_bodies_that_one_caller_sends_by_halves_leave_room_for_another() -> None:
    of = room()
    held = [Body(of) for _ in range(101)]
    for body in held[:-1]:
        with pytest.raises(Gone):
            asyncio.run(body.read(sent(b"x" * SMALL, ends=False), FLOOD, most_bytes=MOST))
    with pytest.raises(Busy):
        asyncio.run(held[-1].read(sent(b"x" * SMALL, ends=False), FLOOD, most_bytes=MOST))
    assert read(of, sent(b"y" * 2 * SMALL), OTHER).data == b"y" * 2 * SMALL
    for body in held:
        body.forget()
        body.forget()  # Once is enough.
    assert of.has_taken(FLOOD, MOST - 2 * SMALL)


@pytest.mark.parametrize(
    ("header", "length"),
    [(b"", None), (b"0", 0), (b"12", 12), (b"9" * 10, None), (b"-1", None), (b"+1", None), (b"1_0", None)],
)
def test_a_length_is_digits_and_not_too_many(header: bytes, length: int | None) -> None:
    assert length_of(header) == length
