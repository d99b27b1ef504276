"""Whether payments by hand are what their acts say: compensations, and casinos' statements that were settled."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlalchemy import Row, select

from jackpot_service.database.models import StatementSettlementRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain import accounts
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.money import ZERO, plain
from jackpot_service.ledger import books, replay
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.ledger.verification import NOTHING, Verified
from jackpot_service.proof import acts, corrections
from jackpot_service.proof.decoding import Decoder
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot
from jackpot_service.records.exceptions import DeniedBet
from jackpot_service.usecases.changes.compensation import (
    CompensableRound,
    Compensate,
    awarded,
    compensable,
    granted_before,
)
from jackpot_service.usecases.changes.declined_compensation import DeclineCompensation, DeniedPrizes
from jackpot_service.usecases.changes.statement_settlement import AccountBalance, SettleStatement


def compensations_are_due(
    rows: Sequence[Row[Any]], round_: RoundDocuments, jackpot: Jackpot, entries: Mapping[int, BookedEntry]
) -> Found:
    """Each was given by one of these acts, for a bet that could be compensated; no more was taken back than given."""
    book, by_seq = jackpot.jackpot_id, {row.seq: row for row in rows}
    sheet, before = jackpot.sheet(round_.round.rate_sheet), list[Row[Any]]()
    for row in round_.of("compensations"):
        act = by_seq.pop(row.act_seq, None)
        if act is None:
            detail = f"compensation of bet {row.bet_id}: act {row.act_seq} did not grant it"
            yield Mismatch(Code.DOCUMENT_WITHOUT_ENTRY, book, round_.place, detail)
            continue
        denied = denied_before(act, round_, jackpot)
        bets = compensable(round_.bets, denied)
        in_force = awarded(corrections.awards_before(act, round_))
        state = CompensableRound(round_.round, sheet, bets, denied, in_force, granted_before(before), len(before))
        yield from _compensation_is_due(row, act, state, entries)
        yield from _exception_is_closed(act, round_, jackpot)
        before.append(row)
    for seq in by_seq:
        detail = f"act {seq} granted a compensation that is not there"
        yield Mismatch(Code.DOCUMENT_WITHOUT_ENTRY, book, round_.place, detail)


def _compensation_is_due(
    row: Row[Any], act: Row[Any], state: CompensableRound, entries: Mapping[int, BookedEntry]
) -> Found:
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
    expected = request.granted(state, player_id=row.player_id)
    yield from acts.says(act, {**expected.recorded, "cost": plain(row.cost)}, book)
    yield from acts.booked(act, expected, book, entries)
    if row.cost != Decimal(expected.recorded["cost"]):
        detail = f"compensation of bet {row.bet_id} cost {row.cost}, due was {expected.recorded['cost']}"
        yield Mismatch(Code.COMPENSATION_ROUND, book, place, detail)


def denied_before(act: Row[Any], round_: RoundDocuments, jackpot: Jackpot) -> Mapping[str, DeniedBet]:
    """Find the denied prizes of a round, by bet, each as an act found it: open, unless an earlier act closed it."""
    closed = jackpot.references.acknowledgements
    return {
        row.detail["request"]["bet_id"]: DeniedBet(
            row.exception_id, row.exception_id not in closed or closed[row.exception_id].entry_seq >= act.seq
        )
        for row in round_.denied
    }


def declines_are_due(
    rows: Sequence[Row[Any]], round_: RoundDocuments, jackpot: Jackpot, entries: Mapping[int, BookedEntry]
) -> Found:
    """Each closed the exception of a denied prize that was open, and its entry booked nothing."""
    book, stated_round = jackpot.jackpot_id, round_.round
    for act in rows:
        request = DeclineCompensation(
            jackpot_id=book, table_id=stated_round.table_id, round_id=stated_round.round_id, bet_id=act.after["bet_id"]
        )
        try:
            expected = request.decide(DeniedPrizes(stated_round, denied_before(act, round_, jackpot)))
        except LedgerError as refusal:
            yield Mismatch(Code.COMPENSATION_ROUND, book, round_.place, refusal.detail)
            continue
        yield from acts.says(act, expected.recorded, book)
        yield from acts.booked(act, expected, book, entries)
        yield from _exception_is_closed(act, round_, jackpot)


def _exception_is_closed(act: Row[Any], round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """The exception that an act names was closed by it."""
    exception_id = act.after.get("exception_id")
    if exception_id is not None:
        closed = jackpot.references.acknowledgements.get(exception_id)
        if closed is None or closed.entry_seq != act.seq:
            detail = f"act {act.seq} decided about exception {exception_id}, which it did not close"
            yield Mismatch(Code.PRIZE_DENIED, jackpot.jackpot_id, round_.place, detail)


AccountKey = tuple[str, str]
"""An account and a currency."""


class Statements:
    """The settled statements of a jackpot, and what its casinos' accounts held at the positions that they name."""

    def __init__(self, session: Session, decoder: Decoder, book: str, since: Verified = NOTHING) -> None:
        table = StatementSettlementRow.__table__
        rows = session.execute(select(table).where(table.c.jackpot_id == book).order_by(table.c.act_seq))
        self._session = session
        self._book = book
        self._since = since
        self._rows: Sequence[Row[Any]] = list(decoder.rows(StatementSettlementRow.__tablename__, rows))
        self._accounts_at: defaultdict[tuple[int, int], set[AccountKey]] = defaultdict(set)
        for row in self._rows:
            for place in enumerate(row.positions):
                self._accounts_at[place].add(_account(row))
        self._running: defaultdict[tuple[int, AccountKey], Decimal] = defaultdict(lambda: ZERO)
        self._at: dict[tuple[int, int, AccountKey], Decimal] = {}

    def note(self, entry: BookedEntry) -> None:
        """Take notice of an entry, in the order of its stripe."""
        if not self._rows:
            return
        for account, currency, amount, _ in entry.lines:
            if account.startswith(accounts.CASINO) and replay.is_exact(amount):
                key = (entry.stripe_no, (account, currency))
                self._running[key] += amount
        for account_key in self._accounts_at.get((entry.stripe_no, entry.seq), ()):
            self._at[entry.stripe_no, entry.seq, account_key] = self._running[entry.stripe_no, account_key]

    def check(self, jackpot: Jackpot, entries: Sequence[BookedEntry]) -> Found:
        """Each was settled by one act, which booked the payment; each such act settled one."""
        references = jackpot.references
        by_seq = {seq: references.acts[seq] for seq in references.index_of(self._book).statements}
        on_stripe_0 = {entry.seq: entry for entry in entries if entry.stripe_no == 0}
        for row in self._rows:
            act = by_seq.pop(row.act_seq, None)
            if act is None:
                detail = f"act {row.act_seq} did not settle it"
                yield Mismatch(Code.DOCUMENT_WITHOUT_ENTRY, self._book, _place(row), detail)
            else:
                yield from self._is_due(row, act, on_stripe_0)
        for seq in by_seq:
            yield Mismatch(Code.DOCUMENT_WITHOUT_ENTRY, self._book, f"act {seq}", "settled a statement: none is there")

    def _is_due(self, row: Row[Any], act: Row[Any], entries: Mapping[int, BookedEntry]) -> Found:
        balance = self._balance_before(row)
        if balance != row.balance_before:
            detail = f"states {plain(row.balance_before)} before it, its entries make {plain(balance)}"
            yield Mismatch(Code.STATEMENT_BALANCE, self._book, _place(row), detail)
        request = SettleStatement(
            row.jackpot_id,
            row.casino_id,
            row.currency,
            row.period_from,
            row.period_to,
            row.amount,
            row.reference,
        )
        expected = request.decide(AccountBalance(row.balance_before, row.positions))
        yield from acts.says(act, expected.recorded, self._book)
        yield from acts.booked(act, expected, self._book, entries)

    def _balance_before(self, row: Row[Any]) -> Decimal:
        """Where only what came since was replayed, it is summed anew; what was verified before is taken as stated."""
        if not self._since.stripes:
            return sum((self._at.get((*place, _account(row)), ZERO) for place in enumerate(row.positions)), ZERO)
        if row.act_seq <= self._since.acts:
            stated: Decimal = row.balance_before
            return stated
        return books.summed_between(self._session, self._book, *_account(row), since=(), positions=row.positions)


def _account(row: Row[Any]) -> AccountKey:
    return accounts.casino(row.casino_id), row.currency


def _place(row: Row[Any]) -> str:
    return f"statement {row.reference!r} of casino {row.casino_id} in {row.currency}"
