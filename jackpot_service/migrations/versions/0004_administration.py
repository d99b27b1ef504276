"""Administration by two people: acts, change requests, their decisions; what acts leave behind names them."""

from collections.abc import Sequence

from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLE = "jackpot_app"

ACTS = """
CREATE TABLE acts (
    seq BIGINT NOT NULL,
    request_id TEXT COLLATE "C",
    decides TEXT COLLATE "C",
    subject TEXT COLLATE "C" NOT NULL,
    jackpot_id TEXT COLLATE "C",
    reason TEXT COLLATE "C",
    asked JSONB,
    before JSONB,
    after JSONB NOT NULL,
    effects JSONB NOT NULL,
    CONSTRAINT pk_acts PRIMARY KEY (seq),
    CONSTRAINT uq_acts_request_id UNIQUE (request_id)
);
CREATE INDEX ix_acts_decides_seq ON acts (decides, seq);
CREATE INDEX ix_acts_jackpot_id_seq ON acts (jackpot_id, seq);
"""

CHANGES = """
CREATE TABLE change_requests (
    request_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    jackpot_id TEXT COLLATE "C",
    payload JSONB NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    base_version TEXT COLLATE "C" NOT NULL,
    to_confirm JSONB NOT NULL,
    maker TEXT COLLATE "C" NOT NULL,
    made_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_change_requests PRIMARY KEY (request_id),
    CONSTRAINT uq_change_requests_request_id_maker UNIQUE (request_id, maker),
    CONSTRAINT ck_change_requests_request_id CHECK (request_id ~ '^[A-Za-z0-9._:-]{1,64}$'),
    CONSTRAINT ck_change_requests_reason CHECK (length(reason) > 0),
    CONSTRAINT ck_change_requests_expires_at CHECK (expires_at > made_at)
);
CREATE TABLE change_decisions (
    request_id TEXT COLLATE "C" NOT NULL,
    maker TEXT COLLATE "C" NOT NULL,
    checker TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C",
    confirmed JSONB NOT NULL,
    is_emergency BOOLEAN NOT NULL,
    decided_at TIMESTAMP WITH TIME ZONE NOT NULL,
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_change_decisions PRIMARY KEY (request_id),
    CONSTRAINT fk_change_decisions_request_id_maker_change_requests FOREIGN KEY (request_id, maker)
        REFERENCES change_requests (request_id, maker),
    CONSTRAINT ck_change_decisions_outcome CHECK (outcome IN ('approved', 'rejected')),
    CONSTRAINT ck_change_decisions_two_people CHECK ((checker <> maker) <> is_emergency)
);
"""

REFUSE_EARLIER_BOOKS = """
DO $$
BEGIN
    IF EXISTS (SELECT FROM entries) THEN
        RAISE EXCEPTION 'the books in this database were begun by a version before acts were recorded'
            USING HINT = 'Begin with an empty database; keep this one, with the version that wrote it, to read it.';
    END IF;
END
$$
"""

TABLES = ("acts", "change_requests", "change_decisions")
"""Written once, like everything else in the books."""


def upgrade() -> None:
    """Refuses books that were begun before: their entries name no acts, and the proof would rightly say so."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(REFUSE_EARLIER_BOOKS)
    op.execute(ACTS)
    op.execute(CHANGES)
    op.execute("ALTER TABLE keys ADD COLUMN is_automaton BOOLEAN NOT NULL DEFAULT false")
    op.execute("ALTER TABLE keys ALTER COLUMN is_automaton DROP DEFAULT")
    op.execute("ALTER TABLE rules_versions ADD COLUMN entry_seq BIGINT NOT NULL DEFAULT 1")
    op.execute("ALTER TABLE rules_versions ALTER COLUMN entry_seq DROP DEFAULT")
    op.execute("ALTER TABLE award_steps ADD COLUMN act_seq BIGINT")
    for table in TABLES:
        op.execute(f"GRANT SELECT, INSERT ON {table} TO {ROLE}")
        op.execute(
            f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()"
        )
        op.execute(
            f"CREATE TRIGGER no_truncate BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()"
        )


def downgrade() -> None:
    """Take the tables and the columns away, and with them what they say."""
    op.execute("ALTER TABLE award_steps DROP COLUMN act_seq")
    op.execute("ALTER TABLE rules_versions DROP COLUMN entry_seq")
    op.execute("ALTER TABLE keys DROP COLUMN is_automaton")
    for table in reversed(TABLES):
        op.execute(f"DROP TABLE {table}")
