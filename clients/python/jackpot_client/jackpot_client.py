"""The client itself: one method a call of the contract, version 1."""

import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

import httpx

from jackpot_client.errors import NoAnswer, OutcomeUnknown, ProtocolError
from jackpot_client.ids import checked_id
from jackpot_client.reading import Content, content_of, decoded, member
from jackpot_client.retrying import Request, Retry, Sender
from jackpot_client.values import (
    Bet,
    CancelledRound,
    ClosedRound,
    Hand,
    JackpotView,
    Meter,
    PlacedBets,
    RoundRecord,
    RoundView,
    SettledRound,
    VoidedBets,
)


def _ignore(_: Retry) -> None:
    pass


class JackpotClient:
    """
    Speaks for one table server, over a pool of connections that its threads may share.

    `timeout` bounds one attempt, `deadline` a whole call with its retries, both in seconds. Every method raises
    Refusal (definite, never retried), ProtocolError (not this service's answer) and, after the deadline, NoAnswer;
    of those that write it is an OutcomeUnknown, which says what to repeat.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        timeout: float = 5.0,
        deadline: float = 60.0,
        connections: int = 10,
        first_backoff: float = 0.1,
        largest_backoff: float = 5.0,
        trust_env: bool = False,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        on_retry: Callable[[Retry], None] = _ignore,
    ) -> None:
        """
        Open the pool; nothing is sent yet.

        `trust_env` lets the environment name proxies and certificates; off, money does not travel where a variable
        points. Raises: ValueError for an address or key that could never work.
        """
        if not base_url.startswith(("http://", "https://")):
            raise ValueError(f"the service's address must start with http:// or https://, not {base_url!r}")
        if not key or not key.isascii() or not key.isprintable() or " " in key:
            raise ValueError("the key must be printable ASCII without spaces")
        http = httpx.Client(
            base_url=base_url,
            headers={"Authorization": f"Bearer {key}", "Accept": "application/json", "User-Agent": "jackpot-client/1"},
            limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
            trust_env=trust_env,
            transport=transport,
        )
        self._sender = Sender(
            http=http,
            timeout=timeout,
            deadline=deadline,
            first_backoff=first_backoff,
            largest_backoff=largest_backoff,
            sleep=sleep,
            clock=clock,
            on_retry=on_retry,
        )
        self._meters: dict[tuple[str, str | None], tuple[str, Meter]] = {}
        self._meters_lock = threading.Lock()

    def __enter__(self) -> Self:
        """Return the client, which is closed at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections; the client is of no use afterwards."""
        self._sender.http.close()

    def place_bets(
        self, *, table_id: str, round_id: str, bets: Iterable[Bet], game_number: str | None = None
    ) -> PlacedBets:
        """
        Place a batch, all or nothing; the first one opens the round. The same bets again are replays.

        `game_number` is what the table shows its players; the first one of a round stays.
        """
        batch = tuple(bets)
        body: dict[str, object] = {"bets": [bet.as_json() for bet in batch], **_numbered(game_number)}
        ids = tuple(bet.bet_id for bet in batch)
        placed = decoded(PlacedBets, self._write("POST", table_id, round_id, "bets", body, bet_ids=ids))
        _must_be(placed.round, table_id, round_id)
        return placed

    def void_bets(
        self, *, table_id: str, round_id: str, bet_ids: Iterable[str], reason: str | None = None
    ) -> VoidedBets:
        """Void bets; one that has not come yet is void when it comes. After the closing it takes a reason."""
        ids = tuple(bet_ids)
        body = {"bet_ids": list(ids), **({} if reason is None else {"reason": reason})}
        voided = decoded(VoidedBets, self._write("POST", table_id, round_id, "voids", body, bet_ids=ids))
        _must_be(voided.round, table_id, round_id)
        return voided

    def close_betting(self, *, table_id: str, round_id: str, bet_count: int) -> ClosedRound:
        """Close a round's betting, with the number of its live bets: a bet that comes later is refused."""
        closed = decoded(ClosedRound, self._write("PUT", table_id, round_id, "closing", {"bet_count": bet_count}))
        _must_be(closed.round, table_id, round_id)
        return closed

    def put_result(
        self,
        *,
        table_id: str,
        round_id: str,
        bet_count: int,
        hands: Iterable[Hand],
        dealer: Iterable[str] | None = None,
        game_number: str | None = None,
    ) -> SettledRound:
        """Give the dealt hands and how many live bets they carry; the round is settled, once and for ever."""
        body: dict[str, object] = {"bet_count": bet_count, "hands": [hand.as_json() for hand in hands]}
        body |= _numbered(game_number)
        if dealer is not None:
            body["dealer"] = list(dealer)
        settled = decoded(SettledRound, self._write("PUT", table_id, round_id, "result", body))
        _must_be(settled.round, table_id, round_id)
        return settled

    def cancel_round(self, *, table_id: str, round_id: str, reason: str) -> CancelledRound:
        """Cancel a round that has no result: every bet is refunded."""
        cancelled = decoded(CancelledRound, self._write("PUT", table_id, round_id, "cancellation", {"reason": reason}))
        _must_be(cancelled.round, table_id, round_id)
        return cancelled

    def round(self, *, table_id: str, round_id: str) -> RoundRecord:
        """Return the whole record of a round."""
        content = self._read(_round_path(table_id, round_id))
        view: RoundView = member(content, "round", RoundView)
        _must_be(view, table_id, round_id)
        return RoundRecord(round=view, content=content)

    def meter(self, *, jackpot_id: str, currency: str | None = None) -> Meter:
        """Return the amount on offer now; one that has not moved since it was last asked for is not sent again."""
        with self._meters_lock:
            known = self._meters.get((jackpot_id, currency))
        request = Request(
            method="GET",
            path=f"/v1/jackpots/{checked_id(jackpot_id, name='jackpot_id')}/meter",
            params={"currency": currency} if currency else {},
            headers={"If-None-Match": known[0]} if known else {},
        )
        answer = self._sender.send(request)
        if known and answer.status == HTTPStatus.NOT_MODIFIED:
            return known[1]
        meter = decoded(Meter, content_of(answer))
        if etag := answer.headers.get("ETag"):
            with self._meters_lock:
                self._meters[jackpot_id, currency] = (etag, meter)
        return meter

    def paytable(self, *, jackpot_id: str, currency: str | None = None) -> Mapping[str, Any]:
        """Return what a jackpot pays, as the service prints it."""
        path = f"/v1/jackpots/{checked_id(jackpot_id, name='jackpot_id')}/paytable"
        return self._read(path, {"currency": currency} if currency else {})

    def table_limits(self, *, jackpot_id: str) -> Mapping[str, Any]:
        """Return the limits that tables of this key have next to their jackpot's, in force for the next bet."""
        return self._read(f"/v1/jackpots/{checked_id(jackpot_id, name='jackpot_id')}/table-limits")

    def jackpots(self) -> tuple[JackpotView, ...]:
        """Return every jackpot this key may see."""
        found: list[JackpotView] = []
        after: set[str] = set()
        params: dict[str, str] = {}
        while True:
            page = self._read("/v1/jackpots", params)
            items: tuple[Content, ...] = member(page, "items", tuple[dict[str, Any], ...])
            found += [JackpotView(jackpot_id=member(item, "jackpot_id", str), content=item) for item in items]
            cursor: str | None = member(page, "next", str | None)
            if cursor is None:
                return tuple(found)
            if cursor in after:
                raise ProtocolError(f"the list of jackpots comes back to {cursor!r}")
            after.add(cursor)
            params = {"after": cursor}

    def _read(self, path: str, params: Mapping[str, str] | None = None) -> Content:
        return content_of(self._sender.send(Request(method="GET", path=path, params=params or {})))

    def _write(
        self,
        method: str,
        table_id: str,
        round_id: str,
        what: str,
        content: Mapping[str, object],
        *,
        bet_ids: tuple[str, ...] = (),
    ) -> Content:
        """Send what changes a round: spelled once, so that each retry carries the same bytes."""
        request = Request(
            method=method,
            path=f"{_round_path(table_id, round_id)}/{what}",
            body=json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii"),
            headers={"Content-Type": "application/json"},
        )
        try:
            answer = self._sender.send(request)
        except NoAnswer as error:
            raise OutcomeUnknown(
                str(error), attempts=error.attempts, table_id=table_id, round_id=round_id, bet_ids=bet_ids
            ) from error
        return content_of(answer)


def _numbered(game_number: str | None) -> dict[str, object]:
    return {} if game_number is None else {"game_number": checked_id(game_number, name="game_number")}


def _round_path(table_id: str, round_id: str) -> str:
    return f"/v1/tables/{checked_id(table_id, name='table_id')}/rounds/{checked_id(round_id, name='round_id')}"


def _must_be(view: RoundView, table_id: str, round_id: str) -> None:
    """Refuse an answer about another round, which a cache on the way might give."""
    if (view.table_id, view.round_id) != (table_id, round_id):
        raise ProtocolError(f"the answer speaks of {view.table_id}/{view.round_id}, not {table_id}/{round_id}")
