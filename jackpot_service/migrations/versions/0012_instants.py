"""Instants that reports stand on."""

from collections.abc import Sequence

from alembic import op

revision: str = "0012"
down_revision: str | None = "0011"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLE = "jackpot_app"

INSTANTS = """
CREATE TABLE instants (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    instant TIMESTAMP WITH TIME ZONE NOT NULL,
    positions BIGINT[] NOT NULL,
    CONSTRAINT pk_instants PRIMARY KEY (jackpot_id, instant),
    CONSTRAINT ck_instants_positions CHECK (cardinality(positions) >= 1)
);
"""


def upgrade() -> None:
    """Make room for them; written once, like everything else in the books."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(INSTANTS)
    op.execute(f"GRANT SELECT, INSERT ON instants TO {ROLE}")
    op.execute(
        "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON instants FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()"
    )
    op.execute(
        "CREATE TRIGGER no_truncate BEFORE TRUNCATE ON instants FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()"
    )


def downgrade() -> None:
    """Forget them: reports of the same instants may then stand on other positions, unless nothing was booked since."""
    op.execute("DROP TABLE instants")
