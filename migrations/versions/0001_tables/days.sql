-- Sums of entries by day, kept by the transactions that book them. Only who holds the stripe's lock touches its rows.
-- `day` is the UTC day of the booking, `gaming_day` the casino's. Half of a page stays free, so that the next version
-- of a row finds room there and no index is touched. Sums of stakes have no bound: one that overflowed would refuse a
-- bet that the rules accept.

-- What is accepted is added here later, by transactions of others, which no bound may make fail.
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
    CONSTRAINT ck_daily_bets_exact CHECK (scale(value) <= 18 AND abs(value) < 'Infinity')
) WITH (fillfactor = 50);

CREATE TYPE bets_sum AS (
    casino_id TEXT COLLATE "C",
    table_id TEXT COLLATE "C",
    currency TEXT COLLATE "C",
    rules_version INTEGER,
    bets BIGINT,
    stakes_minor NUMERIC,
    value NUMERIC
);

-- What the bets of a group of batches came to, until it is added to `daily_bets`. Rows are gone after some more groups:
-- they are not worth compressing. A table that shrinks would have to be locked for it, on replicas too, where the proof
-- may read for an hour.
CREATE TABLE recent_bets (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    stripe_no INTEGER NOT NULL,
    seq BIGINT NOT NULL,
    sums bets_sum[] NOT NULL,
    CONSTRAINT pk_recent_bets PRIMARY KEY (jackpot_id, stripe_no, seq)
) WITH (toast_tuple_target = 8160, vacuum_truncate = off);

CREATE TABLE daily_refunds (
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
    adjustments NUMERIC NOT NULL,
    CONSTRAINT pk_daily_refunds PRIMARY KEY (jackpot_id, day, stripe_no, gaming_day, casino_id, table_id, currency),
    CONSTRAINT ck_daily_refunds_stakes CHECK (bets >= 1 AND stakes_minor >= bets AND scale(stakes_minor) = 0),
    CONSTRAINT ck_daily_refunds_parts CHECK (value = meter + reserve + prize_fund + house + adjustments),
    CONSTRAINT ck_daily_refunds_exact CHECK (scale(value) <= 18 AND abs(value) < 1e20
        AND scale(meter) <= 18 AND abs(meter) < 1e20 AND scale(reserve) <= 18 AND abs(reserve) < 1e20
        AND scale(prize_fund) <= 18 AND abs(prize_fund) < 1e20 AND scale(house) <= 18 AND abs(house) < 1e20
        AND scale(adjustments) <= 18 AND abs(adjustments) < 1e20)
) WITH (fillfactor = 50);

CREATE TABLE daily_awards (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    stripe_no INTEGER NOT NULL,
    day DATE NOT NULL,
    casino_id TEXT COLLATE "C" NOT NULL,
    table_id TEXT COLLATE "C" NOT NULL,
    tier TEXT COLLATE "C" NOT NULL,
    funded_by TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    awards BIGINT NOT NULL,
    amount_minor NUMERIC NOT NULL,
    cost NUMERIC NOT NULL,
    CONSTRAINT pk_daily_awards PRIMARY KEY (jackpot_id, day, stripe_no, casino_id, table_id, tier, funded_by, currency,
        state),
    CONSTRAINT ck_daily_awards_amounts CHECK (awards >= 1 AND amount_minor >= awards AND scale(amount_minor) = 0),
    CONSTRAINT ck_daily_awards_exact CHECK (scale(cost) <= 18 AND abs(cost) < 1e20)
) WITH (fillfactor = 50);

CREATE TABLE daily_hands (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    stripe_no INTEGER NOT NULL,
    day DATE NOT NULL,
    rules_version INTEGER NOT NULL,
    hands BIGINT NOT NULL,
    value NUMERIC NOT NULL,
    squares NUMERIC NOT NULL,
    CONSTRAINT pk_daily_hands PRIMARY KEY (jackpot_id, day, stripe_no, rules_version),
    CONSTRAINT ck_daily_hands_hands CHECK (hands >= 1 AND value > 0 AND squares > 0),
    CONSTRAINT ck_daily_hands_exact CHECK (scale(value) <= 18 AND abs(value) < 1e20)
) WITH (fillfactor = 50);

CREATE TABLE daily_payments (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    day DATE NOT NULL,
    made_on DATE NOT NULL,
    casino_id TEXT COLLATE "C" NOT NULL,
    table_id TEXT COLLATE "C" NOT NULL,
    tier TEXT COLLATE "C" NOT NULL,
    funded_by TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    awards BIGINT NOT NULL,
    amount_minor NUMERIC NOT NULL,
    cost NUMERIC NOT NULL,
    CONSTRAINT pk_daily_payments PRIMARY KEY (jackpot_id, day, made_on, casino_id, table_id, tier, funded_by, currency),
    CONSTRAINT ck_daily_payments_amounts CHECK (awards >= 1 AND amount_minor >= awards AND amount_minor < 'Infinity'
        AND scale(amount_minor) = 0),
    CONSTRAINT ck_daily_payments_exact CHECK (scale(cost) <= 18 AND abs(cost) < 1e20)
) WITH (fillfactor = 50);

-- Every posting that is not of bets. Casino and table are empty where an entry has none.
CREATE TABLE daily_postings (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    stripe_no INTEGER NOT NULL,
    day DATE NOT NULL,
    cycle INTEGER NOT NULL,
    gaming_day DATE NOT NULL,
    casino_id TEXT COLLATE "C" NOT NULL,
    table_id TEXT COLLATE "C" NOT NULL,
    account TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    movement TEXT COLLATE "C" NOT NULL,
    lines BIGINT NOT NULL,
    amount NUMERIC NOT NULL,
    CONSTRAINT pk_daily_postings PRIMARY KEY (jackpot_id, day, stripe_no, cycle, gaming_day, casino_id, table_id,
        account, currency, movement),
    CONSTRAINT ck_daily_postings_cycle CHECK (cycle >= 1),
    CONSTRAINT ck_daily_postings_lines CHECK (lines >= 1),
    CONSTRAINT ck_daily_postings_exact CHECK (scale(amount) <= 18 AND abs(amount) < 1e20)
) WITH (fillfactor = 50);
