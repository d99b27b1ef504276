"""
Foreign currencies: turnover and awards at the rounds' own rates, the position that remains, and its worth now.

Bets keep their rates for ever. The worth of the position at a later sheet is shown here and written nowhere.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from jackpot_service.database.transactions import Session
from jackpot_service.domain import accounts
from jackpot_service.domain.money import ZERO, RateSheet
from jackpot_service.records import immutable, rate_sheets
from jackpot_service.records.rate_sheets import SheetHead
from jackpot_service.reports.documents import Column, Row, Section, Value
from jackpot_service.reports.finance import award_figures, award_subledger, figures
from jackpot_service.reports.finance.columns import (
    amounts,
    base_amounts,
    columns,
    compared,
    counts,
    instants,
    numbers,
    percents,
)
from jackpot_service.reports.finance.figures import Key, Stakes
from jackpot_service.reports.finance.frame import Report, Scope
from jackpot_service.reports.finance.period import BookPeriod

_KEY = columns("jackpot_id currency base")


def _both(**titles: str) -> tuple[Column, ...]:
    """Return columns of amounts, each with the one of its worth."""
    return columns(
        *(
            (*amounts(**{name: title}), *base_amounts(**{f"{name}_base": f"{title}, at the rounds' own rates"}))
            for name, title in titles.items()
        )
    )


PERIOD = columns(
    _KEY,
    amounts(opening="Opening balance"),
    _both(turnover="Turnover", refunds="Refunds", awards="Awards", compensations="Compensations", net="Net"),
    amounts(closing="Closing balance"),
    "variance variance_percent",
)

_RATE = (*counts(rate_sheet="Rate sheet in force"), *instants(effective_at="In force since"))

_REVALUED = (
    *base_amounts(revalued="Worth at that rate", difference="Unrealised difference"),
    *percents(difference_percent="Unrealised difference, %"),
)

POSITIONS = columns(
    _KEY,
    amounts(position="Closing balance"),
    base_amounts(value="Worth at the rounds' own rates"),
    _RATE,
    numbers(rate="Rate"),
    _REVALUED,
)

RESIDUE = columns(
    "jackpot_id base",
    base_amounts(value="Positions at the rounds' own rates", booked="Booked in the base currency"),
    base_amounts(variance="Variance"),
    "variance_percent",
    _RATE,
    _REVALUED,
)


@dataclass(frozen=True, slots=True)
class _Worth:
    """An amount in its currency, and what it was worth at the rounds' own rates."""

    amount: Decimal = ZERO
    value: Decimal = ZERO

    def plus(self, other: "_Worth") -> "_Worth":
        return _Worth(self.amount + other.amount, self.value + other.value)

    def less(self, other: "_Worth") -> "_Worth":
        return _Worth(self.amount - other.amount, self.value - other.value)


NONE = _Worth()


@dataclass(slots=True)
class _Flow:
    """The flow of one currency: awards are those that casinos were credited with, less those taken back."""

    turnover: _Worth = NONE
    refunds: _Worth = NONE
    awards: _Worth = NONE
    compensations: _Worth = NONE

    @property
    def net(self) -> _Worth:
        """The rest: turnover less refunds, awards and compensations."""
        return self.turnover.less(self.refunds).less(self.awards).less(self.compensations)


@dataclass(frozen=True, slots=True)
class _InForce:
    """The rate sheet that is in force at the end, as far as it was published by then."""

    head: SheetHead | None
    sheet: RateSheet | None

    @classmethod
    def at_end(cls, session: Session, scope: Scope, base: str) -> "_InForce":
        head = rate_sheets.in_force(session, base, at=scope.parameters.end or scope.made_at, upto=scope.acts_end)
        return cls(head, None if head is None else immutable.sheet(session, base, head.number))

    @property
    def named(self) -> tuple[Value, Value]:
        """Its number, and since when it is in force."""
        return (None, None) if self.head is None else (self.head.number, self.head.effective_at)

    def rate(self, currency: str) -> Decimal | None:
        """The rate of a currency; None where the sheet has none."""
        rate = None if self.sheet is None else self.sheet.rates.get(currency)
        return None if rate is None else rate.base_per_unit


