"""
Feeds: what displays show of a jackpot, as often as it changes, at most once a second.

A worker looks at a jackpot once a second while somebody listens, and writes each frame once for all who want the same
currencies. A new listener gets the last frame at once, and the next with all. A frame says everything, so a listener
that is slow misses frames and nothing else. While the books cannot be read, nothing is said: a display that has heard
nothing for a while says so itself.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

import structlog

from jackpot_service.api.asgi import Presence
from jackpot_service.api.recent import Recent
from jackpot_service.api.streams import ALIVE, BEGINNING, Pieces, event_bytes
from jackpot_service.database.reads import Reading
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.facts import instant
from jackpot_service.reports.displays import DisplayedHit
from jackpot_service.reports.jackpots import JackpotState

EVERY_S: Final = 1.0
ALIVE_EVERY_S: Final = 5.0

AT_ONCE: Final = 25
"""Listeners that get a frame in one turn of the loop: a bet waits for no more of them."""

LONGEST_PAUSE_S: Final = 0.005
LONGEST_ROUND_S: Final = 0.3
"""Between two such turns the loop is free for bets; so long it takes at most until all listeners have their frame."""

ALL: Final = ""
"""The name of the reading of all displayed jackpots."""

Currencies = tuple[str, ...]
Frame = dict[str, Any]

log = structlog.get_logger()


def frame_of(state: JackpotState, hit: DisplayedHit | None, currencies: Currencies) -> Frame:
    """
    Write what a display shows: the meter in whole minor units of each currency, rounded down, and the last hit.

    Without currencies the base currency is shown. Raises: NoRate.
    """
    rates = [state.sheet.rate(currency) for currency in currencies or (state.rules.base,)]
    return {
        "jackpot_id": state.jackpot_id,
        "state": state.life.value,
        "cycle": state.meter.cycle,
        "rate_sheet": state.sheet.number or None,
        "amounts": [
            {
                "currency": rate.currency,
                "exponent": rate.exponent,
                "amount_minor": state.meter.amount_minor(rate),
            }
            for rate in rates
        ],
        "last_hit": None if hit is None else _hit(hit),
    }


def _hit(hit: DisplayedHit) -> Frame:
    return {
        "cycle": hit.cycle,
        "hit_at": instant(hit.hit_at),
        "casino_id": hit.casino_id,
        "casino": hit.casino,
        "currency": hit.currency,
        "exponent": hit.exponent,
        "amount_minor": hit.amount_minor,
        "cards": list(hit.cards),
        "winners": hit.winners,
    }


class _Listener:
    """One who listens: the last piece that was not taken yet, and a wish to be woken."""

    __slots__ = ("is_over", "needs_display", "piece", "presence", "waking")

    def __init__(self, presence: Presence, *, needs_display: bool) -> None:
        self.presence = presence
        presence.when_left = self.end
        self.needs_display = needs_display
        self.piece = b""
        self.is_over = False
        self.waking: asyncio.Future[None] | None = None

    def send(self, piece: bytes) -> None:
        self.piece = piece
        self._wake()

    def end(self) -> None:
        self.is_over = True
        self._wake()

    def _wake(self) -> None:
        if self.waking is not None and not self.waking.done():
            self.waking.set_result(None)

    async def next(self) -> bytes | None:
        """Wait for a piece; None when it is over."""
        while not self.piece and not self.is_over:
            self.waking = asyncio.get_running_loop().create_future()
            await self.waking
        piece, self.piece = self.piece, b""
        return None if self.is_over or self.presence.has_left else piece


@dataclass
class _Channel:
    """Those who want the same currencies, and their last frame."""

    currencies: Currencies
    listeners: dict[_Listener, None] = field(default_factory=dict)
    frame: Frame = field(default_factory=dict)
    piece: bytes = b""
    sent_at: float = 0.0

    def end(self, listener: _Listener) -> None:
        """End a listener, and forget it, even if nobody took a piece of its answer."""
        self.listeners.pop(listener, None)
        listener.end()

    def news_of(self, state: JackpotState, hit: DisplayedHit | None, *, now: float) -> bytes:
        """Return the piece for now, an empty one if there is nothing new. Raises: NoRate."""
        frame = frame_of(state, hit, self.currencies)
        if frame != self.frame:
            self.frame, self.piece, self.sent_at = frame, event_bytes(frame), now
            return self.piece
        if now - self.sent_at >= ALIVE_EVERY_S:
            self.sent_at = now
            return ALIVE
        return b""


class _Followed:
    """A jackpot that somebody listens to."""

    def __init__(self) -> None:
        self.channels: dict[Currencies, _Channel] = {}
        self.task: asyncio.Task[None] | None = None

    @property
    def listeners(self) -> list[tuple[_Channel, _Listener]]:
        return [(channel, listener) for channel in self.channels.values() for listener in channel.listeners]


class Feeds:
    """
    The feeds of a worker.

    `last_hit` reads a jackpot's before its running cycle, and must be done at an instant of the steady clock.
    `displayed` reads at the primary which jackpots are open to all.
    """

    def __init__(
        self,
        meters: Recent[Reading[JackpotState]],
        last_hit: Callable[[str, int, float], Awaitable[DisplayedHit | None]],
        displayed: Recent[frozenset[str]],
        *,
        longest_wait_s: float,
    ) -> None:
        self._meters = meters
        self._last_hit = last_hit
        self._displayed = displayed
        self._longest_wait_s = longest_wait_s
        self._followed: dict[str, _Followed] = {}
        self._hits: dict[str, tuple[int, DisplayedHit | None]] = {}
        self._reading: dict[tuple[str, int], asyncio.Task[DisplayedHit | None]] = {}
        self._is_ending = False

    @property
    def is_idle(self) -> bool:
        """Whether no jackpot is followed."""
        return not self._followed

    async def state(self, jackpot_id: str, *, ends_at: float) -> Reading[JackpotState]:
        """Read a jackpot as it stood within the last second. Raises: UnknownJackpot; Unavailable."""
        return await self._meters.get_async(jackpot_id, ends_at=ends_at)

    async def is_displayed(self, jackpot_id: str, *, ends_at: float) -> bool:
        """Whether a jackpot is open to all, as was known at the primary a moment ago. Raises: Unavailable."""
        return jackpot_id in await self._displayed.get_async(ALL, ends_at=ends_at)

    async def frame(self, state: JackpotState, currencies: Currencies) -> Frame:
        """Write one frame. Raises: NoRate; Unavailable."""
        return frame_of(state, await self._hit_before(state), currencies)

    async def listen(
        self,
        state: JackpotState,
        currencies: Currencies,
        presence: Presence,
        *,
        needs_display: bool,
    ) -> Pieces:
        """
        Begin to listen; the pieces begin with the jackpot as it stands.

        Where it `needs_display`, listening ends as soon as the jackpot is not displayed any more. Raises: NoRate;
        Unavailable.
        """
        hit = await self._hit_before(state)
        followed = self._followed.get(state.jackpot_id) or _Followed()
        channel = followed.channels.get(currencies) or _Channel(currencies)
        if not channel.piece:
            channel.news_of(state, hit, now=time.monotonic())
        # Only now, when nothing is wrong with what is asked for: who is refused leaves nothing behind.
        self._followed[state.jackpot_id] = followed
        followed.channels[currencies] = channel
        listener = _Listener(presence, needs_display=needs_display)
        listener.send(BEGINNING + channel.piece)
        if self._is_ending:
            listener.end()
        channel.listeners[listener] = None
        if followed.task is None or followed.task.done():
            followed.task = asyncio.get_running_loop().create_task(self._follow(state.jackpot_id, followed))
        return self._pieces(channel, listener)

    def end(self) -> None:
        """End all feeds: the process is to end."""
        self._is_ending = True
        for followed in self._followed.values():
            for _, listener in followed.listeners:
                listener.end()

    async def _pieces(self, channel: _Channel, listener: _Listener) -> Pieces:
        try:
            while (piece := await listener.next()) is not None:
                yield piece
        finally:
            channel.listeners.pop(listener, None)

    async def _follow(self, jackpot_id: str, followed: _Followed) -> None:
        """Look for as long as somebody listens, a second after the first frame was written and after each look."""
        try:
            await asyncio.sleep(EVERY_S)
            while followed.listeners and not self._is_ending:
                try:
                    await self._look(jackpot_id, followed)
                except LedgerError as error:
                    log.debug("feed-not-read", jackpot_id=jackpot_id, code=error.code)
                await asyncio.sleep(EVERY_S)
        finally:
            # Also when the task is stopped, or fails: nobody waits for what does not come.
            if self._followed.get(jackpot_id) is followed:
                del self._followed[jackpot_id]
            for channel, listener in followed.listeners:
                channel.end(listener)

    async def _look(self, jackpot_id: str, followed: _Followed) -> None:
        ends_at = time.monotonic() + self._longest_wait_s
        state = (await self._meters.get_async(jackpot_id, ends_at=ends_at)).value
        hit = await self._hit_before(state)
        has_strangers = any(listener.needs_display for _, listener in followed.listeners)
        is_over = has_strangers and not await self.is_displayed(jackpot_id, ends_at=ends_at)
        news = self._news(followed, state, hit)
        turns = [news[start : start + AT_ONCE] for start in range(0, len(news), AT_ONCE)]
        for turn in turns:
            for channel, listener, piece in turn:
                if (listener.needs_display and is_over) or listener.presence.has_left:
                    channel.end(listener)
                elif piece:
                    listener.send(piece)
            await asyncio.sleep(min(LONGEST_PAUSE_S, LONGEST_ROUND_S / len(turns)))
        for channel in [*followed.channels.values()]:
            if not channel.listeners:
                del followed.channels[channel.currencies]

    @staticmethod
    def _news(
        followed: _Followed, state: JackpotState, hit: DisplayedHit | None
    ) -> list[tuple[_Channel, _Listener, bytes]]:
        """Return the piece of each listener, an empty one if there is nothing new; end those that get none any more."""
        news = []
        for channel in followed.channels.values():
            try:
                piece = channel.news_of(state, hit, now=time.monotonic())
            except LedgerError:  # Its currency is in no sheet any more.
                for listener in [*channel.listeners]:
                    channel.end(listener)
            else:
                news += [(channel, listener, piece) for listener in channel.listeners]
        return news

    async def _hit_before(self, state: JackpotState) -> DisplayedHit | None:
        """Return the hit before the running cycle; it is read once a cycle, however many ask. Raises: Unavailable."""
        jackpot_id, cycle = place = state.jackpot_id, state.meter.cycle
        cached = self._hits.get(jackpot_id)
        if cached is not None and cached[0] == cycle:
            return cached[1]
        reading = self._reading.get(place)
        if reading is None:
            reading = self._reading[place] = asyncio.get_running_loop().create_task(self._read_hit(jackpot_id, cycle))
            reading.add_done_callback(lambda _: self._reading.pop(place, None))
        return await asyncio.shield(reading)

    async def _read_hit(self, jackpot_id: str, cycle: int) -> DisplayedHit | None:
        hit = await self._last_hit(jackpot_id, cycle, time.monotonic() + self._longest_wait_s)
        self._hits[jackpot_id] = cycle, hit
        return hit
