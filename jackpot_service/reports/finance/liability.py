"""Liability: the amounts that each jackpot holds for players at the end, players' money and the house's."""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain

from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import METER_HOUSE
from jackpot_service.domain.money import ZERO
from jackpot_service.reports.documents import Row, Section
from jackpot_service.reports.finance import award_figures, held_awards, pools
from jackpot_service.reports.finance.columns import amounts, base_amounts, columns, texts
from jackpot_service.reports.finance.frame import Report, Scope
from jackpot_service.reports.finance.period import BookPeriod

_MONEY = columns("currency", amounts(players="Players' money", house="House's money", total="Together"))

ITEMS = columns("jackpot_id", texts(item="Item"), _MONEY)

JACKPOTS = columns("jackpot_id", _MONEY)

_COST = (*amounts(amount="Amount"), *columns("base"), *base_amounts(cost_base="Cost"))

UNPAID = columns("jackpot_id paid_from currency awards", _COST)

Item = tuple[str, Decimal, Decimal]
"""An item that is held, its part that is the players' money, and the house's."""


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """Show the amounts held for players, by jackpot, in all, and the awards that left the pools and are unpaid."""
    held = [(book, list(_held(session, book))) for book in scope.books]
    by_jackpot = [(book.jackpot_id, book.base, *_together(items)) for book, items in held]
    unpaid = [row for book in scope.books for row in _unpaid(session, book, acts_end=scope.acts_end)]
    return (
        Section("liability", "Liability", ITEMS, [row for book, items in held for row in _rows(book, items)]),
        Section("jackpots", "Total liability by jackpot", JACKPOTS, by_jackpot),
        Section("totals", "Total liability by currency", _MONEY, list(_by_currency(held))),
        Section("unpaid", "Memorandum: awarded and payable or stopped, not yet paid", UNPAID, unpaid),
    )


def _held(session: Session, book: BookPeriod) -> Iterator[Item]:
    """
    Players' money that late refunds brought below zero stands as it is; the next entry that holds all stripes fills it.

    A prize fund below zero owes players nothing: its deficit is the house's risk, and stands as that.
    """
    closing = pools.opening_pools(session, book) + pools.pools_of(pools.movements(session, book))
    costs = held_awards.costs_by_origin(session, book)
    of_house = costs.pop(METER_HOUSE, ZERO)
    yield "meter", closing.meter_players, closing.meter_house
    yield "reserve", closing.reserve, ZERO
    yield "held awards", sum(costs.values(), ZERO), of_house
    yield "prize fund", max(closing.prize_fund, ZERO), min(closing.prize_fund, ZERO)


def _rows(book: BookPeriod, items: Iterable[Item]) -> Iterator[Row]:
    for name, players, house in items:
        yield (book.jackpot_id, name, book.base, players, house, players + house)


def _together(items: Sequence[Item]) -> tuple[Decimal, Decimal, Decimal]:
    players, house = sum((item[1] for item in items), ZERO), sum((item[2] for item in items), ZERO)
    return players, house, players + house


def _by_currency(held: Sequence[tuple[BookPeriod, Sequence[Item]]]) -> Iterator[Row]:
    for base in sorted({book.base for book, _ in held}):
        items = [item for book, of_jackpot in held if book.base == base for item in of_jackpot]
        yield (base, *_together(items))


def _unpaid(session: Session, book: BookPeriod, *, acts_end: int) -> Iterator[Row]:
    """Sum the awards that were payable at the end: those that casinos were credited with, less those paid."""
    credited = award_figures.credited(award_figures.steps(session, book.until_end(session)))
    paid = award_figures.payments(session, book, acts_end=acts_end)
    sums = award_figures.added_up(
        chain(
            (((of.funded_by, of.currency), of.amounts) for of in credited),
            (((of.funded_by, of.currency), of.amounts.times(-1)) for of in paid),
        )
    )
    for (funded_by, currency), of in sums:
        yield (book.jackpot_id, funded_by.replace("_", " "), currency, of.awards, of.amount, book.base, of.cost)


REPORT = Report("liability", "Liability to players", make, sections=("liability", "jackpots", "totals", "unpaid"))