@dataclass(frozen=True, slots=True)
class _Position:
    """The rest in a currency at the end; its worth at the rounds' own rates, and its rate in the sheet in force."""

    currency: str
    left: _Worth
    rate: Decimal | None

    @property
    def revalued(self) -> Decimal | None:
        """None where the sheet in force has no rate."""
        return None if self.rate is None else self.left.amount * self.rate


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """Show each currency of each jackpot but its base: the period, the position at its end, and what that is worth."""
    currencies, positions, residue = list[Row](), list[Row](), list[Row]()
    for book in scope.books:
        before = book.until_start(session)
        (earlier, opening), (flows, moved) = _moved(session, before), _moved(session, book)
        in_force, base_positions = _InForce.at_end(session, scope, book.base), list[_Position]()
        for currency in sorted({*earlier, *flows, *opening, *moved} - {book.base}):
            key, closing = (book.jackpot_id, currency, book.base), opening[currency] + moved[currency]
            value = earlier[currency].net.plus(flows[currency].net).value
            base_positions.append(_Position(currency, _Worth(closing, value), in_force.rate(currency)))
            currencies.append((*key, *_period(flows[currency], opening[currency], closing)))
            positions.append((*key, *_position(base_positions[-1], in_force)))
        if base_positions:
            booked = opening[book.base] + moved[book.base]
            residue.append((book.jackpot_id, book.base, *_residue(base_positions, -booked, in_force)))
    return (
        Section("currencies", "Turnover and awards in other currencies than the base", PERIOD, currencies),
        Section("positions", "What is left of them, and what it is worth at the end", POSITIONS, positions),
        Section("residue", "What would be left if all positions were exchanged at the end", RESIDUE, residue),
    )


def _moved(session: Session, book: BookPeriod) -> tuple[defaultdict[str, _Flow], defaultdict[str, Decimal]]:
    """The flows of a part, and what it put where amounts change currency; its bets are summed once for both."""
    accepted = figures.bets(session, book, by=(Key.CASINO, Key.CURRENCY))
    return _flows(session, book, accepted), _exchanged(session, book, accepted)


def _flows(session: Session, book: BookPeriod, accepted: Sequence[Stakes]) -> defaultdict[str, _Flow]:
    """The flows of a part, from documents, by currency."""
    flows = defaultdict[str, _Flow](_Flow)
    for bets in accepted:
        flow = flows[bets.key[Key.CURRENCY]]
        flow.turnover = flow.turnover.plus(_Worth(bets.stakes, bets.value))
    for back in figures.refunds(session, book, by=(Key.CURRENCY,)):
        flows[back.key[Key.CURRENCY]].refunds = _Worth(back.stakes, back.value)
    for step_sum in award_figures.exchanged(award_figures.steps(session, book)):
        flows[step_sum.currency].awards = flows[step_sum.currency].awards.plus(
            _Worth(step_sum.amounts.amount, step_sum.amounts.cost)
        )
    for line in award_subledger.sums_of_compensations(session, book):
        if line.account.startswith(accounts.CASINO):
            flow = flows[line.currency]
            flow.compensations = flow.compensations.plus(_Worth(line.amount, line.value))
    return flows


def _exchanged(session: Session, book: BookPeriod, accepted: Sequence[Stakes]) -> defaultdict[str, Decimal]:
    """The sums that entries of a part put into the accounts where amounts change currency, by their currency."""
    sums = defaultdict[str, Decimal](lambda: ZERO)
    for moved in (*figures.postings(session, book), *figures.contributions(accepted, base=book.base)):
        if moved.account == accounts.exchange(moved.currency):
            sums[moved.currency] += moved.amount
    return sums


def _period(flow: _Flow, opening: Decimal, closing: Decimal) -> Row:
    """Opening position, what came and went, closing position: the variance is what documents do not explain."""
    worths = (flow.turnover, flow.refunds, flow.awards, flow.compensations, flow.net)
    variance = compared(opening + flow.net.amount, closing)[1:]
    return (opening, *(figure for worth in worths for figure in (worth.amount, worth.value)), *variance)


def _position(position: _Position, in_force: _InForce) -> Row:
    return (
        position.left.amount,
        position.left.value,
        *in_force.named,
        position.rate,
        *_revalued(position.left.value, position.revalued),
    )


def _residue(positions: Sequence[_Position], booked: Decimal, in_force: _InForce) -> Row:
    """All positions together, against what was booked for them in the base currency."""
    value = sum((position.left.value for position in positions), ZERO)
    known = [position.revalued for position in positions if position.revalued is not None]
    revalued = sum(known, ZERO) if len(known) == len(positions) else None
    return (*compared(value, booked), *in_force.named, *_revalued(value, revalued))


def _revalued(value: Decimal, revalued: Decimal | None) -> Row:
    """Its worth at the sheet in force, the difference to what it was, and that in per cent."""
    if revalued is None:
        return (None, None, None)
    return compared(value, revalued)[1:]


REPORT = Report("fx", "Foreign currencies and their revaluation", make, sections=("currencies", "positions", "residue"))
