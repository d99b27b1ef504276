"""A rate sheet says which document its rates were taken from."""

from collections.abc import Sequence

from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Sheets that are there were made by hand: they name no document, and their digests cover none."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE rate_sheets ADD COLUMN source JSONB")


def downgrade() -> None:
    """Take the column away, and with it what it says."""
    op.execute("ALTER TABLE rate_sheets DROP COLUMN source")
