"""Rejected awards can be reinstated, and compensations taken back."""

from collections.abc import Sequence

from alembic import op

revision: str = "0010"
down_revision: str | None = "0009"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

BEFORE = ("'payable', 'held', 'approved', 'rejected', 'paid', 'reversed'", "amount_minor > 0")
AFTER = ("'payable', 'held', 'approved', 'rejected', 'reinstated', 'paid', 'reversed'", "amount_minor <> 0")


def upgrade() -> None:
    """Let both in."""
    _hold(*AFTER)


def downgrade() -> None:
    """Let neither in any more; refused where one is there."""
    _hold(*BEFORE)


def _hold(steps: str, amount_minor: str) -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE award_steps DROP CONSTRAINT ck_award_steps_step")
    op.execute(f"ALTER TABLE award_steps ADD CONSTRAINT ck_award_steps_step CHECK (step IN ({steps}))")
    op.execute("ALTER TABLE compensations DROP CONSTRAINT ck_compensations_amount_minor")
    op.execute(f"ALTER TABLE compensations ADD CONSTRAINT ck_compensations_amount_minor CHECK ({amount_minor})")
