"""
Bets are partitioned by ranges of round keys, a month each; what is in no month's range goes to a default partition.

The table that holds the bets so far becomes the partition of everything before a month's end that is at least a day
away. Nothing is copied, and the table is read through without a lock: a constraint proves the range before the swap,
which then takes a moment.
"""

from collections.abc import Sequence

from alembic import op
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

revision: str = "0013"
down_revision: str | None = "0012"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# The first round key of the month after the one that holds the latest bet, and tomorrow. A key is milliseconds since
# 1970, then 21 random bits.
END = text(
    """
    SELECT (extract(epoch FROM date_trunc('month', known.latest) + interval '1 month') * 1000)::bigint << 21
    FROM (
        SELECT greatest(now() + interval '1 day', to_timestamp(max(last.round_key >> 21) / 1000.0)) AT TIME ZONE 'UTC'
        FROM jackpots j
        CROSS JOIN LATERAL (
            SELECT b.round_key FROM bets b WHERE b.jackpot_id = j.jackpot_id ORDER BY b.round_key DESC LIMIT 1
        ) AS last
    ) AS known (latest)
    """
)

UNPROVEN = "ALTER TABLE bets DROP CONSTRAINT IF EXISTS ck_bets_month"

# While this constraint stands alone, a bet beyond it would be refused: that is a day away at least.
PROOF = (
    UNPROVEN,
    "ALTER TABLE bets ADD CONSTRAINT ck_bets_month CHECK (round_key < {end}) NOT VALID",
    "ALTER TABLE bets VALIDATE CONSTRAINT ck_bets_month",
)

SWAP = """
ALTER TABLE bets RENAME TO bets_before;
ALTER TABLE bets_before RENAME CONSTRAINT pk_bets TO bets_before_pkey;
DROP TRIGGER append_only ON bets_before;
REVOKE ALL ON bets_before FROM jackpot_app;

CREATE TABLE bets (
    LIKE bets_before INCLUDING ALL EXCLUDING INDEXES,
    CONSTRAINT pk_bets PRIMARY KEY (jackpot_id, round_key, bet_id)
) PARTITION BY RANGE (round_key);
ALTER TABLE bets DROP CONSTRAINT ck_bets_month;

CREATE TABLE bets_default (LIKE bets INCLUDING ALL);

ALTER TABLE bets ATTACH PARTITION bets_before FOR VALUES FROM (MINVALUE) TO ({end});
ALTER TABLE bets_before DROP CONSTRAINT ck_bets_month;
ALTER TABLE bets ATTACH PARTITION bets_default DEFAULT;
"""

# Row triggers go to every partition that is or will be attached; one on TRUNCATE each partition needs for itself.
WALLS = """
GRANT SELECT, INSERT ON bets TO jackpot_app;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON bets FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON bets FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON bets_default FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite();
"""

REUNION = """
LOCK TABLE bets IN ACCESS EXCLUSIVE MODE;
ALTER TABLE bets DETACH PARTITION bets_before;
INSERT INTO bets_before SELECT * FROM bets;
DROP TABLE bets;
ALTER TABLE bets_before RENAME TO bets;
ALTER TABLE bets RENAME CONSTRAINT bets_before_pkey TO pk_bets;
GRANT SELECT, INSERT ON bets TO jackpot_app;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON bets FOR EACH ROW EXECUTE FUNCTION refuse_rewrite();
"""


def upgrade() -> None:
    """Prove where the bets end, beside whoever writes them; then swap."""
    connection = op.get_bind()
    end = connection.execute(END).scalar_one()
    try:
        with op.get_context().autocommit_block():
            for statement in PROOF:
                op.execute(statement.format(end=end))
        op.execute(SWAP.format(end=end))
        op.execute(WALLS)
    except DBAPIError:
        connection.rollback()
        connection.execute(text(UNPROVEN))
        connection.commit()
        raise


def downgrade() -> None:
    """Bring the bets of all partitions together again; what was detached must have come back before."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(REUNION)
