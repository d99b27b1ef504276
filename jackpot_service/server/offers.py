"""Connections that a worker offers to another: one of the two has such a connection, whatever becomes of the other."""

import os
from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

LONGEST_OFFER_S: Final = 0.25
"""A worker that has not taken a connection by then is stopped, stuck or gone. The client waits meanwhile."""

MOST_OFFERS: Final = 8
"""Connections at a time; each needs two files more while it is offered."""

_UNTAKEN: Final = 2**64 - 2
"""The most that an eventfd holds: nothing can be written to it until it is read, so its writer hears when it is."""


def take(token: int) -> bool:
    """Take the token of a connection, of which one worker alone gets hold; returns whether it is this one."""
    try:
        os.eventfd_read(token)
    except BlockingIOError:
        return False
    return True


@dataclass(frozen=True, slots=True, eq=False)
class _Offer:
    connection: int
    token: int


class Offers:
    """
    The connections that a worker has offered and no other has taken yet.

    `send` is given a connection and its token, both as files, and raises OSError if the other worker does not get them.
    The worker that takes the token has the connection, and the other closes it. `serve` is given a connection that was
    taken back.
    """

    def __init__(self, loop: AbstractEventLoop, serve: Callable[[int], object]) -> None:
        self._loop = loop
        self._serve = serve
        self._open: dict[_Offer, TimerHandle] = {}

    def make(self, connection: int, *, send: Callable[[int, int], object]) -> bool:
        """Offer a connection, which the caller is to close then; returns whether it could be offered."""
        if len(self._open) >= MOST_OFFERS:
            return False
        try:
            with ExitStack() as files:
                mine = os.dup(connection)
                files.callback(os.close, mine)
                token = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
                files.callback(os.close, token)
                os.eventfd_write(token, _UNTAKEN)
                send(mine, token)
                files.pop_all()
        except OSError:  # The other takes nothing at the moment, or has ended; or this worker has no files left.
            return False
        offer = _Offer(mine, token)
        self._open[offer] = self._loop.call_later(LONGEST_OFFER_S, self._take_back, offer)
        self._loop.add_writer(token, self._was_taken, offer)
        return True

    def take_back_all(self) -> None:
        """Take back the connections that the others have not taken."""
        for offer in tuple(self._open):
            self._take_back(offer)

    def _take_back(self, offer: _Offer) -> None:
        if not take(offer.token):
            self._was_taken(offer)
            return
        self._forget(offer)
        self._serve(offer.connection)

    def _was_taken(self, offer: _Offer) -> None:
        self._forget(offer)
        os.close(offer.connection)

    def _forget(self, offer: _Offer) -> None:
        self._open.pop(offer).cancel()
        self._loop.remove_writer(offer.token)
        os.close(offer.token)
