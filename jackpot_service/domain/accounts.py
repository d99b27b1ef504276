"""
The accounts of a jackpot's books.

An account's balance is what the ledger owes to whomever the account stands for. A stake makes its casino's account fall
(the casino owes it to us) and the pools rise; an award does the reverse. So a casino with a negative balance owes us.
"""

from typing import NewType

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
    """What a casino owes (negative) or is owed (positive), in each currency by itself."""
    return Account(f"{CASINO}{casino_id}")


def exchange(currency: str) -> Account:
    """Where an amount changes currency, so that each currency's postings sum to zero by themselves."""
    return Account(f"fx:{currency}")


def bank(currency: str) -> Account:
    """Where casinos' statements are settled: what came in is negative, what went out positive."""
    return Account(f"bank:{currency}")


def transfer(request_id: str) -> Account:
    """Between the two jackpots of a transfer; over both their books it is zero."""
    return Account(f"transfer:{request_id}")
