"""Days keep which casino's and table's awards were made and paid: so sums of one of them tell what days tell."""

from collections.abc import Sequence

from alembic import op

revision: str = "0022"
down_revision: str | None = "0021"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLE = "jackpot_app"

# Where a row of before falls into several must be asked of the rounds, so the tables are made anew: no row of them is
# ever removed. `{whose_columns}` and `{whose_key}` are empty where the keys do not tell whose.
TABLES = """
CREATE TABLE daily_awards (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    stripe_no INTEGER NOT NULL,
    day DATE NOT NULL,
    {whose_columns}
    tier TEXT COLLATE "C" NOT NULL,
    funded_by TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    awards BIGINT NOT NULL,
    amount_minor NUMERIC NOT NULL,
    cost NUMERIC NOT NULL,
    CONSTRAINT pk_daily_awards PRIMARY KEY (jackpot_id, day, stripe_no, {whose_key} tier, funded_by, currency, state),
    CONSTRAINT ck_daily_awards_amounts CHECK (awards >= 1 AND amount_minor >= awards AND scale(amount_minor) = 0),
    CONSTRAINT ck_daily_awards_exact CHECK (scale(cost) <= 18 AND abs(cost) < 1e20)
) WITH (fillfactor = 50);

CREATE TABLE daily_payments (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    day DATE NOT NULL,
    made_on DATE NOT NULL,
    {whose_columns}
    tier TEXT COLLATE "C" NOT NULL,
    funded_by TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    awards BIGINT NOT NULL,
    amount_minor NUMERIC NOT NULL,
    cost NUMERIC NOT NULL,
    CONSTRAINT pk_daily_payments PRIMARY KEY (jackpot_id, day, made_on, {whose_key} tier, funded_by, currency),
    CONSTRAINT ck_daily_payments_amounts CHECK (awards >= 1 AND amount_minor >= awards AND amount_minor < 'Infinity'
        AND scale(amount_minor) = 0),
    CONSTRAINT ck_daily_payments_exact CHECK (scale(cost) <= 18 AND abs(cost) < 1e20)
) WITH (fillfactor = 50);
"""

REMADE = ("daily_awards", "daily_payments")

# The first step of an award is the one that no act took.
FILL_AWARDS = """
INSERT INTO daily_awards (jackpot_id, stripe_no, day, casino_id, table_id, tier, funded_by, currency, state,
                          awards, amount_minor, cost)
SELECT e.jackpot_id, e.stripe_no, (e.booked_at AT TIME ZONE 'UTC')::date AS day, r.casino_id, r.table_id,
       a.tier, a.funded_by, a.currency, s.step, count(*), sum(a.amount_minor), trim_scale(sum(a.cost))
FROM entries e
JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
JOIN awards a ON a.jackpot_id = e.jackpot_id AND a.round_key = e.round_key AND a.correction = 0
JOIN award_steps s ON s.jackpot_id = a.jackpot_id AND s.round_key = a.round_key AND s.bet_id = a.bet_id
                  AND s.tier = a.tier AND s.correction = 0 AND s.act_seq IS NULL
WHERE e.kind = 'result'
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
ORDER BY 1, 3, 2, 4, 5, 6, 7, 8, 9
"""

# What a correction made has its day from the act, which is booked when its entry in the jackpot's book is.
FILL_PAYMENTS = """
INSERT INTO daily_payments (jackpot_id, day, made_on, casino_id, table_id, tier, funded_by, currency,
                            awards, amount_minor, cost)
SELECT a.jackpot_id, (e.booked_at AT TIME ZONE 'UTC')::date AS day,
       (coalesce(made.booked_at, corrected.booked_at) AT TIME ZONE 'UTC')::date AS made_on,
       r.casino_id, r.table_id, a.tier, a.funded_by, a.currency,
       count(*), sum(a.amount_minor), trim_scale(sum(a.cost))
FROM award_steps s
JOIN rounds r ON r.jackpot_id = s.jackpot_id AND r.round_key = s.round_key
JOIN awards a ON a.jackpot_id = s.jackpot_id AND a.round_key = s.round_key AND a.bet_id = s.bet_id
             AND a.tier = s.tier AND a.correction = s.correction
JOIN entries e ON e.jackpot_id = '-' AND e.stripe_no = 0 AND e.seq = s.act_seq
LEFT JOIN results d ON d.jackpot_id = s.jackpot_id AND d.round_key = s.round_key AND s.correction = 0
LEFT JOIN entries made ON made.jackpot_id = d.jackpot_id AND made.round_key = d.round_key AND made.step = d.step
LEFT JOIN corrections c ON c.jackpot_id = s.jackpot_id AND c.round_key = s.round_key AND c.number = s.correction
LEFT JOIN entries corrected ON corrected.jackpot_id = '-' AND corrected.stripe_no = 0 AND corrected.seq = c.act_seq
WHERE s.step = 'paid'
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
ORDER BY 1, 2, 3, 4, 5, 6, 7, 8
"""

KEEP = """
CREATE TEMPORARY TABLE kept_awards ON COMMIT DROP AS SELECT * FROM daily_awards;
CREATE TEMPORARY TABLE kept_payments ON COMMIT DROP AS SELECT * FROM daily_payments;
"""

SUM_UP = """
INSERT INTO daily_awards (jackpot_id, stripe_no, day, tier, funded_by, currency, state, awards, amount_minor, cost)
SELECT jackpot_id, stripe_no, day, tier, funded_by, currency, state, sum(awards), sum(amount_minor),
       trim_scale(sum(cost))
FROM kept_awards
GROUP BY 1, 2, 3, 4, 5, 6, 7
ORDER BY 1, 3, 2, 4, 5, 6, 7;

INSERT INTO daily_payments (jackpot_id, day, made_on, tier, funded_by, currency, awards, amount_minor, cost)
SELECT jackpot_id, day, made_on, tier, funded_by, currency, sum(awards), sum(amount_minor), trim_scale(sum(cost))
FROM kept_payments
GROUP BY 1, 2, 3, 4, 5, 6
ORDER BY 1, 2, 3, 4, 5, 6;
"""


def _make_tables_anew(*, whose_columns: str = "", whose_key: str = "") -> None:
    for table in REMADE:
        op.execute(f"DROP TABLE {table}")
    op.execute(TABLES.format(whose_columns=whose_columns, whose_key=whose_key))


def _wall_in() -> None:
    for table in REMADE:
        op.execute(f"GRANT SELECT, INSERT, UPDATE (awards, amount_minor, cost) ON {table} TO {ROLE}")
        op.execute(f"CREATE TRIGGER no_delete BEFORE DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()")
        op.execute(
            f"CREATE TRIGGER no_truncate BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()"
        )


def upgrade() -> None:
    """Nobody books or pays while the sums of what was booked and paid are made: what came between would be in none."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("LOCK TABLE entries, award_steps IN SHARE MODE")
    _make_tables_anew(
        whose_columns='casino_id TEXT COLLATE "C" NOT NULL, table_id TEXT COLLATE "C" NOT NULL,',
        whose_key="casino_id, table_id,",
    )
    op.execute(FILL_AWARDS)
    op.execute(FILL_PAYMENTS)
    _wall_in()


def downgrade() -> None:
    """The sums of casinos and tables are put together; they can be made again."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("LOCK TABLE entries, award_steps IN SHARE MODE")
    op.execute(KEEP)
    _make_tables_anew()
    op.execute(SUM_UP)
    _wall_in()
