"""
Foreign currencies: turnover and awards at the rounds' own rates, what is left of both, and what that is worth now.

Bets keep their rates for ever. What a later sheet makes of the position is shown here and written nowhere.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from jackpot_service.database.transactions import Session
from jackpot_service.domain import accounts
from jackpot_service.domain.money import EXACT, ZERO, RateSheet, negated, product, total
from jackpot_service.records import pinned, rate_sheets
from jackpot_service.records.rate_sheets import SheetHead
from jackpot_service.reports.documents import Column, Row, Section, Sort, Value
from jackpot_service.reports.finance import award_lines, award_sums, figures, frame, variances
from jackpot_service.reports.finance.figures import Key
from jackpot_service.reports.finance.frame import Report, Scope, Stand

_KEY = (Column("jackpot_id", "Jackpot"), Column("currency", "Currency"), Column("base", "Base currency"))


def _both(name: str, title: str) -> tuple[Column, Column]:
    return (
        Column(name, title, Sort.AMOUNT, currency_in="currency"),
        Column(f"{name}_base", f"{title}, at the rounds' own rates", Sort.AMOUNT, currency_in="base"),
    )


PERIOD = (
    *_KEY,
    Column("opening", "Position at the beginning", Sort.AMOUNT, currency_in="currency"),
    *_both("turnover", "Turnover"),
    *_both("refunds", "Refunds"),
    *_both("awards", "Awards"),
    *_both("compensations", "Compensations"),
    *_both("net", "Net"),
    Column("closing", "Position at the end", Sort.AMOUNT, currency_in="currency"),
    Column("variance", "Variance", Sort.AMOUNT, currency_in="currency"),
    Column("variance_percent", "Variance, %", Sort.PERCENT),
)

_RATE = (
    Column("rate_sheet", "Rate sheet in force", Sort.COUNT),
    Column("effective_at", "In force since", Sort.INSTANT),
)

_REVALUED = (
    Column("revalued", "Worth at that rate", Sort.AMOUNT, currency_in="base"),
    Column("difference", "Unrealised difference", Sort.AMOUNT, currency_in="base"),
    Column("difference_percent", "Unrealised difference, %", Sort.PERCENT),
)

POSITIONS = (
    *_KEY,
    Column("position", "Position at the end", Sort.AMOUNT, currency_in="currency"),
    Column("value", "Worth at the rounds' own rates", Sort.AMOUNT, currency_in="base"),
    *_RATE,
    Column("rate", "Rate", Sort.NUMBER),
    *_REVALUED,
)

RESIDUE = (
    Column("jackpot_id", "Jackpot"),
    Column("base", "Base currency"),
    Column("value", "Positions at the rounds' own rates", Sort.AMOUNT, currency_in="base"),
    Column("booked", "Booked in the base currency", Sort.AMOUNT, currency_in="base"),
    Column("variance", "Variance", Sort.AMOUNT, currency_in="base"),
    Column("variance_percent", "Variance, %", Sort.PERCENT),
    *_RATE,
    *_REVALUED,
)


@dataclass(frozen=True, slots=True)
class _Worth:
    """An amount in its currency, and what it was worth at the rounds' own rates."""

    amount: Decimal = ZERO
    value: Decimal = ZERO

    def plus(self, other: "_Worth") -> "_Worth":
        return _Worth(EXACT.add(self.amount, other.amount), EXACT.add(self.value, other.value))

    def less(self, other: "_Worth") -> "_Worth":
        return _Worth(EXACT.subtract(self.amount, other.amount), EXACT.subtract(self.value, other.value))


NONE = _Worth()


@dataclass(slots=True)
class _Flow:
    """What came in one currency, and went: awards are those that casinos were credited with, less those taken back."""

    turnover: _Worth = NONE
    refunds: _Worth = NONE
    awards: _Worth = NONE
    compensations: _Worth = NONE

    @property
    def net(self) -> _Worth:
        """What is left of it."""
        return self.turnover.less(self.refunds).less(self.awards).less(self.compensations)


