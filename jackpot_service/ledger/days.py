"""
Days: sums of what entries come to, by jackpot, stripe, day and whose they are; and keeping them.

Nothing that books adds to a day at once. Now and then who books on a stripe, and holds its lock to the commit, adds all
that its entries came to since it was last done; the stripe tells up to where (`summed_to`). So a stripe's days are
never waited for, and what is behind is read from the entries themselves: see `with_recent`.
See docs/decisions/days.md.
"""

import random
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from sqlalchemy import text

from jackpot_service.database.pipelines import Pipeline
from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import HOUSE_MARGIN, METER_PLAYERS, PRIZE_FUND, RESERVE, Account
from jackpot_service.domain.entries import Entry
from jackpot_service.domain.figures import FigureKind
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import ZERO
from jackpot_service.ledger.splits import split_of

FIGURES_AT_ONCE: Final = 350
"""How many figures of a stripe, on the average, are added at once: as many have reports to sum besides the days."""

CHANCE: Final = random.Random()  # noqa: S311  nothing to guess here
"""Tells when to add figures to their days, and nothing else: which stripes entries go to does not depend on it."""

_OF = "stripe_no, day, kind, table_id, currency, account, tier, detail, cycle, gaming_day, rules_version, casino_id"

KEYS: Final = f"{_OF}, made_on"
"""What days tell apart within a jackpot."""

# An entry is of the cycle of the last cut that it stands after: mostly of the newest, which is looked up once a stripe.
# The opening stands after none, and is of the first; so is all of a book that has no cycle. OFFSET 0 has the entries of
# each stripe looked up by their seqs: that few are behind, no statistics tell.
_RECENT = """
    SELECT f.*, CASE WHEN newest.cut < f.seq THEN newest.cycle
                     ELSE coalesce((SELECT max(passed.cycle)
                                    FROM cycles AS passed
                                    WHERE passed.jackpot_id = {book}
                                      AND coalesce(passed.cut[f.stripe_no + 1], 0) < f.seq), 1) END AS cycle
    FROM (SELECT stripe_no, summed_to FROM stripes WHERE jackpot_id = {book} {of_stripe}) AS stripe
    CROSS JOIN LATERAL (
        SELECT *
        FROM figures
        WHERE jackpot_id = {book} AND stripe_no = stripe.stripe_no AND seq > stripe.summed_to AND {condition}
        OFFSET 0
    ) AS f
    LEFT JOIN LATERAL (
        SELECT cycle, coalesce(cut[stripe.stripe_no + 1], 0) AS cut
        FROM cycles
        WHERE jackpot_id = {book}
        ORDER BY cycle DESC
        LIMIT 1
    ) AS newest ON true
"""

_ADD = """
INSERT INTO days AS kept (jackpot_id, stripe_no, day, kind, table_id, currency, account, tier, detail, cycle,
                          gaming_day, rules_version, casino_id, made_on, number, minor, value)
SELECT jackpot_id, stripe_no, day, kind, table_id, currency, account, tier, detail, cycle,
       gaming_day, rules_version, casino_id, made_on, sum(number), sum(minor), sum(value)
FROM (
    SELECT f.*, CASE WHEN newest.cut < f.seq THEN newest.cycle
                     ELSE coalesce((SELECT max(passed.cycle)
                                    FROM cycles AS passed
                                    WHERE passed.jackpot_id = %(book)s
                                      AND coalesce(passed.cut[f.stripe_no + 1], 0) < f.seq), 1) END AS cycle
    FROM (SELECT stripe_no, summed_to
          FROM stripes
          WHERE jackpot_id = %(book)s AND stripe_no = %(stripe_no)s) AS stripe
    CROSS JOIN LATERAL (
        SELECT *
        FROM figures
        WHERE jackpot_id = %(book)s AND stripe_no = stripe.stripe_no AND seq > stripe.summed_to
        OFFSET 0
    ) AS f
    LEFT JOIN LATERAL (
        SELECT cycle, coalesce(cut[stripe.stripe_no + 1], 0) AS cut
        FROM cycles
        WHERE jackpot_id = %(book)s
        ORDER BY cycle DESC
        LIMIT 1
    ) AS newest ON true
) AS recent
WHERE current_setting('jackpot.guess', true) IS DISTINCT FROM 'wrong'
GROUP BY jackpot_id, stripe_no, day, kind, table_id, currency, account, tier, detail, cycle, gaming_day, rules_version,
         casino_id, made_on
ON CONFLICT (jackpot_id, stripe_no, day, kind, table_id, currency, account, tier, detail, cycle, gaming_day,
             rules_version, casino_id, made_on)
DO UPDATE
SET number = kept.number + EXCLUDED.number, minor = kept.minor + EXCLUDED.minor, value = kept.value + EXCLUDED.value
"""

