"""
What groups of bets came to: set aside by the statement that books them, and rolled up into their days now and then.

A group is of many tables and currencies, so it would raise many sums of its day. To set them aside in one row, and to
raise the sums for many groups at once, takes less than half of that. The view `bets_by_day` is both together, and what
reports and proofs ask.
See docs/decisions/days.md.
"""

import random
from collections.abc import Sequence
from typing import Final

from jackpot_service.database.guesses import HOLDS
from jackpot_service.database.pipelines import Pipeline
from jackpot_service.domain.contribution import Turnover
from jackpot_service.domain.entries import Entry, RoundStep
from jackpot_service.domain.journal import EntryKind
from jackpot_service.ledger.tallied import round_of

SUMS_AT_ONCE: Final = 350
"""How many sums of a stripe, on the average, are rolled up at once: as many have reports to add up besides the days."""

CHANCE: Final = random.Random()  # noqa: S311  nothing to guess here
"""Tells when to roll up, and nothing else: which stripes entries go to does not depend on it."""

# Entries without bets are no group, and leave nothing. The sums are a text first: a statement that is prepared would
# else be of a type that a migration may make anew.
SETTING_ASIDE: Final = """
    INSERT INTO recent_bets (jackpot_id, stripe_no, seq, sums)
    SELECT %(book)s, %(stripe_no)s, moved.seq + %(count)s, %(sums)s::text::bets_sum[]
    FROM moved
    WHERE %(sums)s::text <> '{}'
"""
"""The part of the statement that books, given what its part `moved` tells of the stripe, and `sums_of` its entries."""

_ROLL_UP = f"""
INSERT INTO daily_bets AS kept (jackpot_id, day, stripe_no, table_id, currency, cycle, gaming_day, rules_version,
                                casino_id, bets, stakes_minor, value)
SELECT jackpot_id, day, stripe_no, table_id, currency, cycle, gaming_day, rules_version, casino_id,
       sum(bets), sum(stakes_minor), sum(value)
FROM recent_bets_by_day
WHERE jackpot_id = %(book)s AND stripe_no = %(stripe_no)s AND {HOLDS}
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
ON CONFLICT (jackpot_id, day, stripe_no, table_id, currency, cycle, gaming_day, rules_version, casino_id) DO UPDATE
SET bets = kept.bets + EXCLUDED.bets, stakes_minor = kept.stakes_minor + EXCLUDED.stakes_minor,
    value = kept.value + EXCLUDED.value
"""  # noqa: S608  a constant

# Rows that are removed are met again and again while somebody reads by an old snapshot, as the proof does for an hour.
# So the stripe tells how far they reach. Both parts see what it told before.
_REMOVE = f"""
WITH removed AS (
    DELETE FROM recent_bets
    WHERE jackpot_id = %(book)s AND stripe_no = %(stripe_no)s
    AND seq > (SELECT rolled_up_to FROM stripes WHERE jackpot_id = %(book)s AND stripe_no = %(stripe_no)s)
    AND {HOLDS}
)
UPDATE stripes SET rolled_up_to = seq WHERE jackpot_id = %(book)s AND stripe_no = %(stripe_no)s AND {HOLDS}
"""  # noqa: S608  a constant


def sums_of(entries: Sequence[Entry]) -> Sequence[str]:
    """
    What the bets of entries that are booked together come to, by batch and currency: elements of an array.

    Bets are booked together with bets alone: the place of the last entry is that of the group.

    Raises: TallyMissing; ValueError for bets and others.
    """
    tallied = [(round_of(entry), entry.tally) for entry in entries if entry.kind is EntryKind.BETS]
    if tallied and len(tallied) < len(entries):
        message = "Bets are booked together with bets alone."
        raise ValueError(message)
    return [_element(step, turnover) for step, tally in tallied for turnover in tally.bets]


def _element(step: RoundStep, turnover: Turnover) -> str:
    """Write a row as PostgreSQL does; no id, currency or number holds what would have to be quoted."""
    whose = f"{step.casino_id},{step.table_id},{turnover.currency},{step.rules_version}"
    return f'"({whose},{turnover.bets},{turnover.stakes_minor},{turnover.value})"'


def roll_up_at_times(pipe: Pipeline, book: str, *, stripe_no: int, sums: int) -> None:
    """
    Roll a stripe's groups up if it is time, given how many sums the last of them has set aside.

    Chance tells, so that nobody has to count, or to remember.
    """
    if CHANCE.randrange(SUMS_AT_ONCE) < sums:
        roll_up(pipe, book, stripe_no=stripe_no)


def roll_up(pipe: Pipeline, book: str, *, stripe_no: int) -> None:
    """Move what a stripe's groups came to into the sums of their days. The stripe's lock must be held to the commit."""
    asked = {"book": book, "stripe_no": stripe_no}
    pipe.send(_ROLL_UP, asked)
    pipe.send(_REMOVE, asked)
