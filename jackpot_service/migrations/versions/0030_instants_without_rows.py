"""Instants are found from the entries: rows go that say nothing else, and no stripe's time can fall."""

from collections.abc import Sequence

from alembic import op

revision: str = "0030"
down_revision: str | None = "0029"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# As the service finds them, in the form of a version whose `instants` is empty: the last entry before the instant on
# each stripe, of the stripes up to the last that had an entry, or had been added by one that stands before the instant.
FUNCTION = """
CREATE FUNCTION found_positions(book text, at_instant timestamptz) RETURNS bigint[]
    LANGUAGE sql STABLE AS $$
WITH RECURSIVE search (stripe_no, added_by, low, high) AS (
    SELECT stripe_no, added_by, 0::bigint, seq FROM stripes WHERE jackpot_id = book
    UNION ALL
    SELECT s.stripe_no, s.added_by,
           CASE WHEN middle.booked_at < at_instant THEN middle.seq ELSE s.low END,
           CASE WHEN middle.booked_at < at_instant THEN s.high ELSE middle.seq - 1 END
    FROM search s
    CROSS JOIN LATERAL (
        SELECT e.seq, e.booked_at
        FROM entries e
        WHERE e.jackpot_id = book AND e.stripe_no = s.stripe_no AND e.seq = (s.low + s.high + 1) / 2
        OFFSET 0
    ) AS middle
    WHERE s.low < s.high
),
found AS (SELECT stripe_no, added_by, low AS seq FROM search WHERE low = high)
SELECT coalesce(array_agg(seq ORDER BY stripe_no), '{}')
FROM found
WHERE stripe_no <= (SELECT max(stripe_no)
                    FROM found
                    WHERE seq > 0 OR added_by <= (SELECT first.seq FROM found first WHERE first.stripe_no = 0))
$$
"""

# What was asked about has to be over, or what is found may change: such a row is kept, and the proof names it.
FORGET = """
DELETE FROM instants AS i
WHERE i.positions = found_positions(i.jackpot_id, i.instant)
  AND NOT EXISTS (SELECT FROM stripes s WHERE s.jackpot_id = i.jackpot_id AND s.booked_at < i.instant)
"""

# A version before this one looks for the edges of closed periods among the rows.
WRITE_EDGES = """
INSERT INTO instants (jackpot_id, instant, positions)
SELECT book, edge, found_positions(book, edge)
FROM (SELECT jackpot_id FROM stripes GROUP BY 1) AS books (book)
CROSS JOIN (SELECT ends_at FROM closed_periods UNION SELECT starts_at FROM closed_periods WHERE starts_at IS NOT NULL)
    AS edges (edge)
WHERE cardinality(found_positions(book, edge)) >= 1
ON CONFLICT DO NOTHING
"""


def upgrade() -> None:
    """
    Keep the instants that would not be found with the same positions.

    The role may still add rows, and a service of the version before does, until the last of them has stopped.
    """
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(FUNCTION)
    op.execute("ALTER TABLE instants DISABLE TRIGGER append_only")
    op.execute(FORGET)
    op.execute("ALTER TABLE instants ENABLE TRIGGER append_only")
    op.execute("DROP FUNCTION found_positions")
    op.execute(
        "CREATE TRIGGER booked_at_never_falls AFTER UPDATE OF booked_at ON stripes "
        "FOR EACH ROW WHEN (NEW.booked_at < OLD.booked_at) EXECUTE FUNCTION refuse_rewrite()"
    )


def downgrade() -> None:
    """Write down what closed periods stand on; other instants are resolved again by those who ask about them."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("DROP TRIGGER booked_at_never_falls ON stripes")
    op.execute(FUNCTION)
    op.execute(WRITE_EDGES)
    op.execute("DROP FUNCTION found_positions")
