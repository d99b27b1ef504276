"""A runner may write how much there is to do, once it knows."""

from collections.abc import Sequence

from alembic import op

revision: str = "0026"
down_revision: str | None = "0025"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLE = "jackpot_app"


def upgrade() -> None:
    """Let the application's role say of how much a job is."""
    op.execute(f"GRANT UPDATE (total) ON jobs TO {ROLE}")


def downgrade() -> None:
    """Jobs whose total is known keep it."""
    op.execute(f"REVOKE UPDATE (total) ON jobs FROM {ROLE}")
