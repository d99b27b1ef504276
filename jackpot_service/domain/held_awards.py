"""
Held awards decided: approved, their money goes to the casino; rejected, back to the accounts that paid it.

Which of the meter's two accounts paid for which award is nowhere written: a settlement takes one sum for all of them,
the players' money first. It is dealt out again in the order of bet id and tier, the players' money first
(docs/decisions/held-awards.md).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from jackpot_service.domain import posting_rules
from jackpot_service.domain.accounts import METER_HOUSE, METER_PLAYERS, PRIZE_FUND, Account
from jackpot_service.domain.journal import Movement, Postings
from jackpot_service.domain.money import EXACT, ZERO, RateSheet, negated, total
from jackpot_service.domain.rules import FundedBy

AwardKey = tuple[str, str, int]
"""An award of a round: its bet's id, its tier, and the verdict that made it (0 for the settlement)."""


@dataclass(frozen=True, slots=True)
class MadeAward:
    """An award as it was made, whatever became of it: minor units of its currency, and their cost in the base."""

    bet_id: str
    tier: str
    amount_minor: int
    currency: str
    cost: Decimal
    funded_by: str
    correction: int = 0

    @property
    def key(self) -> AwardKey:
        """Which of the round's awards it is."""
        return self.bet_id, self.tier, self.correction


Origin = Mapping[Account, Decimal]
"""How much of an award's cost each account paid."""


def origins(awards: Iterable[MadeAward], booked: Postings) -> dict[AwardKey, Origin]:
    """Find which account paid how much of each of a round's awards, from the postings that its settlement booked."""
    players = negated(
        total(line.amount for line in booked.lines if (line.account, line.movement) == (METER_PLAYERS, Movement.AWARD))
    )
    found: dict[AwardKey, Origin] = {}
    for award in sorted(awards, key=lambda award: award.key):
        if award.funded_by == FundedBy.PRIZE_FUND:
            found[award.key] = {PRIZE_FUND: award.cost}
            continue
        from_players = min(players, award.cost)
        players = EXACT.subtract(players, from_players)
        parts = {METER_PLAYERS: from_players, METER_HOUSE: EXACT.subtract(award.cost, from_players)}
        found[award.key] = {account: amount for account, amount in parts.items() if amount}
    return found


def approval(awards: Sequence[MadeAward], *, casino_id: str, sheet: RateSheet) -> Postings:
    """Book held awards as payable: credited to the casino in their own currencies, at exactly what was held."""
    amounts_minor: defaultdict[str, int] = defaultdict(int)
    values: defaultdict[str, Decimal] = defaultdict(lambda: ZERO)
    for award in awards:
        amounts_minor[award.currency] += award.amount_minor
        values[award.currency] = EXACT.add(values[award.currency], award.cost)
    return posting_rules.for_release(dict(sorted(amounts_minor.items())), values, casino_id=casino_id, sheet=sheet)


def rejection(awards: Iterable[MadeAward], origin: Mapping[AwardKey, Origin], *, base: str) -> Postings:
    """Book held awards as rejected: each returns at its booked cost to the accounts that paid it."""
    returned: defaultdict[Account, Decimal] = defaultdict(lambda: ZERO)
    for award in awards:
        for account, amount in origin[award.key].items():
            returned[account] = EXACT.add(returned[account], amount)
    return posting_rules.for_return(dict(sorted(returned.items())), base=base)
