"""Casinos have gaming days, and days have sums: the daily rollups, made for what is booked already."""

from collections.abc import Sequence

from alembic import op

revision: str = "0011"
down_revision: str | None = "0010"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLE = "jackpot_app"

GAMING_DAYS = """
ALTER TABLE casinos
    ADD COLUMN zone TEXT COLLATE "C" NOT NULL DEFAULT 'UTC',
    ADD COLUMN day_starts TIME NOT NULL DEFAULT '00:00',
    ADD CONSTRAINT ck_casinos_zone CHECK (timestamptz 'epoch' AT TIME ZONE zone IS NOT NULL),
    ADD CONSTRAINT ck_casinos_day_starts CHECK (day_starts < '24:00' AND extract(second FROM day_starts) = 0);
ALTER TABLE casinos
    ALTER COLUMN zone DROP DEFAULT,
    ALTER COLUMN day_starts DROP DEFAULT;
"""

# Earlier versions know days of UTC only, and would find that the entry of such a casino recorded something else.
REFUSE_OTHER_DAYS = """
DO $$
BEGIN
    IF EXISTS (SELECT FROM casinos WHERE (zone, day_starts) <> ('UTC', '00:00')) THEN
        RAISE EXCEPTION 'a casino in this database has gaming days of its own'
            USING HINT = 'Earlier versions cannot tell them.';
    END IF;
END
$$
"""

TABLES = """
CREATE TABLE daily_bets (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    stripe_no INTEGER NOT NULL,
    day DATE NOT NULL,
    gaming_day DATE NOT NULL,
    casino_id TEXT COLLATE "C" NOT NULL,
    table_id TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    bets BIGINT NOT NULL,
    stakes_minor NUMERIC NOT NULL,
    value NUMERIC NOT NULL,
    meter NUMERIC NOT NULL,
    reserve NUMERIC NOT NULL,
    prize_fund NUMERIC NOT NULL,
    house NUMERIC NOT NULL,
    CONSTRAINT pk_daily_bets PRIMARY KEY (jackpot_id, day, stripe_no, gaming_day, casino_id, table_id, currency),
    CONSTRAINT ck_daily_bets_stakes CHECK (bets >= 1 AND stakes_minor >= bets AND scale(stakes_minor) = 0),
    CONSTRAINT ck_daily_bets_parts CHECK (value = meter + reserve + prize_fund + house),
    CONSTRAINT ck_daily_bets_exact CHECK (scale(value) <= 18 AND abs(value) < 1e20
        AND scale(meter) <= 18 AND abs(meter) < 1e20 AND scale(reserve) <= 18 AND abs(reserve) < 1e20
        AND scale(prize_fund) <= 18 AND abs(prize_fund) < 1e20 AND scale(house) <= 18 AND abs(house) < 1e20)
) WITH (fillfactor = 50);

CREATE TABLE daily_postings (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    stripe_no INTEGER NOT NULL,
    day DATE NOT NULL,
    gaming_day DATE NOT NULL,
    casino_id TEXT COLLATE "C" NOT NULL,
    table_id TEXT COLLATE "C" NOT NULL,
    account TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    movement TEXT COLLATE "C" NOT NULL,
    lines BIGINT NOT NULL,
    amount NUMERIC NOT NULL,
    CONSTRAINT pk_daily_postings PRIMARY KEY (jackpot_id, day, stripe_no, gaming_day, casino_id, table_id, account,
        currency, movement),
    CONSTRAINT ck_daily_postings_lines CHECK (lines >= 1),
    CONSTRAINT ck_daily_postings_exact CHECK (scale(amount) <= 18 AND abs(amount) < 1e20)
) WITH (fillfactor = 50);
"""

UPDATABLE = {
    "daily_bets": "bets, stakes_minor, value, meter, reserve, prize_fund, house",
    "daily_postings": "lines, amount",
}

