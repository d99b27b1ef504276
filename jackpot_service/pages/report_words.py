"""The subject of each report in a sentence, for those who choose among them."""

from collections.abc import Mapping
from typing import Final

ABOUT: Final[Mapping[str, str]] = {
    "meters": "What each jackpot has on offer and in its pools, and why its meter rose and fell.",
    "liability": "The money of players and of the house that each jackpot holds at the end.",
    "pool-movements": "The opening balance of each pool, every movement of it, and its closing balance.",
    "contributions": "What bets brought to each pool and to the house, and what was taken back of it.",
    "hits": "Every jackpot that was won, and how each payoff was arrived at.",
    "casino-statement": "What a casino owes: stakes, refunds, awards and settlements, by gaming day.",
    "casino-balances": "What every casino owes, or is owed.",
    "trial-balance": "Every account in each of its currencies, debit and credit.",
    "reconciliation": "Documents such as bets and awards, compared with what is booked.",
    "rtp": "What was awarded of the turnover, next to what the rules give.",
    "rtp-by-day": "The return of each day alone, and of all days up to it, with the band of chance.",
    "fx": "Turnover and awards in other currencies, and what is left of them worth now.",
    "exceptions": "What somebody has to look into, and rounds that were open for too long.",
    "awards": "Every award with its state at the end, and the totals.",
    "payables": "Awards that casinos still have to pay, and since when.",
    "rounds": "The detail behind every figure: rounds, bets, refunds and acts.",
    "finance-summary": "Liability, movements, returns, accounts and hits in one report.",
    "postings": "What was posted to accounts, entry by entry.",
}
"""By the names of the reports."""
