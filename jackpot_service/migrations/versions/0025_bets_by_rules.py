"""Days keep the bets of each rules version, and not where they go: that, the rules tell."""

from collections.abc import Sequence

from alembic import op

revision: str = "0025"
down_revision: str | None = "0024"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLE = "jackpot_app"

# A row of before may fall into several, which must be asked of the entries: so the table is made anew.
TABLE = """
CREATE TABLE daily_bets (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    stripe_no INTEGER NOT NULL,
    day DATE NOT NULL,
    cycle INTEGER NOT NULL,
    gaming_day DATE NOT NULL,
    casino_id TEXT COLLATE "C" NOT NULL,
    table_id TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    rules_version INTEGER NOT NULL,
    bets BIGINT NOT NULL,
    stakes_minor NUMERIC NOT NULL,
    value NUMERIC NOT NULL,
    CONSTRAINT pk_daily_bets PRIMARY KEY (jackpot_id, day, stripe_no, table_id, currency, cycle, gaming_day,
        rules_version, casino_id),
    CONSTRAINT ck_daily_bets_cycle CHECK (cycle >= 1),
    CONSTRAINT ck_daily_bets_stakes CHECK (bets >= 1 AND stakes_minor >= bets AND scale(stakes_minor) = 0),
    CONSTRAINT ck_daily_bets_exact CHECK (scale(value) <= 18 AND abs(value) < 1e20)
) WITH (fillfactor = 50);
"""

# Every cut where it crosses a stripe. They never fall, so an entry's cycle is found by halves; the opening stands after
# none, and is of the first. Stakes are summed before they are valued; a rate's power of ten is a text first, because ^
# would round.
FILL_BETS = """
WITH cuts AS (
    SELECT s.jackpot_id, s.stripe_no, array_agg(y.cycle ORDER BY y.cycle) AS cycles,
           array_agg(coalesce(y.cut[s.stripe_no + 1], 0) ORDER BY y.cycle) AS cuts
    FROM stripes s
    JOIN cycles y ON y.jackpot_id = s.jackpot_id
    GROUP BY s.jackpot_id, s.stripe_no
),
staked AS (
    SELECT e.jackpot_id, e.stripe_no, (e.booked_at AT TIME ZONE 'UTC')::date AS day,
           coalesce(p.cycles[width_bucket(e.seq - 1, p.cuts)], 1) AS cycle,
           ((e.booked_at AT TIME ZONE c.zone) - c.day_starts)::date AS gaming_day,
           r.casino_id, r.table_id, b.currency, r.rules_version, r.rate_sheet,
           count(*) AS bets, sum(b.stake_minor) AS stakes_minor
    FROM entries e
    JOIN cuts p ON p.jackpot_id = e.jackpot_id AND p.stripe_no = e.stripe_no
    JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
    JOIN casinos c ON c.casino_id = r.casino_id
    JOIN bets b ON b.jackpot_id = e.jackpot_id AND b.round_key = e.round_key AND b.step = e.step
    WHERE e.kind = 'bets'
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
)
INSERT INTO daily_bets (jackpot_id, stripe_no, day, cycle, gaming_day, casino_id, table_id, currency, rules_version,
                        bets, stakes_minor, value)
SELECT s.jackpot_id, s.stripe_no, s.day, s.cycle, s.gaming_day, s.casino_id, s.table_id, s.currency, s.rules_version,
       sum(s.bets), sum(s.stakes_minor),
       trim_scale(sum(s.stakes_minor * ('1e-' || x.exponent)::numeric * x.base_per_unit))
FROM staked s
JOIN jackpots j ON j.jackpot_id = s.jackpot_id
JOIN rates x ON x.base = j.base AND x.number = s.rate_sheet AND x.currency = s.currency
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
ORDER BY 1, 3, 2, 4, 5, 6, 7, 8, 9
"""

OLD_TABLE = """
CREATE TABLE daily_bets (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    stripe_no INTEGER NOT NULL,
    day DATE NOT NULL,
    cycle INTEGER NOT NULL,
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
    CONSTRAINT pk_daily_bets PRIMARY KEY (jackpot_id, day, stripe_no, cycle, gaming_day, casino_id, table_id,
        currency),
    CONSTRAINT ck_daily_bets_cycle CHECK (cycle >= 1),
    CONSTRAINT ck_daily_bets_stakes CHECK (bets >= 1 AND stakes_minor >= bets AND scale(stakes_minor) = 0),
    CONSTRAINT ck_daily_bets_parts CHECK (value = meter + reserve + prize_fund + house),
    CONSTRAINT ck_daily_bets_exact CHECK (scale(value) <= 18 AND abs(value) < 1e20
        AND scale(meter) <= 18 AND abs(meter) < 1e20 AND scale(reserve) <= 18 AND abs(reserve) < 1e20
        AND scale(prize_fund) <= 18 AND abs(prize_fund) < 1e20 AND scale(house) <= 18 AND abs(house) < 1e20)
) WITH (fillfactor = 50);
"""

KEEP = "CREATE TEMPORARY TABLE kept_bets ON COMMIT DROP AS SELECT * FROM daily_bets"

SPLIT_AGAIN = """
WITH versions AS (
    SELECT jackpot_id, version, (document -> 'split' ->> 'meter')::numeric AS meter,
           (document -> 'split' ->> 'reserve')::numeric AS reserve,
           (document -> 'split' ->> 'prize_fund')::numeric AS prize_fund
    FROM rules_versions
)
INSERT INTO daily_bets (jackpot_id, stripe_no, day, cycle, gaming_day, casino_id, table_id, currency,
                        bets, stakes_minor, value, meter, reserve, prize_fund, house)
SELECT k.jackpot_id, k.stripe_no, k.day, k.cycle, k.gaming_day, k.casino_id, k.table_id, k.currency, sum(k.bets),
       sum(k.stakes_minor), trim_scale(sum(k.value)), trim_scale(sum(k.value * v.meter)),
       trim_scale(sum(k.value * v.reserve)), trim_scale(sum(k.value * v.prize_fund)),
       trim_scale(sum(k.value * (1 - v.meter - v.reserve - v.prize_fund)))
FROM kept_bets k
JOIN versions v ON v.jackpot_id = k.jackpot_id AND v.version = k.rules_version
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
ORDER BY 1, 3, 2, 4, 5, 6, 7, 8
"""


def _wall_in(figures: str) -> None:
    op.execute(f"GRANT SELECT, INSERT, UPDATE ({figures}) ON daily_bets TO {ROLE}")
    op.execute("CREATE TRIGGER no_delete BEFORE DELETE ON daily_bets FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()")
    op.execute(
        "CREATE TRIGGER no_truncate BEFORE TRUNCATE ON daily_bets FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()"
    )


def upgrade() -> None:
    """Nobody books while the sums of what is booked are made: an entry between would be in none of them."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("LOCK TABLE entries IN SHARE MODE")
    op.execute("DROP TABLE daily_bets")
    op.execute(TABLE)
    op.execute(FILL_BETS)
    _wall_in("bets, stakes_minor, value")


def downgrade() -> None:
    """The sums of rules versions are put together; they can be made again."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("LOCK TABLE entries IN SHARE MODE")
    op.execute(KEEP)
    op.execute("DROP TABLE daily_bets")
    op.execute(OLD_TABLE)
    op.execute(SPLIT_AGAIN)
    _wall_in("bets, stakes_minor, value, meter, reserve, prize_fund, house")
