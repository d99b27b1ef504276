"""The calls of a table server about its rounds. Ids and contents that could not be sent raise ValueError at once."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TypeVar

from jackpot_client.calls.call import Call, Listing, listing, reading, round_path, table_path, writing
from jackpot_client.errors import Ids, ProtocolError
from jackpot_client.ids import checked_id, checked_texts
from jackpot_client.reading import Content, decoded
from jackpot_client.steps import Request
from jackpot_client.values.entries import BookEntry
from jackpot_client.values.rounds import (
    CancelledRound,
    ClosedRound,
    FoundRound,
    PlacedBets,
    RoundRecord,
    RoundShare,
    RoundView,
    SettledRound,
    VoidedBets,
)
from jackpot_client.values.sending import Bet, Hand, time_as_json
from jackpot_client.values.words import RoundState

T = TypeVar("T", PlacedBets, VoidedBets, ClosedRound, SettledRound, CancelledRound, RoundRecord)
"""An answer about one round."""


def place_bets(
    *,
    table_id: str,
    round_id: str,
    bets: Iterable[Bet],
    game_number: str | None = None,
    occurred_at: datetime | None = None,
) -> Call[PlacedBets]:
    """
    Place a batch, all or nothing; the first one opens the round. The same bets again are replays.

    `game_number` is the number that the table shows its players; the first one of a round stays. `occurred_at` is
    that of the bets that do not state their own.
    """
    batch = tuple(bets)
    content: dict[str, object] = {"bets": [bet.as_json() for bet in batch]}
    content |= _numbered(game_number) | time_as_json(occurred_at)
    ids = Ids(table_id=table_id, round_id=round_id, bet_ids=tuple(bet.bet_id for bet in batch))
    return _writing("POST", "bets", content, ids, PlacedBets)


def void_bets(
    *,
    table_id: str,
    round_id: str,
    bet_ids: Iterable[str],
    reason: str | None = None,
    occurred_at: datetime | None = None,
) -> Call[VoidedBets]:
    """Void bets; one that has not come yet is void when it comes. After the closing it takes a reason."""
    checked = tuple(checked_id(bet_id, name="bet_ids") for bet_id in checked_texts(bet_ids, name="bet_ids"))
    ids = Ids(table_id=table_id, round_id=round_id, bet_ids=checked)
    content: dict[str, object] = {"bet_ids": list(ids.bet_ids), **({} if reason is None else {"reason": reason})}
    return _writing("POST", "voids", content | time_as_json(occurred_at), ids, VoidedBets)


def close_betting(
    *, table_id: str, round_id: str, bet_count: int, occurred_at: datetime | None = None
) -> Call[ClosedRound]:
    """Close a round's betting, with the number of its live bets: a bet that comes later is refused."""
    content = {"bet_count": bet_count} | time_as_json(occurred_at)
    return _writing("PUT", "closing", content, Ids(table_id=table_id, round_id=round_id), ClosedRound)


def put_result(
    *,
    table_id: str,
    round_id: str,
    bet_count: int,
    hands: Iterable[Hand],
    dealer: Iterable[str] | None = None,
    game_number: str | None = None,
    occurred_at: datetime | None = None,
) -> Call[SettledRound]:
    """Give the dealt hands and how many live bets they carry; the round is settled, once and for ever."""
    content: dict[str, object] = {"bet_count": bet_count, "hands": [hand.as_json() for hand in hands]}
    content |= _numbered(game_number) | time_as_json(occurred_at)
    if dealer is not None:
        content["dealer"] = checked_texts(dealer, name="dealer")
    return _writing("PUT", "result", content, Ids(table_id=table_id, round_id=round_id), SettledRound)


def cancel_round(
    *,
    table_id: str,
    round_id: str,
    reason: str,
    hands: Iterable[Hand] = (),
    occurred_at: datetime | None = None,
) -> Call[CancelledRound]:
    """Cancel a round that has no result: every bet is refunded. `hands` are those that had been dealt, if known."""
    dealt = [hand.as_json() for hand in hands]
    content: dict[str, object] = {"reason": reason, **({"hands": dealt} if dealt else {})}
    ids = Ids(table_id=table_id, round_id=round_id)
    return _writing("PUT", "cancellation", content | time_as_json(occurred_at), ids, CancelledRound)


