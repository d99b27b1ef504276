"""
Whether the daily rollups are what the entries make, row by row.

The database derives them: it sorts and hashes on disk what does not fit, so that memory stays bounded by what is wrong.
Rules and sheets come from those that were read already, so that one which cannot be read makes a mismatch, no error.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time
from typing import Any

from sqlalchemy import Row, text

from jackpot_service.db import Session
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.ledger import instants, replay
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.verified import NOTHING, Verified
from jackpot_service.reports.verification.jackpots import Jackpot

Found = Iterator[Mismatch]

# Bets find their entry by their round and its step. They are summed before they are valued: few products, all exact.
_BETS = """
    WITH entry AS (
        SELECT e.stripe_no, e.round_key, e.step, (e.booked_at AT TIME ZONE 'UTC')::date AS day,
               coalesce((e.booked_at AT TIME ZONE c.zone) - c.day_starts, e.booked_at AT TIME ZONE 'UTC')::date
                   AS gaming_day,
               coalesce(r.casino_id, '') AS casino_id, coalesce(r.table_id, '') AS table_id,
               r.rules_version, r.rate_sheet
        FROM entries e {since}
        LEFT JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
        LEFT JOIN casinos c ON c.casino_id = r.casino_id
        WHERE e.jackpot_id = :book AND e.kind = 'bets'
    ),
    staked AS (
        SELECT e.day, e.stripe_no, e.gaming_day, e.casino_id, e.table_id, b.currency, e.rules_version, e.rate_sheet,
               count(*) AS bets, sum(b.stake_minor) AS stakes_minor
        FROM entry e
        JOIN bets b ON b.round_key = e.round_key AND b.step = e.step
        WHERE b.jackpot_id = :book
        GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
    ),
    valued AS (
        SELECT s.*, s.stakes_minor * CAST('1e-' || x.exponent AS numeric) * x.base_per_unit AS value,
               p.meter AS to_meter, p.reserve AS to_reserve, p.prize_fund AS to_prize_fund
        FROM staked s
        LEFT JOIN rates x ON x.base = :base AND x.number = s.rate_sheet AND x.currency = s.currency
        LEFT JOIN unnest(CAST(:versions AS int[]), CAST(:meters AS numeric[]), CAST(:reserves AS numeric[]),
                         CAST(:prize_funds AS numeric[])) AS p (version, meter, reserve, prize_fund)
               ON p.version = s.rules_version
    ),
    due AS (
        SELECT day, stripe_no, gaming_day, casino_id, table_id, currency, sum(bets) AS bets,
               sum(stakes_minor) AS stakes_minor, sum(value) AS value, sum(value * to_meter) AS meter,
               sum(value * to_reserve) AS reserve, sum(value * to_prize_fund) AS prize_fund,
               sum(value * (1 - to_meter - to_reserve - to_prize_fund)) AS house
        FROM valued
        GROUP BY 1, 2, 3, 4, 5, 6
    ),
    kept AS (SELECT * FROM daily_bets WHERE jackpot_id = :book {days})
    SELECT day, stripe_no, gaming_day, casino_id, table_id, currency,
           CASE WHEN kept.bets IS NOT NULL THEN ROW(kept.bets, kept.stakes_minor, kept.value, kept.meter, kept.reserve,
                                                    kept.prize_fund, kept.house)::text END AS kept,
           CASE WHEN due.bets IS NOT NULL THEN ROW(due.bets, due.stakes_minor, due.value, due.meter, due.reserve,
                                                   due.prize_fund, due.house)::text END AS due
    FROM due FULL JOIN kept USING (day, stripe_no, gaming_day, casino_id, table_id, currency)
    WHERE ROW(kept.bets, kept.stakes_minor, kept.value, kept.meter, kept.reserve, kept.prize_fund, kept.house)
          IS DISTINCT FROM
          ROW(due.bets, due.stakes_minor, due.value, due.meter, due.reserve, due.prize_fund, due.house)
    ORDER BY 1, 2, 3, 4, 5, 6
