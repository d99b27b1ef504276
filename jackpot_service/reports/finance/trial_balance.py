"""The trial balance: every account of every jackpot, in each of its currencies, which together are zero."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal

from jackpot_service.database.transactions import Session
from jackpot_service.domain.money import EXACT, ZERO, negated, total
from jackpot_service.reports.documents import Column, Row, Section, Sort
from jackpot_service.reports.finance import figures, frame
from jackpot_service.reports.finance.frame import Report, Scope, Stand

Account = tuple[str, str]
"""An account, and one of its currencies."""

_FIGURES = (
    Column("opening", "Opening", Sort.AMOUNT, currency_in="currency"),
    Column("taken_out", "Taken out", Sort.AMOUNT, currency_in="currency"),
    Column("put_in", "Put in", Sort.AMOUNT, currency_in="currency"),
    Column("closing", "Closing", Sort.AMOUNT, currency_in="currency"),
)

ACCOUNTS = (Column("jackpot_id", "Jackpot"), Column("account", "Account"), Column("currency", "Currency"), *_FIGURES)

TOTALS = (Column("jackpot_id", "Jackpot"), Column("currency", "Currency"), *_FIGURES)


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """
    Show each account's balance before and after the period, and what each movement of the period did to it.

    A movement puts in or takes out what its postings of the period come to: days keep no more of them than that.
    """
    accounts = [row for stand in scope.stands for row in _accounts(session, stand)]
    return (
        Section("accounts", "Accounts", ACCOUNTS, accounts),
        Section("totals", "All accounts together, by currency", TOTALS, list(_totals(accounts))),
    )


def _accounts(session: Session, stand: Stand) -> Iterator[Row]:
    opening = _summed(session, frame.until_start(session, stand))
    put_in, taken_out = defaultdict[Account, Decimal](lambda: ZERO), defaultdict[Account, Decimal](lambda: ZERO)
    for moved in figures.movements(session, stand):
        side = put_in if moved.amount > ZERO else taken_out
        key: Account = (moved.account, moved.currency)
        side[key] = EXACT.add(side[key], moved.amount)
    for key in sorted({*opening, *put_in, *taken_out}):
        before = opening.get(key, ZERO)
        after = total((before, put_in[key], taken_out[key]))
        yield (stand.jackpot_id, *key, before, negated(taken_out[key]), put_in[key], after)


def _summed(session: Session, stand: Stand) -> dict[Account, Decimal]:
    summed: defaultdict[Account, Decimal] = defaultdict(lambda: ZERO)
    for moved in figures.movements(session, stand):
        key: Account = (moved.account, moved.currency)
        summed[key] = EXACT.add(summed[key], moved.amount)
    return {key: amount for key, amount in summed.items() if amount}


def _totals(accounts: Sequence[Row]) -> Iterator[Row]:
    by_currency: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for jackpot_id, _, currency, *amounts in accounts:
        by_currency[str(jackpot_id), str(currency)].append(amounts)
    for key, rows in sorted(by_currency.items()):
        yield (*key, *(total(map(_amount, column)) for column in zip(*rows, strict=True)))


def _amount(value: object) -> Decimal:
    assert isinstance(value, Decimal)  # noqa: S101  narrows a type
    return value


REPORT = Report("trial-balance", "Trial balance", make, sections=("accounts", "totals"))
