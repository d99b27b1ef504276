"""
Whether the daily rollups are what the entries make, row by row.

The database derives them: it sorts and hashes on disk what does not fit, so that memory stays bounded by what is wrong.
Rules and sheets come from those that were read already, so that one which cannot be read makes a mismatch, no error.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, time
from functools import partial
from typing import Any, Final

import sqlalchemy
from sqlalchemy import RowMapping, text

from jackpot_service.database.transactions import Base, Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.ledger import cycles, instants, replay
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.verified import NOTHING, Verified
from jackpot_service.proof.decoding import unless_refused
from jackpot_service.proof.jackpots import Jackpot

Found = Iterator[Mismatch]
Asked = dict[str, Any]

# Bets find their entry by their round and its step. They are summed before they are valued: few products, all exact.
_BETS = """
    entry AS (
        SELECT e.stripe_no, e.round_key, e.step, {day} AS day, {cycle} AS cycle, {gaming_day} AS gaming_day,
               coalesce(r.casino_id, '') AS casino_id, coalesce(r.table_id, '') AS table_id,
               r.rules_version, r.rate_sheet
        FROM entries e {since} {cuts}
        LEFT JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
        LEFT JOIN casinos c ON c.casino_id = r.casino_id
        WHERE e.jackpot_id = :book AND e.kind = 'bets'
    ),
    staked AS (
        SELECT e.day, e.stripe_no, e.cycle, e.gaming_day, e.casino_id, e.table_id, b.currency, e.rules_version,
               e.rate_sheet, count(*) AS bets, sum(b.stake_minor) AS stakes_minor
        FROM entry e
        JOIN bets b ON b.round_key = e.round_key AND b.step = e.step
        WHERE b.jackpot_id = :book
        GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
    ),
    due AS (
        SELECT day, stripe_no, cycle, gaming_day, casino_id, table_id, s.currency, rules_version, sum(bets) AS bets,
               sum(stakes_minor) AS stakes_minor, sum(stakes_minor * {worth}) AS value
        FROM staked s
        LEFT JOIN rates x ON x.base = :base AND x.number = s.rate_sheet AND x.currency = s.currency
        GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
    )
"""

# An entry of no round belongs to the casino whose account it moves; none moves those of two.
_POSTINGS = """
    due AS (
        SELECT {day} AS day, e.stripe_no, {cycle} AS cycle, {gaming_day} AS gaming_day,
               coalesce(its.casino_id, '') AS casino_id, coalesce(r.table_id, '') AS table_id,
               p.account, p.currency, p.movement, count(*) AS lines, sum(p.amount) AS amount
        FROM entries e {since} {cuts}
        LEFT JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
        CROSS JOIN LATERAL (
            SELECT coalesce(r.casino_id, (SELECT min(substr(a.account, 8)) FROM unnest(e.accounts) AS a (account)
                                          WHERE starts_with(a.account, 'casino:'))) AS casino_id
        ) AS its
        LEFT JOIN casinos c ON c.casino_id = its.casino_id
        CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements)
            AS p (account, currency, amount, movement)
        WHERE e.jackpot_id = :book AND e.kind <> 'bets'
        GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
    )
