"""
Balances of casinos: the first table of each casino's statement, of all casinos at once.

It has the sign of those statements: a positive balance is owed by the casino. Held awards are a memorandum of the
statement alone.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from jackpot_service.database.transactions import Session
from jackpot_service.domain import accounts
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import ZERO
from jackpot_service.reports.documents import Row, Section
from jackpot_service.reports.finance import casino_statement, figures
from jackpot_service.reports.finance.columns import columns
from jackpot_service.reports.finance.frame import Report, Scope
from jackpot_service.reports.finance.period import BookPeriod

ACCOUNTS: Final = columns("casino_id jackpot_id currency", casino_statement.FIGURES)

_Key = tuple[str, str]
"""A casino and a currency."""


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """State the balance of each casino that has an account in a jackpot's book, by jackpot and currency."""
    rows = [row for book in scope.books for row in _rows(session, book)]
    return (
        Section(
            "accounts",
            "Each casino owes (negative: is owed), by jackpot and currency",
            ACCOUNTS,
            sorted(rows, key=lambda row: tuple(map(str, row[:3]))),
        ),
    )


def _rows(session: Session, book: BookPeriod) -> Iterator[Row]:
    opening, period = _sums(session, book.until_start(session)), _sums(session, book)
    for key in {*opening, *period}:
        casino_id, currency = key
        before = sum(opening.get(key, {}).values(), ZERO)
        yield (casino_id, book.jackpot_id, currency, *casino_statement.line(before, [period.get(key, {})]))


def _sums(session: Session, book: BookPeriod) -> dict[_Key, dict[Movement, Decimal]]:
    """Sum the movements of each casino's account, positive where its liability rose."""
    sums = defaultdict[_Key, dict[Movement, Decimal]](dict)
    for moved in figures.movements(session, book):
        if moved.account.startswith(accounts.CASINO):
            sums[moved.account.removeprefix(accounts.CASINO), moved.currency][moved.movement] = -moved.amount
    return sums


REPORT = Report(
    "casino-balances",
    "Balances of casinos",
    make,
    sections=("accounts",),
    signs="A positive balance is owed by the casino, a negative one to it.",
)