# Stakes are summed before they are valued; a rate's power of ten is a text first, because ^ would round.
FILL_BETS = """
WITH staked AS (
    SELECT e.jackpot_id, e.stripe_no, (e.booked_at AT TIME ZONE 'UTC')::date AS day,
           ((e.booked_at AT TIME ZONE c.zone) - c.day_starts)::date AS gaming_day,
           r.casino_id, r.table_id, b.currency, r.rules_version, r.rate_sheet,
           count(*) AS bets, sum(b.stake_minor) AS stakes_minor
    FROM entries e
    JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
    JOIN casinos c ON c.casino_id = r.casino_id
    JOIN bets b ON b.jackpot_id = e.jackpot_id AND b.round_key = e.round_key AND b.step = e.step
    WHERE e.kind = 'bets'
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
),
valued AS (
    SELECT s.*, s.stakes_minor * ('1e-' || x.exponent)::numeric * x.base_per_unit AS value,
           (v.document -> 'split' ->> 'meter')::numeric AS meter,
           (v.document -> 'split' ->> 'reserve')::numeric AS reserve,
           (v.document -> 'split' ->> 'prize_fund')::numeric AS prize_fund
    FROM staked s
    JOIN jackpots j ON j.jackpot_id = s.jackpot_id
    JOIN rates x ON x.base = j.base AND x.number = s.rate_sheet AND x.currency = s.currency
    JOIN rules_versions v ON v.jackpot_id = s.jackpot_id AND v.version = s.rules_version
)
INSERT INTO daily_bets (jackpot_id, stripe_no, day, gaming_day, casino_id, table_id, currency,
                        bets, stakes_minor, value, meter, reserve, prize_fund, house)
SELECT jackpot_id, stripe_no, day, gaming_day, casino_id, table_id, currency, sum(bets), sum(stakes_minor),
       trim_scale(sum(value)), trim_scale(sum(value * meter)), trim_scale(sum(value * reserve)),
       trim_scale(sum(value * prize_fund)), trim_scale(sum(value * (1 - meter - reserve - prize_fund)))
FROM valued
GROUP BY jackpot_id, stripe_no, day, gaming_day, casino_id, table_id, currency
ORDER BY jackpot_id, day, stripe_no, gaming_day, casino_id, table_id, currency
"""

# What an entry of no round does for a casino moves its account, and there is never more than one.
FILL_POSTINGS = """
INSERT INTO daily_postings (jackpot_id, stripe_no, day, gaming_day, casino_id, table_id, account, currency, movement,
                            lines, amount)
SELECT e.jackpot_id, e.stripe_no, (e.booked_at AT TIME ZONE 'UTC')::date AS day,
       coalesce((e.booked_at AT TIME ZONE c.zone) - c.day_starts, e.booked_at AT TIME ZONE 'UTC')::date AS gaming_day,
       coalesce(its.casino_id, ''), coalesce(r.table_id, ''), p.account, p.currency, p.movement,
       count(*), trim_scale(sum(p.amount))
FROM entries e
LEFT JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
CROSS JOIN LATERAL (
    SELECT coalesce(r.casino_id, (SELECT min(substr(a.account, 8)) FROM unnest(e.accounts) AS a (account)
                                  WHERE starts_with(a.account, 'casino:'))) AS casino_id
) AS its
LEFT JOIN casinos c ON c.casino_id = its.casino_id
CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements)
    AS p (account, currency, amount, movement)
WHERE e.kind <> 'bets'
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
ORDER BY 1, 3, 2, 4, 5, 6, 7, 8, 9
"""


def upgrade() -> None:
    """Nobody books while the sums of what is booked are made: an entry between would be in none of them."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("LOCK TABLE entries IN SHARE MODE")
    op.execute(GAMING_DAYS)
    op.execute(TABLES)
    op.execute(FILL_BETS)
    op.execute(FILL_POSTINGS)
    for table, columns in UPDATABLE.items():
        op.execute(f"GRANT SELECT, INSERT, UPDATE ({columns}) ON {table} TO {ROLE}")
        op.execute(f"CREATE TRIGGER no_delete BEFORE DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()")
        op.execute(
            f"CREATE TRIGGER no_truncate BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()"
        )


def downgrade() -> None:
    """Refuses casinos with gaming days of their own; the sums can be made again."""
    op.execute(REFUSE_OTHER_DAYS)
    op.execute("DROP TABLE daily_postings")
    op.execute("DROP TABLE daily_bets")
    op.execute("ALTER TABLE casinos DROP COLUMN zone, DROP COLUMN day_starts")
