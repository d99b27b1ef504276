"""
Whether days are what the entries' figures make, row by row, as far as these were added to them.

The database sums them again: it sorts and hashes on disk what does not fit, so that memory stays bounded by what is
wrong. Whether the figures are what bets and documents make due is for the checks of entries, see `proof.figures`.
"""

from datetime import UTC, date, datetime, time
from functools import partial
from typing import Any

from sqlalchemy import RowMapping, TextClause, text

from jackpot_service.database.transactions import Session
from jackpot_service.ledger import instants, replay
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedStripe
from jackpot_service.ledger.stripes import MOST_STRIPES
from jackpot_service.ledger.verification import NOTHING, Verified
from jackpot_service.proof.decoding import unless_refused

# An entry is of the cycle of the last cut that it stands after. Keys are compared as texts: a day or number may be one
# that only the database knows.
_DIFFERING = text(
    """
    WITH due AS (
        SELECT e.stripe_no, e.day, e.kind, e.table_id, e.currency, e.account, e.tier, e.detail,
               coalesce(passed.cycles[width_bucket(e.seq - 1, passed.cuts)], 1) AS cycle, e.gaming_day,
               e.rules_version, e.casino_id, e.made_on,
               sum(e.number) AS number, sum(e.minor) AS minor, sum(e.value) AS value
        FROM unnest(CAST(:stripe_nos AS int[]), CAST(:afters AS bigint[])) AS part (stripe_no, after)
        JOIN stripes s ON s.jackpot_id = :book AND s.stripe_no = part.stripe_no
        JOIN figures e ON e.jackpot_id = :book AND e.stripe_no = part.stripe_no
                      AND e.seq > part.after AND e.seq <= s.summed_to
        LEFT JOIN cuts_of_stripes(:book, :highest_stripe) AS passed ON passed.stripe_no = e.stripe_no
        GROUP BY e.stripe_no, e.day, e.kind, e.table_id, e.currency, e.account, e.tier, e.detail,
                 coalesce(passed.cycles[width_bucket(e.seq - 1, passed.cuts)], 1), e.gaming_day,
                 e.rules_version, e.casino_id, e.made_on
    ),
    kept AS (SELECT * FROM days WHERE jackpot_id = :book AND day >= CAST(:first_day AS date))
    SELECT stripe_no::text AS stripe_no, day::text AS day, kind, table_id, currency, account, tier, detail,
           cycle::text AS cycle, gaming_day::text AS gaming_day, rules_version::text AS rules_version, casino_id,
           made_on::text AS made_on,
           CASE WHEN kept.number IS NOT NULL THEN ROW(kept.number, kept.minor, kept.value)::text END AS kept,
           CASE WHEN due.number IS NOT NULL THEN ROW(due.number, due.minor, due.value)::text END AS due
    FROM due
    FULL JOIN kept USING (stripe_no, day, kind, table_id, currency, account, tier, detail, cycle, gaming_day,
                          rules_version, casino_id, made_on)
    WHERE ROW(kept.number, kept.minor, kept.value) IS DISTINCT FROM ROW(due.number, due.minor, due.value)
    ORDER BY stripe_no, day, kind, table_id, currency, account, tier, detail, cycle, gaming_day, rules_version,
             casino_id, made_on
    """
)

