"""What casinos owe and are owed, and what was awarded, from the books."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import and_, func, select, text

from jackpot_service.database.transactions import Session
from jackpot_service.domain import accounts
from jackpot_service.domain.money import from_minor
from jackpot_service.records.schema import AwardRow, RateRow, RoundRow, RulesVersionRow

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


@dataclass(frozen=True, slots=True)
class CasinoAccount:
    """What a casino is owed (negative: owes) in a currency of a jackpot: what a statement of it settles."""

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
    found = session.execute(_CASINO_ACCOUNTS, {"account": accounts.casino(casino_id)})
    return tuple(CasinoAccount(*row) for row in found)


def award_totals(session: Session) -> tuple[AwardTotal, ...]:
    """Sum the awards by jackpot, tier and currency; the exponent is the one pinned with each round's rate sheet."""
    found = session.execute(
        select(
            AwardRow.jackpot_id,
            AwardRow.tier,
            AwardRow.currency,
            RateRow.exponent,
            func.count(),
            func.sum(AwardRow.amount_minor),
        )
        .join(
            RoundRow,
            and_(RoundRow.jackpot_id == AwardRow.jackpot_id, RoundRow.round_key == AwardRow.round_key),
        )
        .join(
            RulesVersionRow,
            and_(RulesVersionRow.jackpot_id == RoundRow.jackpot_id, RulesVersionRow.version == RoundRow.rules_version),
        )
        .join(
            RateRow,
            and_(
                RateRow.base == RulesVersionRow.document["base"].astext,
                RateRow.number == RoundRow.rate_sheet,
                RateRow.currency == AwardRow.currency,
            ),
        )
        .group_by(AwardRow.jackpot_id, AwardRow.tier, AwardRow.currency, RateRow.exponent)
        .order_by(AwardRow.jackpot_id, AwardRow.tier, AwardRow.currency)
    )
    return tuple(
        AwardTotal(jackpot_id, tier, currency, count, from_minor(int(amount_minor), exponent))
        for jackpot_id, tier, currency, exponent, count, amount_minor in found
    )
