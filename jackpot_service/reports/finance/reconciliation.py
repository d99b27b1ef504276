"""
The reconciliation: turnover times rate against the pools' contributions, and every sub-ledger against the journal.

The expected figures come from documents (bets, rules, rates, voids, cards, awards and their steps, acts), the booked
ones from the entries' postings. Each is read one by one: so a variance shows what differs, and is never zero by itself.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TypeVar

from jackpot_service.database.transactions import Session
from jackpot_service.domain import accounts
from jackpot_service.domain.accounts import Account
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import ZERO
from jackpot_service.domain.rules import Split
from jackpot_service.records import immutable
from jackpot_service.reports.documents import Row, Section
from jackpot_service.reports.finance import figures, held_awards, reconciled_sums
from jackpot_service.reports.finance.award_subledger import METER
from jackpot_service.reports.finance.columns import amounts, columns, compared, counts, numbers
from jackpot_service.reports.finance.frame import Report, Scope
from jackpot_service.reports.finance.period import BookPeriod
from jackpot_service.reports.finance.reconciled_sums import Side, Sum

K = TypeVar("K")

_RATES: Mapping[Account, Callable[[Split], Decimal]] = {
    accounts.METER_PLAYERS: lambda split: split.meter,
    accounts.RESERVE: lambda split: split.reserve,
    accounts.PRIZE_FUND: lambda split: split.prize_fund,
    accounts.HOUSE_MARGIN: lambda split: split.house,
    accounts.HOUSE_ADJUSTMENTS: lambda split: split.meter + split.reserve,
}
"""The rate of each account; the house's adjustments bear the meter's and the reserve's where a cycle had been won."""

_COMPARED = columns(amounts(expected="Expected", booked="Booked"), "variance variance_percent")

SUMMARY = columns("jackpot_id", counts(compared="Figures compared", differing="Figures that differ"))

BY_RATE = columns(
    "jackpot_id rules_version account currency",
    amounts(value="Base value of the stakes"),
    numbers(rate="Rate"),
    _COMPARED,
)

ACCOUNTS = columns("jackpot_id account currency movement", _COMPARED)

HELD = columns("jackpot_id account currency", counts(awards="Number of held awards"), _COMPARED)


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """Compare, jackpot by jackpot; the figures that differ are counted first."""
    contributions, reversals, ledgers, held, summary = (list[Row]() for _ in range(5))
    for book in scope.books:
        sums = reconciled_sums.sums_of(session, book)
        rows_by_section = (
            (contributions, list(_by_rate(session, book, sums, Movement.CONTRIBUTION))),
            (reversals, list(_by_rate(session, book, sums, Movement.REVERSAL))),
            (ledgers, list(_by_account(book, sums))),
            (held, [_held(session, book, sums)]),
        )
        for section, rows in rows_by_section:
            section.extend(rows)
        variances = [row[-2] for _, rows in rows_by_section for row in rows]
        summary.append((book.jackpot_id, len(variances), sum(map(bool, variances))))
    return (
        Section("summary", "Comparison", SUMMARY, summary),
        Section("contributions", "Turnover times rate, against contributions", BY_RATE, contributions),
        Section("reversals", "Refunded stakes times rate, against reversals", BY_RATE, reversals),
        Section("accounts", "Documents, against the postings of their accounts", ACCOUNTS, ledgers),
        Section("held", "Held awards at the end, against their account", HELD, held),
    )


def _by_rate(session: Session, book: BookPeriod, sums: Sequence[Sum], movement: Movement) -> Iterator[Row]:
    """Compare, by rules version and account, the stakes' value times the version's rate with the postings."""
    of_movement = [sum_ for sum_ in sums if sum_.movement is movement]
    values = {(sum_.version, sum_.account): sum_.amount for sum_ in of_movement if sum_.side is Side.TURNOVER}
    booked = _summed(
        ((sum_.version, sum_.account), sum_.amount)
        for sum_ in of_movement
        if sum_.side is Side.JOURNAL and sum_.account in _RATES
    )
    for version, account in sorted({*values, *booked}, key=lambda key: (key[0] or 0, key[1])):
        value, rate = values.get((version, account), ZERO), None
        if version is not None and (version, account) in values:
            rate = _RATES[account](immutable.rules(session, book.jackpot_id, version).split)
        expected = ZERO if rate is None else value * rate
        figures_compared = compared(expected, booked.get((version, account), ZERO))
        yield (book.jackpot_id, version, account, book.base, value, rate, *figures_compared)


def _by_account(book: BookPeriod, sums: Iterable[Sum]) -> Iterator[Row]:
    """Compare, by account, currency and movement, the documents with the postings."""
    expected, booked = (
        _summed(
            ((account, sum_.currency, sum_.movement.value), sum_.amount)
            for sum_ in sums
            for account in [_account_in_documents(sum_) if side is Side.JOURNAL else sum_.account]
            if sum_.side is side and account is not None
        )
        for side in (Side.DOCUMENTS, Side.JOURNAL)
    )
    for key in sorted({*expected, *booked}):
        yield (book.jackpot_id, *key, *compared(expected.get(key, ZERO), booked.get(key, ZERO)))


def _account_in_documents(sum_: Sum) -> Account | None:
    """Return the account by which documents name that of a posting; None for accounts that they do not determine."""
    is_award = sum_.movement is Movement.AWARD
    if is_award and sum_.account in {accounts.METER_PLAYERS, accounts.METER_HOUSE}:
        return METER
    if is_award and sum_.account == accounts.PRIZE_FUND:
        return sum_.account
    if sum_.account == accounts.HOUSE_ADJUSTMENTS and sum_.movement is Movement.COMPENSATION:
        return sum_.account
    if sum_.movement is Movement.FORFEITURE:
        return sum_.account
    determined = sum_.account.startswith((accounts.CASINO, accounts.WITHHELD, "bank:", "transfer:", "fx:"))
    return sum_.account if determined or sum_.account == accounts.AWARDS_HELD else None


def _held(session: Session, book: BookPeriod, sums: Iterable[Sum]) -> Row:
    """Compare the cost of the awards that are held at the end with the balance of their account."""
    held = held_awards.at_end(session, book)
    before = figures.postings(session, book.until_start(session))
    opening = sum((moved.amount for moved in before if moved.account == accounts.AWARDS_HELD), ZERO)
    booked = (sum_ for sum_ in sums if sum_.side is Side.JOURNAL and sum_.account == accounts.AWARDS_HELD)
    balance = opening + sum((sum_.amount for sum_ in booked), ZERO)
    costs = sum((held_award.cost for held_award in held), ZERO)
    return (book.jackpot_id, accounts.AWARDS_HELD, book.base, len(held), *compared(costs, balance))


def _summed(amounts_of_keys: Iterable[tuple[K, Decimal]]) -> dict[K, Decimal]:
    lists = defaultdict[K, list[Decimal]](list)
    for key, amount in amounts_of_keys:
        lists[key].append(amount)
    return {key: sum(of_key, ZERO) for key, of_key in lists.items()}


REPORT = Report(
    "reconciliation", "Reconciliation", make, sections=("summary", "contributions", "reversals", "accounts", "held")
)
