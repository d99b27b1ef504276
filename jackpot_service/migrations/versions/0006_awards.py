"""What becomes of awards: looked up by their ids, listed; compensations, and casinos' statements settled."""

from collections.abc import Sequence

from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLE = "jackpot_app"

INDEXES = """
CREATE INDEX ix_awards_award_id ON awards (award_id);
CREATE INDEX ix_awards_round_key_award_id ON awards (round_key, award_id);
CREATE INDEX ix_award_steps_out_of_the_ordinary ON award_steps (round_key, step)
    WHERE step IN ('held', 'rejected', 'reversed');
"""

COMPENSATIONS = """
CREATE TABLE compensations (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    round_key BIGINT NOT NULL,
    act_seq BIGINT NOT NULL,
    bet_id TEXT COLLATE "C" NOT NULL,
    player_id TEXT COLLATE "C" NOT NULL,
    amount_minor BIGINT NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    cost NUMERIC NOT NULL,
    document TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_compensations PRIMARY KEY (jackpot_id, round_key, act_seq),
    CONSTRAINT ck_compensations_amount_minor CHECK (amount_minor > 0),
    CONSTRAINT ck_compensations_exact CHECK (scale(cost) <= 18 AND abs(cost) < 1e20)
);
"""

STATEMENTS = """
CREATE TABLE statement_settlements (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    casino_id TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    reference TEXT COLLATE "C" NOT NULL,
    period_from TIMESTAMP WITH TIME ZONE NOT NULL,
    period_to TIMESTAMP WITH TIME ZONE NOT NULL,
    amount NUMERIC NOT NULL,
    positions BIGINT[] NOT NULL,
    balance_before NUMERIC NOT NULL,
    act_seq BIGINT NOT NULL,
    CONSTRAINT pk_statement_settlements PRIMARY KEY (jackpot_id, casino_id, currency, reference),
    CONSTRAINT ck_statement_settlements_amount CHECK (amount <> 0),
    CONSTRAINT ck_statement_settlements_period CHECK (period_to > period_from),
    CONSTRAINT ck_statement_settlements_exact CHECK (scale(amount) <= 18 AND abs(amount) < 1e20
        AND scale(balance_before) <= 18 AND abs(balance_before) < 1e20)
);
"""

TABLES = ("compensations", "statement_settlements")
"""Written once, like everything else in the books."""


def upgrade() -> None:
    """Add the indexes and the tables, with the walls around them."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(INDEXES)
    op.execute(COMPENSATIONS)
    op.execute(STATEMENTS)
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
    """Take the tables and the indexes away, and with them what they say."""
    for table in reversed(TABLES):
        op.execute(f"DROP TABLE {table}")
    op.execute("DROP INDEX ix_award_steps_out_of_the_ordinary")
    op.execute("DROP INDEX ix_awards_round_key_award_id")
    op.execute("DROP INDEX ix_awards_award_id")
