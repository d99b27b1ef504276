"""
The laws of the books, as lists of pure checks: what holds after every commit, whatever was booked.

They need nothing but entries, stripes, cycles and days; what entries should have booked is for `reports.verification`.
"""

from collections import defaultdict
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise

from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import POOL_ACCOUNTS, Account, Pools
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.facts import instant
from jackpot_service.domain.money import ZERO, plain
from jackpot_service.ledger import days, replay
from jackpot_service.ledger.digests import first_head, next_head
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedCycle, BookedEntry, BookedStripe
from jackpot_service.ledger.verification import NOTHING, Verified


def broken(session: Session) -> tuple[Mismatch, ...]:
    """Check every law on every book; empty is as it should be. The session should see one instant of the books."""
    return tuple(mismatch for book in replay.books(session) for mismatch in broken_in(session, book))


@dataclass(slots=True)
class Replayed:
    """
    The sums of a book's entries, from zero; the balances, from where the book was verified before.

    `last` and `pools` are by stripe, `at_cuts` are the pools of a stripe at the positions that some cut names.
    `by_days` is what the days put into some accounts.
    """

    book: str
    stripes: tuple[BookedStripe, ...]
    cycles: tuple[BookedCycle, ...]
    since: Verified = NOTHING
    by_days: Mapping[Account, Decimal] = field(default_factory=dict)
    last: dict[int, BookedEntry] = field(default_factory=dict)
    pools: dict[int, Pools] = field(default_factory=dict)
    balances: defaultdict[tuple[str, str], Decimal] = field(default_factory=lambda: defaultdict(lambda: ZERO))
    at_cuts: dict[tuple[int, int], Pools] = field(default_factory=dict)

    def end_of(self, stripe_no: int) -> int:
        """The seq of a stripe's last entry, 0 if it has none."""
        return self.last[stripe_no].seq if stripe_no in self.last else 0


def broken_in(
    session: Session,
    book: str,
    *,
    since: Verified = NOTHING,
    on_entry: Callable[[BookedEntry], None] = lambda _entry: None,
) -> Found:
    """Check every law on one book, or on what came to it since it was verified; `on_entry` gets each such entry."""
    replayed = Replayed(
        book, replay.stripes(session, book), replay.cycles(session, book), since, days.split_sums(session, book)
    )
    places = {(number, seq) for cycle in replayed.cycles for number, seq in enumerate(cycle.cut)}
    yield from _go_on(session, replayed, places)
    for stripe_no in replay.stripe_numbers(session, book):
        for entry in replay.entries(session, book, stripe_no, after=since.seq_on(stripe_no) or -1):
            for law in LAWS_OF_POSTINGS if entry.lines else ():
                yield from law(entry)
            for entry_law in ENTRY_LAWS:
                yield from entry_law(replayed.last.get(stripe_no), entry)
            _add(replayed, entry, is_cut=(stripe_no, entry.seq) in places)
            on_entry(entry)
    for book_law in BOOK_LAWS:
        yield from book_law(replayed)


def _go_on(session: Session, replayed: Replayed, places: Container[tuple[int, int]]) -> Found:
    """Begin where the book was verified before, if the same entries stand there still."""
    for stripe_no, verified in replayed.since.stripes.items():
        if not verified.seq:
            continue
        there = replay.entries(session, replayed.book, stripe_no, after=verified.seq - 1, upto=verified.seq)
        last = next(there, None)
        if last is None or last.head != verified.head:
            place = f"stripe {stripe_no}, seq {verified.seq}"
            detail = f"was verified with the head {verified.head.hex()}, and {'is gone' if last is None else 'differs'}"
            yield Mismatch(Code.VERIFIED_HEAD, replayed.book, place, detail)
        if last is not None:
            replayed.last[stripe_no] = last
        replayed.pools[stripe_no] = verified.pools
        if (stripe_no, verified.seq) in places:
            replayed.at_cuts[stripe_no, verified.seq] = verified.pools


def _add(replayed: Replayed, entry: BookedEntry, *, is_cut: bool) -> None:
    pools = replayed.pools.get(entry.stripe_no, Pools())
    if entry.lines:
        lines = entry.exact_lines
        for account, currency, amount, _ in lines:
            replayed.balances[account, currency] += amount
        pools += replay.pools_of(lines)
        replayed.pools[entry.stripe_no] = pools
    replayed.last[entry.stripe_no] = entry
    if is_cut:
        replayed.at_cuts[entry.stripe_no, entry.seq] = pools


def amounts_are_exact(entry: BookedEntry) -> Found:
    """Amounts are finite, have at most 18 decimals, and are below 10^20."""
    if len(entry.exact_lines) == len(entry.lines):
        return
    for account, currency, amount, _ in entry.lines:
        if not replay.is_exact(amount):
            yield _mismatch_of_entry(Code.ENTRY_INEXACT, entry, f"{amount} {currency} in {account}")


def postings_are_readable(entry: BookedEntry) -> Found:
    """Every posting names an account, a currency and a movement, and has an amount."""
    if not all(account and currency and movement for account, currency, _, movement in entry.lines):
        yield _mismatch_of_entry(Code.RECORD_UNREADABLE, entry, f"its postings hold {entry.lines}")