"""

# An entry of no round belongs to the casino whose account it moves; none moves those of two.
_POSTINGS = """
    WITH due AS (
        SELECT (e.booked_at AT TIME ZONE 'UTC')::date AS day, e.stripe_no,
               coalesce((e.booked_at AT TIME ZONE c.zone) - c.day_starts, e.booked_at AT TIME ZONE 'UTC')::date
                   AS gaming_day,
               coalesce(its.casino_id, '') AS casino_id, coalesce(r.table_id, '') AS table_id,
               p.account, p.currency, p.movement, count(*) AS lines, sum(p.amount) AS amount
        FROM entries e {since}
        LEFT JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
        CROSS JOIN LATERAL (
            SELECT coalesce(r.casino_id, (SELECT min(substr(a.account, 8)) FROM unnest(e.accounts) AS a (account)
                                          WHERE starts_with(a.account, 'casino:'))) AS casino_id
        ) AS its
        LEFT JOIN casinos c ON c.casino_id = its.casino_id
        CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements)
            AS p (account, currency, amount, movement)
        WHERE e.jackpot_id = :book AND e.kind <> 'bets'
        GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
    ),
    kept AS (SELECT * FROM daily_postings WHERE jackpot_id = :book {days})
    SELECT day, stripe_no, gaming_day, casino_id, table_id, account, currency, movement,
           CASE WHEN kept.lines IS NOT NULL THEN ROW(kept.lines, kept.amount)::text END AS kept,
           CASE WHEN due.lines IS NOT NULL THEN ROW(due.lines, due.amount)::text END AS due
    FROM due FULL JOIN kept USING (day, stripe_no, gaming_day, casino_id, table_id, account, currency, movement)
    WHERE ROW(kept.lines, kept.amount) IS DISTINCT FROM ROW(due.lines, due.amount)
    ORDER BY 1, 2, 3, 4, 5, 6, 7, 8
"""


_SINCE = """
        JOIN unnest(CAST(:stripe_nos AS int[]), CAST(:afters AS bigint[])) AS part (stripe_no, after)
             ON part.stripe_no = e.stripe_no AND e.seq > part.after
"""
"""The entries of the first day on that is looked at."""

_DAYS = "AND day >= :first_day"


def check(session: Session, jackpot: Jackpot, since: Verified = NOTHING) -> Found:
    """
    Both tables hold exactly the rows that the jackpot's entries make: none changed, missing, or too many.

    Where the book was verified before, the days are looked at on which something was booked since.
    """
    book = jackpot.jackpot_id
    asked: dict[str, Any] = {"book": book, "base": jackpot.base, **_splits(jackpot.rules)}
    parts = {"since": "", "days": ""}
    if since != NOTHING:
        first_day = _first_day(session, jackpot, since)
        if first_day is None:
            return
        afters = instants.before(session, book, datetime.combine(first_day, time(), UTC))
        asked |= {"first_day": first_day, "stripe_nos": list(range(len(afters))), "afters": list(afters)}
        parts = {"since": _SINCE, "days": _DAYS}
    for what, question in (("daily bets", _BETS), ("daily postings", _POSTINGS)):
        for row in session.execute(text(question.format(**parts)), asked):
            yield _mismatch(book, what, row)


def _first_day(session: Session, jackpot: Jackpot, since: Verified) -> date | None:
    """The first day on which something may have been booked since; None if nothing was."""
    days = []
    for stripe in jackpot.stripes:
        verified = since.seq_on(stripe.stripe_no)
        if stripe.seq > verified:
            last = replay.entries_at(session, jackpot.jackpot_id, stripe.stripe_no, [verified])
            days += [entry.booked_at.astimezone(UTC).date() for entry in last] or [date.min]
    return min(days, default=None)


def _splits(rules: Mapping[int, JackpotRules]) -> dict[str, list[Any]]:
    splits = [one.split for one in rules.values()]
    return {
        "versions": list(rules),
        "meters": [split.meter for split in splits],
        "reserves": [split.reserve for split in splits],
        "prize_funds": [split.prize_fund for split in splits],
    }


def _mismatch(book: str, what: str, row: Row[Any]) -> Mismatch:
    day, stripe_no, gaming_day, *names, kept, due = tuple(row)
    place = f"{what} of {day} (gaming day {gaming_day}), stripe {stripe_no}, {'/'.join(map(str, names))}"
    detail = f"holds {kept or 'nothing'}, its entries make {due or 'nothing'}"
    return Mismatch(Code.ROLLUP_FIGURES, book, place, detail)
