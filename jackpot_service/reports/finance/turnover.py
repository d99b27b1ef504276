"""What was played for a jackpot, by rules version: what stood on the hands that a part's verdicts judged."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.figures import FigureKind
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.records import pinned
from jackpot_service.reports.finance import parts, relations
from jackpot_service.reports.finance.frame import Stand

_OF = ("rules_version", "kind")

_JUDGED = """
    SELECT rules_version, sum(number) FILTER (WHERE kind = 'hands') AS hands,
           sum(value) FILTER (WHERE kind = 'hands') AS value, sum(value) FILTER (WHERE kind = 'squares') AS squares
    FROM ({figures}) AS judged
    GROUP BY rules_version
    ORDER BY rules_version
"""


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
    return [
        Turnover(pinned.rules(session, stand.jackpot_id, version), int(hands), value, squares)
        for version, hands, value, squares in session.execute(
            text(_JUDGED.format(figures=judged)), parts.divided(stand)
        )
    ]
