"""Days have sums of refunds, of awards and of the hands that were judged, made for what is booked already."""

from collections.abc import Sequence

from alembic import op

revision: str = "0017"
down_revision: str | None = "0016"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLE = "jackpot_app"

TABLES = """
CREATE TABLE daily_refunds (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    stripe_no INTEGER NOT NULL,
    day DATE NOT NULL,
    gaming_day DATE NOT NULL,
    casino_id TEXT COLLATE "C" NOT NULL,
    table_id TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    bets BIGINT NOT NULL,
    stakes_minor NUMERIC NOT NULL,
    value NUMERIC NOT NULL,
    meter NUMERIC NOT NULL,
    reserve NUMERIC NOT NULL,
    prize_fund NUMERIC NOT NULL,
    house NUMERIC NOT NULL,
    adjustments NUMERIC NOT NULL,
    CONSTRAINT pk_daily_refunds PRIMARY KEY (jackpot_id, day, stripe_no, gaming_day, casino_id, table_id, currency),
    CONSTRAINT ck_daily_refunds_stakes CHECK (bets >= 1 AND stakes_minor >= bets AND scale(stakes_minor) = 0),
    CONSTRAINT ck_daily_refunds_parts CHECK (value = meter + reserve + prize_fund + house + adjustments),
    CONSTRAINT ck_daily_refunds_exact CHECK (scale(value) <= 18 AND abs(value) < 1e20
        AND scale(meter) <= 18 AND abs(meter) < 1e20 AND scale(reserve) <= 18 AND abs(reserve) < 1e20
        AND scale(prize_fund) <= 18 AND abs(prize_fund) < 1e20 AND scale(house) <= 18 AND abs(house) < 1e20
        AND scale(adjustments) <= 18 AND abs(adjustments) < 1e20)
) WITH (fillfactor = 50);

CREATE TABLE daily_awards (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    stripe_no INTEGER NOT NULL,
    day DATE NOT NULL,
    tier TEXT COLLATE "C" NOT NULL,
    funded_by TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    awards BIGINT NOT NULL,
    amount_minor NUMERIC NOT NULL,
    cost NUMERIC NOT NULL,
    CONSTRAINT pk_daily_awards PRIMARY KEY (jackpot_id, day, stripe_no, tier, funded_by, currency, state),
    CONSTRAINT ck_daily_awards_amounts CHECK (awards >= 1 AND amount_minor >= awards AND scale(amount_minor) = 0),
    CONSTRAINT ck_daily_awards_exact CHECK (scale(cost) <= 18 AND abs(cost) < 1e20)
) WITH (fillfactor = 50);

CREATE TABLE daily_hands (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    stripe_no INTEGER NOT NULL,
    day DATE NOT NULL,
    rules_version INTEGER NOT NULL,
    hands BIGINT NOT NULL,
    value NUMERIC NOT NULL,
    squares NUMERIC NOT NULL,
    CONSTRAINT pk_daily_hands PRIMARY KEY (jackpot_id, day, stripe_no, rules_version),
    CONSTRAINT ck_daily_hands_hands CHECK (hands >= 1 AND value > 0 AND squares > 0),
    CONSTRAINT ck_daily_hands_exact CHECK (scale(value) <= 18 AND abs(value) < 1e20)
) WITH (fillfactor = 50);
"""

ENTRIES_OF_AWARDS = """
CREATE INDEX ix_entries_of_awards ON entries (jackpot_id, stripe_no, seq)
    WHERE kind = 'result' AND movements @> ARRAY['award'];
"""

UPDATABLE = {
    "daily_refunds": "bets, stakes_minor, value, meter, reserve, prize_fund, house, adjustments",
    "daily_awards": "awards, amount_minor, cost",
    "daily_hands": "hands, value, squares",
}

