"""Writing entries: the one statement that books, and the one place that changes a pool."""

from collections.abc import Sequence
from datetime import datetime

import orjson

from jackpot_service.database.pipelines import Cursor, Pipeline
from jackpot_service.domain import facts
from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.entries import Entry
from jackpot_service.domain.errors import Conflict
from jackpot_service.ledger import days, digests
from jackpot_service.ledger.digests import digest

# The stripe's row is locked first and held to the commit, so its `seq` is dense and in commit order. The clock is a
# parameter; no entry is booked before those that stand before it. Entries travel as texts: psycopg would write an array
# value by value. They are joined by bars, names and JSON by line feeds, which neither holds. The postings of each are
# joined by spaces, which no account, currency, amount or movement holds; its figures are an array of rows. (An entry
# without postings is an empty text: alone it splits into nothing, hence the coalesce.) A stripe that does not accept
# bets, or not under these table limits, leaves `seq` null, and an entry's cannot be. So the whole transaction fails,
# also where its commit is already on the way. The database logs that as an error. So bets of a jackpot that is known to
# be suspended are not sent here, but only those that meet the act.
_POST = """
WITH new AS (
    SELECT *
    FROM unnest(string_to_array(%(kinds)s, '|'), string_to_array(%(principals)s, chr(10)),
                string_to_array(%(round_keys)s, '|', '-')::bigint[], string_to_array(%(steps)s, '|', '-')::int[],
                string_to_array(%(received_at)s, '|')::timestamptz[], string_to_array(%(digests)s, '|')::bytea[],
                string_to_array(%(accounts)s, '|'), string_to_array(%(currencies)s, '|'),
                string_to_array(%(amounts)s, '|'), string_to_array(%(movements)s, '|'),
                string_to_array(%(casino_ids)s, '|', '?'), string_to_array(%(table_ids)s, '|', '?'),
                string_to_array(%(rules_versions)s, '|')::int[], string_to_array(%(figures)s, '|'),
                string_to_array(%(facts)s, chr(10)))
         WITH ORDINALITY AS entry (kind, principal, round_key, step, received_at, digest, accounts, currencies,
                                   amounts, movements, casino_id, table_id, rules_version, figures, facts, number)
),
stripe AS (
    SELECT seq, booked_at, heads, heads[%(count)s] AS last_head
    FROM (SELECT seq, greatest(booked_at, %(now)s) AS booked_at,
                 chained_heads(head, string_to_array(%(digests)s, '|')::bytea[], greatest(booked_at, %(now)s)) AS heads
          FROM stripes
          WHERE jackpot_id = %(book)s AND stripe_no = %(stripe_no)s AND (%(limits_version)s::int IS NULL
               OR (accepting AND limits_version = %(limits_version)s::int))
            AND current_setting('jackpot.guess', true) IS DISTINCT FROM 'wrong'
          FOR NO KEY UPDATE) AS locked
),
moved AS (
    UPDATE stripes
    SET seq = stripe.seq + %(count)s,
        head = stripe.last_head,
        meter_players = stripes.meter_players + %(meter_players)s,
        meter_house = stripes.meter_house + %(meter_house)s,
        reserve = stripes.reserve + %(reserve)s,
        prize_fund = stripes.prize_fund + %(prize_fund)s,
        booked_at = stripe.booked_at
    FROM stripe
    WHERE stripes.jackpot_id = %(book)s AND stripes.stripe_no = %(stripe_no)s
    RETURNING stripe.seq, stripe.booked_at, stripe.heads
)
INSERT INTO entries (jackpot_id, stripe_no, seq, kind, principal, round_key, step, received_at, booked_at, digest,
                     head, accounts, currencies, amounts, movements, casino_id, table_id, rules_version, figures, facts)
SELECT %(book)s, %(stripe_no)s, moved.seq + new.number, new.kind, new.principal, new.round_key, new.step,
       new.received_at, moved.booked_at, new.digest, moved.heads[new.number],
       string_to_array(coalesce(new.accounts, ''), ' '), string_to_array(coalesce(new.currencies, ''), ' '),
       string_to_array(coalesce(new.amounts, ''), ' ')::numeric[], string_to_array(coalesce(new.movements, ''), ' '),
       coalesce(new.casino_id, ''), coalesce(new.table_id, ''), new.rules_version, new.figures::figure[],
       nullif(new.facts, '')::jsonb
FROM new
LEFT JOIN moved ON true
WHERE current_setting('jackpot.guess', true) IS DISTINCT FROM 'wrong'
RETURNING seq, booked_at
"""

