"""
The walls around the books: what the application's role may do, and triggers that refuse to rewrite history.

The role is the first wall. The triggers are the second: they stop the owner too, unless he turns them off, which
`jackpot verify` does not need to believe in: it re-derives the chain.
"""

from collections.abc import Sequence

from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLE = "jackpot_app"

APPEND_ONLY = (
    "award_steps",
    "awards",
    "bets",
    "cancellations",
    "casinos",
    "cycles",
    "entries",
    "exceptions",
    "hands",
    "jackpots",
    "rate_sheets",
    "rates",
    "results",
    "rules_versions",
    "settlements",
    "tables",
    "voids",
)

UPDATABLE = {
    "stripes": "seq, head, meter_players, meter_house, reserve, prize_fund, accepting, booked_at",
    "rounds": "state, steps, bet_count, weight, replays",
    "keys": "revoked_at",
}

# Roles belong to the whole cluster, and several databases of it may be migrated at once.
CREATE_ROLE = f"""
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{ROLE}') THEN
        CREATE ROLE {ROLE} NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END
$$
"""  # noqa: S608  the role is the constant above

REFUSE_REWRITE = """
CREATE FUNCTION refuse_rewrite() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% of % is refused: the books are append-only', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege', HINT = 'Corrections are further entries.';
END
$$
"""

REFUSE_REVIVAL = """
CREATE TRIGGER revoked_for_good BEFORE UPDATE ON keys
    FOR EACH ROW WHEN (OLD.revoked_at IS NOT NULL) EXECUTE FUNCTION refuse_rewrite()
"""

POSTINGS = """
CREATE VIEW postings AS
SELECT e.jackpot_id, e.stripe_no, e.seq, p.line, p.account, p.currency, p.amount, p.movement, e.kind, e.booked_at
FROM entries e
CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements)
    WITH ORDINALITY AS p (account, currency, amount, movement, line)
"""

# The stripe of everything that belongs to no jackpot: casinos, tables, keys, rate sheets.
REFERENCE_STRIPE = """
INSERT INTO stripes (jackpot_id, stripe_no, seq, head, meter_players, meter_house, reserve, prize_fund, accepting,
                     booked_at)
VALUES ('-', 0, 0, sha256('-/0'), 0, 0, 0, 0, true, '-infinity')
"""


def upgrade() -> None:
    """Build the walls and the reference stripe."""
    op.execute(CREATE_ROLE)
    op.execute(REFUSE_REWRITE)
    op.execute(POSTINGS)
    op.execute(f"GRANT USAGE ON SCHEMA public TO {ROLE}")
    op.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {ROLE}")
    for table in APPEND_ONLY:
        op.execute(f"GRANT INSERT ON {table} TO {ROLE}")
        op.execute(
            f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()"
        )
    for table, columns in UPDATABLE.items():
        op.execute(f"GRANT INSERT, UPDATE ({columns}) ON {table} TO {ROLE}")
        op.execute(f"CREATE TRIGGER no_delete BEFORE DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()")
    for table in (*APPEND_ONLY, *UPDATABLE):
        op.execute(
            f"CREATE TRIGGER no_truncate BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()"
        )
    op.execute(REFUSE_REVIVAL)
    op.execute(REFERENCE_STRIPE)


def downgrade() -> None:
    """Take the walls down. The role stays: it belongs to the cluster, where other databases may use it."""
    op.execute("DROP TRIGGER revoked_for_good ON keys")
    for table in (*APPEND_ONLY, *UPDATABLE):
        op.execute(f"DROP TRIGGER no_truncate ON {table}")
    for table in UPDATABLE:
        op.execute(f"DROP TRIGGER no_delete ON {table}")
    for table in APPEND_ONLY:
        op.execute(f"DROP TRIGGER append_only ON {table}")
    op.execute("DELETE FROM stripes WHERE jackpot_id = '-'")
    op.execute("DROP VIEW postings")
    op.execute("DROP FUNCTION refuse_rewrite()")
    op.execute(f"REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {ROLE}")
    op.execute(f"REVOKE USAGE ON SCHEMA public FROM {ROLE}")
