"""
The accounts of a jackpot's books, its pools, and the meter as it is shown.

An account's balance is what the ledger owes to the account's owner. A stake makes its casino's account fall (the casino
owes it to us) and the pools rise; an award does the reverse. So a casino with a negative balance owes us.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NewType

from jackpot_service.domain.money import ZERO, Rate, from_minor, in_atoms

Account = NewType("Account", str)

METER_PLAYERS = Account("pool:meter:players")
METER_HOUSE = Account("pool:meter:house")
RESERVE = Account("pool:reserve")
PRIZE_FUND = Account("pool:prize_fund")
HOUSE_MARGIN = Account("house:margin")
HOUSE_SEED = Account("house:seed")
HOUSE_ADJUSTMENTS = Account("house:adjustments")
AWARDS_HELD = Account("awards:held")

POOL_ACCOUNTS = (METER_PLAYERS, METER_HOUSE, RESERVE, PRIZE_FUND)
"""The accounts whose balances a stripe carries, in the order of its columns."""


CASINO = "casino:"
"""How the accounts of casinos begin."""


def casino(casino_id: str) -> Account:
    """The account of a casino: what it owes (negative) or is owed (positive), in each currency by itself."""
    return Account(f"{CASINO}{casino_id}")


WITHHELD = "withheld:"
"""How the accounts begin of what casinos withheld."""


def withheld(casino_id: str) -> Account:
    """The account of a casino's authority: what the casino withheld of awards for it, in each currency by itself."""
    return Account(f"{WITHHELD}{casino_id}")


STATUTORY = "statutory:"
"""How the accounts of forfeited awards begin that casinos hold for the state."""


def statutory(casino_id: str) -> Account:
    """The account of the forfeited awards that a casino holds as the law says, in each currency."""
    return Account(f"{STATUTORY}{casino_id}")


def exchange(currency: str) -> Account:
    """Where an amount changes currency, so that each currency's postings sum to zero by themselves."""
    return Account(f"fx:{currency}")


def bank(currency: str) -> Account:
    """Where casinos' statements are settled: what came in is negative, what went out positive."""
    return Account(f"bank:{currency}")


def transfer(request_id: str) -> Account:
    """Between the two jackpots of a transfer; over both their books it is zero."""
    return Account(f"transfer:{request_id}")


@dataclass(frozen=True, slots=True)
class Pools:
    """
    The amounts that a jackpot, or one stripe of it, holds.

    The meter is two amounts, players' money and the house's, so that it stays known whose it is. One stripe's amounts
    may be negative; only the sums over all stripes have a meaning.
    """

    meter_players: Decimal = ZERO
    meter_house: Decimal = ZERO
    reserve: Decimal = ZERO
    prize_fund: Decimal = ZERO

    def __add__(self, other: "Pools") -> "Pools":
        return Pools(
            self.meter_players + other.meter_players,
            self.meter_house + other.meter_house,
            self.reserve + other.reserve,
            self.prize_fund + other.prize_fund,
        )

    def __sub__(self, other: "Pools") -> "Pools":
        return Pools(
            self.meter_players - other.meter_players,
            self.meter_house - other.meter_house,
            self.reserve - other.reserve,
            self.prize_fund - other.prize_fund,
        )

    @property
    def meter(self) -> Decimal:
        """The booked meter, the players' and the house's money together; what is on offer may be less (`on_offer`)."""
        return self.meter_players + self.meter_house

    def on_offer(self, limit: Decimal | None) -> Decimal:
        """The meter on offer, M: the booked meter, never more than the limit and never below zero."""
        offered = max(self.meter, ZERO)
        return offered if limit is None else min(offered, limit)

    def overflow(self, limit: Decimal | None) -> Decimal:
        """The part of the booked meter beyond what is on offer."""
        return max(self.meter, ZERO) - self.on_offer(limit)

    @property
    def fill(self) -> Decimal:
        """The amount that lifts a players' part of the meter from below zero, as far as the house's part reaches."""
        return min(max(-self.meter_players, ZERO), max(self.meter_house, ZERO))


SHARE_DECIMALS = 10


@dataclass(frozen=True, slots=True)
class Meter:
    """
    A jackpot's meter at one instant: `exact` is M, on offer, in base units; `overflow` what a limit keeps off it.

    `positions` names the instant; `as_of` is the last movement's time.
    """

    jackpot_id: str
    cycle: int
    base: str
    exact: Decimal
    overflow: Decimal
    as_of: datetime
    positions: tuple[int, ...]

    @property
    def version(self) -> str:
        """Changes whenever anything is booked for the jackpot."""
        return ".".join(map(str, self.positions))

    def amount_minor(self, rate: Rate) -> int:
        """The meter in whole minor units of a currency, rounded down: for display, never for payment."""
        return rate.most_minor_within(self.exact)

    def share_per_unit(self, weight: Decimal) -> Decimal | None:
        """M / W: what one unit staked would get in its own currency, rounded down to 10 decimals; None without W."""
        if not weight:
            return None
        factor = in_atoms(self.exact) * 10**SHARE_DECIMALS // in_atoms(weight)
        return from_minor(factor, SHARE_DECIMALS)
