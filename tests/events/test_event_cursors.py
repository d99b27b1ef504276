"""Cursors of events: short enough for a request line, and read back exactly or not at all."""

import base64
import hashlib
from typing import Final

import pytest

from jackpot_service.events.cursor import BEGINNING, LONGEST, Begun, Cursor, Positions, decode, encode
from jackpot_service.events.entries import (
    MOST_LOOKED_AT,
    CursorAhead,
    Heads,
    Window,
    require_reached,
    windows,
)

SOME: Final = Cursor({"-": (7,), "live": (3, 0, 2**63 - 1)})


def by_hand(content: bytes) -> str:
    """What somebody writes who knows how cursors are made."""
    checksum = hashlib.sha256(b"jackpot events " + content).digest()[:8]
    return base64.urlsafe_b64encode(content + checksum).rstrip(b"=").decode()


@pytest.mark.parametrize(
    "cursor", [BEGINNING, SOME, Cursor(SOME.positions, Begun("live", 1, 300)), Cursor({}, Begun("-", 0, 1))]
)
def test_a_cursor_is_read_as_it_was_written(cursor: Cursor) -> None:
    assert decode(encode(cursor)) == cursor


def test_stripes_and_books_of_which_nothing_was_told_are_not_written() -> None:
    assert decode(encode(Cursor({"a": (0, 0), "b": (1, 0), "c": ()}))) == Cursor({"b": (1,)})


@pytest.mark.parametrize(("jackpots", "stripes", "most"), [(1, 16, 110), (50, 16, 4_300), (50, 256, LONGEST)])
def test_a_cursor_fits_into_a_request_line(jackpots: int, stripes: int, most: int) -> None:
    """Of a million entries a stripe; proxies take 8,000 characters unless told otherwise, the service 60,000."""
    positions = {f"casino-live-{number:02}": (1_000_000,) * stripes for number in range(jackpots)}

    assert len(encode(Cursor({"-": (1_000_000,), **positions}))) <= most


WHOLE: Final = encode(SOME)


@pytest.mark.parametrize(
    "text",
    {
        "nothing": "",
        "no base64": "k1f",
        "other letters": "a+b/c=",
        "padded": f"{WHOLE}=",
        "an end that cannot be": WHOLE[:-3],
        "with white space": f"{WHOLE}\n",
        "letters that are no ASCII": "\xe9" * 40,
        "NUL": "\0" * 40,
        "only a checksum": by_hand(b""),
        "nothing but a version": by_hand(b"\x01"),
        "another version": by_hand(b"\x02\x00"),
        "too long": "A" * (LONGEST + 1),
        "as long as may be": "A" * LONGEST,
        "a number without an end": by_hand(b"\x01\x00\x01-\x01" + b"\xff" * 40_000),
        "a number above any bigint": by_hand(b"\x01\x00\x01-\x01" + b"\xff" * 9 + b"\x01"),
        "a number written longer than it is": by_hand(b"\x01\x00\x01-\x01\x81\x00"),
        "more stripes than there can be": by_hand(b"\x01\x00\x01-\x81\x02" + b"\x01" * 257),
        "fewer seqs than it says": by_hand(b"\x01\x00\x01-\x02\x01"),
        "a name longer than the rest": by_hand(b"\x01\x00\xff-\x01\x01"),
        "a book without a name": by_hand(b"\x01\x00\x00\x01\x01"),
        "a book of another name": by_hand(b"\x01\x00\x03a/b\x01\x01"),
        "a book that is no ASCII": by_hand(b"\x01\x00\x01\xe9\x01\x01"),
        "books in another order": by_hand(b"\x01\x00\x01b\x01\x01\x01a\x01\x01"),
        "a book twice": by_hand(b"\x01\x00\x01a\x01\x01\x01a\x01\x02"),
        "a stripe at 0 at the end": by_hand(b"\x01\x00\x01a\x02\x01\x00"),
        "begun nowhere": by_hand(b"\x01\x05"),
    }.items(),
    ids=lambda pair: pair[0],
)
def test_what_is_no_cursor_is_refused(text: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=r"must be the `next`|is a cursor of version 2|is longer than"):
        decode(text[1])


def test_every_letter_that_was_changed_or_cut_is_noticed() -> None:
    for place in range(len(WHOLE)):
        other = "A" if WHOLE[place] != "A" else "B"
        for text in (WHOLE[:place] + other + WHOLE[place + 1 :], WHOLE[:place]):
            with pytest.raises(ValueError, match="must be the `next`"):
                decode(text)


def test_another_version_says_so() -> None:
    with pytest.raises(ValueError, match="is a cursor of version 2; this service reads version 1"):
        decode(by_hand(b"\x02\x00"))


@pytest.mark.parametrize(
    ("positions", "begun"),
    [
        ({"live": (4,)}, None),
        ({"live": (3, 6)}, None),
        ({"other": (1,)}, None),
        ({"live": (3,)}, Begun("live", 0, 1)),
        ({}, Begun("other", 0, 1)),
    ],
    ids=["beyond the end", "a stripe that is not there", "a book that is not there", "begun beyond", "begun nowhere"],
)
def test_a_cursor_of_other_books_is_refused_where_they_are_written_and_waits_at_a_replica(
    positions: Positions, begun: Begun | None
) -> None:
    cursor, reached = Cursor(positions, begun), {"live": (3, 5)}

    with pytest.raises(CursorAhead, match="it comes from other books"):
        require_reached(cursor, Heads(reached))

    require_reached(cursor, Heads(reached, is_replica=True))


def test_at_a_replica_that_is_behind_there_is_nothing_to_look_at() -> None:
    assert windows(Cursor({"live": (9, 2)}), Heads({"live": (7, 2)}, is_replica=True)) == []


def test_what_a_page_looks_at_is_shared_among_the_stripes_that_went_further() -> None:
    reached = Heads({"a": (10**6, 10**6), "b": (5, 10**6)})

    windows_ = windows(Cursor({"a": (0, 100), "b": (5,)}), reached)

    share = MOST_LOOKED_AT // 3
    assert windows_ == [
        Window("a", 0, 0, share, 10**6),
        Window("a", 1, 100, 100 + share, 10**6),
        Window("b", 1, 0, share, 10**6),
    ]


def test_every_stripe_moves_on_however_many_there_are() -> None:
    windows_ = windows(BEGINNING, Heads({f"j{number}": (9,) * 256 for number in range(50)}))

    assert {window.upto for window in windows_} == {1}
