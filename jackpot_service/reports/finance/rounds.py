"""
Rounds and bets: what stands behind any figure of a period.

A round is told of if an entry of it was booked in the period; its figures are what those entries did, so they sum up to
the figures of other reports. Its state is that at the end. A bet belongs to the period in which it was accepted, and,
if it was refunded, to the one in which that was booked. What acts booked stands beside them, with the round that
it is about, if there is one: there is what a correction refunded, booked again, took back and awarded.
"""

from collections.abc import Sequence

from jackpot_service.database.transactions import Session
from jackpot_service.reports.documents import Column, Section, Sort
from jackpot_service.reports.finance.frame import Asked, Report, Scope, Takes
from jackpot_service.reports.finance.long_lists import LongList

_OF_ALL = """
WITH booked AS (
    SELECT e.round_key, e.step, e.stripe_no, e.seq
    FROM entries_between(
        :jackpot_id, CAST(:stripe_nos AS int[]), CAST(:starts AS bigint[]), CAST(:ends AS bigint[])
    ) AS e
    WHERE e.round_key IS NOT NULL
)
"""

# Their rounds are looked for among those of the part's time: one look, where each entry took one. Few entries belong to
# older rounds; if these bounded the look, it might read years for one of them.
_OF_SOMEBODY = """
WITH of_all AS MATERIALIZED (
    SELECT e.round_key, e.step, e.stripe_no, e.seq
    FROM entries_between(
        :jackpot_id, CAST(:stripe_nos AS int[]), CAST(:starts AS bigint[]), CAST(:ends AS bigint[])
    ) AS e
    WHERE e.round_key IS NOT NULL
),
theirs AS MATERIALIZED (
    SELECT r.round_key
    FROM rounds r
    WHERE r.jackpot_id = :jackpot_id
      AND (CAST(:casino_id AS text) IS NULL OR r.casino_id = :casino_id)
      AND (CAST(:table_id AS text) IS NULL OR r.table_id = :table_id)
      AND r.round_key BETWEEN (SELECT min(round_key) FROM of_all WHERE round_key >= :usual_key)
                          AND (SELECT max(round_key) FROM of_all)
    UNION ALL
    SELECT older.round_key
    FROM (SELECT DISTINCT round_key FROM of_all WHERE round_key < :usual_key) AS older
    CROSS JOIN LATERAL round_of_key(:jackpot_id, older.round_key) AS r
    WHERE (CAST(:casino_id AS text) IS NULL OR r.casino_id = :casino_id)
      AND (CAST(:table_id AS text) IS NULL OR r.table_id = :table_id)
),
booked AS (
    SELECT of_all.*
    FROM theirs
    JOIN of_all ON of_all.round_key = theirs.round_key
)
"""

# The round is found by its ids: there are few tables.
_OF_ONE_ROUND = """
WITH named AS (
    SELECT n.round_key
    FROM tables t
    CROSS JOIN LATERAL (
        SELECT round_key
        FROM rounds
        WHERE jackpot_id = :jackpot_id
          AND by_index(table_id || ' ' || round_id) = t.table_id || ' ' || CAST(:round_id AS text)
          AND (CAST(:casino_id AS text) IS NULL OR rounds.casino_id = :casino_id)
          AND (CAST(:table_id AS text) IS NULL OR rounds.table_id = :table_id)
        LIMIT 1
    ) AS n
    WHERE t.jackpot_id = :jackpot_id
),
booked AS (
    SELECT e.round_key, e.step, e.stripe_no, e.seq
    FROM named
    JOIN entries e ON e.jackpot_id = :jackpot_id AND e.round_key = named.round_key
    WHERE e.seq > coalesce((CAST(:starts AS bigint[]))[e.stripe_no + 1], 0)
      AND e.seq <= coalesce((CAST(:ends AS bigint[]))[e.stripe_no + 1], 0)
)
"""