"""

# A bet's cycle had been won when it was refunded if it stands at or before the cut of the cycle that then ran.
_REFUNDS = """
    entry AS (
        SELECT e.jackpot_id, e.stripe_no, e.seq, e.booked_at, e.round_key, e.step, e.kind
        FROM entries e {since}
        WHERE e.jackpot_id = :book AND e.kind IN ('voids', 'cancellation', 'result')
    ),
    refunded AS (
        SELECT e.*, v.bet_id
        FROM entry e
        JOIN voids v ON v.jackpot_id = :book AND v.round_key = e.round_key AND v.step = e.step
        WHERE e.kind = 'voids' AND NOT v.is_tombstone
        UNION ALL
        SELECT e.*, b.bet_id
        FROM entry e
        JOIN bets b ON b.jackpot_id = :book AND b.round_key = e.round_key
        WHERE e.kind = 'cancellation' AND {live}
        UNION ALL
        SELECT e.*, b.bet_id
        FROM entry e
        JOIN hands h ON h.jackpot_id = :book AND h.round_key = e.round_key AND h.status = 'dead'
        JOIN bets b ON b.jackpot_id = :book AND b.round_key = e.round_key AND b.hand = h.hand
        WHERE e.kind = 'result' AND {live}
    ),
    valued AS (
        SELECT {day} AS day, e.stripe_no, {gaming_day} AS gaming_day, r.casino_id, r.table_id, b.currency,
               b.stake_minor, o.seq <= coalesce(running.cut[o.stripe_no + 1], 0) AS is_over,
               b.stake_minor * {worth} AS value,
               p.meter AS to_meter, p.reserve AS to_reserve, p.prize_fund AS to_prize_fund
        FROM refunded e
        JOIN bets b ON b.jackpot_id = :book AND b.round_key = e.round_key AND b.bet_id = e.bet_id
        LEFT JOIN entries o ON o.jackpot_id = :book AND o.round_key = b.round_key AND o.step = b.step
        JOIN rounds r ON r.jackpot_id = :book AND r.round_key = e.round_key
        LEFT JOIN casinos c ON c.casino_id = r.casino_id
        LEFT JOIN rates x ON x.base = :base AND x.number = r.rate_sheet AND x.currency = b.currency
        LEFT JOIN {splits} ON p.version = r.rules_version
        LEFT JOIN LATERAL (
            SELECT y.cut
            FROM cycles y
            WHERE y.jackpot_id = :book AND coalesce(y.cut[e.stripe_no + 1], 0) < e.seq
            ORDER BY y.cycle DESC
            LIMIT 1
        ) AS running ON true
    ),
    due AS (
        SELECT day, stripe_no, gaming_day, casino_id, table_id, currency, count(*) AS bets,
               sum(stake_minor) AS stakes_minor, sum(value) AS value,
               sum(CASE WHEN is_over THEN 0 ELSE value * to_meter END) AS meter,
               sum(CASE WHEN is_over THEN 0 ELSE value * to_reserve END) AS reserve,
               sum(value * to_prize_fund) AS prize_fund,
               sum(value * (1 - to_meter - to_reserve - to_prize_fund)) AS house,
               sum(CASE WHEN is_over THEN value * (to_meter + to_reserve) ELSE 0 END) AS adjustments
        FROM valued
        GROUP BY 1, 2, 3, 4, 5, 6
    )
"""

# The first step of an award is the one that no act took.
_AWARDS = """
    due AS (
        SELECT {day} AS day, e.stripe_no, r.casino_id, r.table_id, a.tier, a.funded_by, a.currency, s.step AS state,
               count(*) AS awards, sum(a.amount_minor) AS amount_minor, sum(a.cost) AS cost
        FROM entries e {since}
        JOIN rounds r ON r.jackpot_id = :book AND r.round_key = e.round_key
        JOIN awards a ON a.jackpot_id = :book AND a.round_key = e.round_key AND a.correction = 0
        JOIN award_steps s ON s.jackpot_id = :book AND s.round_key = a.round_key AND s.bet_id = a.bet_id
                          AND s.tier = a.tier AND s.correction = 0 AND s.act_seq IS NULL
        WHERE e.jackpot_id = :book AND e.kind = 'result'
        GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
    )
"""

_HANDS = """
    judged AS (
        SELECT {day} AS day, e.stripe_no, r.rules_version, e.round_key, b.hand, sum(b.stake_minor * {worth}) AS value
        FROM entries e {since}
        JOIN rounds r ON r.jackpot_id = :book AND r.round_key = e.round_key
        JOIN bets b ON b.jackpot_id = :book AND b.round_key = e.round_key
        LEFT JOIN hands h ON h.jackpot_id = :book AND h.round_key = e.round_key AND h.hand = b.hand
        LEFT JOIN rates x ON x.base = :base AND x.number = r.rate_sheet AND x.currency = b.currency
        WHERE e.jackpot_id = :book AND e.kind = 'result' AND h.status IS DISTINCT FROM 'dead' AND {live}
        GROUP BY 1, 2, 3, 4, 5
    ),
    due AS (
        SELECT day, stripe_no, rules_version, count(*) AS hands, sum(value) AS value, sum(value * value) AS squares
        FROM judged
        GROUP BY 1, 2, 3
    )
