"""The functions of triggers look names up in one schema, whatever the search path of the session is."""

from collections.abc import Sequence

from alembic import op

revision: str = "0028"
down_revision: str | None = "0027"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

FUNCTIONS = ("refuse_rewrite", "refuse_other_work")


def upgrade() -> None:
    """Fix the path of the functions; that of logins and of the database is fixed with the rights, at every upgrade."""
    for name in FUNCTIONS:
        op.execute(f"ALTER FUNCTION {name}() SET search_path = public, pg_temp")


def downgrade() -> None:
    """Let them look where those who fire them look."""
    for name in FUNCTIONS:
        op.execute(f"ALTER FUNCTION {name}() RESET search_path")
