-- Sums of figures by day. Only who holds the stripe's lock touches its rows. Half of a page stays free, so that the next
-- version of a row finds room there and no index is touched.
-- Accepted bets are added here later, by transactions of others, which no bound may make fail.
CREATE TABLE days (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    stripe_no INTEGER NOT NULL,
    day DATE NOT NULL,
    cycle INTEGER NOT NULL,
    gaming_day DATE NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    casino_id TEXT COLLATE "C" NOT NULL,
    table_id TEXT COLLATE "C" NOT NULL,
    rules_version INTEGER NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    account TEXT COLLATE "C" NOT NULL,
    tier TEXT COLLATE "C" NOT NULL,
    detail TEXT COLLATE "C" NOT NULL,
    made_on DATE NOT NULL,
    number BIGINT NOT NULL,
    minor NUMERIC NOT NULL,
    value NUMERIC NOT NULL,
    CONSTRAINT pk_days PRIMARY KEY (jackpot_id, kind, day, stripe_no, table_id, currency, account, tier, detail, cycle,
        gaming_day, rules_version, casino_id, made_on),
    CONSTRAINT ck_days_cycle CHECK (cycle >= 1),
    CONSTRAINT ck_days_minor CHECK (scale(minor) = 0 AND abs(minor) < 'Infinity'),
    CONSTRAINT ck_days_exact CHECK (scale(value) <= 36 AND abs(value) < 'Infinity')
) WITH (fillfactor = 50);

-- The days that are over, of all stripes together, written once: a report of a month reads a sixteenth of the rows. Up to
-- the latest day here nothing is read from `days`, which the proof sums again.
CREATE TABLE past_days (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    day DATE NOT NULL,
    cycle INTEGER NOT NULL,
    gaming_day DATE NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    casino_id TEXT COLLATE "C" NOT NULL,
    table_id TEXT COLLATE "C" NOT NULL,
    rules_version INTEGER NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    account TEXT COLLATE "C" NOT NULL,
    tier TEXT COLLATE "C" NOT NULL,
    detail TEXT COLLATE "C" NOT NULL,
    made_on DATE NOT NULL,
    number BIGINT NOT NULL,
    minor NUMERIC NOT NULL,
    value NUMERIC NOT NULL,
    CONSTRAINT pk_past_days PRIMARY KEY (jackpot_id, kind, day, table_id, currency, account, tier, detail, cycle,
        gaming_day, rules_version, casino_id, made_on),
    CONSTRAINT ck_past_days_cycle CHECK (cycle >= 1),
    CONSTRAINT ck_past_days_minor CHECK (scale(minor) = 0 AND abs(minor) < 'Infinity'),
    CONSTRAINT ck_past_days_exact CHECK (scale(value) <= 36 AND abs(value) < 'Infinity')
);

CREATE INDEX ix_past_days_jackpot_id_day ON past_days (jackpot_id, day);