"""

# A payment is an act, and has no entry but in the reference book. What it pays was made by a round's result, or by a
# correction, whose act is booked when its entry is.
_PAYMENTS = """
    due AS (
        SELECT {day} AS day, (coalesce(made.booked_at, corrected.booked_at) AT TIME ZONE 'UTC')::date AS made_on,
               r.casino_id, r.table_id, a.tier, a.funded_by, a.currency, count(*) AS awards,
               sum(a.amount_minor) AS amount_minor, sum(a.cost) AS cost
        FROM award_steps s
        JOIN rounds r ON r.jackpot_id = :book AND r.round_key = s.round_key
        JOIN awards a ON a.jackpot_id = :book AND a.round_key = s.round_key AND a.bet_id = s.bet_id
                     AND a.tier = s.tier AND a.correction = s.correction
        JOIN entries e ON e.jackpot_id = '-' AND e.stripe_no = 0 AND e.seq = s.act_seq
        LEFT JOIN results d ON d.jackpot_id = :book AND d.round_key = s.round_key AND s.correction = 0
        LEFT JOIN entries made ON made.jackpot_id = :book AND made.round_key = d.round_key AND made.step = d.step
        LEFT JOIN corrections c ON c.jackpot_id = :book AND c.round_key = s.round_key AND c.number = s.correction
        LEFT JOIN entries corrected ON corrected.jackpot_id = '-' AND corrected.stripe_no = 0
                                    AND corrected.seq = c.act_seq
        WHERE s.jackpot_id = :book AND s.step = 'paid' {since}
        GROUP BY 1, 2, 3, 4, 5, 6, 7
    )
"""

_TOLD = {
    "day": "(e.booked_at AT TIME ZONE 'UTC')::date",
    "gaming_day": """coalesce((e.booked_at AT TIME ZONE c.zone) - c.day_starts,
                              e.booked_at AT TIME ZONE 'UTC')::date""",
    "cuts": cycles.joined_cuts(":book"),
    "cycle": cycles.OF_ENTRY,
    "worth": "CAST('1e-' || x.exponent AS numeric) * x.base_per_unit",
    "splits": """unnest(CAST(:versions AS int[]), CAST(:meters AS numeric[]), CAST(:reserves AS numeric[]),
                        CAST(:prize_funds AS numeric[])) AS p (version, meter, reserve, prize_fund)""",
    "live": """NOT EXISTS (SELECT FROM voids v WHERE v.jackpot_id = :book AND v.round_key = b.round_key
                                                     AND v.bet_id = b.bet_id)""",
}
"""Parts of the questions above."""

_COMPARED = """
    WITH {due},
    kept AS (SELECT * FROM {kept_in} WHERE jackpot_id = :book {days})
    SELECT {told}, CASE WHEN kept.{counted} IS NOT NULL THEN ROW({kept})::text END AS kept,
           CASE WHEN due.{counted} IS NOT NULL THEN ROW({made})::text END AS due
    FROM due FULL JOIN kept USING ({keys})
    WHERE ROW({kept}) IS DISTINCT FROM ROW({made})
    ORDER BY {keys}
"""

_TABLES: Mapping[sqlalchemy.Table, str] = {
    Base.metadata.tables[name]: due
    for name, due in (
        ("daily_bets", _BETS),
        ("daily_postings", _POSTINGS),
        ("daily_refunds", _REFUNDS),
        ("daily_awards", _AWARDS),
        ("daily_hands", _HANDS),
    )
}
"""The tables of sums, and of each the question what its rows are due to be."""

_WITH_RECENT_BETS = """
    (SELECT jackpot_id, stripe_no, day, cycle, gaming_day, casino_id, table_id, currency, rules_version,
            sum(bets) AS bets, sum(stakes_minor) AS stakes_minor, sum(value) AS value
     FROM bets_by_day
     GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9) AS whole
"""
"""FROM this: the rows of `daily_bets` as they will be when all recent bets are rolled up."""

_KEPT_IN = {"daily_bets": _WITH_RECENT_BETS}
"""What is compared instead of a table."""

# What is set aside at a place where no bets were booked, or where they were rolled up, is in no figure.
_OF_NO_BETS = text(
    """
    SELECT stripe_no::text AS stripe_no, seq::text AS seq, sums::text AS kept, NULL AS due
    FROM recent_bets recent
    WHERE jackpot_id = :book
    AND NOT EXISTS (SELECT
                    FROM entries e
                    JOIN stripes s USING (jackpot_id, stripe_no)
                    WHERE e.jackpot_id = recent.jackpot_id AND e.stripe_no = recent.stripe_no
                          AND e.seq = recent.seq AND e.kind = 'bets' AND e.seq > s.rolled_up_to)
    ORDER BY recent.stripe_no, recent.seq
    """
)


def _compared(table: sqlalchemy.Table, due: str, *, since: str, days: str) -> sqlalchemy.TextClause:
    """The question in which rows a table and the entries differ: their keys, what is kept, and what is due."""
    keys = [column.name for column in table.primary_key if column.name != "jackpot_id"]
    figures = [column.name for column in table.columns if not column.primary_key]
    question = _COMPARED.format(
        due=due.format(since=since, **_TOLD),
        kept_in=_KEPT_IN.get(table.name, table.name),
        days=days,
        keys=", ".join(keys),
        # As texts: a day or a number may be one that only the database knows.
        told=", ".join(f"{key}::text AS {key}" for key in keys),
        counted=figures[0],
        kept=", ".join(f"kept.{name}" for name in figures),
        made=", ".join(f"due.{name}" for name in figures),
    )
    return text(question)


_SINCE = """
        JOIN unnest(CAST(:stripe_nos AS int[]), CAST(:afters AS bigint[])) AS part (stripe_no, after)
             ON part.stripe_no = e.stripe_no AND e.seq > part.after
