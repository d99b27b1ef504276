-- Jackpots, the versions of their rules, and the rates that turn stakes into a jackpot's base currency.

CREATE TABLE jackpots (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    base TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_jackpots PRIMARY KEY (jackpot_id),
    CONSTRAINT ck_jackpots_jackpot_id CHECK (jackpot_id ~ '^[A-Za-z0-9._:-]{1,64}$' AND jackpot_id <> '-')
);

CREATE TABLE rules_versions (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    version INTEGER NOT NULL,
    document JSONB NOT NULL,
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_rules_versions PRIMARY KEY (jackpot_id, version),
    CONSTRAINT ck_rules_versions_version CHECK (version >= 1)
);

-- The limits of single tables of a jackpot: each version is a change of one table's, and leaves those of the others.
CREATE TABLE table_limits (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    version INTEGER NOT NULL,
    table_id TEXT COLLATE "C" NOT NULL,
    document JSONB NOT NULL,
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_table_limits PRIMARY KEY (jackpot_id, version),
    CONSTRAINT ck_table_limits_version CHECK (version >= 1)
);

CREATE TABLE rate_sheets (
    base TEXT COLLATE "C" NOT NULL,
    number INTEGER NOT NULL,
    effective_at TIMESTAMP WITH TIME ZONE NOT NULL,
    source JSONB,
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_rate_sheets PRIMARY KEY (base, number),
    CONSTRAINT ck_rate_sheets_number CHECK (number >= 1)
);

CREATE INDEX ix_rate_sheets_base_effective_at_number ON rate_sheets (base, effective_at, number);

CREATE TABLE rates (
    base TEXT COLLATE "C" NOT NULL,
    number INTEGER NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    base_per_unit NUMERIC NOT NULL,
    exponent INTEGER NOT NULL,
    CONSTRAINT pk_rates PRIMARY KEY (base, number, currency),
    CONSTRAINT fk_rates_base_number_rate_sheets FOREIGN KEY (base, number) REFERENCES rate_sheets (base, number),
    CONSTRAINT ck_rates_rate CHECK (base_per_unit > 0 AND scale(base_per_unit) <= 10 AND base_per_unit < 1e10),
    CONSTRAINT ck_rates_exponent CHECK (exponent BETWEEN 0 AND 4),
    CONSTRAINT ck_rates_base CHECK (currency <> base OR base_per_unit = 1)
);