@dataclass(frozen=True, slots=True)
class _InForce:
    """The rate sheet that is in force at the end, as far as it was published by then."""

    head: SheetHead | None
    sheet: RateSheet | None

    @classmethod
    def at_end(cls, session: Session, scope: Scope, base: str) -> "_InForce":
        head = rate_sheets.in_force(session, base, at=scope.asked.end or scope.made_at, upto=scope.acts_end)
        return cls(head, None if head is None else pinned.sheet(session, base, head.number))

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
    """What is left in a currency at the end; what it was worth at the rounds' own rates, and is at the one in force."""

    currency: str
    left: _Worth
    rate: Decimal | None

    @property
    def revalued(self) -> Decimal | None:
        """None where the sheet in force has no rate."""
        return None if self.rate is None else product(self.left.amount, self.rate)


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """Show each currency of each jackpot but its base: the period, the position at its end, and what that is worth."""
    currencies, positions, residue = list[Row](), list[Row](), list[Row]()
    for stand in scope.stands:
        before = frame.until_start(session, stand)
        earlier, flows = _flows(session, before), _flows(session, stand)
        opening, moved = _exchanged(session, before), _exchanged(session, stand)
        in_force, found = _InForce.at_end(session, scope, stand.base), list[_Position]()
        for currency in sorted({*earlier, *flows, *opening, *moved} - {stand.base}):
            key, closing = (stand.jackpot_id, currency, stand.base), EXACT.add(opening[currency], moved[currency])
            value = earlier[currency].net.plus(flows[currency].net).value
            found.append(_Position(currency, _Worth(closing, value), in_force.rate(currency)))
            currencies.append((*key, *_period(flows[currency], opening[currency], closing)))
            positions.append((*key, *_position(found[-1], in_force)))
        if found:
            booked = EXACT.add(opening[stand.base], moved[stand.base])
            residue.append((stand.jackpot_id, stand.base, *_residue(found, negated(booked), in_force)))
    return (
        Section("currencies", "Turnover and awards in other currencies than the base", PERIOD, currencies),
        Section("positions", "What is left of them, and what it is worth at the end", POSITIONS, positions),
        Section("residue", "What would be left if all positions were exchanged at the end", RESIDUE, residue),
    )


def _flows(session: Session, stand: Stand) -> defaultdict[str, _Flow]:
    """What documents say of a part, by currency."""
    flows = defaultdict[str, _Flow](_Flow)
    for bets in figures.bets(session, stand, by=(Key.CURRENCY,)):
        flows[bets.key[Key.CURRENCY]].turnover = _Worth(bets.stakes, bets.value)
    for back in figures.refunds(session, stand, by=(Key.CURRENCY,)):
        flows[back.key[Key.CURRENCY]].refunds = _Worth(back.stakes, back.value)
    for one in award_sums.credited(award_sums.steps(session, stand)):
        flows[one.currency].awards = flows[one.currency].awards.plus(_Worth(one.amount, one.cost))
    for line in award_lines.of_compensations(session, stand):
        if line.account.startswith(accounts.CASINO):
            flow = flows[line.currency]
            flow.compensations = flow.compensations.plus(_Worth(line.amount, line.value))
    return flows


def _exchanged(session: Session, stand: Stand) -> defaultdict[str, Decimal]:
    """What entries of a part put into the accounts where amounts change currency, by their currency."""
    sums = defaultdict[str, Decimal](lambda: ZERO)
    for moved in figures.movements(session, stand):
        if moved.account == accounts.exchange(moved.currency):
            sums[moved.currency] = EXACT.add(sums[moved.currency], moved.amount)
    return sums


def _period(flow: _Flow, opening: Decimal, closing: Decimal) -> Row:
    """Opening position, what came and went, closing position: the variance is what documents do not explain."""
    worths = (flow.turnover, flow.refunds, flow.awards, flow.compensations, flow.net)
    two = variances.compared(EXACT.add(opening, flow.net.amount), closing)
    return (opening, *(figure for one in worths for figure in (one.amount, one.value)), *two[1:])


def _position(one: _Position, in_force: _InForce) -> Row:
    return (one.left.amount, one.left.value, *in_force.named, one.rate, *_revalued(one.left.value, one.revalued))


def _residue(positions: Sequence[_Position], booked: Decimal, in_force: _InForce) -> Row:
    """All positions together, against what was booked for them in the base currency."""
    value = total(one.left.value for one in positions)
    known = [one.revalued for one in positions if one.revalued is not None]
    revalued = total(known) if len(known) == len(positions) else None
    return (*variances.compared(value, booked), *in_force.named, *_revalued(value, revalued))


def _revalued(value: Decimal, revalued: Decimal | None) -> Row:
    """What it is worth at the sheet in force, the difference to what it was, and that in per cent."""
    if revalued is None:
        return (None, None, None)
    return variances.compared(value, revalued)[1:]


REPORT = Report("fx", "Foreign currencies and their revaluation", make, sections=("currencies", "positions", "residue"))
