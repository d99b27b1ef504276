"""What was played for a jackpot, by rules version: what stood on the hands that a part's settlements judged."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.figures import FigureKind
from jackpot_service.domain.money import EXACT, ZERO
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.records import pinned
from jackpot_service.reports.finance import parts, relations
from jackpot_service.reports.finance.effects import DEAD_BEFORE, DEAD_NOW, EFFECTS
from jackpot_service.reports.finance.frame import Stand

_OF = ("rules_version", "kind")

_JUDGED = """
    SELECT rules_version, sum(number) FILTER (WHERE kind = 'hands') AS hands,
           sum(value) FILTER (WHERE kind = 'hands') AS value, sum(value) FILTER (WHERE kind = 'squares') AS squares
    FROM ({figures}) AS judged
    GROUP BY rules_version
"""

_NOTHING = (ZERO, ZERO, ZERO)

_VALUE = "b.stake_minor * CAST('1e-' || s.exponent AS numeric) * s.base_per_unit"

# A hand that a correction finds dead was not played, one that it finds alive was. A hand that carries a bet is in both
# results. OFFSET 0 has the bets of each round looked up: that corrections are few, no statistics tell.
_CORRECTED = f"""
    SELECT rules_version, sum(times) AS hands, sum(times * value) AS value, sum(times * value * value) AS squares
    FROM effects f
    CROSS JOIN LATERAL (
        SELECT r.rules_version, b.hand, told.times, sum({_VALUE}) AS value
        FROM rounds r
        JOIN bets b ON b.jackpot_id = r.jackpot_id AND b.round_key = r.round_key
        JOIN rates s ON s.base = :base AND s.number = r.rate_sheet AND s.currency = b.currency
        CROSS JOIN LATERAL (
            SELECT CASE WHEN dead.now THEN -1 ELSE 1 END AS times
            FROM (SELECT {DEAD_NOW} AS now, {DEAD_BEFORE} AS before) AS dead
            WHERE dead.now <> dead.before
        ) AS told
        WHERE r.jackpot_id = :jackpot_id AND r.round_key = f.round_key AND {parts.LIVE}
        GROUP BY r.rules_version, b.hand, told.times
        OFFSET 0
    ) AS by_hand
    WHERE f.kind = 'round_corrected'
    GROUP BY rules_version
"""  # noqa: S608  as above


@dataclass(frozen=True, slots=True)
class Turnover:
    """
    What was played under a rules version, in the base currency: on how many hands, and what stood on them.

    `squares` is the sum, over these hands, of the square of all that stood on the hand. Where corrections found more
    dead than were judged, what they took away is negative.
    """

    rules: JackpotRules
    hands: int
    value: Decimal
    squares: Decimal


def by_rules(session: Session, stand: Stand) -> Sequence[Turnover]:
    """Sum what was judged in a part, and what corrections of a verdict made of that, by the rounds' rules version."""
    judged = relations.figures(_OF, [FigureKind.HANDS, FigureKind.SQUARES], has_beside=bool(stand.span.beside))
    corrected = f"WITH {EFFECTS} {_CORRECTED}"
    found: dict[int, tuple[Decimal, ...]] = {}
    for question, asked in ((_JUDGED.format(figures=judged), parts.divided(stand)), (corrected, parts.bounds(stand))):
        for version, *sums in session.execute(text(question), asked):
            found[version] = tuple(map(EXACT.add, found.get(version, _NOTHING), sums))
    return [
        Turnover(pinned.rules(session, stand.jackpot_id, version), int(hands), value, squares)
        for version, (hands, value, squares) in sorted(found.items())
    ]
