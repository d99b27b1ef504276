"""How each payoff of a hit was arrived at: from stake, rate, meter and weight to what was payable, and what it cost."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.money import POOL_DECIMALS, RateSheet, from_minor, plain, product
from jackpot_service.domain.rules import FundedBy, JackpotRules, StakeMultiple, Tier
from jackpot_service.domain.statistics import rounded_down
from jackpot_service.records import pinned
from jackpot_service.reports.documents import Column, Row, Sort
from jackpot_service.reports.finance.frame import Stand
from jackpot_service.reports.finance.won import Won

PAYOFFS = (
    Column("jackpot_id", "Jackpot"),
    Column("cycle", "Cycle", Sort.COUNT),
    Column("table_id", "Table"),
    Column("round_id", "Round"),
    Column("bet_id", "Bet"),
    Column("player_id", "Player"),
    Column("hand", "Hand"),
    Column("cards", "Cards"),
    Column("tier", "Tier"),
    Column("paid_from", "Paid from"),
    Column("currency", "Currency"),
    Column("stake", "Stake", Sort.AMOUNT, currency_in="currency"),
    Column("rate", "Rate", Sort.NUMBER),
    Column("base", "Base currency"),
    Column("stake_value", "Stake x rate", Sort.AMOUNT, currency_in="base"),
    Column("meter", "Meter M", Sort.AMOUNT, currency_in="base"),
    Column("weight", "Weight W", Sort.AMOUNT, currency_in="base"),
    Column("formula", "Due by"),
    Column("due_exact", "Due, as a fraction"),
    Column("due", "Due", Sort.AMOUNT, currency_in="currency"),
    Column("payable", "Payable", Sort.AMOUNT, currency_in="currency"),
    Column("cost", "Cost", Sort.AMOUNT, currency_in="base"),
)

_AWARDS = text(
    """
    SELECT a.bet_id, b.player_id, b.hand, array_to_string(h.cards, ' '), a.tier, a.funded_by, a.currency,
           b.stake_minor, a.amount_minor, a.cost
    FROM awards a
    JOIN bets b ON b.jackpot_id = a.jackpot_id AND b.round_key = a.round_key AND b.bet_id = a.bet_id
    JOIN hands h ON h.jackpot_id = b.jackpot_id AND h.round_key = b.round_key AND h.hand = b.hand
    WHERE a.jackpot_id = :jackpot_id AND a.round_key = :round_key AND a.correction = 0
    ORDER BY a.bet_id, a.tier
    """
)


@dataclass(frozen=True, slots=True)
class _Award:
    bet_id: str
    player_id: str
    hand: str
    cards: str
    tier: str
    funded_by: str
    currency: str
    stake_minor: int
    amount_minor: int
    cost: Decimal


@dataclass(frozen=True, slots=True)
class _Terms:
    """What the awards of a hit were figured from."""

    won: Won
    rules: JackpotRules
    sheet: RateSheet
    entitlements: Mapping[tuple[str, str], Fraction]


def rows(session: Session, stand: Stand, won: Won) -> Iterator[Row]:
    """Show the awards of a hit by bet and tier, those that the prize fund paid too."""
    terms = _Terms(
        won,
        pinned.rules(session, stand.jackpot_id, won.rules_version),
        pinned.sheet(session, stand.base, won.rate_sheet),
        {(claim["bet_id"], claim["tier"]): Fraction(claim["amount"]) for claim in won.entitlements},
    )
    place = (stand.jackpot_id, won.cycle, won.table_id, won.round_id)
    found = session.execute(_AWARDS, {"jackpot_id": stand.jackpot_id, "round_key": won.round_key})
    for row in found:
        yield (*place, *_calculation(_Award(*row), terms))


def _calculation(award: _Award, terms: _Terms) -> Row:
    rate = terms.sheet.rate(award.currency)
    stake = from_minor(award.stake_minor, rate.exponent)
    formula, due = _due(award, Fraction(stake), Fraction(rate.base_per_unit), terms)
    return (
        award.bet_id,
        award.player_id,
        award.hand,
        award.cards,
        award.tier,
        award.funded_by.replace("_", " "),
        award.currency,
        stake,
        rate.base_per_unit,
        terms.sheet.base,
        product(stake, rate.base_per_unit),
        terms.won.meter,
        terms.won.weight,
        formula,
        str(due),
        rounded_down(due, POOL_DECIMALS),
        from_minor(award.amount_minor, rate.exponent),
        award.cost,
    )


def _due(award: _Award, stake: Fraction, rate: Fraction, terms: _Terms) -> tuple[str, Fraction]:
    """What was due in the award's currency before it was rounded down to a payable minor unit, and by which formula."""
    if award.funded_by == FundedBy.PRIZE_FUND:
        prize = terms.rules.prizes[Tier(award.tier)]
        assert isinstance(prize, StakeMultiple)  # noqa: S101  narrows a type: no other prize is a prize fund's
        return f"stake x {prize.times}", stake * prize.times
    if terms.rules.is_shared:
        return "stake x M / W", stake * Fraction(terms.won.meter) / Fraction(terms.won.weight)
    entitled = terms.entitlements[award.bet_id, award.tier]
    return f"entitled to {_shown(entitled)} of M, {terms.won.policy}; / rate", entitled / rate


def _shown(entitled: Fraction) -> str:
    return plain(rounded_down(entitled, POOL_DECIMALS))
