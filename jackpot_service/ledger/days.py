"""
Days: sums of what entries come to, by jackpot, stripe, day and whose they are; and keeping them.

Nothing that books adds to a day at once. Now and then a transaction that books on a stripe, and holds its lock to the
commit, adds all that its entries came to since this was last done. The stripe shows up to where (`summed_to`). So a
stripe's days are never waited for, and what is behind is read from the entries themselves: see `days_with_recent` in
the schema. A day that is over is summed over its stripes, and kept so. See docs/decisions/days.md.
"""

import random
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Final

import sqlalchemy
from sqlalchemy import text

from jackpot_service.database.pipelines import Pipeline
from jackpot_service.database.transactions import Session, pipelined, read, transact
from jackpot_service.domain.accounts import HOUSE_MARGIN, METER_PLAYERS, PRIZE_FUND, RESERVE, Account
from jackpot_service.domain.entries import Entry
from jackpot_service.domain.figures import FigureKind
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import ZERO
from jackpot_service.ledger import stripes

FIGURES_AT_ONCE: Final = 350
"""How many figures of a stripe, on the average, are added at once: as many have reports to sum besides the days."""

CHANCE: Final = random.Random()  # noqa: S311  nothing to guess here
"""Decides when to add figures to their days, and nothing else: which stripes entries go to does not depend on it."""

# The stripe is one, so where its days end is asked for once. See `days_with_recent` in the schema for the cycles.
_ADD = """
INSERT INTO days AS kept (jackpot_id, stripe_no, day, kind, table_id, currency, account, tier, detail, cycle,
                          gaming_day, rules_version, casino_id, made_on, number, minor, value)
SELECT %(book)s, stripe_no, day, kind, table_id, currency, account, tier, detail, cycle,
       gaming_day, rules_version, casino_id, made_on, sum(number), sum(minor), sum(value)
FROM (
    SELECT f.*, CASE WHEN newest.cut < f.seq THEN newest.cycle
                     ELSE coalesce((SELECT max(passed.cycle)
                                    FROM cycles AS passed
                                    WHERE passed.jackpot_id = %(book)s
                                      AND coalesce(passed.cut[f.stripe_no + 1], 0) < f.seq), 1) END AS cycle
    FROM figures AS f
    LEFT JOIN (
        SELECT cycle, coalesce(cut[%(stripe_no)s + 1], 0) AS cut
        FROM cycles
        WHERE jackpot_id = %(book)s
        ORDER BY cycle DESC
        LIMIT 1
    ) AS newest ON true
    WHERE f.jackpot_id = %(book)s AND f.stripe_no = %(stripe_no)s
      AND f.seq > (SELECT summed_to FROM stripes WHERE jackpot_id = %(book)s AND stripe_no = %(stripe_no)s)
) AS recent
WHERE current_setting('jackpot.guess', true) IS DISTINCT FROM 'wrong'
GROUP BY stripe_no, day, kind, table_id, currency, account, tier, detail, cycle, gaming_day, rules_version, casino_id,
         made_on
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

# A day is written once: one that is no later than the last is there, or had no entry.
_KEEP_PAST = text(
    """
    INSERT INTO past_days (jackpot_id, day, kind, table_id, currency, account, tier, detail, cycle, gaming_day,
                           rules_version, casino_id, made_on, number, minor, value)
    SELECT :book, day, kind, table_id, currency, account, tier, detail, cycle, gaming_day, rules_version, casino_id,
           made_on, sum(number), sum(minor), sum(value)
    FROM days
    WHERE jackpot_id = :book AND kind = ANY(:kinds) AND day <= :day
      AND day > coalesce((SELECT max(past.day) FROM past_days AS past WHERE past.jackpot_id = :book), '-infinity')
    GROUP BY day, kind, table_id, currency, account, tier, detail, cycle, gaming_day, rules_version, casino_id, made_on
    """
)

_STRIPES = text("SELECT stripe_no FROM stripes WHERE jackpot_id = :book ORDER BY stripe_no")

_SPLIT_ACCOUNTS: Final = (METER_PLAYERS, RESERVE, PRIZE_FUND, HOUSE_MARGIN)
"""The accounts that a bet is split among, in the order of the parts in `_SUMS`."""

_SUMS = text(
    """
    SELECT account, sum(amount)
    FROM (SELECT account, value AS amount
          FROM days_with_recent(:book, ARRAY['postings']) AS posted
          WHERE account = ANY(:accounts)
          UNION ALL
          SELECT one.account, staked.value * one.part
          FROM (SELECT rules_version, sum(value) AS value
                FROM days_with_recent(:book, ARRAY['bets']) AS bets
                GROUP BY rules_version) AS staked
          CROSS JOIN LATERAL rules_split(:book, staked.rules_version) AS split
          CROSS JOIN LATERAL unnest(
              CAST(:accounts AS text[]),
              ARRAY[split.to_meter, split.to_reserve, split.to_prize_fund, split.to_house]
          ) AS one (account, part)
    ) AS moved
    GROUP BY account
    """
)


def add_at_times(pipe: Pipeline, entries: Sequence[Entry], *, stripe_no: int) -> None:
    """
    Add a stripe's figures to their days if it is time, given the entries that were booked on it just now.

    Chance decides, so that nobody has to count, or to remember.
    """
    figures = sum(
        len(entry.figures) + (0 if entry.kind is EntryKind.BETS else len(entry.postings.lines)) for entry in entries
    )
    if CHANCE.randrange(FIGURES_AT_ONCE) < figures:
        add(pipe, entries[0].book, stripe_no=stripe_no)


def add(pipe: Pipeline, book: str, *, stripe_no: int) -> None:
    """Add to the days what a stripe's entries came to since it was last done. The stripe's lock must be held."""
    parameters = {"book": book, "stripe_no": stripe_no}
    pipe.send(_ADD, parameters)
    pipe.send(_NOTE, parameters)


def catch_up(engine: sqlalchemy.Engine, book: str) -> None:
    """Add to the days what all stripes' entries came to by now. Each stripe is locked by itself, one after another."""
    for stripe_no in read(engine, lambda session: list(session.scalars(_STRIPES, {"book": book}))):
        transact(engine, partial(_catch_up_one, book=book, stripe_no=stripe_no))


def _catch_up_one(session: Session, book: str, stripe_no: int) -> None:
    with pipelined(session) as pipe:
        stripes.lock_one(pipe, book, stripe_no)
        add(pipe, book, stripe_no=stripe_no)


def keep_past(session: Session, book: str, day: date) -> None:
    """
    Write the sums of the days up to one that is over, of all stripes together, if they are not there.

    Nothing may be booked in them any more, and all that was must be in their days: see `catch_up`.
    """
    session.execute(_KEEP_PAST, {"book": book, "day": day, "kinds": [kind.value for kind in FigureKind]})


def split_sums(session: Session, book: str) -> Mapping[Account, Decimal]:
    """
    Sum what all days put into the accounts that a bet is split among; each of them has one currency.

    Bets are split as the documents of their rules versions say; the sums are NaN if one does not.
    """
    rows = session.execute(_SUMS, {"book": book, "accounts": list(_SPLIT_ACCOUNTS)})
    sums: dict[str, Decimal] = dict(map(tuple, rows))
    return {account: sums.get(account, ZERO) for account in _SPLIT_ACCOUNTS}
