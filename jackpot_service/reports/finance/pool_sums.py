"""What a jackpot's pools held before the part of its book that a report covers, and what moved them in it."""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import POOL_ACCOUNTS, Account
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import EXACT, ZERO, total
from jackpot_service.domain.pools import Pools
from jackpot_service.reports.finance import figures, frame
from jackpot_service.reports.finance.figures import Moved
from jackpot_service.reports.finance.frame import Stand

Movements = Mapping[tuple[Account, Movement], Decimal]
"""What the postings of each movement put into each account, in the jackpot's base currency."""


def before(session: Session, stand: Stand) -> Pools:
    """What the pools held where the part begins."""
    return pools_of(movements(session, frame.until_start(session, stand)))


def movements(session: Session, stand: Stand) -> Movements:
    """Sum what moved in the part."""
    return summed(stand, figures.movements(session, stand))


def summed(stand: Stand, lines: Iterable[Moved]) -> Movements:
    """Put sums that were kept apart by something together."""
    found: dict[tuple[Account, Movement], Decimal] = {}
    for line in lines:
        if line.currency == stand.base:
            key = (line.account, line.movement)
            found[key] = EXACT.add(found.get(key, ZERO), line.amount)
    return found


def pools_of(moved: Movements) -> Pools:
    """What movements put into each pool."""
    return Pools(*(put_into(moved, account) for account in POOL_ACCOUNTS))


def put_into(moved: Movements, *accounts: Account, by: Movement | None = None) -> Decimal:
    """What movements, or one of them, put into some accounts together."""
    return total(
        amount for (account, movement), amount in moved.items() if account in accounts and by in {None, movement}
    )


def held_in(pools: Pools, *accounts: Account) -> Decimal:
    """What some of the pools' accounts hold together."""
    held = dict(
        zip(POOL_ACCOUNTS, (pools.meter_players, pools.meter_house, pools.reserve, pools.prize_fund), strict=True)
    )
    return total(held[account] for account in accounts)