def postings_sum_to_zero(entry: BookedEntry) -> Found:
    """The postings of each movement sum to zero in each currency."""
    sums: defaultdict[tuple[str, str], Decimal] = defaultdict(lambda: ZERO)
    for _, currency, amount, movement in entry.exact_lines:
        sums[movement, currency] += amount
    for (movement, currency), left_over in sums.items():
        if left_over:
            yield _mismatch_of_entry(
                Code.ENTRY_UNBALANCED, entry, f"{movement} in {currency} sums to {plain(left_over)}"
            )


def seqs_are_dense(before: BookedEntry | None, entry: BookedEntry) -> Found:
    """Entries are numbered from 1 without a gap."""
    expected = 1 if before is None else before.seq + 1
    if entry.seq != expected:
        yield _mismatch_of_entry(Code.SEQ_GAP, entry, f"seq {expected} is not there")


def heads_are_chained(before: BookedEntry | None, entry: BookedEntry) -> Found:
    """Every head is the hash of the head before it, its entry's digest and when it was booked."""
    head = first_head(entry.book, entry.stripe_no) if before is None else before.head
    if entry.head != next_head(head, entry.digest, entry.booked_at):
        yield _mismatch_of_entry(
            Code.CHAIN_BROKEN, entry, f"head {entry.head.hex()} does not follow from what stands before it"
        )


def booked_at_never_falls(before: BookedEntry | None, entry: BookedEntry) -> Found:
    """No entry is dated before the one that stands before it."""
    if before is not None and entry.booked_at < before.booked_at:
        detail = f"booked at {instant(entry.booked_at)}, after one of {instant(before.booked_at)}"
        yield _mismatch_of_entry(Code.BOOKED_AT_FALLS, entry, detail)


def nothing_is_booked_before_it_came(_before: BookedEntry | None, entry: BookedEntry) -> Found:
    """No entry is dated before its request came in."""
    if entry.booked_at < entry.received_at:
        detail = f"booked at {instant(entry.booked_at)}, received at {instant(entry.received_at)}"
        yield _mismatch_of_entry(Code.BOOKED_BEFORE_RECEIVED, entry, detail)


def stripes_are_there(replayed: Replayed) -> Found:
    """Stripes are numbered from 0 without a gap, and entries stand on them only."""
    numbers = [stripe.stripe_no for stripe in replayed.stripes]
    if numbers != list(range(len(numbers))) or not numbers:
        yield Mismatch(Code.STRIPE_MISSING, replayed.book, "stripes", f"numbered {numbers}")
    for stripe_no in sorted(set(replayed.last) - set(numbers)):
        yield Mismatch(Code.STRIPE_MISSING, replayed.book, f"stripe {stripe_no}", "has entries, and is not there")


def stripes_end_with_their_last_entry(replayed: Replayed) -> Found:
    """A stripe's seq and head are its last entry's; its time is not before that entry's."""
    for stripe in replayed.stripes:
        last = replayed.last.get(stripe.stripe_no)
        seq, head = (0, first_head(replayed.book, stripe.stripe_no)) if last is None else (last.seq, last.head)
        place = f"stripe {stripe.stripe_no}"
        if stripe.seq != seq:
            yield Mismatch(Code.STRIPE_END, replayed.book, place, f"seq is {stripe.seq}, its last entry's is {seq}")
        if stripe.head != head:
            yield Mismatch(Code.STRIPE_END, replayed.book, place, "head is not its last entry's")
        if last is not None and (stripe.booked_at is None or stripe.booked_at < last.booked_at):
            yield Mismatch(Code.STRIPE_END, replayed.book, place, f"its time lies before {instant(last.booked_at)}")


def pools_are_the_sum_of_their_postings(replayed: Replayed) -> Found:
    """A stripe's pools are what its entries put into them."""
    for stripe in replayed.stripes:
        expected = replayed.pools.get(stripe.stripe_no, Pools())
        if stripe.pools != expected:
            detail = f"holds {stripe.pools}, its entries make {expected}"
            yield Mismatch(Code.STRIPE_POOLS, replayed.book, f"stripe {stripe.stripe_no}", detail)


def accounts_sum_to_zero(replayed: Replayed) -> Found:
    """The trial balance: all accounts together are zero in every currency."""
    sums: defaultdict[str, Decimal] = defaultdict(lambda: ZERO)
    for (_, currency), balance in replayed.balances.items():
        sums[currency] += balance
    for currency, left_over in sorted(sums.items()):
        if left_over:
            yield Mismatch(Code.TRIAL_BALANCE, replayed.book, currency, f"all accounts sum to {plain(left_over)}")


def days_add_up(replayed: Replayed) -> Found:
    """All days together put into an account what the entries did."""
    for account, expected in _put_into_accounts(replayed).items():
        amount = replayed.by_days.get(account, expected)
        if amount != expected:
            detail = f"the days sum to {plain(amount)}, the entries to {plain(expected)}"
            yield Mismatch(Code.DAY_FIGURES, replayed.book, account, detail)