_COLUMNS = ("accounts", "currencies", "amounts", "movements")
_NO_POSTINGS = ("",) * len(_COLUMNS)
_NONE = "?"  # No id holds that.


class JackpotSuspended(Conflict, code="jackpot-suspended", title="The jackpot is suspended"):
    """The jackpot takes no bets now."""


def suspended(jackpot_id: str) -> JackpotSuspended:
    """Make the error by which a jackpot's bets are refused."""
    return JackpotSuspended(f"Jackpot {jackpot_id} takes no bets now.", jackpot_id=jackpot_id)


def post(pipe: Pipeline, entry: Entry, *, stripe_no: int, not_before: datetime | None = None) -> Cursor:
    """Book one entry on a stripe; see `post_all`."""
    return post_all(pipe, [entry], stripe_no=stripe_no, not_before=not_before)


def post_all(
    pipe: Pipeline,
    entries: Sequence[Entry],
    *,
    stripe_no: int,
    limits_version: int | None = None,
    not_before: datetime | None = None,
) -> Cursor:
    """
    Book entries of one book on a stripe, one after another, at the same instant.

    That is when they were received, or later: not before the stripe's last entry or `not_before`. The stripe's lock is
    held from then to the commit: so this, and what is added to days at times, are the last statements of their act that
    write. Bets name the `limits_version` under which they were accepted. A stripe does not take them if that is another
    by now, or if its jackpot is suspended: the transaction fails, and is tried again. The cursor returns each entry's
    seq, and when it was booked.
    """
    pools = Pools()
    for entry in entries:
        pools += entry.postings.pools()
    steps = [entry.round_step for entry in entries]
    written = [facts.facts_of_postings(entry.postings) for entry in entries]
    figured = [digests.written(entry) for entry in entries]
    attributions = [entry.attribution for entry in entries]
    columns = [tuple(map(" ".join, zip(*lines, strict=True))) or _NO_POSTINGS for lines in written]
    cursor = pipe.send(
        _POST,
        {
            "book": entries[0].book,
            "stripe_no": stripe_no,
            "limits_version": limits_version,
            "count": len(entries),
            "now": max([*(entry.received_at for entry in entries), *([] if not_before is None else [not_before])]),
            "kinds": "|".join([entry.kind for entry in entries]),
            "principals": "\n".join([entry.principal for entry in entries]),
            "round_keys": "|".join(["-" if step is None else str(step.round_key) for step in steps]),
            "steps": "|".join(["-" if step is None else str(step.step) for step in steps]),
            "received_at": "|".join([entry.received_at.isoformat() for entry in entries]),
            "digests": "|".join(
                [
                    f"\\x{digest(entry, lines, digests.content(attribution, rows)).hex()}"
                    for entry, lines, attribution, rows in zip(entries, written, attributions, figured, strict=True)
                ]
            ),
            "meter_players": pools.meter_players,
            "meter_house": pools.meter_house,
            "reserve": pools.reserve,
            "prize_fund": pools.prize_fund,
            "casino_ids": "|".join([attribution.casino_id or _NONE for attribution in attributions]),
            "table_ids": "|".join([attribution.table_id or _NONE for attribution in attributions]),
            "rules_versions": "|".join([str(attribution.rules_version) for attribution in attributions]),
            "figures": "|".join([_rows(rows) for rows in figured]),
            "facts": "\n".join([orjson.dumps(entry.facts).decode() if entry.facts else "" for entry in entries]),
            **dict(zip(_COLUMNS, map("|".join, zip(*columns, strict=True)), strict=True)),
        },
    )
    days.add_at_times(pipe, entries, stripe_no=stripe_no)
    return cursor


def _rows(figures: Sequence[str]) -> str:
    """Write rows as an array."""
    quoted = [f'"{row}"' for row in figures]
    return f"{{{','.join(quoted)}}}"
