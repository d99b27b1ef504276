"""Awards as events tell them: which ones a settlement made, and each as it was made."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.awards import AwardStep, first_step
from jackpot_service.domain.money import total
from jackpot_service.domain.rules import FundedBy
from jackpot_service.events.round_documents import RoundName, Totals, columns

# Rows are looked up by their keys, and rounds as in `entries`. OFFSET keeps it so while the table is not analysed: the
# planner then thinks that settlements made few of the awards, and would go through all of them for each round.
_OF_SETTLEMENTS = text(
    """
    SELECT k.book, k.round_key, a.*
    FROM unnest(CAST(:books AS text[]), CAST(:round_keys AS bigint[])) AS k (book, round_key)
    CROSS JOIN LATERAL (
        SELECT o.bet_id, o.tier, o.currency, o.amount_minor, o.cost, o.funded_by
        FROM awards o
        WHERE o.jackpot_id = k.book AND o.round_key = k.round_key AND o.correction = 0
        OFFSET 0
    ) AS a
    ORDER BY a.bet_id COLLATE "C", a.tier COLLATE "C"
    """
)

_NAMED = text(
    """
    SELECT a.jackpot_id, a.round_key, a.bet_id, a.tier, a.correction, r.*, a.award_id, b.*,
           a.amount_minor, a.currency, a.cost, a.funded_by, a.steps
    FROM unnest(CAST(:books AS text[]), CAST(:round_keys AS bigint[]), CAST(:bet_ids AS text[]),
                CAST(:tiers AS text[]), CAST(:corrections AS int[]))
         AS k (book, round_key, bet_id, tier, correction)
    CROSS JOIN LATERAL (
        SELECT o.*, ARRAY(SELECT s.step FROM award_steps s
                          WHERE s.jackpot_id = o.jackpot_id AND s.round_key = o.round_key AND s.bet_id = o.bet_id
                            AND s.tier = o.tier AND s.correction = o.correction) AS steps
        FROM awards o
        WHERE o.jackpot_id = k.book AND o.round_key = k.round_key AND o.bet_id = k.bet_id AND o.tier = k.tier
          AND o.correction = k.correction
        LIMIT 1
    ) AS a
    CROSS JOIN LATERAL (
        SELECT o.table_id, o.round_id, o.casino_id
        FROM rounds o
        WHERE o.jackpot_id = k.book AND o.round_key BETWEEN k.round_key AND k.round_key
        ORDER BY o.round_key
        LIMIT 1
    ) AS r
    CROSS JOIN LATERAL (
        SELECT o.player_id, o.hand
        FROM bets o
        WHERE o.jackpot_id = k.book AND o.round_key = k.round_key AND o.bet_id = k.bet_id
        LIMIT 1
    ) AS b
    """
)


class AwardName(NamedTuple):
    """An award as the books know it; `correction` numbers the verdict that made it, 0 for the settlement."""

    book: str
    round_key: int
    bet_id: str
    tier: str
    correction: int


@dataclass(slots=True)
class SettledAwards:
    """The awards that a settlement made, by bet and tier: their names, their sums, and what they cost the meter."""

    names: list[AwardName] = field(default_factory=list)
    totals: Totals = field(default_factory=Totals)
    meter_costs: list[Decimal] = field(default_factory=list)

    @property
    def paid(self) -> Decimal:
        """What was paid from the meter, in the base currency."""
        return total(self.meter_costs)


@dataclass(frozen=True, slots=True)
class ToldAward:
    """An award as it was made, and its round; `began` is the step that its verdict took."""

    name: AwardName
    table_id: str
    round_id: str
    casino_id: str
    award_id: str
    player_id: str
    hand: str
    amount_minor: int
    currency: str
    cost: Decimal
    funded_by: str
    began: AwardStep


def of_settlements(session: Session, rounds: Sequence[RoundName]) -> Mapping[RoundName, SettledAwards]:
    """Read which awards the settlements of rounds made; one that made none is not in it."""
    found: defaultdict[RoundName, SettledAwards] = defaultdict(SettledAwards)
    for row in session.execute(_OF_SETTLEMENTS, columns(rounds)) if rounds else ():
        awards = found[RoundName(row.book, row.round_key)]
        awards.names.append(AwardName(row.book, row.round_key, row.bet_id, row.tier, correction=0))
        awards.totals.add(row.currency, row.amount_minor)
        if row.funded_by == FundedBy.METER:
            awards.meter_costs.append(row.cost)
    return found


def named(session: Session, names: Sequence[AwardName]) -> Mapping[AwardName, ToldAward]:
    """Read awards by their names."""
    if not names:
        return {}
    parameters = {
        "books": [name.book for name in names],
        "round_keys": [name.round_key for name in names],
        "bet_ids": [name.bet_id for name in names],
        "tiers": [name.tier for name in names],
        "corrections": [name.correction for name in names],
    }
    rows = session.execute(_NAMED, parameters)
    awards = (ToldAward(AwardName(*row[:5]), *(*row[5:-1], first_step([*map(AwardStep, row.steps)]))) for row in rows)
    return {award.name: award for award in awards}
