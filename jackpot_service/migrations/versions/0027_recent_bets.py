"""What bets come to is set aside group by group, and rolled up into their days now and then."""

from collections.abc import Sequence

from alembic import op

revision: str = "0027"
down_revision: str | None = "0026"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLE = "jackpot_app"

SUM = """
CREATE TYPE bets_sum AS (
    casino_id TEXT COLLATE "C",
    table_id TEXT COLLATE "C",
    currency TEXT COLLATE "C",
    rules_version INTEGER,
    bets BIGINT,
    stakes_minor NUMERIC,
    value NUMERIC
)
"""

# Rows are gone after some more groups: not worth compressing. And a table that shrinks would have to be locked for it,
# on replicas too, where the proof may read for an hour.
TABLE = """
CREATE TABLE recent_bets (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    stripe_no INTEGER NOT NULL,
    seq BIGINT NOT NULL,
    sums bets_sum[] NOT NULL,
    CONSTRAINT pk_recent_bets PRIMARY KEY (jackpot_id, stripe_no, seq)
) WITH (toast_tuple_target = 8160, vacuum_truncate = off)
"""

# What is set aside, its entry and its cycle are looked up row by row, whatever the planner thinks of tables that are
# small at times. Rows up to `rolled_up_to` were removed, and may be in the way of those who look for others.
# An entry is of the last cycle whose cut it stands after: mostly of the newest, which is found without reading others.
RECENT_BETS_BY_DAY = """
CREATE VIEW recent_bets_by_day AS
SELECT stripe.jackpot_id, stripe.stripe_no, entry.day, coalesce(running.cycle, 1) AS cycle,
       coalesce((entry.booked_at AT TIME ZONE casino.zone) - casino.day_starts, entry.day)::date AS gaming_day,
       one.casino_id, one.table_id, one.currency, one.rules_version, one.bets, one.stakes_minor, one.value
FROM stripes AS stripe
CROSS JOIN LATERAL (
    SELECT jackpot_id, stripe_no, seq, sums
    FROM recent_bets
    WHERE jackpot_id = stripe.jackpot_id AND stripe_no = stripe.stripe_no AND seq > stripe.rolled_up_to
    OFFSET 0
) AS recent
CROSS JOIN LATERAL (
    SELECT booked_at, (booked_at AT TIME ZONE 'UTC')::date AS day
    FROM entries
    WHERE jackpot_id = recent.jackpot_id AND stripe_no = recent.stripe_no AND seq = recent.seq AND kind = 'bets'
    OFFSET 0
) AS entry
LEFT JOIN LATERAL (
    SELECT CASE WHEN coalesce(newest.cut[recent.stripe_no + 1], 0) < recent.seq THEN newest.cycle
                ELSE (SELECT max(cycle)
                      FROM cycles
                      WHERE jackpot_id = recent.jackpot_id AND coalesce(cut[recent.stripe_no + 1], 0) < recent.seq)
           END AS cycle
    FROM (SELECT cycle, cut FROM cycles WHERE jackpot_id = recent.jackpot_id ORDER BY cycle DESC LIMIT 1) AS newest
    OFFSET 0
) AS running ON true
CROSS JOIN LATERAL unnest(recent.sums) AS one
LEFT JOIN casinos AS casino ON casino.casino_id = one.casino_id
"""

BETS_BY_DAY = """
CREATE VIEW bets_by_day AS
SELECT jackpot_id, stripe_no, day, cycle, gaming_day, casino_id, table_id, currency, rules_version, bets, stakes_minor,
       value
FROM daily_bets
UNION ALL
SELECT jackpot_id, stripe_no, day, cycle, gaming_day, casino_id, table_id, currency, rules_version, bets, stakes_minor,
       value
FROM recent_bets_by_day
"""

# What was accepted is rolled up later, in transactions of others, which no bound may make fail.
UNBOUNDED = "scale(value) <= 18 AND abs(value) < 'Infinity'"
BOUNDED = "scale(value) <= 18 AND abs(value) < 1e20"

ROLL_UP = """
INSERT INTO daily_bets AS kept (jackpot_id, day, stripe_no, table_id, currency, cycle, gaming_day, rules_version,
                                casino_id, bets, stakes_minor, value)
SELECT jackpot_id, day, stripe_no, table_id, currency, cycle, gaming_day, rules_version, casino_id,
       sum(bets), sum(stakes_minor), sum(value)
FROM recent_bets_by_day
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
ON CONFLICT (jackpot_id, day, stripe_no, table_id, currency, cycle, gaming_day, rules_version, casino_id) DO UPDATE
SET bets = kept.bets + EXCLUDED.bets, stakes_minor = kept.stakes_minor + EXCLUDED.stakes_minor,
    value = kept.value + EXCLUDED.value
"""


def _check_values(law: str) -> None:
    op.execute("ALTER TABLE daily_bets DROP CONSTRAINT ck_daily_bets_exact")
    op.execute(f"ALTER TABLE daily_bets ADD CONSTRAINT ck_daily_bets_exact CHECK ({law})")


def upgrade() -> None:
    """Begin with nothing set aside: the days have the sums of all that was booked before."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE stripes ADD COLUMN rolled_up_to BIGINT NOT NULL DEFAULT 0")
    op.execute(SUM)
    op.execute(TABLE)
    op.execute(RECENT_BETS_BY_DAY)
    op.execute(BETS_BY_DAY)
    _check_values(UNBOUNDED)
    op.execute(f"GRANT SELECT, INSERT, DELETE ON recent_bets TO {ROLE}")
    op.execute(f"GRANT UPDATE (rolled_up_to) ON stripes TO {ROLE}")
    op.execute(f"GRANT SELECT ON recent_bets_by_day, bets_by_day TO {ROLE}")
    op.execute("CREATE TRIGGER no_update BEFORE UPDATE ON recent_bets FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()")
    op.execute(
        "CREATE TRIGGER no_truncate BEFORE TRUNCATE ON recent_bets FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()"
    )


def downgrade() -> None:
    """Nobody books while what is set aside is rolled up."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("LOCK TABLE entries IN SHARE MODE")
    _check_values(BOUNDED)
    op.execute(ROLL_UP)
    op.execute("DROP VIEW bets_by_day, recent_bets_by_day")
    op.execute("DROP TABLE recent_bets")
    op.execute("DROP TYPE bets_sum")
    op.execute("ALTER TABLE stripes DROP COLUMN rolled_up_to")