def _put_into_accounts(replayed: Replayed) -> Mapping[Account, Decimal]:
    """Where the book was verified before, the balances are of what came since: the pools alone are of all entries."""
    if replayed.since != NOTHING:
        pools = sum(replayed.pools.values(), Pools())
        return dict(
            zip(POOL_ACCOUNTS, (pools.meter_players, pools.meter_house, pools.reserve, pools.prize_fund), strict=True)
        )
    return {
        account: sum((balance for (name, _), balance in replayed.balances.items() if name == account), ZERO)
        for account in replayed.by_days
    }


def reserve_is_not_negative(replayed: Replayed) -> Found:
    """The reserve, over all stripes, is not below zero."""
    reserve = sum(replayed.pools.values(), Pools()).reserve
    if reserve < ZERO:
        yield Mismatch(Code.RESERVE_NEGATIVE, replayed.book, "reserve", plain(reserve))


def cycles_are_dense(replayed: Replayed) -> Found:
    """A jackpot's cycles are numbered from 1 without a gap; the reference book has none."""
    numbers = [cycle.cycle for cycle in replayed.cycles]
    is_jackpot = replayed.book != REFERENCE_BOOK
    if numbers != list(range(1, len(numbers) + 1)) or bool(numbers) is not is_jackpot:
        yield Mismatch(Code.CYCLE_GAP, replayed.book, "cycles", f"numbered {numbers}")


def cuts_end_with_their_opening(replayed: Replayed) -> Found:
    """A cut's position on the stripe of the entry that opened its cycle is that entry's; all its positions exist."""
    for cycle in replayed.cycles:
        opening = cycle.seq_on(cycle.stripe_no)
        if opening != cycle.seq or opening < 1:
            detail = f"opened by stripe {cycle.stripe_no}, seq {cycle.seq}, and cut at {list(cycle.cut)}"
            yield _mismatch_of_cycle(Code.CYCLE_CUT, replayed, cycle, detail)
        if any(not 0 <= seq <= replayed.end_of(number) for number, seq in enumerate(cycle.cut)):
            yield _mismatch_of_cycle(
                Code.CYCLE_CUT, replayed, cycle, f"cut at {list(cycle.cut)}, beyond the entries there are"
            )


def cuts_do_not_cross(replayed: Replayed) -> Found:
    """A cut lies beyond the one before it on the stripe of its own opening, and before it on no stripe."""
    for earlier, later in pairwise(replayed.cycles):
        stripe_nos = range(max(len(earlier.cut), len(later.cut)))
        falls = any(later.seq_on(stripe_no) < earlier.seq_on(stripe_no) for stripe_no in stripe_nos)
        if falls or later.seq <= earlier.seq_on(later.stripe_no):
            yield _mismatch_of_cycle(
                Code.CUTS_CROSS, replayed, later, f"cut at {list(later.cut)}, after {list(earlier.cut)}"
            )


def a_hit_empties_the_reserve(replayed: Replayed) -> Found:
    """At the cut of a hit the reserve is zero over all stripes: all of it became meter."""
    for cycle in replayed.cycles[1:]:
        if cycle.seq <= replayed.since.seq_on(cycle.stripe_no):
            continue  # Verified before, with all that its cut names.
        reserve = _pools_at(cycle, replayed.at_cuts).reserve
        if reserve:
            yield _mismatch_of_cycle(Code.CUT_RESERVE, replayed, cycle, f"the reserve was {plain(reserve)}")


def _pools_at(cycle: BookedCycle, at_cuts: Mapping[tuple[int, int], Pools]) -> Pools:
    return sum((at_cuts.get(place, Pools()) for place in enumerate(cycle.cut)), Pools())


def _mismatch_of_entry(code: Code, entry: BookedEntry, detail: str) -> Mismatch:
    return Mismatch(code, entry.book, entry.place, detail)


def _mismatch_of_cycle(code: Code, replayed: Replayed, cycle: BookedCycle, detail: str) -> Mismatch:
    return Mismatch(code, replayed.book, f"cycle {cycle.cycle}", detail)


LAWS_OF_POSTINGS: tuple[Callable[[BookedEntry], Found], ...] = (
    postings_are_readable,
    amounts_are_exact,
    postings_sum_to_zero,
)
"""The laws of each entry that has postings; nearly half of all, such as results that pay nothing, have none."""

ENTRY_LAWS: tuple[Callable[[BookedEntry | None, BookedEntry], Found], ...] = (
    seqs_are_dense,
    heads_are_chained,
    booked_at_never_falls,
    nothing_is_booked_before_it_came,
)
"""The laws of each entry, given the one before it on its stripe (None for the first)."""

BOOK_LAWS: tuple[Callable[[Replayed], Found], ...] = (
    stripes_are_there,
    stripes_end_with_their_last_entry,
    pools_are_the_sum_of_their_postings,
    accounts_sum_to_zero,
    days_add_up,
    reserve_is_not_negative,
    cycles_are_dense,
    cuts_end_with_their_opening,
    cuts_do_not_cross,
    a_hit_empties_the_reserve,
)
"""The laws of a book as a whole, once its entries are added up."""