"""
"""The entries of the first day on that is looked at."""

_DAYS = "AND day >= :first_day"


TABLES: Final = len(_TABLES)


def check(
    session: Session, jackpot: Jackpot, since: Verified = NOTHING, *, on_table: Callable[[], None] = lambda: None
) -> Found:
    """
    The tables hold exactly the rows that the jackpot's entries make: none changed, missing, or too many.

    Where the book was verified before, the days are looked at on which something was booked since. `on_table` is called
    after each of the `TABLES`.
    """
    book = jackpot.jackpot_id
    yield from _differing(session, "recent bets", _OF_NO_BETS, {"book": book})
    asked: Asked = {"book": book, "base": jackpot.base, **_splits(jackpot.rules)}
    parts = {"since": "", "days": ""}
    if since != NOTHING:
        first = first_day(session, jackpot, since)
        if first is None:
            return
        afters = _before(session, book, first)
        asked |= {"first_day": first, "stripe_nos": list(range(len(afters))), "afters": list(afters)}
        parts = {"since": _SINCE, "days": _DAYS}
    for table, due in _TABLES.items():
        yield from _differing(session, _name(table), _compared(table, due, **parts), asked)
        on_table()


def check_payments(session: Session, book: str, since: Verified = NOTHING) -> Found:
    """
    The sums of payments hold exactly the rows that the acts on a jackpot's awards make.

    Where the book was verified before, the days are looked at on which acts may have been recorded since.
    """
    asked: Asked = {"book": book}
    parts = {"since": "", "days": ""}
    if since != NOTHING:
        last = replay.entries_at(session, REFERENCE_BOOK, 0, [since.acts])
        first_day = next((entry.booked_at.astimezone(UTC).date() for entry in last), date.min)
        (after,) = _before(session, REFERENCE_BOOK, first_day)
        asked |= {"first_day": first_day, "after": after}
        parts = {"since": "AND s.act_seq > :after", "days": _DAYS}
    table = Base.metadata.tables["daily_payments"]
    yield from _differing(session, _name(table), _compared(table, _PAYMENTS, **parts), asked)


def _name(table: sqlalchemy.Table) -> str:
    return table.name.replace("_", " ")


def _differing(session: Session, what: str, question: sqlalchemy.TextClause, asked: Asked) -> Found:
    def differing() -> Found:
        for row in session.execute(question, asked).mappings():
            yield _mismatch(asked["book"], what, row)

    return unless_refused(session, differing(), partial(Mismatch, Code.ROLLUP_FIGURES, asked["book"], what))


def first_day(session: Session, jackpot: Jackpot, since: Verified) -> date | None:
    """The first day on which something may have been booked since; None if nothing was."""
    days = []
    for stripe in jackpot.stripes:
        verified = since.seq_on(stripe.stripe_no)
        if stripe.seq > verified:
            last = replay.entries_at(session, jackpot.jackpot_id, stripe.stripe_no, [verified])
            days += [entry.booked_at.astimezone(UTC).date() for entry in last] or [date.min]
    return min(days, default=None)


def _before(session: Session, book: str, day: date) -> instants.Positions:
    return instants.before(session, book, datetime.combine(day, time(), UTC))


def _splits(rules: Mapping[int, JackpotRules]) -> dict[str, list[Any]]:
    splits = [one.split for one in rules.values()]
    return {
        "versions": list(rules),
        "meters": [split.meter for split in splits],
        "reserves": [split.reserve for split in splits],
        "prize_funds": [split.prize_fund for split in splits],
    }


def _mismatch(book: str, what: str, row: RowMapping) -> Mismatch:
    told = dict(row)
    kept, due = told.pop("kept"), told.pop("due")
    place = f"{what} of {', '.join(f'{name} {value}' for name, value in told.items() if value != '')}"
    detail = f"holds {kept or 'nothing'}, its entries make {due or 'nothing'}"
    return Mismatch(Code.ROLLUP_FIGURES, book, place, detail)
