-- The books: entries in chains, one chain a stripe, and the cycles that they fall into.
-- Text is compared byte by byte, as Python does. Amounts are NUMERIC with a CHECK on scale and size: NUMERIC(38,18)
-- would round silently.

-- The one row that a booking changes, over and over: room on the page for the next version keeps indexes untouched.
CREATE TABLE stripes (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    stripe_no INTEGER NOT NULL,
    added_by BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    head BYTEA NOT NULL,
    meter_players NUMERIC NOT NULL,
    meter_house NUMERIC NOT NULL,
    reserve NUMERIC NOT NULL,
    prize_fund NUMERIC NOT NULL,
    accepting BOOLEAN NOT NULL,
    booked_at TIMESTAMP WITH TIME ZONE NOT NULL,
    summed_to BIGINT NOT NULL DEFAULT 0,
    limits_version INTEGER NOT NULL DEFAULT 0,
    CONSTRAINT pk_stripes PRIMARY KEY (jackpot_id, stripe_no),
    CONSTRAINT ck_stripes_stripe_no CHECK (stripe_no >= 0),
    CONSTRAINT ck_stripes_seq CHECK (seq >= 0),
    CONSTRAINT ck_stripes_head CHECK (length(head) = 32),
    CONSTRAINT ck_stripes_exact CHECK (scale(meter_players) <= 18 AND abs(meter_players) < 1e20
        AND scale(meter_house) <= 18 AND abs(meter_house) < 1e20 AND scale(reserve) <= 18
        AND abs(reserve) < 1e20 AND scale(prize_fund) <= 18 AND abs(prize_fund) < 1e20)
) WITH (fillfactor = 20);

-- The book `-` is of everything that belongs to no jackpot: casinos, tables, principals, keys, rate sheets, acts.
INSERT INTO stripes (jackpot_id, stripe_no, added_by, seq, head, meter_players, meter_house, reserve, prize_fund,
                     accepting, booked_at)
VALUES ('-', 0, 1, 0, sha256('-/0'), 0, 0, 0, 0, true, '-infinity');

-- One sum of an entry that its postings do not show. A member that a kind of figure does not have is null.
CREATE TYPE figure AS (
    kind TEXT COLLATE "C",
    currency TEXT COLLATE "C",
    tier TEXT COLLATE "C",
    account TEXT COLLATE "C",
    detail TEXT COLLATE "C",
    made_on DATE,
    number BIGINT,
    minor NUMERIC,
    value NUMERIC
);

-- The postings of an entry are four parallel arrays: a row each would cost a bet several times as much. Casino, table
-- and rules version are those of its figures, and empty, or 0, where there is none. `facts` are what a closing, a
-- result, a cancellation or voids recorded. Of bets or a result they are also the game number or the table limits that
-- they named. Views show the columns of results and cancellations.
CREATE TABLE entries (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    stripe_no INTEGER NOT NULL,
    seq BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    principal TEXT COLLATE "C" NOT NULL,
    round_key BIGINT,
    step INTEGER,
    received_at TIMESTAMP WITH TIME ZONE NOT NULL,
    booked_at TIMESTAMP WITH TIME ZONE NOT NULL,
    digest BYTEA NOT NULL,
    head BYTEA NOT NULL,
    accounts TEXT[] NOT NULL,
    currencies TEXT[] NOT NULL,
    amounts NUMERIC[] NOT NULL,
    movements TEXT[] NOT NULL,
    casino_id TEXT COLLATE "C" NOT NULL,
    table_id TEXT COLLATE "C" NOT NULL,
    rules_version INTEGER NOT NULL,
    figures figure[] NOT NULL,
    facts JSONB,
    -- Lists of rounds find the entries of a table, or of a casino, among those of a period without reading them.
    CONSTRAINT pk_entries PRIMARY KEY (jackpot_id, stripe_no, seq) INCLUDE (round_key, step, casino_id, table_id),
    CONSTRAINT ck_entries_round_step CHECK ((round_key IS NULL) = (step IS NULL)),
    CONSTRAINT ck_entries_digests CHECK (length(digest) = 32 AND length(head) = 32),
    CONSTRAINT ck_entries_booked_at CHECK (booked_at >= received_at),
    CONSTRAINT ck_entries_postings CHECK (cardinality(accounts) = cardinality(currencies)
        AND cardinality(accounts) = cardinality(amounts) AND cardinality(accounts) = cardinality(movements)),
    CONSTRAINT ck_entries_facts CHECK (jsonb_typeof(facts) = 'object' AND facts <> '{}'),
    -- Every amount of a settlement is a text, with at most 18 decimals, below 1e20.
    CONSTRAINT ck_entries_exact_facts CHECK (NOT jsonb_path_exists(facts, '$.settlement.keyvalue() ? '
        '(@.key like_regex "^(weight|overflow|carried|house_seed|[a-z_]+_(before|after))$" && @.key != "cycle_after" '
        '&& @.value.type() != "null" && (@.value.type() != "string" '
        '|| !(@.value like_regex "^-?[0-9]{1,20}([.][0-9]{1,18})?$")))'))
);

CREATE UNIQUE INDEX uq_entries_jackpot_id_round_key_step
    ON entries (jackpot_id, round_key, step) WHERE round_key IS NOT NULL;

-- For reports of awards: few results made any, and acts are few.
CREATE INDEX ix_entries_of_awards ON entries (jackpot_id, stripe_no, seq)
    WHERE kind = 'result' AND movements @> ARRAY['award']
       OR kind IN ('round_corrected', 'awards_approved', 'awards_rejected', 'awards_reinstated',
                   'award_stopped', 'awards_released', 'award_forfeited');

-- For sums of refunds: few entries have any.
CREATE INDEX ix_entries_of_refunds ON entries (jackpot_id, stripe_no, seq)
    WHERE movements @> ARRAY['reversal'] OR kind = 'round_corrected';

-- For rounds that were open at an instant and have ended since: the index holds the life of each that lived long.
CREATE INDEX ix_entries_of_long_rounds ON entries USING gist (
    tstzrange(least(to_timestamp((round_key >> 21) / 1000::double precision), booked_at), booked_at, '[]')
)
WHERE kind IN ('result', 'cancellation')
  AND booked_at - to_timestamp((round_key >> 21) / 1000::double precision) > interval '15 minutes';

CREATE TABLE cycles (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    cycle INTEGER NOT NULL,
    rules_version INTEGER NOT NULL,
    stripe_no INTEGER NOT NULL,
    seq BIGINT NOT NULL,
    cut BIGINT[] NOT NULL,
    CONSTRAINT pk_cycles PRIMARY KEY (jackpot_id, cycle),
    CONSTRAINT ck_cycles_cycle CHECK (cycle >= 1)
);
