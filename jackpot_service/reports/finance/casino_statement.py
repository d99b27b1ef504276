"""
A casino's statement: what it owes by the stakes that it collected, less the awards that it pays out for the jackpot.

It is written as its reader thinks, the other way round than the books: positive is what the casino owes.
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
from jackpot_service.domain.money import EXACT, ZERO, negated, total
from jackpot_service.reports.documents import Column, Row, Section, Sort
from jackpot_service.reports.finance import figures, frame, held, parts
from jackpot_service.reports.finance.figures import Key
from jackpot_service.reports.finance.frame import Report, Scope, Stand, Takes

MOVEMENTS: Final[Mapping[Movement, tuple[str, str]]] = {
    Movement.CONTRIBUTION: ("stakes", "Stakes"),
    Movement.REVERSAL: ("refunds", "Refunds"),
    Movement.AWARD: ("awards", "Awards"),
    Movement.RELEASE: ("releases", "Held awards released"),
    Movement.COMPENSATION: ("compensations", "Compensations"),
    Movement.CORRECTION: ("corrections", "Corrections of rounds"),
}
"""What a casino comes to owe or be owed, in the order of the columns; only payments are beside it."""

_FIGURES = (
    Column("opening", "Owed at the beginning", Sort.AMOUNT, currency_in="currency"),
    *(Column(name, title, Sort.AMOUNT, currency_in="currency") for name, title in MOVEMENTS.values()),
    Column("net", "Net of the period", Sort.AMOUNT, currency_in="currency"),
    Column("settled", "Settled with the bank (negative: it paid)", Sort.AMOUNT, currency_in="currency"),
    Column("closing", "Owed at the end", Sort.AMOUNT, currency_in="currency"),
)

ACCOUNTS = (
    Column("jackpot_id", "Jackpot"),
    Column("currency", "Currency"),
    *_FIGURES,
    Column("held_awards", "Memorandum: held awards at the end", Sort.COUNT),
    Column("held", "Memorandum: held at the end, owed by nobody yet", Sort.AMOUNT, currency_in="currency"),
)

DAYS = (
    Column("jackpot_id", "Jackpot"),
    Column("currency", "Currency"),
    Column("gaming_day", "Gaming day", Sort.DAY),
    *_FIGURES,
)

SETTLED = (
    Column("reference", "Reference"),
    Column("jackpot_id", "Jackpot"),
    Column("currency", "Currency"),
    Column("period_from", "Period from", Sort.INSTANT),
    Column("period_to", "Period to", Sort.INSTANT),
    Column("owed_before", "Owed before", Sort.AMOUNT, currency_in="currency"),
    Column("amount", "Paid by the casino (negative: to it)", Sort.AMOUNT, currency_in="currency"),
    Column("booked_at", "Booked at", Sort.INSTANT),
    Column("act", "Act", Sort.COUNT),
)

_SETTLED = text(
    """
    SELECT s.reference, s.currency, s.period_from, s.period_to, s.balance_before, s.amount, e.booked_at, f.act_seq
    FROM effects_of_acts(:jackpot_id, (CAST(:starts AS bigint[]))[1], (CAST(:ends AS bigint[]))[1]) AS f
    JOIN statement_settlements s ON s.jackpot_id = :jackpot_id AND s.act_seq = f.act_seq
    JOIN entries e ON e.jackpot_id = :jackpot_id AND e.stripe_no = 0 AND e.seq = f.seq
    WHERE s.casino_id = :casino_id
    ORDER BY f.seq
    """
)

Amounts = Mapping[Movement, Decimal]
"""What a casino's account moved, by movement, positive where it came to owe."""


@dataclass(frozen=True, slots=True)
class _Account:
    """A casino's account in a currency of a jackpot: what it owed before, and what then came of it, day by day."""

    opening: Decimal
    days: Mapping[date, Amounts]


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """State what a casino owes, by jackpot and currency, day by day, and what was settled."""
    casino_id = str(scope.asked.casino_id)
    lines, days, settled = list[Row](), list[Row](), list[Row]()
    for stand in scope.stands:
        found = _accounts(session, stand, casino_id)
        kept = {one.currency: one for one in held.at_end(session, stand) if one.casino_id == casino_id}
        for currency in sorted({*found, *kept}):
            account = found.get(currency, _Account(ZERO, {}))
            one = kept.get(currency)
            memorandum = (0, ZERO) if one is None else (one.awards, one.amount)
            whole = _line(account.opening, account.days.values())
            lines.append((stand.jackpot_id, currency, *whole, *memorandum))
            days += _day_by_day(stand.jackpot_id, currency, account)
        settled += _settled(session, stand, casino_id)
    owes = f"Casino {casino_id} owes (negative: is owed), by jackpot and currency"
    return (
        Section("accounts", owes, ACCOUNTS, lines),
        Section("days", f"{owes}, gaming day by gaming day", DAYS, days),
        Section("settled", f"Statements of casino {casino_id} that were settled in the period", SETTLED, settled),
    )


def _accounts(session: Session, stand: Stand, casino_id: str) -> dict[str, _Account]:
    """Each account of the casino in a jackpot's book, by currency, as the statement signs it."""
    opening, days = (
        defaultdict[str, Decimal](lambda: ZERO),
        defaultdict[str, defaultdict[date, dict[Movement, Decimal]]](lambda: defaultdict(dict)),
    )
    for moved in figures.movements(session, frame.until_start(session, stand)):
        if moved.account == accounts.casino(casino_id):
            opening[moved.currency] = EXACT.subtract(opening[moved.currency], moved.amount)
    for moved in figures.movements(session, stand, by=(Key.GAMING_DAY,)):
        if moved.account == accounts.casino(casino_id):
            days[moved.currency][moved.key[Key.GAMING_DAY]][moved.movement] = negated(moved.amount)
    return {currency: _Account(opening[currency], days[currency]) for currency in sorted({*opening, *days})}


def _line(opening: Decimal, days: Iterable[Amounts]) -> tuple[Decimal, ...]:
    """Opening balance, movements, net, settlements, closing balance: each line shows that they add up."""
    listed = list(days)
    moved = [total(day.get(movement, ZERO) for day in listed) for movement in MOVEMENTS]
    settled = total(day.get(Movement.PAYMENT, ZERO) for day in listed)
    net = total(moved)
    return opening, *moved, net, settled, total((opening, net, settled))


def _day_by_day(jackpot_id: str, currency: str, account: _Account) -> Iterator[Row]:
    balance = account.opening
    for day, moved in sorted(account.days.items()):
        shown = _line(balance, [moved])
        yield (jackpot_id, currency, day, *shown)
        balance = shown[-1]


def _settled(session: Session, stand: Stand, casino_id: str) -> Iterator[Row]:
    found = session.execute(_SETTLED, parts.bounds(stand) | {"casino_id": casino_id})
    for reference, currency, period_from, period_to, balance_before, amount, booked_at, act in found:
        owed = negated(balance_before)
        yield (reference, stand.jackpot_id, currency, period_from, period_to, owed, amount, booked_at, act)


REPORT = Report(
    "casino-statement",
    "Statement of a casino",
    make,
    takes=frozenset({Takes.CASINO}),
    needs=frozenset({Takes.CASINO}),
    sections=("accounts", "days", "settled"),
    is_for_casinos=True,
    is_kept=False,
)
