"""Days keep what each cycle's entries add up to: the two tables of postings have a cycle in their key."""

from collections.abc import Sequence

from alembic import op

revision: str = "0020"
down_revision: str | None = "0019"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLE = "jackpot_app"

# Where a row of before falls into several must be asked of the entries, so the tables are made anew: no row of them is
# ever removed. `{cycle_key}` and what belongs to it are empty where the key has none.
TABLES = """
CREATE TABLE daily_bets (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    stripe_no INTEGER NOT NULL,
    day DATE NOT NULL,
    {cycle_column}
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
    CONSTRAINT pk_daily_bets PRIMARY KEY (jackpot_id, day, stripe_no, {cycle_key} gaming_day, casino_id, table_id,
        currency),
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
    {cycle_column}
    gaming_day DATE NOT NULL,
    casino_id TEXT COLLATE "C" NOT NULL,
    table_id TEXT COLLATE "C" NOT NULL,
    account TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    movement TEXT COLLATE "C" NOT NULL,
    lines BIGINT NOT NULL,
    amount NUMERIC NOT NULL,
    CONSTRAINT pk_daily_postings PRIMARY KEY (jackpot_id, day, stripe_no, {cycle_key} gaming_day, casino_id, table_id,
        account, currency, movement),
    CONSTRAINT ck_daily_postings_lines CHECK (lines >= 1),
    CONSTRAINT ck_daily_postings_exact CHECK (scale(amount) <= 18 AND abs(amount) < 1e20)
) WITH (fillfactor = 50);
"""

CYCLES = """
ALTER TABLE daily_bets ADD CONSTRAINT ck_daily_bets_cycle CHECK (cycle >= 1);
ALTER TABLE daily_postings ADD CONSTRAINT ck_daily_postings_cycle CHECK (cycle >= 1);
"""

UPDATABLE = {
    "daily_bets": "bets, stakes_minor, value, meter, reserve, prize_fund, house",
    "daily_postings": "lines, amount",
}

# Every cut where it crosses a stripe. They never fall, so an entry's cycle is found by halves; the opening stands after
# none, and is of the first.
CUTS = """
cuts AS (
    SELECT s.jackpot_id, s.stripe_no, array_agg(y.cycle ORDER BY y.cycle) AS cycles,
           array_agg(coalesce(y.cut[s.stripe_no + 1], 0) ORDER BY y.cycle) AS cuts
    FROM stripes s
    JOIN cycles y ON y.jackpot_id = s.jackpot_id
    GROUP BY s.jackpot_id, s.stripe_no
)
"""

CYCLE = "coalesce(p.cycles[width_bucket(e.seq - 1, p.cuts)], 1)"

# Stakes are summed before they are valued; a rate's power of ten is a text first, because ^ would round.
FILL_BETS = f"""
WITH {CUTS},
staked AS (
    SELECT e.jackpot_id, e.stripe_no, (e.booked_at AT TIME ZONE 'UTC')::date AS day, {CYCLE} AS cycle,
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
INSERT INTO daily_bets (jackpot_id, stripe_no, day, cycle, gaming_day, casino_id, table_id, currency,
                        bets, stakes_minor, value, meter, reserve, prize_fund, house)
SELECT jackpot_id, stripe_no, day, cycle, gaming_day, casino_id, table_id, currency, sum(bets), sum(stakes_minor),
       trim_scale(sum(value)), trim_scale(sum(value * meter)), trim_scale(sum(value * reserve)),
       trim_scale(sum(value * prize_fund)), trim_scale(sum(value * (1 - meter - reserve - prize_fund)))
FROM valued
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
ORDER BY 1, 3, 2, 4, 5, 6, 7, 8
"""  # noqa: S608  the parts are ours

