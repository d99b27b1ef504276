"""Each revision from here on says which older one is the last whose services it lets go on working."""

from collections.abc import Sequence

from alembic import op

revision: str = "0033"
down_revision: str | None = "0031"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

compatible_from: str = "0033"
"""Services that were made for an earlier revision read nothing of this, and must be stopped for the upgrade to it."""

ROLE = "jackpot_app"

TABLE = """
CREATE TABLE schema_versions (
    revision TEXT COLLATE "C" NOT NULL,
    compatible_from TEXT COLLATE "C" NOT NULL,
    applied_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT pk_schema_versions PRIMARY KEY (revision)
)
"""


def upgrade() -> None:
    """The row of this revision, as of each later one, is written by env.py."""
    op.execute(TABLE)
    op.execute(f"GRANT SELECT ON schema_versions TO {ROLE}")


def downgrade() -> None:
    """Nobody is said to be compatible any more."""
    op.execute("DROP TABLE schema_versions")