# A bet's cycle had been won when it was refunded if it stands at or before the cut of the cycle that then ran.
FILL_REFUNDS = """
WITH refunded AS (
    SELECT e.jackpot_id, e.stripe_no, e.seq, e.booked_at, e.round_key, v.bet_id
    FROM entries e
    JOIN voids v ON v.jackpot_id = e.jackpot_id AND v.round_key = e.round_key AND v.step = e.step
    WHERE e.kind = 'voids' AND NOT v.is_tombstone
    UNION ALL
    SELECT e.jackpot_id, e.stripe_no, e.seq, e.booked_at, e.round_key, b.bet_id
    FROM entries e
    JOIN bets b ON b.jackpot_id = e.jackpot_id AND b.round_key = e.round_key
    LEFT JOIN voids v ON v.jackpot_id = b.jackpot_id AND v.round_key = b.round_key AND v.bet_id = b.bet_id
    WHERE e.kind = 'cancellation' AND v.bet_id IS NULL
    UNION ALL
    SELECT e.jackpot_id, e.stripe_no, e.seq, e.booked_at, e.round_key, b.bet_id
    FROM entries e
    JOIN hands h ON h.jackpot_id = e.jackpot_id AND h.round_key = e.round_key AND h.status = 'dead'
    JOIN bets b ON b.jackpot_id = h.jackpot_id AND b.round_key = h.round_key AND b.hand = h.hand
    LEFT JOIN voids v ON v.jackpot_id = b.jackpot_id AND v.round_key = b.round_key AND v.bet_id = b.bet_id
    WHERE e.kind = 'result' AND v.bet_id IS NULL
),
valued AS (
    SELECT e.jackpot_id, e.stripe_no, (e.booked_at AT TIME ZONE 'UTC')::date AS day,
           ((e.booked_at AT TIME ZONE c.zone) - c.day_starts)::date AS gaming_day,
           r.casino_id, r.table_id, b.currency, b.stake_minor,
           o.seq <= coalesce(running.cut[o.stripe_no + 1], 0) AS is_over,
           b.stake_minor * ('1e-' || x.exponent)::numeric * x.base_per_unit AS value,
           (v.document -> 'split' ->> 'meter')::numeric AS meter,
           (v.document -> 'split' ->> 'reserve')::numeric AS reserve,
           (v.document -> 'split' ->> 'prize_fund')::numeric AS prize_fund
    FROM refunded e
    JOIN bets b ON b.jackpot_id = e.jackpot_id AND b.round_key = e.round_key AND b.bet_id = e.bet_id
    JOIN entries o ON o.jackpot_id = b.jackpot_id AND o.round_key = b.round_key AND o.step = b.step
    JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
    JOIN casinos c ON c.casino_id = r.casino_id
    JOIN jackpots j ON j.jackpot_id = e.jackpot_id
    JOIN rates x ON x.base = j.base AND x.number = r.rate_sheet AND x.currency = b.currency
    JOIN rules_versions v ON v.jackpot_id = r.jackpot_id AND v.version = r.rules_version
    LEFT JOIN LATERAL (
        SELECT y.cut
        FROM cycles y
        WHERE y.jackpot_id = e.jackpot_id AND coalesce(y.cut[e.stripe_no + 1], 0) < e.seq
        ORDER BY y.cycle DESC
        LIMIT 1
    ) AS running ON true
)
INSERT INTO daily_refunds (jackpot_id, stripe_no, day, gaming_day, casino_id, table_id, currency,
                           bets, stakes_minor, value, meter, reserve, prize_fund, house, adjustments)
SELECT jackpot_id, stripe_no, day, gaming_day, casino_id, table_id, currency, count(*), sum(stake_minor),
       trim_scale(sum(value)),
       trim_scale(sum(CASE WHEN is_over THEN 0 ELSE value * meter END)),
       trim_scale(sum(CASE WHEN is_over THEN 0 ELSE value * reserve END)),
       trim_scale(sum(value * prize_fund)),
       trim_scale(sum(value * (1 - meter - reserve - prize_fund))),
       trim_scale(sum(CASE WHEN is_over THEN value * (meter + reserve) ELSE 0 END))
FROM valued
GROUP BY 1, 2, 3, 4, 5, 6, 7
ORDER BY 1, 3, 2, 4, 5, 6, 7
"""

# The first step of an award is the one that no act took.
FILL_AWARDS = """
INSERT INTO daily_awards (jackpot_id, stripe_no, day, tier, funded_by, currency, state, awards, amount_minor, cost)
SELECT e.jackpot_id, e.stripe_no, (e.booked_at AT TIME ZONE 'UTC')::date AS day, a.tier, a.funded_by, a.currency,
       s.step, count(*), sum(a.amount_minor), trim_scale(sum(a.cost))
FROM entries e
JOIN awards a ON a.jackpot_id = e.jackpot_id AND a.round_key = e.round_key AND a.correction = 0
JOIN award_steps s ON s.jackpot_id = a.jackpot_id AND s.round_key = a.round_key AND s.bet_id = a.bet_id
                  AND s.tier = a.tier AND s.correction = 0 AND s.act_seq IS NULL
WHERE e.kind = 'result'
GROUP BY 1, 2, 3, 4, 5, 6, 7
ORDER BY 1, 3, 2, 4, 5, 6, 7
"""

FILL_HANDS = """
WITH staked AS (
    SELECT e.jackpot_id, e.stripe_no, (e.booked_at AT TIME ZONE 'UTC')::date AS day, r.rules_version, e.round_key,
           b.hand, sum(b.stake_minor * ('1e-' || x.exponent)::numeric * x.base_per_unit) AS value
    FROM entries e
    JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
    JOIN bets b ON b.jackpot_id = e.jackpot_id AND b.round_key = e.round_key
    JOIN jackpots j ON j.jackpot_id = e.jackpot_id
    JOIN rates x ON x.base = j.base AND x.number = r.rate_sheet AND x.currency = b.currency
    LEFT JOIN voids v ON v.jackpot_id = b.jackpot_id AND v.round_key = b.round_key AND v.bet_id = b.bet_id
    JOIN hands h ON h.jackpot_id = b.jackpot_id AND h.round_key = b.round_key AND h.hand = b.hand
    WHERE e.kind = 'result' AND v.bet_id IS NULL AND h.status <> 'dead'
    GROUP BY 1, 2, 3, 4, 5, 6
)
INSERT INTO daily_hands (jackpot_id, stripe_no, day, rules_version, hands, value, squares)
SELECT jackpot_id, stripe_no, day, rules_version, count(*), trim_scale(sum(value)), trim_scale(sum(value * value))
FROM staked
GROUP BY 1, 2, 3, 4
ORDER BY 1, 3, 2, 4
"""


def upgrade() -> None:
    """Nobody books while the sums of what is booked are made: an entry between would be in none of them."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("LOCK TABLE entries IN SHARE MODE")
    op.execute(TABLES)
    op.execute(ENTRIES_OF_AWARDS)
    for statement in (FILL_REFUNDS, FILL_AWARDS, FILL_HANDS):
        op.execute(statement)
    for table, columns in UPDATABLE.items():
        op.execute(f"GRANT SELECT, INSERT, UPDATE ({columns}) ON {table} TO {ROLE}")
        op.execute(f"CREATE TRIGGER no_delete BEFORE DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()")
        op.execute(
            f"CREATE TRIGGER no_truncate BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()"
        )


def downgrade() -> None:
    """The sums can be made again."""
    for table in UPDATABLE:
        op.execute(f"DROP TABLE {table}")
    op.execute("DROP INDEX ix_entries_of_awards")
