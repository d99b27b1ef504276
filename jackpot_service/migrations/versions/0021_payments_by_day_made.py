"""Days keep what was paid by tier and by the day on which it was made: so sums of awards tell which were paid."""

from collections.abc import Sequence

from alembic import op

revision: str = "0021"
down_revision: str | None = "0020"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLE = "jackpot_app"

# Where a row of before falls into several must be asked of the acts, so the table is made anew: no row of it is ever
# removed. `{made_columns}` and what belongs to it are empty where the key has none.
TABLE = """
CREATE TABLE daily_payments (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    day DATE NOT NULL,
    {made_columns}
    funded_by TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    awards BIGINT NOT NULL,
    amount_minor NUMERIC NOT NULL,
    cost NUMERIC NOT NULL,
    CONSTRAINT pk_daily_payments PRIMARY KEY (jackpot_id, day, {made_key} funded_by, currency),
    CONSTRAINT ck_daily_payments_amounts CHECK (awards >= 1 AND amount_minor >= awards AND amount_minor < 'Infinity'
        AND scale(amount_minor) = 0),
    CONSTRAINT ck_daily_payments_exact CHECK (scale(cost) <= 18 AND abs(cost) < 1e20)
) WITH (fillfactor = 50);
"""

# What a correction made has its day from the act, which is booked when its entry in the jackpot's book is.
FILL_PAYMENTS = """
INSERT INTO daily_payments (jackpot_id, day, made_on, tier, funded_by, currency, awards, amount_minor, cost)
SELECT a.jackpot_id, (e.booked_at AT TIME ZONE 'UTC')::date AS day,
       (coalesce(made.booked_at, corrected.booked_at) AT TIME ZONE 'UTC')::date AS made_on,
       a.tier, a.funded_by, a.currency, count(*), sum(a.amount_minor), trim_scale(sum(a.cost))
FROM award_steps s
JOIN awards a ON a.jackpot_id = s.jackpot_id AND a.round_key = s.round_key AND a.bet_id = s.bet_id
             AND a.tier = s.tier AND a.correction = s.correction
JOIN entries e ON e.jackpot_id = '-' AND e.stripe_no = 0 AND e.seq = s.act_seq
LEFT JOIN results d ON d.jackpot_id = s.jackpot_id AND d.round_key = s.round_key AND s.correction = 0
LEFT JOIN entries made ON made.jackpot_id = d.jackpot_id AND made.round_key = d.round_key AND made.step = d.step
LEFT JOIN corrections c ON c.jackpot_id = s.jackpot_id AND c.round_key = s.round_key AND c.number = s.correction
LEFT JOIN entries corrected ON corrected.jackpot_id = '-' AND corrected.stripe_no = 0 AND corrected.seq = c.act_seq
WHERE s.step = 'paid'
GROUP BY 1, 2, 3, 4, 5, 6
ORDER BY 1, 2, 3, 4, 5, 6
"""

KEEP = "CREATE TEMPORARY TABLE kept_payments ON COMMIT DROP AS SELECT * FROM daily_payments"

SUM_UP = """
INSERT INTO daily_payments (jackpot_id, day, funded_by, currency, awards, amount_minor, cost)
SELECT jackpot_id, day, funded_by, currency, sum(awards), sum(amount_minor), trim_scale(sum(cost))
FROM kept_payments
GROUP BY 1, 2, 3, 4
ORDER BY 1, 2, 3, 4
"""


def _make_table_anew(*, made_columns: str = "", made_key: str = "") -> None:
    op.execute("DROP TABLE daily_payments")
    op.execute(TABLE.format(made_columns=made_columns, made_key=made_key))


def _wall_in() -> None:
    op.execute(f"GRANT SELECT, INSERT, UPDATE (awards, amount_minor, cost) ON daily_payments TO {ROLE}")
    op.execute(
        "CREATE TRIGGER no_delete BEFORE DELETE ON daily_payments FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()"
    )
    op.execute(
        "CREATE TRIGGER no_truncate BEFORE TRUNCATE ON daily_payments "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()"
    )


def upgrade() -> None:
    """No award is paid while the sums of those that were are made: one between would be in none of them."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("LOCK TABLE award_steps IN SHARE MODE")
    _make_table_anew(
        made_columns='made_on DATE NOT NULL, tier TEXT COLLATE "C" NOT NULL,',
        made_key="made_on, tier,",
    )
    op.execute(FILL_PAYMENTS)
    _wall_in()


def downgrade() -> None:
    """The sums of tiers and of days on which awards were made are put together; they can be made again."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("LOCK TABLE award_steps IN SHARE MODE")
    op.execute(KEEP)
    _make_table_anew()
    op.execute(SUM_UP)
    _wall_in()
