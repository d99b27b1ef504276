"""People and keys: a principal is a row of its own; a key is a secret or a subject, and knows its last use."""

from collections.abc import Sequence

from alembic import op

revision: str = "0008"
down_revision: str | None = "0007"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLE = "jackpot_app"

# Principals would have to be guessed from the keys, by no act: there is no version between that had both.
REFUSE_EARLIER_KEYS = """
DO $$
BEGIN
    IF EXISTS (SELECT FROM keys) THEN
        RAISE EXCEPTION 'the keys in this database were created by another version'
            USING HINT = 'Begin with an empty database; keep this one, with the version that wrote it, to read it.';
    END IF;
END
$$
"""

PRINCIPALS = """
CREATE TABLE principals (
    name TEXT COLLATE "C" NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    casino_id TEXT COLLATE "C",
    is_automaton BOOLEAN NOT NULL,
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_principals PRIMARY KEY (name),
    CONSTRAINT fk_principals_casino_id_casinos FOREIGN KEY (casino_id) REFERENCES casinos (casino_id),
    CONSTRAINT ck_principals_name CHECK (name <> '' AND lower(name) <> 'cli'),
    CONSTRAINT ck_principals_role CHECK (role IN ('table', 'finance', 'rates', 'operator', 'auditor')),
    CONSTRAINT ck_principals_casino_id
        CHECK (CASE role WHEN 'table' THEN casino_id IS NOT NULL WHEN 'finance' THEN true ELSE casino_id IS NULL END)
);
CREATE UNIQUE INDEX uq_principals_lower_name ON principals (lower(name));
"""

KEYS = """
ALTER TABLE keys
    DROP COLUMN role,
    DROP COLUMN casino_id,
    DROP COLUMN is_automaton,
    ALTER COLUMN secret_hash DROP NOT NULL,
    ADD COLUMN issuer TEXT COLLATE "C",
    ADD COLUMN subject TEXT COLLATE "C",
    ADD COLUMN last_used_at TIMESTAMP WITH TIME ZONE,
    ADD CONSTRAINT fk_keys_principal_principals FOREIGN KEY (principal) REFERENCES principals (name),
    ADD CONSTRAINT ck_keys_shown CHECK (
        (secret_hash IS NULL) <> (subject IS NULL) AND (issuer IS NULL) = (subject IS NULL)
    );
CREATE INDEX ix_keys_principal_entry_seq ON keys (principal, entry_seq);
CREATE UNIQUE INDEX uq_keys_issuer_subject ON keys (issuer, subject) WHERE revoked_at IS NULL;
"""

EARLIER_KEYS = """
DROP INDEX uq_keys_issuer_subject;
DROP INDEX ix_keys_principal_entry_seq;
ALTER TABLE keys
    DROP CONSTRAINT ck_keys_shown,
    DROP CONSTRAINT fk_keys_principal_principals,
    DROP COLUMN last_used_at,
    DROP COLUMN subject,
    DROP COLUMN issuer,
    ALTER COLUMN secret_hash SET NOT NULL,
    ADD COLUMN role TEXT COLLATE "C" NOT NULL,
    ADD COLUMN casino_id TEXT COLLATE "C",
    ADD COLUMN is_automaton BOOLEAN NOT NULL,
    ADD CONSTRAINT fk_keys_casino_id_casinos FOREIGN KEY (casino_id) REFERENCES casinos (casino_id),
    ADD CONSTRAINT ck_keys_role CHECK (role IN ('table', 'finance', 'rates', 'operator', 'auditor')),
    ADD CONSTRAINT ck_keys_table_casino CHECK (role <> 'table' OR casino_id IS NOT NULL);
"""


def upgrade() -> None:
    """Refuses keys that were created before: their principals were recorded by no act."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(REFUSE_EARLIER_KEYS)
    op.execute(PRINCIPALS)
    op.execute(KEYS)
    op.execute(f"GRANT SELECT, INSERT ON principals TO {ROLE}")
    op.execute(f"GRANT UPDATE (last_used_at) ON keys TO {ROLE}")
    op.execute(
        "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON principals "
        "FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()"
    )
    op.execute(
        "CREATE TRIGGER no_truncate BEFORE TRUNCATE ON principals FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()"
    )


def downgrade() -> None:
    """Refuses keys that were created since: what they say had no place before."""
    op.execute(REFUSE_EARLIER_KEYS)
    op.execute(EARLIER_KEYS)
    op.execute("DROP TABLE principals")
