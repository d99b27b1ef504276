"""
What groups of bets came to: noted by the statement that books them, and folded into their days' sums now and then.

A group is of many tables and currencies. To raise the day's sum of each, in each transaction, takes a fifth of what the
database has to do for the group; to note them in one row, and to raise the sums for many groups at once, a third of
that. `bets_by_day` is both together, and what reports and proofs ask.
See docs/decisions/daily-rollups.md.
"""

import random
from collections.abc import Sequence
from typing import Final

from jackpot_service.domain.contribution import Turnover
from jackpot_service.domain.entries import Entry, RoundStep
from jackpot_service.domain.journal import EntryKind
from jackpot_service.ledger.tallied import round_of
from jackpot_service.pipelines import Pipeline

SUMS_A_FOLD: Final = 350
"""How many sums are noted of a stripe, on the average, when they are folded: what reports have to add up besides."""

# Entries without bets are no group, and leave nothing.
NOTING: Final = """
    INSERT INTO recent_bets (jackpot_id, stripe_no, seq, sums)
    SELECT %(book)s, %(stripe_no)s, moved.seq + %(count)s, %(noted)s::bets_sum[]
    FROM moved
    WHERE cardinality(%(noted)s::bets_sum[]) > 0
"""
"""The part of the statement that books, given what its part `moved` tells of the stripe; takes what `noted` makes."""

_FOLD = """
INSERT INTO daily_bets AS kept (jackpot_id, day, stripe_no, table_id, currency, cycle, gaming_day, rules_version,
                                casino_id, bets, stakes_minor, value)
SELECT jackpot_id, day, stripe_no, table_id, currency, cycle, gaming_day, rules_version, casino_id,
       sum(bets), sum(stakes_minor), sum(value)
FROM recent_bets_by_day
WHERE jackpot_id = %(book)s AND stripe_no = %(stripe_no)s
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
ON CONFLICT (jackpot_id, day, stripe_no, table_id, currency, cycle, gaming_day, rules_version, casino_id) DO UPDATE
SET bets = kept.bets + EXCLUDED.bets, stakes_minor = kept.stakes_minor + EXCLUDED.stakes_minor,
    value = kept.value + EXCLUDED.value
"""

_REMOVE = "DELETE FROM recent_bets WHERE jackpot_id = %(book)s AND stripe_no = %(stripe_no)s"


def noted(entries: Sequence[Entry]) -> Sequence[str]:
    """
    What the bets among entries that are booked together come to, by batch and currency: elements of an array.

    Raises: TallyMissing.
    """
    tallied = [(round_of(entry), entry.tally) for entry in entries if entry.kind is EntryKind.BETS]
    return [_element(step, turnover) for step, tally in tallied for turnover in tally.bets]


def _element(step: RoundStep, of: Turnover) -> str:
    """Write a row as PostgreSQL does; no id, currency or number holds what would have to be quoted."""
    whose = f"{step.casino_id},{step.table_id},{of.currency},{step.rules_version}"
    return f'"({whose},{of.bets},{of.stakes_minor},{of.value})"'


def fold_at_times(pipe: Pipeline, book: str, *, stripe_no: int, added: int) -> None:
    """Fold what is noted of the stripe if it is time, by chance: so nobody has to count, or to remember."""
    if random.randrange(SUMS_A_FOLD) < added:  # noqa: S311  nothing to guess here
        fold(pipe, book, stripe_no=stripe_no)


def fold(pipe: Pipeline, book: str, *, stripe_no: int) -> None:
    """Add what is noted of a stripe's groups to their days' sums. The stripe's lock must be held, to the commit."""
    asked = {"book": book, "stripe_no": stripe_no}
    pipe.send(_FOLD, asked)
    pipe.send(_REMOVE, asked)