_TOLD = """
told AS (
    SELECT r.casino_id, r.table_id, r.round_id, r.round_key, r.opened_at, r.rules_version, r.rate_sheet,
           touched.steps, touched.entries
    FROM (
        SELECT round_key, array_agg(step ORDER BY step) AS steps,
               string_agg(stripe_no || '.' || seq, ' ' ORDER BY step) AS entries
        FROM booked
        GROUP BY round_key
    ) AS touched
    CROSS JOIN LATERAL round_of_key(:jackpot_id, touched.round_key) AS r
)
"""

# A round ends once: its ending is looked up (LIMIT).
_LIST_ROUNDS = """
SELECT told.casino_id, told.table_id, told.round_id, CAST(told.round_key AS text), coalesce(ended.state, 'open'),
       told.opened_at, ended.booked_at, sums.currency, coalesce(sums.bets, 0), sums.stakes, coalesce(sums.value, 0),
       sums.refunds, coalesce(sums.refunded_value, 0), coalesce(sums.awards, 0), sums.awarded,
       coalesce(sums.awards_cost, 0), told.rules_version, told.rate_sheet, told.entries
FROM told
LEFT JOIN LATERAL (
    SELECT CASE e.kind WHEN 'result' THEN 'settled' ELSE 'cancelled' END AS state, e.booked_at
    FROM entries e
    WHERE e.jackpot_id = :jackpot_id AND e.round_key = told.round_key AND e.kind IN ('result', 'cancellation')
      AND e.seq <= coalesce((CAST(:ends AS bigint[]))[e.stripe_no + 1], 0)
    LIMIT 1
) AS ended ON true
LEFT JOIN LATERAL (
    SELECT done.currency, sum(done.bets) AS bets, sum(done.stakes) * units.one AS stakes,
           sum(done.stakes) * units.one * units.rate AS value, sum(done.refunds) AS refunds,
           sum(done.refunds) * units.rate AS refunded_value, sum(done.awards) AS awards,
           sum(done.awarded) * units.one AS awarded, sum(done.cost) AS awards_cost
    FROM (
        SELECT b.currency, 1 AS bets, b.stake_minor AS stakes, 0 AS refunds, 0 AS awards, 0 AS awarded, 0 AS cost
        FROM bets b
        WHERE b.jackpot_id = :jackpot_id AND b.round_key = told.round_key AND b.step = ANY (told.steps)
        UNION ALL
        SELECT p.currency, 0, 0, p.amount, 0, 0, 0
        FROM unnest(told.steps) AS touched (step)
        CROSS JOIN LATERAL entry_of_step(:jackpot_id, told.round_key, touched.step) AS e
        CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements)
            AS p (account, currency, amount, movement)
        WHERE p.movement = 'reversal' AND p.account = 'casino:' || told.casino_id
        UNION ALL
        SELECT a.currency, 0, 0, 0, 1, a.amount_minor, a.cost
        FROM settlements s
        JOIN awards a ON a.jackpot_id = s.jackpot_id AND a.round_key = s.round_key AND a.correction = 0
        WHERE s.jackpot_id = :jackpot_id AND s.round_key = told.round_key AND s.step = ANY (told.steps)
    ) AS done
    JOIN LATERAL (
        SELECT CAST('1e-' || rate.exponent AS numeric) AS one, rate.base_per_unit AS rate
        FROM rates rate
        WHERE rate.base = :base AND rate.number = told.rate_sheet AND rate.currency = done.currency
    ) AS units ON true
    GROUP BY done.currency, units.one, units.rate
) AS sums ON true
ORDER BY told.round_key, sums.currency
"""

