"""Laws that no CHECK can say: triggers that refuse."""

from collections.abc import Sequence
from pathlib import Path

from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

compatible_from: str = "0004"

SQL = Path(__file__).with_suffix("")

PARTS = ("history", "clock", "people", "jobs", "open_awards")

DROPS = """
DROP FUNCTION keep_open_award() CASCADE;
DROP FUNCTION open_new_awards() CASCADE;
DROP FUNCTION refuse_other_work() CASCADE;
DROP FUNCTION require_deciders() CASCADE;
DROP FUNCTION require_limiters() CASCADE;
DROP FUNCTION require_two_people() CASCADE;
DROP FUNCTION require_approval(bigint, text, text[]) CASCADE;
DROP FUNCTION require_no_payment() CASCADE;
DROP FUNCTION require_unpaid() CASCADE;
DROP FUNCTION require_payer() CASCADE;
DROP FUNCTION require_no_key_maker() CASCADE;
DROP FUNCTION require_checker() CASCADE;
DROP FUNCTION require_revoker() CASCADE;
DROP FUNCTION require_own_passkey() CASCADE;
DROP FUNCTION base64url(bytea) CASCADE;
DROP FUNCTION has_passkey(text) CASCADE;
DROP FUNCTION require_asker() CASCADE;
DROP FUNCTION require_actor() CASCADE;
DROP FUNCTION refuse_past() CASCADE;
DROP FUNCTION refuse_ahead() CASCADE;
DROP FUNCTION refuse_rewrite() CASCADE;
"""
"""With each function go the triggers that call it."""


def upgrade() -> None:
    """Make the functions and their triggers."""
    for part in PARTS:
        op.execute((SQL / f"{part}.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Drop the functions, and with them their triggers."""
    op.execute(DROPS)