# What an entry of no round does for a casino moves its account, and there is never more than one.
FILL_POSTINGS = f"""
WITH {CUTS}
INSERT INTO daily_postings (jackpot_id, stripe_no, day, cycle, gaming_day, casino_id, table_id, account, currency,
                            movement, lines, amount)
SELECT e.jackpot_id, e.stripe_no, (e.booked_at AT TIME ZONE 'UTC')::date AS day, {CYCLE} AS cycle,
       coalesce((e.booked_at AT TIME ZONE c.zone) - c.day_starts, e.booked_at AT TIME ZONE 'UTC')::date AS gaming_day,
       coalesce(its.casino_id, ''), coalesce(r.table_id, ''), l.account, l.currency, l.movement,
       count(*), trim_scale(sum(l.amount))
FROM entries e
JOIN cuts p ON p.jackpot_id = e.jackpot_id AND p.stripe_no = e.stripe_no
LEFT JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
CROSS JOIN LATERAL (
    SELECT coalesce(r.casino_id, (SELECT min(substr(a.account, 8)) FROM unnest(e.accounts) AS a (account)
                                  WHERE starts_with(a.account, 'casino:'))) AS casino_id
) AS its
LEFT JOIN casinos c ON c.casino_id = its.casino_id
CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements)
    AS l (account, currency, amount, movement)
WHERE e.kind <> 'bets'
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
ORDER BY 1, 3, 2, 4, 5, 6, 7, 8, 9, 10
"""  # noqa: S608  as above

KEEP = """
CREATE TEMPORARY TABLE kept_bets ON COMMIT DROP AS SELECT * FROM daily_bets;
CREATE TEMPORARY TABLE kept_postings ON COMMIT DROP AS SELECT * FROM daily_postings;
"""

SUM_UP = """
INSERT INTO daily_bets (jackpot_id, stripe_no, day, gaming_day, casino_id, table_id, currency,
                        bets, stakes_minor, value, meter, reserve, prize_fund, house)
SELECT jackpot_id, stripe_no, day, gaming_day, casino_id, table_id, currency, sum(bets), sum(stakes_minor),
       sum(value), sum(meter), sum(reserve), sum(prize_fund), sum(house)
FROM kept_bets
GROUP BY 1, 2, 3, 4, 5, 6, 7
ORDER BY 1, 3, 2, 4, 5, 6, 7;

INSERT INTO daily_postings (jackpot_id, stripe_no, day, gaming_day, casino_id, table_id, account, currency, movement,
                            lines, amount)
SELECT jackpot_id, stripe_no, day, gaming_day, casino_id, table_id, account, currency, movement, sum(lines), sum(amount)
FROM kept_postings
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
ORDER BY 1, 3, 2, 4, 5, 6, 7, 8, 9;
"""


def _make_tables_anew(*, cycle_column: str = "", cycle_key: str = "") -> None:
    for table in UPDATABLE:
        op.execute(f"DROP TABLE {table}")
    op.execute(TABLES.format(cycle_column=cycle_column, cycle_key=cycle_key))


def _wall_in() -> None:
    for table, columns in UPDATABLE.items():
        op.execute(f"GRANT SELECT, INSERT, UPDATE ({columns}) ON {table} TO {ROLE}")
        op.execute(f"CREATE TRIGGER no_delete BEFORE DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()")
        op.execute(
            f"CREATE TRIGGER no_truncate BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()"
        )


def upgrade() -> None:
    """Nobody books while the sums of what is booked are made: an entry between would be in none of them."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("LOCK TABLE entries IN SHARE MODE")
    _make_tables_anew(cycle_column="cycle INTEGER NOT NULL,", cycle_key="cycle,")
    op.execute(CYCLES)
    op.execute(FILL_BETS)
    op.execute(FILL_POSTINGS)
    _wall_in()


def downgrade() -> None:
    """The sums of cycles are put together; they can be made again."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("LOCK TABLE entries IN SHARE MODE")
    op.execute(KEEP)
    _make_tables_anew()
    op.execute(SUM_UP)
    _wall_in()