_LIST_BETS = """
SELECT told.casino_id, told.table_id, told.round_id, CAST(told.round_key AS text), bet.bet_id, bet.player_id,
       bet.hand, bet.currency, bet.stake, bet.value,
       bet.value * split.meter, bet.value * split.reserve, bet.value * split.prize_fund,
       bet.value * (1 - split.meter - split.reserve - split.prize_fund),
       accepted.stripe_no || '.' || accepted.seq, accepted.booked_at,
       refunded.stripe_no || '.' || refunded.seq, refunded.booked_at
FROM told
JOIN LATERAL (
    SELECT CAST(v.document -> 'split' ->> 'meter' AS numeric) AS meter,
           CAST(v.document -> 'split' ->> 'reserve' AS numeric) AS reserve,
           CAST(v.document -> 'split' ->> 'prize_fund' AS numeric) AS prize_fund
    FROM rules_versions v
    WHERE v.jackpot_id = :jackpot_id AND v.version = told.rules_version
) AS split ON true
CROSS JOIN LATERAL bets_with_refunds(:jackpot_id, told.round_key, :base, told.rate_sheet) AS bet
LEFT JOIN LATERAL entry_of_step(:jackpot_id, told.round_key, bet.step) AS accepted
       ON accepted.seq <= coalesce((CAST(:ends AS bigint[]))[accepted.stripe_no + 1], 0)
LEFT JOIN LATERAL entry_of_step(:jackpot_id, told.round_key, bet.refund_step) AS refunded
       ON refunded.seq <= coalesce((CAST(:ends AS bigint[]))[refunded.stripe_no + 1], 0)
WHERE bet.step = ANY (told.steps)
ORDER BY told.round_key, bet.bet_id COLLATE "C"
"""

_LIST_REFUNDS = """
SELECT told.casino_id, told.table_id, told.round_id, CAST(told.round_key AS text), bet.bet_id, bet.player_id,
       bet.hand, bet.currency, bet.stake, bet.value,
       bet.value * split.meter, bet.value * split.reserve, bet.value * split.prize_fund,
       bet.value * (1 - split.meter - split.reserve - split.prize_fund),
       accepted.stripe_no || '.' || accepted.seq, accepted.booked_at,
       refunded.stripe_no || '.' || refunded.seq, refunded.booked_at
FROM told
JOIN LATERAL (
    SELECT CAST(v.document -> 'split' ->> 'meter' AS numeric) AS meter,
           CAST(v.document -> 'split' ->> 'reserve' AS numeric) AS reserve,
           CAST(v.document -> 'split' ->> 'prize_fund' AS numeric) AS prize_fund
    FROM rules_versions v
    WHERE v.jackpot_id = :jackpot_id AND v.version = told.rules_version
) AS split ON true
CROSS JOIN LATERAL bets_with_refunds(:jackpot_id, told.round_key, :base, told.rate_sheet) AS bet
LEFT JOIN LATERAL entry_of_step(:jackpot_id, told.round_key, bet.step) AS accepted
       ON accepted.seq <= coalesce((CAST(:ends AS bigint[]))[accepted.stripe_no + 1], 0)
LEFT JOIN LATERAL entry_of_step(:jackpot_id, told.round_key, bet.refund_step) AS refunded
       ON refunded.seq <= coalesce((CAST(:ends AS bigint[]))[refunded.stripe_no + 1], 0)
WHERE bet.refund_step = ANY (told.steps)
ORDER BY told.round_key, bet.bet_id COLLATE "C"
"""

# Acts book on stripe 0; some are about a round.
_LIST_ACTS = """
SELECT r.casino_id, r.table_id, r.round_id, CAST(r.round_key AS text), e.stripe_no || '.' || e.seq, e.booked_at, e.kind,
       f.act_seq, f.subject, p.account, p.currency, p.movement, p.amount
FROM entries e
CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements)
    WITH ORDINALITY AS p (account, currency, amount, movement, number)
LEFT JOIN effects_of_acts(:jackpot_id, :start, :upto) AS f ON f.seq = e.seq
LEFT JOIN rounds r ON r.jackpot_id = :jackpot_id AND r.round_key = f.round_key
WHERE e.jackpot_id = :jackpot_id AND e.stripe_no = 0 AND e.seq > :start AND e.seq <= :upto AND e.round_key IS NULL
  AND (CAST(:table_id AS text) IS NULL OR r.table_id = :table_id)
  AND (CAST(:round_id AS text) IS NULL OR r.round_id = :round_id)
  AND (CAST(:casino_id AS text) IS NULL OR p.account = 'casino:' || :casino_id)
ORDER BY e.seq, p.number
"""