_NOTE = """
UPDATE stripes
SET summed_to = seq
WHERE jackpot_id = %(book)s AND stripe_no = %(stripe_no)s
  AND current_setting('jackpot.guess', true) IS DISTINCT FROM 'wrong'
"""

_SPLIT_ACCOUNTS: Final = {
    METER_PLAYERS: "to_meter",
    RESERVE: "to_reserve",
    PRIZE_FUND: "to_prize_fund",
    HOUSE_MARGIN: "to_house",
}
"""The accounts that a bet is split among, and what of its value goes there."""


def with_recent(book: str, condition: str) -> str:
    """
    FROM this, of a kind, of a jackpot: its days and the figures that are not yet in them, as rows of one form.

    `book` is the parameter that names the jackpot; the condition is about columns of `days` but for the cycle.
    """
    columns = f"{KEYS}, number, minor, value"
    recent = _RECENT.format(book=book, of_stripe="", condition=condition)
    return f"""
    (SELECT {columns} FROM days WHERE jackpot_id = {book} AND {condition}
     UNION ALL
     SELECT {columns} FROM ({recent}) AS recent)
    """  # noqa: S608  the parts are ours


_SUMS = text(
    f"""
    SELECT account, sum(amount)
    FROM (SELECT account, value AS amount
          FROM {with_recent(":book", f"kind = '{FigureKind.POSTINGS}' AND account = ANY(:accounts)")} AS posted
          UNION ALL
          SELECT one.account, staked.value * one.part
          FROM (SELECT rules_version, sum(value) AS value
                FROM {with_recent(":book", f"kind = '{FigureKind.BETS}'")} AS bets
                GROUP BY rules_version) AS staked
          CROSS JOIN LATERAL {split_of("staked.rules_version", jackpot_id=":book")} AS split
          CROSS JOIN LATERAL unnest(CAST(:accounts AS text[]), ARRAY[{", ".join(_SPLIT_ACCOUNTS.values())}])
               AS one (account, part)
    ) AS moved
    GROUP BY account
    """  # noqa: S608  the parts are ours
)


def add_at_times(pipe: Pipeline, entries: Sequence[Entry], *, stripe_no: int) -> None:
    """
    Add a stripe's figures to their days if it is time, given the entries that were booked on it just now.

    Chance tells, so that nobody has to count, or to remember.
    """
    figures = sum(
        len(entry.figures) + (0 if entry.kind is EntryKind.BETS else len(entry.postings.lines)) for entry in entries
    )
    if CHANCE.randrange(FIGURES_AT_ONCE) < figures:
        add(pipe, entries[0].book, stripe_no=stripe_no)


def add(pipe: Pipeline, book: str, *, stripe_no: int) -> None:
    """Add to the days what a stripe's entries came to since it was last done. The stripe's lock must be held."""
    asked = {"book": book, "stripe_no": stripe_no}
    pipe.send(_ADD, asked)
    pipe.send(_NOTE, asked)


def split_sums(session: Session, book: str) -> Mapping[Account, Decimal]:
    """
    Sum what all days put into the accounts that a bet is split among; each of them has one currency.

    Bets are split as the documents of their rules versions say; the sums are NaN if one does not.
    """
    rows = session.execute(_SUMS, {"book": book, "accounts": list(_SPLIT_ACCOUNTS)})
    sums: dict[str, Decimal] = dict(map(tuple, rows))
    return {account: sums.get(account, ZERO) for account in _SPLIT_ACCOUNTS}
