"""The proof that the books are right: everything that was booked is derived again from what the ledger received."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import partial
from itertools import chain, count, islice, pairwise, starmap
from typing import Final

from jackpot_service.database.models import (
    AwardRow,
    AwardStepRow,
    BetRow,
    CompensationRow,
    CorrectionRow,
    CycleRow,
    DayRow,
    EntryRow,
    PastDayRow,
    PaymentRow,
    ReconciledDayRow,
    RoundRow,
    RulesVersionRow,
    StatementSettlementRow,
    StripeRow,
    VoidRow,
)
from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.money import ZERO
from jackpot_service.ledger import laws, replay
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedEntry, BookedStripe
from jackpot_service.ledger.verification import (
    NOTHING,
    Looks,
    NotCompared,
    OnProgress,
    OnReached,
    Progress,
    Reached,
    Verification,
    Verified,
    VerifiedStripe,
)
from jackpot_service.proof import (
    acts,
    checkpoints,
    days,
    decoding,
    documents,
    exceptions,
    figures,
    jackpots,
    passkeys,
    reference_book,
    references,
    sequence_checks,
    slips,
    table_limits,
    times,
)
from jackpot_service.proof.awards import HeldMoney
from jackpot_service.proof.decoding import Decoder
from jackpot_service.proof.jackpots import Jackpot
from jackpot_service.proof.manual_payments import Statements
from jackpot_service.proof.processes import Processes, Share, SideBySide, Work, proving
from jackpot_service.proof.references import References
from jackpot_service.proof.round_proof import ProvedRounds, RoundProof, few_collections, guarded
from jackpot_service.proof.times import Times
from jackpot_service.records.checkpoints import DayPart

SUMS_ARE_LIKE_DAYS: Final = 1
"""To compare all days with figures takes as long as to read so many of them again: for the progress that is shown."""

_BOOKS_OF = (
    StripeRow.jackpot_id,
    EntryRow.jackpot_id,
    CycleRow.jackpot_id,
    DayRow.jackpot_id,
    PastDayRow.jackpot_id,
    RulesVersionRow.jackpot_id,
    RoundRow.jackpot_id,
    BetRow.jackpot_id,
    VoidRow.jackpot_id,
    AwardRow.jackpot_id,
    AwardStepRow.jackpot_id,
    PaymentRow.jackpot_id,
    CompensationRow.jackpot_id,
    StatementSettlementRow.jackpot_id,
    CorrectionRow.jackpot_id,
    ReconciledDayRow.jackpot_id,
)

_OF_ANY_BOOK = frozenset({StripeRow.__tablename__, EntryRow.__tablename__, DayRow.__tablename__})
"""Tables in which the reference book has rows as well."""


def verify(
    session: Session,
    *,
    since: Mapping[str, Verified] | None = None,
    on_progress: OnProgress = lambda _progress: None,
    on_reached: OnReached = lambda _reached: None,
    processes: Processes | None = None,
) -> Verification:
    """
    Derive the books again from zero, and name everything that is not as it should be.

    With `since`, how far each book is verified, it takes that for granted and goes on from there: see
    docs/decisions/proof.md for what that proves. The session must see one instant of the database
    (`snapshots.snapshot`); the service may go on meanwhile. Memory does not grow with entries, rounds or bets.
    `on_progress` is called after each page, `on_reached` where a later verification could go on, as long as
    nothing is wrong. Where there are many rounds, `processes` prove them side by side.

    Raises: HeldUp if one of these ends by itself.
    """
    proof = _Proof(session, dict(since or {}), on_progress, on_reached, processes)
    with decoding.strictly(session), few_collections():
        for mismatch in proof.check_everything():
            proof.mismatches.append(mismatch)
    proof.report_reached(is_whole=True)
    counts = (len(proof.books), proof.entries, proof.rounds, proof.bets, proof.awards)
    return Verification(*counts, tuple(proof.mismatches), proof.not_compared)


def _unknown_books(session: Session, known: References) -> Found:
    for book, table in replay.books_of(session, _BOOKS_OF):
        if book not in known.jackpots and (book != REFERENCE_BOOK or table not in _OF_ANY_BOOK):
            yield Mismatch(Code.BOOK_UNKNOWN, book, table, "has rows of a jackpot that is not there")


@dataclass(slots=True)
class _Proof:
    """A verification under way: what it reads from, how far the books are verified, and how much it has checked."""

    session: Session
    reached: dict[str, Verified]
    on_progress: OnProgress
    on_reached: OnReached
    processes: Processes | None
    entries: int = field(default=0, init=False)
    rounds: int = field(default=0, init=False)
    bets: int = field(default=0, init=False)
    awards: int = field(default=0, init=False)
    books: tuple[str, ...] = field(default=(), init=False)
    acts: int = field(default=0, init=False)
    now: datetime = field(default=datetime.min.replace(tzinfo=UTC), init=False)
    mismatches: list[Mismatch] = field(default_factory=list, init=False)
    not_compared: Counter[NotCompared] = field(default_factory=Counter, init=False)
    looks: Looks = field(default_factory=Looks, init=False)
    side_by_side: SideBySide | None = field(default=None, init=False)
    decoder: Decoder = field(default_factory=Decoder, init=False)
    unreadable: set[Mismatch] = field(default_factory=set, init=False)

    def check_everything(self) -> Found:
        """The reference book first, since all others are checked against what is in it."""
        self.now = times.now(self.session)
        known = references.read(self.session, self.decoder)
        yield from self._once(self.decoder.take())
        self.books = (REFERENCE_BOOK, *sorted(known.jackpots))
        self.looks = self._looks_due()
        with self._proving(known) as proved:  # Others prove rounds meanwhile.
            yield from self._check_books(known, proved)

    def _check_books(self, known: References, proved: Mapping[str, Iterable[ProvedRounds]]) -> Found:
        yield from _unknown_books(self.session, known)
        for book in sorted(self.reached.keys() - set(self.books)):
            yield Mismatch(Code.VERIFIED_HEAD, book, "stripes", "were verified, and are of a jackpot that is not there")
        yield from self.check_reference_book(known)
        closed = checkpoints.closed_periods_hold(self.session, known.closed_periods, not_compared=self.not_compared)
        yield from guarded(closed, book=REFERENCE_BOOK, place="closed periods")
        for jackpot_id in self.books[1:]:
            yield from self.check_jackpot(jackpot_id, known, proved.get(jackpot_id))

    def check_reference_book(self, known: References) -> Found:
        """The reference book's laws, and whether it recorded its documents: these are few, and checked each time."""
        since = self.reached.get(REFERENCE_BOOK, NOTHING)
        stripes = replay.stripes(self.session, REFERENCE_BOOK)
        self.acts = next((stripe.seq for stripe in stripes if stripe.stripe_no == 0), 0)
        dates, late = Times(self.now, stripes), list[Mismatch]()

        def note(entry: BookedEntry) -> None:
            self._count_entry(entry)
            late.extend(dates.check(entry))

        yield from laws.broken_in(self.session, REFERENCE_BOOK, since=since, on_entry=note)
        yield from [*late, *dates.check_stripes(REFERENCE_BOOK)]
        yield from jackpots.stripes_follow(REFERENCE_BOOK, stripes, ())
        yield from table_limits.check(REFERENCE_BOOK, (), stripes, {})
        entries = reference_book.entries(self.session)
        lawful = reference_book.check(known, entries, on_act=self._count_act)
        yield from guarded(lawful, book=REFERENCE_BOOK, place="documents")
        signed = passkeys.check(self.session, known, entries)
        yield from guarded(signed, book=REFERENCE_BOOK, place="passkeys")
        noted = exceptions.check(self.session, self.decoder, known)
        yield from guarded(noted, book=REFERENCE_BOOK, place="exceptions")
        yield from self._once(self.decoder.take())
        yield from guarded(days.check(self.session, REFERENCE_BOOK, stripes, since), book=REFERENCE_BOOK, place="days")
        yield from guarded(checkpoints.kept_seals_hold(self.session), book=REFERENCE_BOOK, place="seals")
        yield from guarded(slips.check(self.session), book=REFERENCE_BOOK, place="slips")
        self.reached[REFERENCE_BOOK] = replace(self._verified(stripes), is_whole=True)
        self._report_progress(REFERENCE_BOOK)

    def check_jackpot(self, jackpot_id: str, known: References, proved: Iterable[ProvedRounds] | None) -> Found:
        """A jackpot's laws, its opening, its rounds, if no others prove them, and the order of its settlements."""
        since = self.reached.get(jackpot_id, NOTHING)
        held, statements = HeldMoney(since), Statements(self.session, self.decoder, jackpot_id, since)
        yield from self._once(self.decoder.take())
        fresh = list(replay.entries_of_no_round(self.session, jackpot_id, since=since))
        jackpot = jackpots.read(self.session, jackpot_id, known, since, fresh)
        proof = RoundProof.of(self.session, self.decoder, jackpot, since)
        entries_before = self.entries
        yield from self._check_book(jackpot, since, fresh, held, statements)
        reconciled = checkpoints.reconciled_days_of(self.session, jackpot_id)
        yield from self._check_sums(jackpot, since, reconciled, fresh_entries=self.entries - entries_before)
        reconciled_to = reconciled[-1].day if reconciled else date.min
        if proved is None:
            proved = proof.between(since.last_round_key, documents.HIGHEST_KEY)
        yield from self._check_rounds(proof, proved, held, reconciled_to=reconciled_to)
        yield from held.check(jackpot_id)
        seen = acts.seen_by_acts(jackpot)
        crossing = sequence_checks.settlements_do_not_cross(self.session, jackpot_id, seen, since=since)
        yield from guarded(crossing, book=jackpot_id, place="order")
        self.reached[jackpot_id] = replace(self.reached[jackpot_id], is_whole=True, held=ZERO)
        self.report_reached()

    def _check_book(
        self,
        jackpot: Jackpot,
        since: Verified,
        fresh: Sequence[BookedEntry],
        held: HeldMoney,
        statements: Statements,
    ) -> Found:
        """The laws of a jackpot's book, its opening, and the acts on it."""
        jackpot_id = jackpot.jackpot_id
        dates, late = Times(self.now, jackpot.stripes, jackpot.cycles), list[Mismatch]()

        def note(entry: BookedEntry) -> None:
            self._count_entry(entry)
            late.extend(dates.check(entry))
            held.note(entry)
            statements.note(entry)
            if entry.round_key is None:
                self.looks.done += Looks.IN_ROUND

        yield from laws.broken_in(self.session, jackpot_id, since=since, on_entry=note)
        yield from [*late, *dates.check_stripes(jackpot_id)]
        yield from guarded(jackpots.check(jackpot, jackpot.outside), book=jackpot_id, place="opening")
        yield from guarded(statements.check(jackpot, jackpot.outside), book=jackpot_id, place="statements")
        yield from acts.acts_were_possible(jackpot, jackpot.outside)
        yield from acts.check_decisions(jackpot, fresh)
        yield from figures.effects_come_to_nothing_more(fresh)

    def _check_sums(
        self, jackpot: Jackpot, since: Verified, reconciled: Sequence[DayPart], *, fresh_entries: int
    ) -> Found:
        """The sums of days, and of those that were reconciled, day by day."""
        book, session = jackpot.jackpot_id, self.session
        before, share, parts = self.looks.done, Looks.IN_SUMS * fresh_entries, SUMS_ARE_LIKE_DAYS + len(reconciled)
        numbers = count(SUMS_ARE_LIKE_DAYS)

        def advance() -> None:
            self.looks.done = before + share * next(numbers) // parts
            self._report_progress(book)

        yield from guarded(days.check(session, book, jackpot.stripes, since), book=book, place="days")
        mismatches = figures.payments_come_to_their_awards(session, book, since)
        yield from guarded(mismatches, book=book, place="payments")
        advance()
        mismatches = checkpoints.reconciled_days_hold(session, jackpot, reconciled, since, on_day=advance)
        yield from guarded(mismatches, book=book, place="reconciled days")
        self.looks.done = before + share

    @contextmanager
    def _proving(self, known: References) -> Iterator[Mapping[str, Iterable[ProvedRounds]]]:
        """Have processes prove the rounds that come after those verified before; yields their results by jackpot."""
        shares = {} if self.processes is None else self._shares(self.processes)
        full = sum(len(of_jackpot) - 1 for of_jackpot in shares.values())  # The last of each may be empty.
        if self.processes is None or full + 1 < self.processes.least_shares:
            yield {}
            return
        since = {jackpot_id: self.reached.get(jackpot_id, NOTHING) for jackpot_id in shares}
        work = Work(tuple(chain.from_iterable(shares.values())), since, known.index)
        with proving(self.session, self.processes, work) as self.side_by_side:
            results = iter(self.side_by_side)  # The jackpots are checked in this order, and each takes all of its own.
            yield {jackpot_id: islice(results, len(of_jackpot)) for jackpot_id, of_jackpot in shares.items()}
        self.side_by_side = None

    def _shares(self, processes: Processes) -> Mapping[str, Sequence[Share]]:
        """The shares of each jackpot's rounds, in the order in which the jackpots are checked."""
        shares = {}
        for jackpot_id in self.books[1:]:
            after = self.reached.get(jackpot_id, NOTHING).last_round_key
            ends = documents.shares(self.session, jackpot_id, after=after, rounds=processes.rounds_of_a_share)
            shares[jackpot_id] = tuple(starmap(partial(Share, jackpot_id), pairwise((after, *ends))))
        return shares

    def _check_rounds(
        self, proof: RoundProof, proved: Iterable[ProvedRounds], held: HeldMoney, *, reconciled_to: date
    ) -> Found:
        """All rounds after the last that was verified, and of those before it, the ones touched since."""
        jackpot, since = proof.jackpot, proof.since
        book = jackpot.jackpot_id
        now = replace(self._verified(jackpot.stripes), reconciled_to=reconciled_to)
        yield from proof.acts.have_their_rounds(self.session)
        touched = set(replay.rounds_touched(self.session, book, since=since))
        touched |= {key for key in proof.acts.rounds_since(since.acts) if key <= since.last_round_key}
        touched |= {key for key in jackpot.corrected_since(since) if key <= since.last_round_key}
        for rounds in proof.these(touched):
            yield from self._take(rounds, book, held)
        now = replace(now, last_round_key=since.last_round_key)
        self._reach(book, now, held)
        for rounds in proved:
            yield from self._take(rounds, book, held)
            if rounds.last is not None:
                now = replace(now, last_round_key=rounds.last)
            self._reach(book, now, held)

    def _take(self, rounds: ProvedRounds, book: str, held: HeldMoney) -> Found:
        yield from self._once(rounds.unreadable)
        yield from rounds.mismatches
        held.expect(rounds.held)
        self.rounds += rounds.rounds
        self.bets += rounds.bets
        self.awards += rounds.awards
        self.looks.done += Looks.IN_ROUND * rounds.entries
        self._report_progress(book)

    def _once(self, unreadable: Iterable[Mismatch]) -> Found:
        """Several decoders read some rows, each in its process: what is unreadable in them is one mismatch."""
        for mismatch in unreadable:
            if mismatch not in self.unreadable:
                self.unreadable.add(mismatch)
                yield mismatch

    def _looks_due(self) -> Looks:
        """All at each entry not verified before, and one with its round at each that waits since an interruption."""
        fresh: Counter[str] = Counter()
        for book, stripe_no, seq in replay.ends(self.session):
            if book in self.books:
                fresh[book] += max(0, seq - self.reached.get(book, NOTHING).seq_on(stripe_no))
        looks = Looks(Looks.IN_ACT * fresh[REFERENCE_BOOK])
        for book, entries in fresh.items():
            looks.total += Looks.IN_CHAIN * entries
            if book != REFERENCE_BOOK:
                looks.total += Looks.IN_SUMS * entries + Looks.IN_ROUND * self._with_rounds(book, entries)
        return looks

    def _with_rounds(self, book: str, fresh: int) -> int:
        """Entries that came since are of rounds that wait, too, or of earlier ones, which are looked at again."""
        since = self.reached.get(book, NOTHING)
        if since.is_whole or not since.stripes:
            return fresh
        return max(fresh, replay.count_entries_of_rounds(self.session, book, after=since.last_round_key))

    def _count_entry(self, entry: BookedEntry) -> None:
        self.entries += 1
        self.looks.done += Looks.IN_CHAIN
        if self.entries % replay.PAGE == 0:
            self._report_progress(entry.book)

    def _count_act(self, seq: int) -> None:
        """All acts are looked at each time; those that came since were to be counted."""
        if seq > self.reached.get(REFERENCE_BOOK, NOTHING).seq_on(0):
            self.looks.done += Looks.IN_ACT
        if seq % replay.PAGE == 0:
            self._report_progress(REFERENCE_BOOK)

    def _report_progress(self, book: str) -> None:
        waiting = 0 if self.side_by_side is None else Looks.IN_ROUND * self.side_by_side.entries_waiting
        done = min(self.looks.done + waiting, self.looks.total)
        self.on_progress(Progress(book, self.entries, self.rounds, done, self.looks.total))

    def _verified(self, stripes: Sequence[BookedStripe]) -> Verified:
        """As far as a book is verified once its laws are: every stripe to its end."""
        ends = {stripe.stripe_no: VerifiedStripe(stripe.seq, stripe.head, stripe.pools) for stripe in stripes}
        return Verified(ends, acts=self.acts)

    def _reach(self, book: str, verified: Verified, held: HeldMoney) -> None:
        self.reached[book] = replace(verified, held=held.left)
        self.report_reached()

    def report_reached(self, *, is_whole: bool = False) -> None:
        """Report how far all books are verified, unless something is wrong."""
        if not self.mismatches:
            counts = (self.entries, self.rounds, self.bets, self.awards)
            self.on_reached(Reached(dict(self.reached), is_whole, *counts))
