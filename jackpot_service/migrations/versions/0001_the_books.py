"""The books and the source documents: every table with its keys and checks."""

from collections.abc import Sequence

from alembic import op

revision: str = "0001"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLES = """
-- The books.

CREATE TABLE stripes (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    stripe_no INTEGER NOT NULL,
    seq BIGINT NOT NULL,
    head BYTEA NOT NULL,
    meter_players NUMERIC NOT NULL,
    meter_house NUMERIC NOT NULL,
    reserve NUMERIC NOT NULL,
    prize_fund NUMERIC NOT NULL,
    accepting BOOLEAN NOT NULL,
    booked_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_stripes PRIMARY KEY (jackpot_id, stripe_no),
    CONSTRAINT ck_stripes_stripe_no CHECK (stripe_no >= 0),
    CONSTRAINT ck_stripes_seq CHECK (seq >= 0),
    CONSTRAINT ck_stripes_head CHECK (length(head) = 32),
    CONSTRAINT ck_stripes_exact CHECK (scale(meter_players) <= 18 AND abs(meter_players) < 1e20
        AND scale(meter_house) <= 18 AND abs(meter_house) < 1e20 AND scale(reserve) <= 18
        AND abs(reserve) < 1e20 AND scale(prize_fund) <= 18 AND abs(prize_fund) < 1e20)
) WITH (fillfactor = 20);

-- The heads after each of some entries that are booked together: sha256(head before || digest || microseconds).
CREATE FUNCTION chained_heads(head bytea, digests bytea[], booked_at timestamptz) RETURNS bytea[]
    LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
    moment bytea := int8send((extract(epoch FROM booked_at) * 1000000)::bigint);
    digest bytea;
    heads bytea[] := '{}';
BEGIN
    FOREACH digest IN ARRAY digests LOOP
        head := sha256(head || digest || moment);
        heads := heads || head;
    END LOOP;
    RETURN heads;
END
$$;

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
    CONSTRAINT pk_entries PRIMARY KEY (jackpot_id, stripe_no, seq),
    CONSTRAINT ck_entries_round_step CHECK ((round_key IS NULL) = (step IS NULL)),
    CONSTRAINT ck_entries_digests CHECK (length(digest) = 32 AND length(head) = 32),
    CONSTRAINT ck_entries_booked_at CHECK (booked_at >= received_at),
    CONSTRAINT ck_entries_postings CHECK (cardinality(accounts) = cardinality(currencies)
        AND cardinality(accounts) = cardinality(amounts) AND cardinality(accounts) = cardinality(movements))
);

CREATE UNIQUE INDEX uq_entries_jackpot_id_round_key_step
    ON entries (jackpot_id, round_key, step) WHERE round_key IS NOT NULL;

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

-- What belongs to no jackpot.

CREATE TABLE casinos (
    casino_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_casinos PRIMARY KEY (casino_id),
    CONSTRAINT ck_casinos_casino_id CHECK (casino_id ~ '^[A-Za-z0-9._:-]{1,64}$')
);

CREATE TABLE tables (
    table_id TEXT COLLATE "C" NOT NULL,
    casino_id TEXT COLLATE "C" NOT NULL,
    game TEXT COLLATE "C" NOT NULL,
    jackpot_id TEXT COLLATE "C",
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_tables PRIMARY KEY (table_id),
    CONSTRAINT fk_tables_casino_id_casinos FOREIGN KEY(casino_id) REFERENCES casinos (casino_id),
    CONSTRAINT ck_tables_table_id CHECK (table_id ~ '^[A-Za-z0-9._:-]{1,64}$')
);

CREATE TABLE keys (
    key_id TEXT COLLATE "C" NOT NULL,
    secret_hash BYTEA NOT NULL,
    principal TEXT COLLATE "C" NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    casino_id TEXT COLLATE "C",
    table_ids TEXT[] NOT NULL,
    revoked_at TIMESTAMP WITH TIME ZONE,
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_keys PRIMARY KEY (key_id),
    CONSTRAINT fk_keys_casino_id_casinos FOREIGN KEY(casino_id) REFERENCES casinos (casino_id),
    CONSTRAINT ck_keys_secret_hash CHECK (length(secret_hash) = 32),
    CONSTRAINT ck_keys_role CHECK (role IN ('table', 'finance', 'rates', 'operator', 'auditor')),
    CONSTRAINT ck_keys_table_casino CHECK (role <> 'table' OR casino_id IS NOT NULL)
);

CREATE TABLE rate_sheets (
    base TEXT COLLATE "C" NOT NULL,
    number INTEGER NOT NULL,
    effective_at TIMESTAMP WITH TIME ZONE NOT NULL,
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
    CONSTRAINT fk_rates_base_number_rate_sheets FOREIGN KEY(base, number) REFERENCES rate_sheets (base, number),
    CONSTRAINT ck_rates_rate CHECK (base_per_unit > 0 AND scale(base_per_unit) <= 10 AND base_per_unit < 1e10),
    CONSTRAINT ck_rates_exponent CHECK (exponent BETWEEN 0 AND 4),
    CONSTRAINT ck_rates_base CHECK (currency <> base OR base_per_unit = 1)
);

-- Jackpots and their rounds.

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
    CONSTRAINT pk_rules_versions PRIMARY KEY (jackpot_id, version),
    CONSTRAINT ck_rules_versions_version CHECK (version >= 1)
);

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
    CONSTRAINT pk_rounds PRIMARY KEY (jackpot_id, round_key),
    CONSTRAINT ck_rounds_round_id CHECK (round_id ~ '^[A-Za-z0-9._:-]{1,64}$'),
    CONSTRAINT ck_rounds_state CHECK (state IN ('open', 'settled', 'cancelled')),
    CONSTRAINT ck_rounds_counts CHECK (bet_count >= 0 AND steps >= 1 AND weight >= 0),
    CONSTRAINT ck_rounds_exact CHECK (scale(weight) <= 18 AND abs(weight) < 1e20)
) WITH (fillfactor = 70);

CREATE INDEX ix_rounds_latest ON rounds ((jackpot_id || ' ' || table_id), round_key);

-- Made last: on a table that is still empty every index costs the same, and the planner takes the newest. Another one
-- would read all rounds of the table to find one, until the table is analysed.
ALTER TABLE rounds
    ADD CONSTRAINT uq_rounds_jackpot_id_table_id_round_id UNIQUE (jackpot_id, table_id, round_id);

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
);

CREATE TABLE voids (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    round_key BIGINT NOT NULL,
    bet_id TEXT COLLATE "C" NOT NULL,
    step INTEGER NOT NULL,
    is_tombstone BOOLEAN NOT NULL,
    occurred_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_voids PRIMARY KEY (jackpot_id, round_key, bet_id)
);

CREATE TABLE results (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    round_key BIGINT NOT NULL,
    step INTEGER NOT NULL,
    bet_count INTEGER NOT NULL,
    dealer TEXT[] NOT NULL,
    occurred_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_results PRIMARY KEY (jackpot_id, round_key)
);

CREATE TABLE cancellations (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    round_key BIGINT NOT NULL,
    step INTEGER NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    cycle INTEGER NOT NULL,
    occurred_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_cancellations PRIMARY KEY (jackpot_id, round_key)
);

CREATE TABLE hands (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    round_key BIGINT NOT NULL,
    hand TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    cards TEXT[] NOT NULL,
    CONSTRAINT pk_hands PRIMARY KEY (jackpot_id, round_key, hand),
    CONSTRAINT ck_hands_status CHECK (status IN ('dealt', 'dead', 'forfeited'))
);

CREATE TABLE settlements (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    round_key BIGINT NOT NULL,
    step INTEGER NOT NULL,
    cycle INTEGER NOT NULL,
    policy TEXT COLLATE "C" NOT NULL,
    positions BIGINT[] NOT NULL,
    meter_before NUMERIC NOT NULL,
    weight NUMERIC NOT NULL,
    entitlements JSONB NOT NULL,
    meter_after NUMERIC NOT NULL,
    reserve_after NUMERIC NOT NULL,
    prize_fund_after NUMERIC NOT NULL,
    overflow NUMERIC NOT NULL,
    carried NUMERIC,
    house_seed NUMERIC NOT NULL,
    cycle_after INTEGER NOT NULL,
    CONSTRAINT pk_settlements PRIMARY KEY (jackpot_id, round_key),
    CONSTRAINT ck_settlements_exact CHECK (scale(meter_before) <= 18 AND abs(meter_before) < 1e20
        AND scale(weight) <= 18 AND abs(weight) < 1e20 AND scale(meter_after) <= 18
        AND abs(meter_after) < 1e20 AND scale(reserve_after) <= 18 AND abs(reserve_after) < 1e20
        AND scale(prize_fund_after) <= 18 AND abs(prize_fund_after) < 1e20),
    CONSTRAINT ck_settlements_exact_on_a_hit CHECK (scale(overflow) <= 18 AND abs(overflow) < 1e20
        AND scale(carried) <= 18 AND abs(carried) < 1e20
        AND scale(house_seed) <= 18 AND abs(house_seed) < 1e20)
);

CREATE TABLE awards (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    round_key BIGINT NOT NULL,
    bet_id TEXT COLLATE "C" NOT NULL,
    tier TEXT COLLATE "C" NOT NULL,
    award_id TEXT COLLATE "C" NOT NULL,
    amount_minor BIGINT NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    cost NUMERIC NOT NULL,
    funded_by TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_awards PRIMARY KEY (jackpot_id, round_key, bet_id, tier),
    CONSTRAINT ck_awards_amount_minor CHECK (amount_minor > 0),
    CONSTRAINT ck_awards_funded_by CHECK (funded_by IN ('prize_fund', 'meter')),
    CONSTRAINT ck_awards_exact CHECK (scale(cost) <= 18 AND abs(cost) < 1e20)
);

CREATE TABLE award_steps (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    round_key BIGINT NOT NULL,
    bet_id TEXT COLLATE "C" NOT NULL,
    tier TEXT COLLATE "C" NOT NULL,
    step TEXT COLLATE "C" NOT NULL,
    taken_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_award_steps PRIMARY KEY (jackpot_id, round_key, bet_id, tier, step),
    CONSTRAINT ck_award_steps_step CHECK (step IN ('payable', 'held', 'approved', 'rejected', 'paid', 'reversed'))
);

-- Refusals that finance must see.

CREATE TABLE exceptions (
    kind TEXT COLLATE "C" NOT NULL,
    table_id TEXT COLLATE "C" NOT NULL,
    round_id TEXT COLLATE "C" NOT NULL,
    digest BYTEA NOT NULL,
    jackpot_id TEXT COLLATE "C" NOT NULL,
    principal TEXT COLLATE "C" NOT NULL,
    noticed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    detail JSONB NOT NULL,
    CONSTRAINT pk_exceptions PRIMARY KEY (kind, table_id, round_id, digest),
    CONSTRAINT ck_exceptions_digest CHECK (length(digest) = 32)
);
"""

DROPS = """
DROP TABLE exceptions;
DROP TABLE award_steps;
DROP TABLE awards;
DROP TABLE settlements;
DROP TABLE hands;
DROP TABLE cancellations;
DROP TABLE results;
DROP TABLE voids;
DROP TABLE bets;
DROP TABLE rounds;
DROP TABLE rules_versions;
DROP TABLE jackpots;
DROP TABLE rates;
DROP TABLE rate_sheets;
DROP TABLE keys;
DROP TABLE tables;
DROP TABLE casinos;
DROP TABLE cycles;
DROP TABLE entries;
DROP FUNCTION chained_heads;
DROP TABLE stripes;
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(TABLES)


def downgrade() -> None:
    """Drop them, with all that they hold."""
    op.execute(DROPS)
