"""The endings of rounds that lived long are indexed by their lives, for who asks which were open at an instant."""

from collections.abc import Sequence

from alembic import op

revision: str = "0019"
down_revision: str | None = "0018"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

LONG_ROUNDS = """
CREATE INDEX ix_entries_of_long_rounds ON entries USING gist (
    tstzrange(least(to_timestamp((round_key >> 21) / 1000::double precision), booked_at), booked_at, '[]')
)
WHERE kind IN ('result', 'cancellation')
  AND booked_at - to_timestamp((round_key >> 21) / 1000::double precision) > interval '15 minutes'
"""


def upgrade() -> None:
    """Nobody books while all entries are looked through: about a second for two million."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(LONG_ROUNDS)


def downgrade() -> None:
    """The report would read every entry since the end again."""
    op.execute("DROP INDEX ix_entries_of_long_rounds")
