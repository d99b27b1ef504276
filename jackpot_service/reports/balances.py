"""The balances of casinos, and the awards that were made, from the books."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain import accounts

_CASINO_BALANCES = text(
    """
    SELECT substr(account, length('casino:') + 1), currency, sum(amount)
    FROM postings
    WHERE account LIKE 'casino:%'
    GROUP BY account, currency
    ORDER BY account, currency
    """
)

_CASINO_ACCOUNTS = text(
    """
    SELECT jackpot_id, currency, sum(amount)
    FROM postings
    WHERE account = :account
    GROUP BY jackpot_id, currency
    ORDER BY jackpot_id, currency
    """
)

_AWARD_TOTALS = text(
    """
    SELECT a.jackpot_id, a.tier, a.currency, count(*), sum(a.amount_minor * CAST('1e-' || s.exponent AS numeric))
    FROM awards a
    JOIN rounds r ON r.jackpot_id = a.jackpot_id AND r.round_key = a.round_key
    JOIN jackpots j ON j.jackpot_id = a.jackpot_id
    JOIN rates s ON s.base = j.base AND s.number = r.rate_sheet AND s.currency = a.currency
    GROUP BY a.jackpot_id, a.tier, a.currency
    ORDER BY a.jackpot_id, a.tier, a.currency
    """
)


@dataclass(frozen=True, slots=True)
class CasinoAccount:
    """The amount that a casino is owed (negative: owes) in a currency of a jackpot: its statement settles that."""

    jackpot_id: str
    currency: str
    balance: Decimal


@dataclass(frozen=True, slots=True)
class AwardTotal:
    """The awards of a tier that a jackpot made in a currency: how many, and their sum in units of the currency."""

    jackpot_id: str
    tier: str
    currency: str
    count: int
    amount: Decimal


def casino_balances(session: Session) -> Mapping[str, Mapping[str, Decimal]]:
    """Each casino's balance in each currency, over all jackpots: negative, it owes; positive, it is owed."""
    balances: dict[str, dict[str, Decimal]] = {}
    for casino_id, currency, amount in session.execute(_CASINO_BALANCES):
        balances.setdefault(casino_id, {})[currency] = amount
    return balances


def casino_accounts(session: Session, casino_id: str) -> tuple[CasinoAccount, ...]:
    """Each account of a casino, by jackpot and currency. It reads all postings."""
    rows = session.execute(_CASINO_ACCOUNTS, {"account": accounts.casino(casino_id)})
    return tuple(CasinoAccount(*row) for row in rows)


def award_totals(session: Session) -> tuple[AwardTotal, ...]:
    """Sum the awards by jackpot, tier and currency; the exponent is the one fixed with each round's rate sheet."""
    return tuple(AwardTotal(*row) for row in session.execute(_AWARD_TOTALS))
