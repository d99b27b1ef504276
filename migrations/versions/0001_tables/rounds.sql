-- Rounds, and the source documents of each: bets, voids and corrections. Closings, results and cancellations
-- are facts of entries.

CREATE TABLE rounds (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    round_key BIGINT NOT NULL,
    table_id TEXT COLLATE "C" NOT NULL,
    round_id TEXT COLLATE "C" NOT NULL,
    casino_id TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    rules_version INTEGER NOT NULL,
    rate_sheet INTEGER NOT NULL,
    steps INTEGER NOT NULL,
    bet_count INTEGER NOT NULL,
    weight NUMERIC NOT NULL,
    replays INTEGER NOT NULL,
    opened_at TIMESTAMP WITH TIME ZONE NOT NULL,
    game_number TEXT COLLATE "C",
    CONSTRAINT pk_rounds PRIMARY KEY (jackpot_id, round_key),
    -- The shape of every id. A round is written with most bets, and `~ '^[…]{1,64}$'`, as elsewhere, takes twelve times as
    -- long: it was a twentieth of what a bet costs the database.
    CONSTRAINT ck_rounds_round_id CHECK (round_id !~ '[^A-Za-z0-9._:-]' AND length(round_id) BETWEEN 1 AND 64),
    CONSTRAINT ck_rounds_game_number CHECK (game_number !~ '[^A-Za-z0-9._:-]' AND length(game_number) BETWEEN 1 AND 64),
    CONSTRAINT ck_rounds_state CHECK (state IN ('open', 'closed', 'settled', 'cancelled')),
    CONSTRAINT ck_rounds_counts CHECK (bet_count >= 0 AND steps >= 1 AND weight >= 0),
    CONSTRAINT ck_rounds_exact CHECK (scale(weight) <= 18 AND abs(weight) < 1e20)
) WITH (fillfactor = 70);

-- The value itself, which seems to cost much: so a plan finds it in an index, and compares it with no row. Until the
-- table is analysed all its indexes seem to cost the same but for their height. The lowest, the primary key's, would
-- have all rounds of the jackpot read for one. No SQL function: that would become a part of the query, and cost
-- nothing.
CREATE FUNCTION by_index(value text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000
    AS 'BEGIN RETURN value; END';

-- For a table's latest rounds, for those that have not ended, and for one round by its ids, of which none holds a space.
-- Those of a table or a casino that have not ended are found in their index itself, without a look at other rounds.
CREATE INDEX ix_rounds_latest ON rounds (jackpot_id, by_index(table_id), round_key);
CREATE INDEX ix_rounds_open ON rounds (jackpot_id, round_key, table_id, casino_id) WHERE state IN ('open', 'closed');
-- Rounds without a game number are not in it: their bets cost no more for it.
CREATE INDEX ix_rounds_game_number ON rounds (jackpot_id, by_index(game_number), round_key)
    WHERE game_number IS NOT NULL;
CREATE UNIQUE INDEX uq_rounds_ids ON rounds (jackpot_id, by_index(table_id || ' ' || round_id));

-- Each month of round keys has a partition: `jackpot db months` makes them ahead. A round key is milliseconds since
-- 1970, then 21 random bits.
CREATE TABLE bets (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    round_key BIGINT NOT NULL,
    bet_id TEXT COLLATE "C" NOT NULL,
    step INTEGER NOT NULL,
    player_id TEXT COLLATE "C" NOT NULL,
    hand TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    stake_minor BIGINT NOT NULL,
    occurred_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_bets PRIMARY KEY (jackpot_id, round_key, bet_id),
    CONSTRAINT ck_bets_stake_minor CHECK (stake_minor > 0)
) PARTITION BY RANGE (round_key);

-- For a player's bets, and for a bet's round. It knows of every 16 pages who may have bets in them, of which ids and of
-- which rounds. No bet adds to it: the autovacuum does, once, when the next pages are begun. The pages that it does not
-- know yet are read.
CREATE INDEX ix_bets_search ON bets
    USING brin (player_id text_bloom_ops (n_distinct_per_range = 1000),
                bet_id text_bloom_ops (n_distinct_per_range = 1500), round_key)
    WITH (pages_per_range = 16, autosummarize = on);

-- The first partition ends with this month, on its last day with the next one: the months after it are made meanwhile.
-- A bet in no month's range goes to the default partition.
DO $$
DECLARE
    month_end timestamp := date_trunc('month', (now() + interval '1 day') AT TIME ZONE 'UTC') + interval '1 month';
BEGIN
    EXECUTE format('CREATE TABLE bets_before PARTITION OF bets FOR VALUES FROM (MINVALUE) TO (%s)',
                   (extract(epoch FROM month_end) * 1000)::bigint << 21);
END
$$;
CREATE TABLE bets_default PARTITION OF bets DEFAULT;

CREATE TABLE voids (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    round_key BIGINT NOT NULL,
    bet_id TEXT COLLATE "C" NOT NULL,
    step INTEGER NOT NULL,
    is_tombstone BOOLEAN NOT NULL,
    CONSTRAINT pk_voids PRIMARY KEY (jackpot_id, round_key, bet_id)
);

CREATE TABLE corrections (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    round_key BIGINT NOT NULL,
    number INTEGER NOT NULL,
    act_seq BIGINT NOT NULL,
    CONSTRAINT pk_corrections PRIMARY KEY (jackpot_id, round_key, number),
    CONSTRAINT ck_corrections_number CHECK (number >= 1)
);