_OF_ROUND = (
    Column("jackpot_id", "Jackpot"),
    Column("base", "Base currency"),
    Column("casino_id", "Casino"),
    Column("table_id", "Table"),
    Column("round_id", "Round"),
    Column("round_key", "Key"),
)

_CURRENCY = Column("currency", "Currency")


def _in_currency(name: str, title: str) -> Column:
    return Column(name, title, Sort.AMOUNT, currency_in="currency")


def _in_base(name: str, title: str) -> Column:
    return Column(name, title, Sort.AMOUNT, currency_in="base")


ROUNDS = (
    *_OF_ROUND,
    Column("state", "State"),
    Column("opened_at", "Opened", Sort.INSTANT),
    Column("ended_at", "Settled or cancelled", Sort.INSTANT),
    _CURRENCY,
    Column("bets", "Bets", Sort.COUNT),
    _in_currency("stakes", "Stakes"),
    _in_base("value", "Value of the stakes"),
    _in_currency("refunds", "Refunds"),
    _in_base("refunds_value", "Value of the refunds"),
    Column("awards", "Awards", Sort.COUNT),
    _in_currency("awarded", "Awarded"),
    _in_base("awards_cost", "Cost of the awards"),
    Column("rules_version", "Rules version", Sort.COUNT),
    Column("rate_sheet", "Rate sheet", Sort.COUNT),
    Column("entries", "Entries"),
)

BETS = (
    *_OF_ROUND,
    Column("bet_id", "Bet"),
    Column("player_id", "Player"),
    Column("hand", "Hand"),
    _CURRENCY,
    _in_currency("stake", "Stake"),
    _in_base("value", "Value"),
    _in_base("meter", "To the meter"),
    _in_base("reserve", "To the reserve"),
    _in_base("prize_fund", "To the prize fund"),
    _in_base("house", "To the house"),
    Column("accepted_by", "Accepted by entry"),
    Column("accepted_at", "Accepted", Sort.INSTANT),
    Column("refunded_by", "Refunded by entry"),
    Column("refunded_at", "Refunded", Sort.INSTANT),
)

ACTS = (
    *_OF_ROUND,
    Column("entry", "Entry"),
    Column("booked_at", "Booked", Sort.INSTANT),
    Column("kind", "Kind"),
    Column("act", "Act", Sort.COUNT),
    Column("subject", "Subject"),
    Column("account", "Account"),
    _CURRENCY,
    Column("movement", "Movement"),
    _in_currency("amount", "Amount"),
)


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """List what was booked: round by round, in the order of their opening, then bet by bet, then what acts booked."""
    told = f"{_booked(scope.asked)}, {_TOLD}"

    def listed(name: str, title: str, columns: Sequence[Column], statement: str) -> Section:
        rows = LongList(session, statement, scope)
        return Section(name, title, columns, rows, rows.count)

    return (
        listed("rounds", "Rounds, by currency of their bets", ROUNDS, told + _LIST_ROUNDS),
        listed("bets", "Bets that were accepted", BETS, told + _LIST_BETS),
        listed("refunds", "Bets that were refunded, as accepted", BETS, told + _LIST_REFUNDS),
        listed("acts", "Booked by acts, some of them about a round", ACTS, _LIST_ACTS),
    )


def _booked(asked: Asked) -> str:
    """The relation of a part's entries of rounds, of those that were asked about."""
    if asked.round_id is not None:
        return _OF_ONE_ROUND
    return _OF_ALL if asked.casino_id is None and asked.table_id is None else _OF_SOMEBODY


REPORT = Report(
    "rounds",
    "Rounds and bets",
    make,
    frozenset({Takes.CASINO, Takes.TABLE, Takes.ROUND}),
    sections=("rounds", "bets", "refunds", "acts"),
    is_for_casinos=True,
    is_kept=False,
)
