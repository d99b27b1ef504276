"""Liability: what each jackpot holds for players at the end, and whose money it is, the players' or the house's."""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import METER_HOUSE
from jackpot_service.domain.money import EXACT, ZERO, total
from jackpot_service.reports.documents import Column, Row, Section, Sort
from jackpot_service.reports.finance import pool_sums, standing_awards
from jackpot_service.reports.finance.frame import Report, Scope, Stand

_MONEY = (
    Column("currency", "Currency"),
    Column("players", "Players' money", Sort.AMOUNT, currency_in="currency"),
    Column("house", "House's money", Sort.AMOUNT, currency_in="currency"),
    Column("total", "Together", Sort.AMOUNT, currency_in="currency"),
)

ITEMS = (Column("jackpot_id", "Jackpot"), Column("item", "Item"), *_MONEY)

JACKPOTS = (Column("jackpot_id", "Jackpot"), *_MONEY)

UNPAID = (
    Column("jackpot_id", "Jackpot"),
    Column("paid_from", "Paid from"),
    Column("currency", "Currency"),
    Column("awards", "Awards", Sort.COUNT),
    Column("amount", "Amount", Sort.AMOUNT, currency_in="currency"),
    Column("base", "Base currency"),
    Column("cost", "Cost", Sort.AMOUNT, currency_in="base"),
)

Item = tuple[str, Decimal, Decimal]
"""What is held, how much of it is the players' money, and how much the house's."""


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """Show what is held for players, by jackpot, in all, and beside it the awards that left the pools and wait."""
    held = [(stand, list(_held(session, stand, acts_end=scope.acts_end))) for stand in scope.stands]
    return (
        Section("liability", "Liability", ITEMS, [row for stand, items in held for row in _rows(stand, items)]),
        Section(
            "jackpots",
            "Total liability by jackpot",
            JACKPOTS,
            [(stand.jackpot_id, stand.base, *_together(items)) for stand, items in held],
        ),
        Section("totals", "Total liability by currency", _MONEY, list(_by_currency(held))),
        Section(
            "unpaid",
            "Memorandum: awarded and payable, not yet told to be paid",
            UNPAID,
            [row for stand in scope.stands for row in _unpaid(session, stand, acts_end=scope.acts_end)],
        ),
    )


def _held(session: Session, stand: Stand, *, acts_end: int) -> Iterator[Item]:
    """
    Players' money that late refunds brought below zero stands as it is; the next entry that holds all stripes fills it.

    A prize fund below zero owes players nothing: what is missing in it is the house's risk, and stands as that.
    """
    pools = pool_sums.before(session, stand) + pool_sums.pools_of(pool_sums.movements(session, stand))
    held = standing_awards.held_by_origin(session, stand, acts_end=acts_end)
    of_house = held.pop(METER_HOUSE, ZERO)
    yield "meter", pools.meter_players, pools.meter_house
    yield "reserve", pools.reserve, ZERO
    yield "held awards", total(held.values()), of_house
    yield "prize fund", max(pools.prize_fund, ZERO), min(pools.prize_fund, ZERO)


def _rows(stand: Stand, items: Iterable[Item]) -> Iterator[Row]:
    for name, players, house in items:
        yield (stand.jackpot_id, name, stand.base, players, house, EXACT.add(players, house))


def _together(items: Sequence[Item]) -> tuple[Decimal, Decimal, Decimal]:
    players, house = total(item[1] for item in items), total(item[2] for item in items)
    return players, house, EXACT.add(players, house)


def _by_currency(held: Sequence[tuple[Stand, Sequence[Item]]]) -> Iterator[Row]:
    for base in sorted({stand.base for stand, _ in held}):
        items = [item for stand, of_jackpot in held if stand.base == base for item in of_jackpot]
        yield (base, *_together(items))


def _unpaid(session: Session, stand: Stand, *, acts_end: int) -> Iterator[Row]:
    for one in standing_awards.unpaid(session, stand, acts_end=acts_end):
        yield (
            stand.jackpot_id,
            one.funded_by.replace("_", " "),
            one.currency,
            one.amounts.awards,
            one.amounts.amount,
            stand.base,
            one.amounts.cost,
        )


REPORT = Report("liability", "Liability to players", make, sections=("liability", "jackpots", "totals", "unpaid"))
