"""A round is found by its ids through an index of one expression, which no other can be taken for."""

from collections.abc import Sequence

from alembic import op

revision: str = "0024"
down_revision: str | None = "0023"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# No id holds a space.
BY_IDS = "CREATE UNIQUE INDEX uq_rounds_ids ON rounds ((jackpot_id || ' ' || table_id || ' ' || round_id))"

CONSTRAINT = "uq_rounds_jackpot_id_table_id_round_id"


def upgrade() -> None:
    """Nobody books while all rounds are looked through: a few seconds for a million and a half."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(BY_IDS)
    op.execute(f"ALTER TABLE rounds DROP CONSTRAINT {CONSTRAINT}")


def downgrade() -> None:
    """A new table's rounds may be looked up through another index again."""
    op.execute(f"ALTER TABLE rounds ADD CONSTRAINT {CONSTRAINT} UNIQUE (jackpot_id, table_id, round_id)")
    op.execute("DROP INDEX uq_rounds_ids")
