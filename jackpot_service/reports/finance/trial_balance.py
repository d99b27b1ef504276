"""The trial balance: every account of every jackpot, in each of its currencies, which together are zero."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal

from jackpot_service.database.transactions import Session
from jackpot_service.domain.money import ZERO
from jackpot_service.reports.documents import Row, Section
from jackpot_service.reports.finance import figures
from jackpot_service.reports.finance.columns import amounts, columns
from jackpot_service.reports.finance.frame import Report, Scope
from jackpot_service.reports.finance.period import BookPeriod

Account = tuple[str, str]
"""An account, and one of its currencies."""

_FIGURES = amounts(opening="Opening balance", debit="Debit", credit="Credit", closing="Closing balance")

ACCOUNTS = columns("jackpot_id account currency", _FIGURES)

TOTALS = columns("jackpot_id currency", _FIGURES)


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """
    Show each account's balance before and after the period, and the debit and credit of the period's movements.

    A movement is a credit or a debit by the net sum of its postings in the period: days keep no more of them.
    """
    accounts = [row for book in scope.books for row in _accounts(session, book)]
    return (
        Section("accounts", "Accounts", ACCOUNTS, accounts),
        Section("totals", "All accounts together, by currency", TOTALS, list(_totals(accounts))),
    )


def _accounts(session: Session, book: BookPeriod) -> Iterator[Row]:
    opening = _summed(session, book.until_start(session))
    credit, debit = defaultdict[Account, Decimal](lambda: ZERO), defaultdict[Account, Decimal](lambda: ZERO)
    for moved in figures.movements(session, book):
        side = credit if moved.amount > ZERO else debit
        key: Account = (moved.account, moved.currency)
        side[key] += moved.amount
    for key in sorted({*opening, *credit, *debit}):
        before = opening.get(key, ZERO)
        after = before + credit[key] + debit[key]
        yield (book.jackpot_id, *key, before, -debit[key], credit[key], after)


def _summed(session: Session, book: BookPeriod) -> dict[Account, Decimal]:
    summed: defaultdict[Account, Decimal] = defaultdict(lambda: ZERO)
    for moved in figures.movements(session, book):
        key: Account = (moved.account, moved.currency)
        summed[key] += moved.amount
    return {key: amount for key, amount in summed.items() if amount}


def _totals(accounts: Sequence[Row]) -> Iterator[Row]:
    by_currency: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for jackpot_id, _, currency, *values in accounts:
        by_currency[str(jackpot_id), str(currency)].append(values)
    for key, rows in sorted(by_currency.items()):
        yield (*key, *(sum(map(_amount, column), ZERO) for column in zip(*rows, strict=True)))


def _amount(value: object) -> Decimal:
    assert isinstance(value, Decimal)  # noqa: S101  narrows a type
    return value


REPORT = Report(
    "trial-balance",
    "Trial balance",
    make,
    sections=("accounts", "totals"),
    report_version=2,
    signs="A balance is what the ledger owes to the account's owner: negative where the owner owes it.",
)
