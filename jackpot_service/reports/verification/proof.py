"""The proof that the books are right: everything that was booked is derived again from what was told to the ledger."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from jackpot_service.db import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.pools import Pools
from jackpot_service.ledger import laws, replay
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.ledger.rollups_schema import DailyBetsRow, DailyPostingsRow
from jackpot_service.ledger.schema import CycleRow, EntryRow, StripeRow
from jackpot_service.records.schema import (
    AwardRow,
    AwardStepRow,
    BetRow,
    CancellationRow,
    CompensationRow,
    CorrectionRow,
    HandRow,
    ResultRow,
    RoundRow,
    RulesVersionRow,
    SettlementRow,
    StatementSettlementRow,
    VoidRow,
)
from jackpot_service.reports.verification import (
    bets,
    corrections,
    documents,
    doors,
    jackpots,
    lives,
    moves,
    order,
    periods,
    records,
    reference_book,
    references,
    rollups,
    rounds,
    settlements,
)
from jackpot_service.reports.verification.awards import ActsOnRounds, HeldMoney
from jackpot_service.reports.verification.documents import RoundDocuments
from jackpot_service.reports.verification.jackpots import Jackpot
from jackpot_service.reports.verification.positions import PoolsByPosition
from jackpot_service.reports.verification.references import References
from jackpot_service.reports.verification.statements import Statements
from jackpot_service.reports.verification.verification import OnProgress, Progress, Verification

Found = Iterator[Mismatch]

ROUND_CHECKS = (
    records.digests_cover_the_rows,
    *rounds.CHECKS,
    *bets.CHECKS,
    *lives.CHECKS,
    *settlements.CHECKS,
    *corrections.CHECKS,
)
"""What is checked of every round, each by itself."""

_BOOKS_OF = (
    StripeRow.jackpot_id,
    EntryRow.jackpot_id,
    CycleRow.jackpot_id,
    DailyBetsRow.jackpot_id,
    DailyPostingsRow.jackpot_id,
    RulesVersionRow.jackpot_id,
    RoundRow.jackpot_id,
    BetRow.jackpot_id,
    VoidRow.jackpot_id,
    ResultRow.jackpot_id,
    CancellationRow.jackpot_id,
    HandRow.jackpot_id,
    SettlementRow.jackpot_id,
    AwardRow.jackpot_id,
    AwardStepRow.jackpot_id,
    CompensationRow.jackpot_id,
    StatementSettlementRow.jackpot_id,
    CorrectionRow.jackpot_id,
)

_UNDERIVABLE = (LedgerError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError)
"""What the domain raises when rows are not what the ledger wrote."""


def verify(session: Session, *, on_progress: OnProgress | None = None) -> Verification:
    """
    Derive the books again from zero, and name everything that is not as it should be.

    The session must see one instant of the database (`db.snapshot`); the service may go on meanwhile. Memory is bounded
    by a page of rounds, the reference documents, and a 500th of the entries. `on_progress` is called after each page.
    """
    proof = _Proof(session, on_progress or (lambda _progress: None))
    known = references.read(session)
    mismatches = [*_unknown_books(session, known)]
    mismatches += proof.of_reference_book(known)
    for jackpot_id in sorted(known.jackpots):
        mismatches += proof.of_jackpot(jackpot_id, known)
    mismatches += _guarded(periods.check(session), book=REFERENCE_BOOK, place="closed periods")
    return Verification(
        1 + len(known.jackpots), proof.entries, proof.rounds, proof.bets, proof.awards, tuple(mismatches)
    )


def _unknown_books(session: Session, known: References) -> Found:
    for column in _BOOKS_OF:
        for book in replay.distinct(session, column, lowest=""):
            if book not in known.jackpots and (book != REFERENCE_BOOK or column.class_ not in {StripeRow, EntryRow}):
                table = column.class_.__tablename__
                yield Mismatch(Code.BOOK_UNKNOWN, book, table, "has rows of a jackpot that is not there")


def _guarded(found: Found, *, book: str, place: str) -> Found:
    """Turn what the domain raises on rows that cannot be into a mismatch, so that one broken row hides no other."""
    try:
        yield from found
    except _UNDERIVABLE as error:
        yield Mismatch(Code.ENTRY_UNDERIVABLE, book, place, f"{type(error).__name__}: {error}")


@dataclass(slots=True)
class _Proof:
    """A verification under way: what it reads from, and how much it has checked."""

    session: Session
    on_progress: OnProgress
    entries: int = field(default=0, init=False)
    rounds: int = field(default=0, init=False)
    bets: int = field(default=0, init=False)
    awards: int = field(default=0, init=False)

    def of_reference_book(self, known: References) -> Found:
        """The reference book's laws, and whether it recorded its documents."""
        entries: dict[int, BookedEntry] = {}

        def note(entry: BookedEntry, _pools: Pools) -> None:
            self._count_entry(entry)
            entries[entry.seq] = entry

        yield from laws.broken_in(self.session, REFERENCE_BOOK, on_entry=note)
        yield from doors.stripes_follow(REFERENCE_BOOK, replay.stripes(self.session, REFERENCE_BOOK), ())
        yield from _guarded(reference_book.check(known, entries), book=REFERENCE_BOOK, place="documents")

    def of_jackpot(self, jackpot_id: str, known: References) -> Found:
        """A jackpot's laws, its opening, its rounds, and the order of its settlements."""
        pools = PoolsByPosition(self.session, jackpot_id)
        held, statements = HeldMoney(), Statements(self.session, jackpot_id)
        outside: list[BookedEntry] = []

        def note(entry: BookedEntry, pools_after: Pools) -> None:
            self._count_entry(entry)
            pools.note(entry, pools_after)
            held.note(entry)
            statements.note(entry)
            if entry.round_key is None:
                outside.append(entry)

        yield from laws.broken_in(self.session, jackpot_id, on_entry=note)
        jackpot = jackpots.read(self.session, jackpot_id, known, pools, outside)
        yield from _guarded(jackpots.check(jackpot, outside), book=jackpot_id, place="opening")
        yield from _guarded(statements.check(jackpot, outside), book=jackpot_id, place="statements")
        on_rounds = ActsOnRounds(jackpot, outside)
        yield from lives.acts_were_possible(jackpot, outside)
        yield from moves.check(jackpot, outside)
        for page in documents.pages(self.session, jackpot_id):
            yield from page.mismatches
            for round_ in page.rounds:
                yield from self._of_round(round_, jackpot)
                yield from _guarded(on_rounds.check(round_), book=jackpot_id, place=round_.place)
                held.add(round_)
            self.on_progress(Progress(jackpot_id, self.entries, self.rounds))
        yield from on_rounds.rest()
        yield from held.check(jackpot_id)
        crossing = order.settlements_do_not_cross(self.session, jackpot_id, moves.seen_by_moves(jackpot))
        yield from _guarded(crossing, book=jackpot_id, place="order")
        yield from rollups.check(self.session, jackpot)

    def _of_round(self, round_: RoundDocuments, jackpot: Jackpot) -> Found:
        self.rounds += 1
        self.bets += len(round_.bets)
        self.awards += len(round_.of("awards"))
        for check in ROUND_CHECKS:
            yield from _guarded(check(round_, jackpot), book=jackpot.jackpot_id, place=round_.place)

    def _count_entry(self, entry: BookedEntry) -> None:
        self.entries += 1
        if self.entries % replay.PAGE == 0:
            self.on_progress(Progress(entry.book, self.entries, self.rounds))
