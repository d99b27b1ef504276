"""A jackpot's stripes may become more while it runs: each names the entry that added it."""

from collections.abc import Sequence

from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Every stripe there is came with the opening, which is the first entry of stripe 0."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE stripes ADD COLUMN added_by BIGINT NOT NULL DEFAULT 1")
    op.execute("ALTER TABLE stripes ALTER COLUMN added_by DROP DEFAULT")


def downgrade() -> None:
    """Take the note away. The stripes stay: what is booked on them is part of the books."""
    op.execute("ALTER TABLE stripes DROP COLUMN added_by")
