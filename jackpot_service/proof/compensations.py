"""Whether the house gave to players of cancelled rounds what its acts say, at the cost that was due."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Row

from jackpot_service.domain import award_facts, posting_rules
from jackpot_service.domain.money import plain
from jackpot_service.domain.rounds import RoundState
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof import acts
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot

Found = Iterator[Mismatch]


def check(
    rows: Sequence[Row[Any]], round_: RoundDocuments, jackpot: Jackpot, entries: Mapping[int, BookedEntry]
) -> Found:
    """Each was given by one of these acts, for a live bet of the cancelled round; none took back what was not given."""
    book, by_seq = jackpot.jackpot_id, {row.seq: row for row in rows}
    live = {(one.bet.bet_id, one.bet.player_id) for one in round_.bets if not one.is_void}
    given_minor = Counter[tuple[str, str]]()
    for given in round_.of("compensations"):
        act = by_seq.pop(given.act_seq, None)
        if act is None:
            detail = f"compensation of bet {given.bet_id}: act {given.act_seq} did not give it"
            yield Mismatch(Code.DOCUMENT_WITHOUT_ENTRY, book, round_.place, detail)
            continue
        if round_.round.state is not RoundState.CANCELLED or (given.bet_id, given.player_id) not in live:
            detail = f"{given.bet_id} of {given.player_id} was compensated; the round is {round_.round.state}"
            yield Mismatch(Code.COMPENSATION_ROUND, book, round_.place, detail)
        given_minor[given.bet_id, given.currency] += given.amount_minor
        if given_minor[given.bet_id, given.currency] < 0:
            detail = f"of bet {given.bet_id} more was taken back than had been given"
            yield Mismatch(Code.COMPENSATION_ROUND, book, round_.place, detail)
        yield from _is_due(given, act, round_, jackpot, entries)
    for seq in by_seq:
        detail = f"act {seq} gave a compensation that is not there"
        yield Mismatch(Code.DOCUMENT_WITHOUT_ENTRY, book, round_.place, detail)


def _is_due(
    given: Row[Any], act: Row[Any], round_: RoundDocuments, jackpot: Jackpot, entries: Mapping[int, BookedEntry]
) -> Found:
    """Its act shows it, and booked it at the rates of the round."""
    book, sheet = jackpot.jackpot_id, jackpot.sheet(round_.round.rate_sheet)
    due = award_facts.of_compensation(
        round_.round,
        bet_id=given.bet_id,
        player_id=given.player_id,
        amount_minor=given.amount_minor,
        currency=given.currency,
        cost=given.cost,
        document=given.document,
    )
    yield from acts.says(act, due, book)
    postings = posting_rules.for_compensation(
        given.amount_minor, given.currency, casino_id=round_.round.casino_id, sheet=sheet
    )
    yield from acts.booked(act, postings, book, entries)
    if given.cost != sheet.base_value(given.amount_minor, given.currency):
        detail = f"compensation of bet {given.bet_id} cost {plain(given.cost)}, by another rate"
        yield Mismatch(Code.COMPENSATION_ROUND, book, round_.place, detail)
