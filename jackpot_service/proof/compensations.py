"""Whether the house gave to players of cancelled rounds what its acts say, at the cost that was due."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlalchemy import Row

from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.money import plain
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof import acts
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot
from jackpot_service.usecases.changes.compensation import (
    CancelledRound,
    Compensate,
    granted_before,
)

Found = Iterator[Mismatch]


def check(
    rows: Sequence[Row[Any]], round_: RoundDocuments, jackpot: Jackpot, entries: Mapping[int, BookedEntry]
) -> Found:
    """Each was given by one of these acts, for a live bet of the cancelled round; none took back what was not given."""
    book, by_seq = jackpot.jackpot_id, {row.seq: row for row in rows}
    live = {one.bet.bet_id: one.bet for one in round_.bets if not one.is_void}
    sheet, before = jackpot.sheet(round_.round.rate_sheet), list[Row[Any]]()
    for row in round_.of("compensations"):
        act = by_seq.pop(row.act_seq, None)
        if act is None:
            detail = f"compensation of bet {row.bet_id}: act {row.act_seq} did not grant it"
            yield Mismatch(Code.DOCUMENT_WITHOUT_ENTRY, book, round_.place, detail)
            continue
        state = CancelledRound(round_.round, sheet, live, granted_before(before), len(before))
        yield from _is_due(row, act, state, entries)
        before.append(row)
    for seq in by_seq:
        detail = f"act {seq} granted a compensation that is not there"
        yield Mismatch(Code.DOCUMENT_WITHOUT_ENTRY, book, round_.place, detail)


def _is_due(row: Row[Any], act: Row[Any], state: CancelledRound, entries: Mapping[int, BookedEntry]) -> Found:
    """It was possible, its act shows it, and booked it at the rates of the round."""
    round_, book = state.round, state.round.jackpot_id
    place = f"round {round_.table_id}/{round_.round_id}"
    request = Compensate(
        jackpot_id=book,
        table_id=round_.table_id,
        round_id=round_.round_id,
        bet_id=row.bet_id,
        player_id=row.player_id,
        amount_minor=row.amount_minor,
        currency=row.currency,
        document=row.document,
    )
    try:
        request.require_possible(state)
    except LedgerError as refusal:
        yield Mismatch(Code.COMPENSATION_ROUND, book, place, refusal.detail)
    due = request.granted(state, player_id=row.player_id)
    yield from acts.says(act, {**due.recorded, "cost": plain(row.cost)}, book)
    yield from acts.booked(act, due, book, entries)
    if row.cost != Decimal(due.recorded["cost"]):
        detail = f"compensation of bet {row.bet_id} cost {row.cost}, due was {due.recorded['cost']}"
        yield Mismatch(Code.COMPENSATION_ROUND, book, place, detail)
