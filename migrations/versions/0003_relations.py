"""Relations that several questions share: views, and functions that questions and laws call."""

from collections.abc import Sequence
from pathlib import Path

from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

compatible_from: str = "0003"

SQL = Path(__file__).with_suffix("")

PARTS = ("books", "cycles", "withholding", "awards", "exceptions", "days", "splits", "parts", "rounds", "key_makers")

DROPS = """
DROP FUNCTION is_key_maker_on_both_sides(text, bigint, text, timestamptz);
DROP VIEW key_makers;
DROP FUNCTION bets_with_refunds(text, bigint, text, integer);
DROP FUNCTION live_bets(text, bigint);
DROP VIEW results, cancellations, hands, settlements;
DROP FUNCTION entry_of_step(text, bigint, integer);
DROP FUNCTION round_of_key(text, bigint);
DROP FUNCTION currency_units(text);
DROP FUNCTION acts_with_effects(text);
DROP FUNCTION verdicts_between(text, text, text, integer[], bigint[], bigint[]);
DROP FUNCTION effects_of_acts(text, bigint, bigint);
DROP FUNCTION award_entries_between(text, integer[], bigint[], bigint[]);
DROP FUNCTION entries_between(text, integer[], bigint[], bigint[]);
DROP FUNCTION refunds_dead_hands(text, integer);
DROP FUNCTION rules_split(text, integer);
DROP FUNCTION days_with_recent(text, text[]);
DROP VIEW figures, posted_figures, carried_figures;
DROP FUNCTION gaming_day(timestamptz, text, time);
DROP FUNCTION exception_id(timestamptz, text);
DROP VIEW award_records, verdict_days, award_step_states;
DROP FUNCTION withholding_due(withholding_rules, bigint, bigint);
DROP FUNCTION withholding_rule_of(text, text, timestamptz);
DROP FUNCTION cuts_of_stripes(text, integer);
DROP VIEW postings;
DROP FUNCTION chained_heads(bytea, bytea[], timestamptz);
"""


def upgrade() -> None:
    """Make the views and the functions."""
    for part in PARTS:
        op.execute((SQL / f"{part}.sql").read_text(encoding="utf-8"))


def downgrade() -> None:
    """Drop the views and the functions."""
    op.execute(DROPS)
