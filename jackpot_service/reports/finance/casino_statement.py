"""
A casino's statement: its liability for the stakes that it collected, less the awards that it pays out for the jackpot.

It has the sign of its reader, the opposite of the books': a positive balance is owed by the casino. Each movement has
the sign of the change that it makes to that balance, in every section; so a payment of the casino is negative.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain import accounts
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import ZERO
from jackpot_service.reports.documents import Row, Section, rows_of
from jackpot_service.reports.finance import figures, held_awards
from jackpot_service.reports.finance.columns import amounts, columns, counts, days, instants, texts
from jackpot_service.reports.finance.figures import Key
from jackpot_service.reports.finance.frame import Report, Scope
from jackpot_service.reports.finance.period import BookPeriod
from jackpot_service.reports.questions import Filters, Parameter

MOVEMENTS: Final[Mapping[Movement, str]] = {
    Movement.CONTRIBUTION: "stakes",
    Movement.REVERSAL: "refunds",
    Movement.AWARD: "awards",
    Movement.RELEASE: "releases",
    Movement.COMPENSATION: "compensations",
    Movement.CORRECTION: "corrections",
    Movement.WITHHOLDING: "withheld",
    Movement.FORFEITURE: "forfeitures",
}
"""The columns of movements of a casino's account, in their order; payments are a column of their own."""

FIGURES = (
    *amounts(opening="Opening balance", stakes="Stakes", refunds="Refunds", awards="Awards"),
    *amounts(releases="Held awards released", compensations="Compensations", corrections="Corrections of rounds"),
    *amounts(withheld="Withheld for the authority"),
    *amounts(forfeitures="Forfeited awards"),
    *amounts(net="Net of the period", settled="Settled with the bank (negative: it paid)", closing="Closing balance"),
)

ACCOUNTS = columns(
    "jackpot_id currency",
    FIGURES,
    counts(held_awards="Memorandum: number of held awards at the end"),
    amounts(held="Memorandum: contingent (held) at the end"),
)

DAYS = columns("jackpot_id currency", days(gaming_day="Gaming day"), FIGURES)

SETTLED = columns(
    texts(reference="Reference"),
    "jackpot_id currency",
    instants(period_from="Period from", period_to="Period to"),
    amounts(balance_before="Balance before", settled="Settled with the bank (negative: it paid)"),
    "booked_at act",
)

_SETTLED = text(
    """
    SELECT s.reference, s.jackpot_id, s.currency, s.period_from, s.period_to, -s.balance_before AS balance_before,
           -s.amount AS settled, e.booked_at, f.act_seq AS act
    FROM effects_of_acts(:jackpot_id, (CAST(:starts AS bigint[]))[1], (CAST(:ends AS bigint[]))[1]) AS f
    JOIN statement_settlements s ON s.jackpot_id = :jackpot_id AND s.act_seq = f.act_seq
    JOIN entries e ON e.jackpot_id = :jackpot_id AND e.stripe_no = 0 AND e.seq = f.seq
    WHERE s.casino_id = :casino_id
    ORDER BY f.seq
    """
)

Amounts = Mapping[Movement, Decimal]
"""The sums of a casino's account by movement, positive where its liability rose."""


@dataclass(frozen=True, slots=True)
class _Account:
    """A casino's account in a currency of a jackpot: its balance before, and its movements day by day."""

    opening: Decimal
    days: Mapping[date, Amounts]


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """State the balance of a casino, by jackpot and currency, day by day, and its settled statements."""
    casino_id = str(scope.parameters.casino_id)
    lines, by_day, settled = list[Row](), list[Row](), list[Row]()
    for book in scope.books:
        by_currency = _accounts(session, book, casino_id)
        held = [held_award for held_award in held_awards.at_end(session, book) if held_award.casino_id == casino_id]
        for currency in sorted({*by_currency, *(held_award.currency for held_award in held)}):
            account = by_currency.get(currency, _Account(ZERO, {}))
            contingent = [-held_award.amount for held_award in held if held_award.currency == currency]
            whole = line(account.opening, account.days.values())
            lines.append((book.jackpot_id, currency, *whole, len(contingent), sum(contingent, ZERO)))
            by_day += _day_by_day(book.jackpot_id, currency, account)
        query = {**book.bounds, "casino_id": casino_id}
        settled += rows_of(SETTLED, session.execute(_SETTLED, query).mappings())
    owes = f"Casino {casino_id} owes (negative: is owed), by jackpot and currency"
    return (
        Section("accounts", owes, ACCOUNTS, lines),
        Section("days", f"{owes}, gaming day by gaming day", DAYS, by_day),
        Section("settled", f"Statements of casino {casino_id} that were settled in the period", SETTLED, settled),
    )


def _accounts(session: Session, book: BookPeriod, casino_id: str) -> dict[str, _Account]:
    """Return each account of the casino in a jackpot's book, by currency, as the statement signs it."""
    opening, days = (
        defaultdict[str, Decimal](lambda: ZERO),
        defaultdict[str, defaultdict[date, dict[Movement, Decimal]]](lambda: defaultdict(dict)),
    )
    of_casino = Filters(casino_id=casino_id)
    for moved in figures.movements(session, book.until_start(session), filters=of_casino):
        if moved.account == accounts.casino(casino_id):
            opening[moved.currency] -= moved.amount
    for moved in figures.movements(session, book, by=(Key.GAMING_DAY,), filters=of_casino):
        if moved.account == accounts.casino(casino_id):
            days[moved.currency][moved.key[Key.GAMING_DAY]][moved.movement] = -moved.amount
    return {currency: _Account(opening[currency], days[currency]) for currency in sorted({*opening, *days})}


def line(opening: Decimal, days: Iterable[Amounts]) -> tuple[Decimal, ...]:
    """Opening balance, movements, net, settlements, closing balance: each line shows that they add up."""
    listed = list(days)
    moved = [sum((day.get(movement, ZERO) for day in listed), ZERO) for movement in MOVEMENTS]
    settled = sum((day.get(Movement.PAYMENT, ZERO) for day in listed), ZERO)
    net = sum(moved, ZERO)
    return opening, *moved, net, settled, opening + net + settled


def _day_by_day(jackpot_id: str, currency: str, account: _Account) -> Iterator[Row]:
    balance = account.opening
    for day, moved in sorted(account.days.items()):
        shown = line(balance, [moved])
        yield (jackpot_id, currency, day, *shown)
        balance = shown[-1]


REPORT = Report(
    "casino-statement",
    "Statement of a casino",
    make,
    required=frozenset({Parameter.CASINO}),
    sections=("accounts", "days", "settled"),
    is_for_casinos=True,
    is_kept=False,
    signs="A positive balance is owed by the casino, a negative one to it.",
)
