"""The pools of a jackpot before and in a period of its book, and the cycles that the period touches."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import zip_longest

from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import POOL_ACCOUNTS, Account, Pools
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import ZERO
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.ledger import replay
from jackpot_service.ledger.instants import Positions
from jackpot_service.ledger.replay import BookedCycle
from jackpot_service.records import immutable
from jackpot_service.reports.finance import figures
from jackpot_service.reports.finance.figures import Moved
from jackpot_service.reports.finance.period import BookPeriod

Movements = Mapping[tuple[Account, Movement], Decimal]
"""The sums of the postings of each movement to each account, in the jackpot's base currency."""


def opening_pools(session: Session, book: BookPeriod) -> Pools:
    """Return the pools where the period begins."""
    return pools_of(movements(session, book.until_start(session)))


def movements(session: Session, book: BookPeriod) -> Movements:
    """Sum the movements of the period."""
    return in_base(book, figures.movements(session, book))


def in_base(book: BookPeriod, lines: Iterable[Moved]) -> Movements:
    """Add together the sums in the base currency that were kept apart by some key."""
    return together({(line.account, line.movement): line.amount} for line in lines if line.currency == book.base)


def together(parts: Iterable[Movements]) -> Movements:
    """Add movements together."""
    sums: dict[tuple[Account, Movement], Decimal] = {}
    for part in parts:
        for key, amount in part.items():
            sums[key] = sums.get(key, ZERO) + amount
    return sums


def pools_of(moved: Movements) -> Pools:
    """Return the pools that movements make of empty ones."""
    return Pools(*(put_into(moved, account) for account in POOL_ACCOUNTS))


def put_into(moved: Movements, *accounts: Account, by: Movement | None = None) -> Decimal:
    """Sum the movements, or one of them, to some accounts together."""
    return sum(
        (amount for (account, movement), amount in moved.items() if account in accounts and by in {None, movement}),
        ZERO,
    )


def balance(pools: Pools, *accounts: Account) -> Decimal:
    """Sum the balances of some of the pools' accounts."""
    held = (pools.meter_players, pools.meter_house, pools.reserve, pools.prize_fund)
    return sum((amount for account, amount in zip(POOL_ACCOUNTS, held, strict=True) if account in accounts), ZERO)


@dataclass(frozen=True, slots=True)
class Running:
    """The cycle that runs at some positions, and the rules that it was opened under."""

    cycle: int
    rules: JackpotRules


def running_at_end(session: Session, book: BookPeriod) -> Running:
    """Return the cycle that runs where the period ends; a jackpot that a report covers was opened by then."""
    *_, last = (cycle for cycle in replay.cycles(session, book.jackpot_id) if _is_upto(cycle, book.end))
    return Running(last.cycle, immutable.rules(session, book.jackpot_id, last.rules_version))


def opened_by_hits(session: Session, book: BookPeriod) -> tuple[BookedCycle, ...]:
    """Return the cycles that hits in the period opened, in the ledger's order; a jackpot's opening is no hit."""
    return tuple(
        cycle
        for cycle in replay.cycles(session, book.jackpot_id)
        if cycle.cycle > 1 and _is_upto(cycle, book.end) and not _is_upto(cycle, book.start)
    )


def cycles_with_entries(session: Session, book: BookPeriod) -> tuple[int, ...]:
    """
    Return the cycles that the period has an entry of, in their order, also where it moved nothing.

    A cycle holds the entries after its cut, with the hit that ends it; the first also the jackpot's opening. Where
    clocks differ, an instant may lie before some entry of a cycle and after the hit that ended it, on another stripe.
    The entry is in that cycle all the same, and in the period that begins at the instant.
    """
    cycles = replay.cycles(session, book.jackpot_id)
    cuts: list[Positions] = [(), *(cycle.cut for cycle in cycles[1:]), book.end]
    return tuple(
        cycle.cycle
        for cycle, began, ended in zip(cycles, cuts, cuts[1:], strict=False)
        if any(
            min(end, last) > max(start, first)
            for start, first, end, last in zip_longest(book.start, began, book.end, ended, fillvalue=0)
        )
    )


def _is_upto(cycle: BookedCycle, positions: Positions) -> bool:
    """Whether the entry that opened a cycle stands at or before positions."""
    return cycle.stripe_no < len(positions) and cycle.seq <= positions[cycle.stripe_no]
