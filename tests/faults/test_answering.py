"""Answers leave in one piece, in order, and none is lost when the connection is closed."""

import asyncio

import pytest

from jackpot_service.server.transports import LARGEST_PIECE, ClientTransport


class Recorder(asyncio.Transport):
    """A transport that keeps what it is given, and in which order."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[bytes | str] = []

    def write(self, data: bytes) -> None:  # type: ignore[override]
        self.done.append(data)

    def write_eof(self) -> None:
        self.done.append("eof")

    def close(self) -> None:
        self.done.append("close")

    def abort(self) -> None:
        self.done.append("abort")

    def get_write_buffer_size(self) -> int:
        return 7


def made() -> tuple[Recorder, ClientTransport]:
    recorder = Recorder()
    return recorder, ClientTransport(recorder, asyncio.get_running_loop())


def test_what_is_written_in_one_turn_of_the_loop_leaves_in_one_piece() -> None:
    async def test() -> None:
        recorder, answering = made()
        answering.write(b"head ")
        answering.write(b"body")
        assert (recorder.done, answering.get_write_buffer_size()) == ([], 16)
        await asyncio.sleep(0)
        answering.write(b"more")
        await asyncio.sleep(0)
        assert (recorder.done, answering.get_write_buffer_size()) == ([b"head body", b"more"], 7)

    asyncio.run(test())


@pytest.mark.parametrize(("end", "written"), [(ClientTransport.close, "close"), (ClientTransport.write_eof, "eof")])
def test_what_was_written_leaves_before_the_end(end: object, written: str) -> None:
    async def test() -> None:
        recorder, answering = made()
        answering.write(b"all")
        assert callable(end)
        end(answering)
        await asyncio.sleep(0)
        assert recorder.done == [b"all", written]

    asyncio.run(test())


def test_nothing_leaves_after_an_abort() -> None:
    async def test() -> None:
        recorder, answering = made()
        answering.write(b"all")
        answering.abort()
        await asyncio.sleep(0)
        assert recorder.done == ["abort"]

    asyncio.run(test())


def test_large_pieces_do_not_wait_for_each_other() -> None:
    async def test() -> None:
        recorder, answering = made()
        for _ in range(3):
            answering.write(LARGEST_PIECE * b"x")
        assert sum(map(len, recorder.done)) >= LARGEST_PIECE
        await asyncio.sleep(0)
        assert b"".join(piece for piece in recorder.done if isinstance(piece, bytes)) == 3 * LARGEST_PIECE * b"x"

    asyncio.run(test())
