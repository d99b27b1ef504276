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
    """Forget which periods were closed; the acts that closed them stay."""
    op.execute("DROP TABLE closed_periods")