def round_record(*, table_id: str, round_id: str, player_id: str | None = None) -> Call[RoundRecord]:
    """Return the whole record of a round; with a player, of the bets and awards theirs alone."""
    call = reading(round_path(table_id, round_id), RoundRecord, player_id=player_id)

    def read(content: Content) -> RoundRecord:
        return _about(table_id, round_id, decoded(RoundRecord, content))

    return Call(request=call.request, read=read)


def payout_per_unit(*, table_id: str, round_id: str) -> Call[RoundShare]:
    """Return what one unit staked would receive of a royal flush now, at any time of a round; for displays."""
    return reading(f"{round_path(table_id, round_id)}/payout-per-unit", RoundShare)


def rounds(
    *,
    ended: bool | None = None,
    table_id: str | None = None,
    bet_id: str | None = None,
    state: RoundState | None = None,
    jackpot_id: str | None = None,
    casino_id: str | None = None,
    player_id: str | None = None,
    game_number: str | None = None,
    older_than: int | None = None,
    from_: datetime | None = None,
    to: datetime | None = None,
) -> Listing[FoundRound]:
    """
    List rounds that the key may see, the latest first.

    After a restart, `ended=False` lists those that wait for bets, a result or a cancellation. `older_than` is in
    seconds; the period is of their openings, `from_` included. Players and game numbers are not for table servers.
    """
    return listing(
        "/v1/rounds",
        FoundRound,
        ended=ended,
        table_id=table_id,
        bet_id=bet_id,
        state=None if state is None else state.value,
        jackpot_id=jackpot_id,
        casino_id=casino_id,
        player_id=player_id,
        game_number=game_number,
        older_than=older_than,
        from_=from_,
        to=to,
    )


def table_rounds(*, table_id: str, from_: datetime | None = None, to: datetime | None = None) -> Listing[RoundView]:
    """List a table's rounds, the latest first; of their openings `from_` is included, `to` is not."""
    return listing(f"{table_path(table_id)}/rounds", RoundView, from_=from_, to=to)


def entry(*, book: str, stripe: int, seq: int) -> Call[BookEntry]:
    """Return the entry at a place of a book: what it moved, and its link in the stripe's chain."""
    place = f"{checked_id(book, name='book')}/{_checked(stripe, name='stripe')}/{_checked(seq, name='seq')}"

    def read(content: Content) -> BookEntry:
        answer = decoded(BookEntry, content)
        if (answer.book, answer.stripe, answer.seq) != (book, stripe, seq):
            raise ProtocolError(f"the answer speaks of entry {answer.book}/{answer.stripe}/{answer.seq}, not {place}")
        return answer

    return Call(request=Request(method="GET", path=f"/v1/entries/{place}"), read=read)


def _checked(number: int, *, name: str) -> int:
    if type(number) is not int or number < 0:
        raise ValueError(f"{name} must be a whole number, not below 0, not {number!r}")
    return number


def _writing(method: str, what: str, content: Mapping[str, object], ids: Ids, kind: type[T]) -> Call[T]:
    table_id, round_id = ids.table_id or "", ids.round_id or ""

    def read(answer: Content) -> T:
        return _about(table_id, round_id, decoded(kind, answer))

    return writing(method, f"{round_path(table_id, round_id)}/{what}", content, ids=ids, read=read)


def _about(table_id: str, round_id: str, answer: T) -> T:
    """Return an answer about a round, and refuse one about another, which a cache on the way might give."""
    view = answer.round
    if (view.table_id, view.round_id) != (table_id, round_id):
        raise ProtocolError(f"the answer speaks of {view.table_id}/{view.round_id}, not {table_id}/{round_id}")
    return answer


def _numbered(game_number: str | None) -> dict[str, object]:
    return {} if game_number is None else {"game_number": checked_id(game_number, name="game_number")}
