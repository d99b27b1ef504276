"""Periods that finance closed, with the hashes of their reports."""

from collections.abc import Sequence

from alembic import op

revision: str = "0015"
down_revision: str | None = "0014"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLE = "jackpot_app"

CLOSED_PERIODS = """
CREATE TABLE closed_periods (
    ends_at TIMESTAMP WITH TIME ZONE NOT NULL,
    starts_at TIMESTAMP WITH TIME ZONE,
    reports JSONB NOT NULL,
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_closed_periods PRIMARY KEY (ends_at),
    CONSTRAINT ck_closed_periods_order CHECK (ends_at > starts_at)
);
"""

# The act that closed a period is in the chain for good, and says what its row says: without the row, `verify` would
# find it for ever.
REFUSE_CLOSED = """
DO $$
BEGIN
    IF EXISTS (SELECT FROM closed_periods) THEN
        RAISE EXCEPTION 'periods of this database are closed'
            USING HINT = 'Earlier versions cannot tell them, and what their reports said would be lost.';
    END IF;
END
$$
"""


def upgrade() -> None:
    """Make room for them; written once, like everything else in the books."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(CLOSED_PERIODS)
    op.execute(f"GRANT SELECT, INSERT ON closed_periods TO {ROLE}")
    op.execute(
        "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON closed_periods "
        "FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()"
    )
    op.execute(
        "CREATE TRIGGER no_truncate BEFORE TRUNCATE ON closed_periods "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()"
    )


def downgrade() -> None:
    """Refuses where a period is closed."""
    op.execute(REFUSE_CLOSED)
    op.execute("DROP TABLE closed_periods")
