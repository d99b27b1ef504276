"""The client of programs with asyncio: the same calls as `JackpotClient`, to be awaited."""

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

import httpx

from jackpot_client.async_line import AsyncLine
from jackpot_client.calls import events as event_calls
from jackpot_client.calls import jackpots as jackpot_calls
from jackpot_client.calls import rounds as round_calls
from jackpot_client.calls import tables as table_calls
from jackpot_client.calls.call import Call, Listing
from jackpot_client.connection import Address
from jackpot_client.etags import ETags
from jackpot_client.exchange import Policy, Retry, exchange
from jackpot_client.feed import STALE_AFTER_S, followed_feed
from jackpot_client.following import followed_events, followed_pages, listed
from jackpot_client.methods import described_by, ignore
from jackpot_client.values.events import Event, EventPage
from jackpot_client.values.meters import FeedState

P = ParamSpec("P")
T = TypeVar("T")


def _call(describe: Callable[P, Call[T]]) -> "Callable[Concatenate[AsyncJackpotClient, P], Awaitable[T]]":
    async def method(self: "AsyncJackpotClient", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._line.run(exchange(describe(*args, **kwargs), self._policy, self._etags))

    described_by(method, describe)
    return method


def _list(describe: Callable[P, Listing[T]]) -> "Callable[Concatenate[AsyncJackpotClient, P], AsyncGenerator[T, None]]":
    def method(self: "AsyncJackpotClient", /, *args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[T, None]:
        return self._line.iterate(listed(describe(*args, **kwargs), self._policy, self._etags))

    described_by(method, describe, AsyncIterator)
    return method


class AsyncJackpotClient:
    """
    Speaks for one table server or display, over a pool of connections that the tasks of one event loop may share.

    Every call is a coroutine, every list an asynchronous iterator; they raise what those of `JackpotClient` raise. A
    write that is cancelled may have been booked: repeat it with the same ids. Leave `feed` and `events` within
    `contextlib.aclosing`, so that their connection is closed at once.
    """

    def __init__(
        self,
        base_url: str,
        key: str | None,
        *,
        timeout: float = 5.0,
        deadline: float = 60.0,
        connections: int = 10,
        first_backoff: float = 0.1,
        largest_backoff: float = 5.0,
        trust_env: bool = False,
        tls: ssl.SSLContext | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        on_retry: Callable[[Retry], None] = ignore,
    ) -> None:
        """
        Prepare the pool; nothing is sent yet. The parameters are those of `JackpotClient`.

        Raises: ValueError for an address or key that could never work.
        """
        address = Address(base_url=base_url, key=key, trust_env=trust_env, tls=tls)
        self._line = AsyncLine(
            http=httpx.AsyncClient(**address.options(connections), transport=transport),
            waiting=httpx.AsyncClient(**address.options(None), transport=transport),
            sleep=sleep,
            clock=clock,
        )
        self._policy = Policy(
            timeout=timeout,
            deadline=deadline,
            first_backoff=first_backoff,
            largest_backoff=largest_backoff,
            clock=clock,
            on_retry=on_retry,
        )
        self._etags = ETags()

    async def __aenter__(self) -> Self:
        """Return the client, which is closed at the end of the block."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        await self.close()

    async def close(self) -> None:
        """Close the connections; the client is of no use afterwards."""
        await self._line.close()

    place_bets = _call(round_calls.place_bets)
    void_bets = _call(round_calls.void_bets)
    close_betting = _call(round_calls.close_betting)
    put_result = _call(round_calls.put_result)
    cancel_round = _call(round_calls.cancel_round)
    round = _call(round_calls.round_record)
    payout_per_unit = _call(round_calls.payout_per_unit)
    rounds = _list(round_calls.rounds)
    table_rounds = _list(round_calls.table_rounds)
    entry = _call(round_calls.entry)

    me = _call(table_calls.me)
    casinos = _list(table_calls.casinos)
    table = _call(table_calls.table)
    tables = _list(table_calls.tables)
    award = _call(table_calls.award)
    awards = _list(table_calls.awards)
    pay_award = _call(table_calls.pay_award)

    jackpot = _call(jackpot_calls.jackpot)
    meter = _call(jackpot_calls.meter)
    paytable = _call(jackpot_calls.paytable)
    rules = _call(jackpot_calls.rules)
    table_limits = _call(jackpot_calls.table_limits)
    hits = _list(jackpot_calls.hits)
    feed_frame = _call(jackpot_calls.feed_frame)
    jackpots = _list(jackpot_calls.jackpots)

    event_page = _call(event_calls.event_page)

    def event_pages(
        self, *, after: str | None = None, limit: int | None = None, deadline: float | None = None
    ) -> AsyncGenerator[EventPage, None]:
        """
        Yield page after page of events, for ever, also empty ones: store the `next` of each with its results.

        A restart of the service and a broken connection skip nothing. Without a `deadline` (in seconds without an
        answer) it never gives up. Raises: Refusal, such as of a cursor that was changed; ProtocolError; NoAnswer.
        """
        return self._line.iterate(
            followed_pages(self._policy, self._etags, after=after, limit=limit, deadline=deadline)
        )

    def events(
        self, *, after: str | None = None, limit: int | None = None, deadline: float | None = None
    ) -> AsyncGenerator[Event, None]:
        """
        Yield events one by one, for ever and at least once: store the `cursor` of each once it is handled.

        `after` is such a cursor; None is the very beginning, `now` only what is still to come. Raises: as
        `event_pages`.
        """
        return self._line.iterate(
            followed_events(self._policy, self._etags, after=after, limit=limit, deadline=deadline)
        )

    def feed(
        self,
        *,
        jackpot_id: str,
        currency: str | Iterable[str] | None = None,
        stale_after: float = STALE_AFTER_S,
    ) -> AsyncGenerator[FeedState, None]:
        """
        Yield what a display shows, whenever it changes, for ever; it connects again after every break.

        Where nothing was heard for `stale_after` seconds the last frame comes again as stale. The service says
        something every five seconds, so less than 12 is too little. Raises: Refusal, where the feed is not open to
        the key; ProtocolError.
        """
        call = jackpot_calls.feed_frame(jackpot_id=jackpot_id, currency=currency)
        return self._line.iterate(followed_feed(call, self._policy, stale_after=stale_after))
