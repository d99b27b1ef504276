"""Every table with its keys, checks and indexes, and the rows that are there from the beginning."""

from collections.abc import Sequence
from pathlib import Path

from alembic import op

revision: str = "0001"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

compatible_from: str = "0001"

SQL = Path(__file__).with_suffix("")

PARTS = (
    "schema_versions",
    "books",
    "parties",
    "jackpots",
    "rounds",
    "awards",
    "administration",
    "exceptions",
    "days",
    "checkpoints",
    "jobs",
)
"""The files of SQL in their order: a table comes after those that its foreign keys name."""

DROPS = """
DROP TABLE job_chunks, jobs;
DROP TABLE closed_periods, reconciled_days, seals, verifications;
DROP TABLE days, past_days;
DROP TABLE exceptions, exception_chain, exception_counts, exception_acknowledgements;
DROP TABLE acts, change_decisions, change_requests, change_policies, emergency_switches;
DROP TABLE awards, award_steps, open_awards, payments, slip_prints, compensations, statement_settlements;
DROP TABLE rounds, bets, voids, corrections;
DROP FUNCTION by_index(text);
DROP TABLE jackpots, rules_versions, table_limits, rates, rate_sheets;
DROP TABLE browser_sessions, passkey_challenges, passkey_uses, passkey_revocations, passkeys;
DROP TABLE keys, principals, tables, withholding_rules, casino_claims, casinos;
DROP TABLE stripes, entries, cycles;
DROP TYPE figure;
DROP TABLE schema_versions;
"""


def upgrade() -> None:
    """Make the tables. The service gets its rights on them after the last revision: see `database/role.py`."""
    for part in PARTS:
        op.execute((SQL / f"{part}.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Drop the tables, with all that they hold."""
    op.execute(DROPS)
