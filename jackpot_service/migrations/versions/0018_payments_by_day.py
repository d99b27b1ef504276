"""Days have sums of what casinos said they had paid out, made for what is booked already."""

from collections.abc import Sequence

from alembic import op

revision: str = "0018"
down_revision: str | None = "0017"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLE = "jackpot_app"

TABLE = """
CREATE TABLE daily_payments (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    day DATE NOT NULL,
    funded_by TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    awards BIGINT NOT NULL,
    amount_minor NUMERIC NOT NULL,
    cost NUMERIC NOT NULL,
    CONSTRAINT pk_daily_payments PRIMARY KEY (jackpot_id, day, funded_by, currency),
    CONSTRAINT ck_daily_payments_amounts CHECK (awards >= 1 AND amount_minor >= awards AND amount_minor < 'Infinity'
        AND scale(amount_minor) = 0),
    CONSTRAINT ck_daily_payments_exact CHECK (scale(cost) <= 18 AND abs(cost) < 1e20)
) WITH (fillfactor = 50);
"""

FILL_PAYMENTS = """
INSERT INTO daily_payments (jackpot_id, day, funded_by, currency, awards, amount_minor, cost)
SELECT a.jackpot_id, (e.booked_at AT TIME ZONE 'UTC')::date AS day, a.funded_by, a.currency, count(*),
       sum(a.amount_minor), trim_scale(sum(a.cost))
FROM award_steps s
JOIN awards a ON a.jackpot_id = s.jackpot_id AND a.round_key = s.round_key AND a.bet_id = s.bet_id
             AND a.tier = s.tier AND a.correction = s.correction
JOIN entries e ON e.jackpot_id = '-' AND e.stripe_no = 0 AND e.seq = s.act_seq
WHERE s.step = 'paid'
GROUP BY 1, 2, 3, 4
ORDER BY 1, 2, 3, 4
"""


def upgrade() -> None:
    """No award is paid while the sums of those that were are made: one between would be in none of them."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("LOCK TABLE award_steps IN SHARE MODE")
    op.execute(TABLE)
    op.execute(FILL_PAYMENTS)
    op.execute(f"GRANT SELECT, INSERT, UPDATE (awards, amount_minor, cost) ON daily_payments TO {ROLE}")
    op.execute(
        "CREATE TRIGGER no_delete BEFORE DELETE ON daily_payments FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()"
    )
    op.execute(
        "CREATE TRIGGER no_truncate BEFORE TRUNCATE ON daily_payments "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()"
    )


def downgrade() -> None:
    """The sums can be made again."""
    op.execute("DROP TABLE daily_payments")
