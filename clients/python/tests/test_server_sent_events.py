"""Server-sent events are read by the rules of HTML, however they are divided into pieces."""

import itertools

import pytest

from jackpot_client import ProtocolError
from jackpot_client.server_sent_events import ServerSentEvents

STREAM = b"retry: 3000\n\n: alive\n\nid: 1\ndata: a\n\ndata:b\ndata: c\n\nid: 2\n\nevent: x\ndata\n\ndata: cut off"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_pieces_of_any_size_are_read_alike(end: bytes, size: int) -> None:
    stream, written = ServerSentEvents(), STREAM.replace(b"\n", end)
    pieces = [written[at : at + size] for at in range(0, len(written), size)]
    assert [data for piece in pieces for data in stream.read(piece)] == [b"a", b"b\nc", b""]
    assert (stream.last_event_id, stream.retry_ms) == ("2", 3000)


def test_the_id_of_an_event_that_was_cut_off_is_not_taken() -> None:
    stream = ServerSentEvents()
    assert list(stream.read(b"id: 1\ndata: a\n\nid: 2\ndata: b\n")) == [b"a"]
    assert stream.last_event_id == "1"


def test_an_event_that_does_not_end_is_an_error() -> None:
    pieces = (b"data: " + b"x" * 1_000_000 for _ in range(10))
    stream = ServerSentEvents()
    with pytest.raises(ProtocolError, match="does not end"):
        list(itertools.chain.from_iterable(map(stream.read, pieces)))