_PAST_DIFFERING = text(
    """
    WITH due AS (
        SELECT day, kind, table_id, currency, account, tier, detail, cycle, gaming_day, rules_version, casino_id,
               made_on, sum(number) AS number, sum(minor) AS minor, sum(value) AS value
        FROM days
        WHERE jackpot_id = :book AND day >= CAST(:first_day AS date)
          AND day <= (SELECT max(past.day) FROM past_days AS past WHERE past.jackpot_id = :book)
        GROUP BY day, kind, table_id, currency, account, tier, detail, cycle, gaming_day, rules_version, casino_id,
                 made_on
    ),
    kept AS (SELECT * FROM past_days WHERE jackpot_id = :book AND day >= CAST(:first_day AS date))
    SELECT day::text AS day, kind, table_id, currency, account, tier, detail, cycle::text AS cycle,
           gaming_day::text AS gaming_day, rules_version::text AS rules_version, casino_id, made_on::text AS made_on,
           CASE WHEN kept.number IS NOT NULL THEN ROW(kept.number, kept.minor, kept.value)::text END AS kept,
           CASE WHEN due.number IS NOT NULL THEN ROW(due.number, due.minor, due.value)::text END AS due
    FROM due
    FULL JOIN kept USING (day, kind, table_id, currency, account, tier, detail, cycle, gaming_day, rules_version,
                          casino_id, made_on)
    WHERE ROW(kept.number, kept.minor, kept.value) IS DISTINCT FROM ROW(due.number, due.minor, due.value)
    ORDER BY day, kind, table_id, currency, account, tier, detail, cycle, gaming_day, rules_version, casino_id, made_on
    """
)


def check(session: Session, book: str, stripes: tuple[BookedStripe, ...], since: Verified = NOTHING) -> Found:
    """
    Days hold exactly the rows that a book's entries make: none changed, missing, or too many. So do past days.

    Where the book was verified before, the days are looked at on which something was booked since, and the past days
    that were written since.
    """
    first: date | None = date.min
    afters = tuple(0 for _ in stripes)
    if since != NOTHING:
        first = first_day(session, book, stripes, since)
    if first is not None and first != date.min:
        afters = instants.before(session, book, datetime.combine(first, time(), UTC))
    if first is not None:
        parameters = {
            "highest_stripe": MOST_STRIPES - 1,
            "stripe_nos": [stripe.stripe_no for stripe in stripes],
            "afters": [*afters, *(0 for _ in stripes[len(afters) :])],
        }
        yield from _from(session, book, _DIFFERING, first, **parameters)
        yield from _not_beyond(book, stripes)
    unseen = since.reconciled_to  # Of the last day more may have been reconciled since.
    yield from _from(session, book, _PAST_DIFFERING, unseen if first is None else min(first, unseen))


def _from(session: Session, book: str, differing: TextClause, first: date, **parameters: object) -> Found:
    # The first of all is a day that the database counts from, too.
    stated = {"book": book, "first_day": "-infinity" if first == date.min else first, **parameters}
    mismatches = _differing(session, book, differing, stated)
    yield from unless_refused(session, mismatches, partial(Mismatch, Code.DAY_FIGURES, book, "days"))


def _differing(session: Session, book: str, differing: TextClause, parameters: dict[str, Any]) -> Found:
    for row in session.execute(differing, parameters).mappings():
        yield _mismatch(book, row)


def first_day(session: Session, book: str, stripes: tuple[BookedStripe, ...], since: Verified) -> date | None:
    """The first day on which something may have been booked since; None if nothing was."""
    days = []
    for stripe in stripes:
        verified = since.seq_on(stripe.stripe_no)
        if stripe.seq > verified:
            last = replay.entries_at(session, book, stripe.stripe_no, [verified])
            days += [entry.booked_at.astimezone(UTC).date() for entry in last] or [date.min]
    return min(days, default=None)


def _not_beyond(book: str, stripes: tuple[BookedStripe, ...]) -> Found:
    for stripe in stripes:
        if not 0 <= stripe.summed_to <= stripe.seq:
            detail = f"is summed up to {stripe.summed_to}, its last entry is {stripe.seq}"
            yield Mismatch(Code.DAY_FIGURES, book, f"stripe {stripe.stripe_no}", detail)


def _mismatch(book: str, row: RowMapping) -> Mismatch:
    key: dict[str, Any] = dict(row)
    stored, expected = key.pop("kept"), key.pop("due")
    place = f"days of {', '.join(f'{name} {value}' for name, value in key.items() if value != '')}"
    detail = f"holds {stored or 'nothing'}, its entries make {expected or 'nothing'}"
    return Mismatch(Code.DAY_FIGURES, book, place, detail)
