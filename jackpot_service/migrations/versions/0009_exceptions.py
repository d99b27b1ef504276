"""Exceptions have ids in the order of time, and are acknowledged; open rounds are found without reading the others."""

from collections.abc import Sequence

from alembic import op

revision: str = "0009"
down_revision: str | None = "0008"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLE = "jackpot_app"

# Fifteen digits hold the microseconds of every year up to 9999, so that ids sort as their times do.
EXCEPTION_ID = """
CREATE FUNCTION exception_id(since timestamptz, what text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT lpad(to_hex((extract(epoch FROM since) * 1000000)::bigint), 15, '0')
        || '-' || left(encode(sha256(convert_to(what, 'UTF8')), 'hex'), 16)
$$
"""

EXCEPTIONS = """
ALTER TABLE exceptions ADD COLUMN exception_id TEXT COLLATE "C";
ALTER TABLE exceptions DISABLE TRIGGER append_only;
UPDATE exceptions
SET exception_id = exception_id(noticed_at, concat_ws(' ', kind, table_id, round_id, encode(digest, 'hex')));
ALTER TABLE exceptions ENABLE TRIGGER append_only;
ALTER TABLE exceptions ALTER COLUMN exception_id SET NOT NULL;
ALTER TABLE exceptions DROP CONSTRAINT pk_exceptions;
ALTER TABLE exceptions ADD CONSTRAINT pk_exceptions PRIMARY KEY (exception_id);
ALTER TABLE exceptions ADD CONSTRAINT uq_exceptions_kind_table_id_round_id_digest
    UNIQUE (kind, table_id, round_id, digest);
"""

ACKNOWLEDGEMENTS = """
CREATE TABLE exception_acknowledgements (
    exception_id TEXT COLLATE "C" NOT NULL,
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_exception_acknowledgements PRIMARY KEY (exception_id)
);
"""

OPEN_ROUNDS = "CREATE INDEX ix_rounds_open ON rounds (round_key) WHERE state = 'open'"


def upgrade() -> None:
    """Give exceptions their ids; make room for acknowledgements; index the open rounds."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(EXCEPTION_ID)
    op.execute(EXCEPTIONS)
    op.execute(ACKNOWLEDGEMENTS)
    op.execute(OPEN_ROUNDS)
    op.execute(f"GRANT SELECT, INSERT ON exception_acknowledgements TO {ROLE}")
    op.execute(
        "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON exception_acknowledgements "
        "FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()"
    )
    op.execute(
        "CREATE TRIGGER no_truncate BEFORE TRUNCATE ON exception_acknowledgements "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()"
    )


def downgrade() -> None:
    """Take the acknowledgements and the ids away, and with them what they say."""
    op.execute("DROP INDEX ix_rounds_open")
    op.execute("DROP TABLE exception_acknowledgements")
    op.execute("ALTER TABLE exceptions DROP COLUMN exception_id")
    op.execute("ALTER TABLE exceptions DROP CONSTRAINT uq_exceptions_kind_table_id_round_id_digest")
    op.execute("ALTER TABLE exceptions ADD CONSTRAINT pk_exceptions PRIMARY KEY (kind, table_id, round_id, digest)")
    op.execute("DROP FUNCTION exception_id")
