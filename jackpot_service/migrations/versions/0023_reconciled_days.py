"""Days that were reconciled: what their documents and entries came to."""

from collections.abc import Sequence

from alembic import op

revision: str = "0023"
down_revision: str | None = "0022"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLE = "jackpot_app"

RECONCILED_DAYS = """
CREATE TABLE reconciled_days (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    edition INTEGER NOT NULL,
    day DATE NOT NULL,
    starts BIGINT[] NOT NULL,
    ends BIGINT[] NOT NULL,
    sums JSONB NOT NULL,
    read_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_reconciled_days PRIMARY KEY (jackpot_id, edition, day),
    CONSTRAINT ck_reconciled_days_edition CHECK (edition >= 1),
    CONSTRAINT ck_reconciled_days_positions CHECK (cardinality(starts) = cardinality(ends) AND cardinality(ends) >= 1
        AND array_position(starts, NULL) IS NULL AND array_position(ends, NULL) IS NULL),
    CONSTRAINT ck_reconciled_days_sums CHECK (jsonb_typeof(sums) = 'array'),
    CONSTRAINT ck_reconciled_days_over CHECK (read_at >= (day + 1)::timestamp AT TIME ZONE 'UTC')
);
"""


def upgrade() -> None:
    """Make room for them; written once, like everything else in the books."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(RECONCILED_DAYS)
    op.execute(f"GRANT SELECT, INSERT ON reconciled_days TO {ROLE}")
    op.execute(
        "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON reconciled_days "
        "FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()"
    )
    op.execute(
        "CREATE TRIGGER no_truncate BEFORE TRUNCATE ON reconciled_days "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()"
    )


def downgrade() -> None:
    """Forget them: they are read again by whoever comes back here."""
    op.execute("DROP TABLE reconciled_days")
