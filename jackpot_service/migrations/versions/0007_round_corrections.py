"""Corrections of settled rounds: which act corrected which round, and which verdict made an award."""

from collections.abc import Sequence

from alembic import op

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLE = "jackpot_app"

CORRECTIONS = """
CREATE TABLE corrections (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    round_key BIGINT NOT NULL,
    number INTEGER NOT NULL,
    act_seq BIGINT NOT NULL,
    CONSTRAINT pk_corrections PRIMARY KEY (jackpot_id, round_key, number),
    CONSTRAINT ck_corrections_number CHECK (number >= 1)
);
"""

KEYS = {
    "awards": "jackpot_id, round_key, bet_id, tier",
    "award_steps": "jackpot_id, round_key, bet_id, tier, step",
}
"""What named a row while a round had one verdict."""


def upgrade() -> None:
    """Awards that are there were made by their settlements: correction 0."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(CORRECTIONS)
    op.execute(f"GRANT SELECT, INSERT ON corrections TO {ROLE}")
    op.execute(
        "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON corrections "
        "FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()"
    )
    op.execute(
        "CREATE TRIGGER no_truncate BEFORE TRUNCATE ON corrections FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()"
    )
    for table, key in KEYS.items():
        op.execute(f"ALTER TABLE {table} ADD COLUMN correction INTEGER NOT NULL DEFAULT 0")
        op.execute(f"ALTER TABLE {table} ADD CONSTRAINT ck_{table}_correction CHECK (correction >= 0)")
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT pk_{table}")
        op.execute(f"ALTER TABLE {table} ADD CONSTRAINT pk_{table} PRIMARY KEY ({key}, correction)")


def downgrade() -> None:
    """Take the table and the columns away; refused by the old keys where a bet got the same prize by two verdicts."""
    for table, key in reversed(KEYS.items()):
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT pk_{table}")
        op.execute(f"ALTER TABLE {table} ADD CONSTRAINT pk_{table} PRIMARY KEY ({key})")
        op.execute(f"ALTER TABLE {table} DROP COLUMN correction")
    op.execute("DROP TABLE corrections")
