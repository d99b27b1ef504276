-- The money of players: awards with the steps of their lives, and compensations. The statements of casinos, as settled.

-- `correction` numbers the verdict that made the award: 0 for the round's settlement.
CREATE TABLE awards (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    round_key BIGINT NOT NULL,
    bet_id TEXT COLLATE "C" NOT NULL,
    tier TEXT COLLATE "C" NOT NULL,
    correction INTEGER NOT NULL DEFAULT 0,
    award_id TEXT COLLATE "C" NOT NULL,
    amount_minor BIGINT NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    cost NUMERIC NOT NULL,
    funded_by TEXT COLLATE "C" NOT NULL,
    CONSTRAINT ck_awards_correction CHECK (correction >= 0),
    CONSTRAINT ck_awards_amount_minor CHECK (amount_minor > 0),
    CONSTRAINT ck_awards_funded_by CHECK (funded_by IN ('prize_fund', 'meter')),
    CONSTRAINT ck_awards_exact CHECK (scale(cost) <= 18 AND abs(cost) < 1e20)
);

CREATE INDEX ix_awards_award_id ON awards (award_id);
CREATE INDEX ix_awards_round_key_award_id ON awards (round_key, award_id);
-- The keys of this table and the next are made last: while a table is empty every index costs the same, and the planner
-- takes the newest. Another one would read the awards of a round of every jackpot, until the table is analysed.
ALTER TABLE awards ADD CONSTRAINT pk_awards PRIMARY KEY (jackpot_id, round_key, bet_id, tier, correction);

-- The first step of an award was taken by no act: by the settlement, or by the correction that made the award.
CREATE TABLE award_steps (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    round_key BIGINT NOT NULL,
    bet_id TEXT COLLATE "C" NOT NULL,
    tier TEXT COLLATE "C" NOT NULL,
    correction INTEGER NOT NULL DEFAULT 0,
    step TEXT COLLATE "C" NOT NULL,
    taken_at TIMESTAMP WITH TIME ZONE NOT NULL,
    act_seq BIGINT,
    CONSTRAINT ck_award_steps_correction CHECK (correction >= 0),
    CONSTRAINT ck_award_steps_step
        CHECK (step IN ('payable', 'held', 'approved', 'rejected', 'reinstated', 'stopped', 'released', 'forfeited',
                        'reversed'))
);

CREATE INDEX ix_award_steps_out_of_the_ordinary ON award_steps (round_key, step)
    WHERE step IN ('held', 'rejected', 'stopped', 'forfeited', 'reversed');
ALTER TABLE award_steps
    ADD CONSTRAINT pk_award_steps PRIMARY KEY (jackpot_id, round_key, bet_id, tier, step, correction);

-- The awards of which something is still to be paid or decided: held, payable or stopped, and not paid as a whole. Each row
-- follows from its award, the steps and the payments, by the triggers of `0004_laws/open_awards.sql`. It is no part of the
-- books: lists of what there is to do start from it, however many awards were ever made. `since` is when the award took
-- its last step.
CREATE TABLE open_awards (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    round_key BIGINT NOT NULL,
    bet_id TEXT COLLATE "C" NOT NULL,
    tier TEXT COLLATE "C" NOT NULL,
    correction INTEGER NOT NULL,
    award_id TEXT COLLATE "C" NOT NULL,
    casino_id TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    amount_minor BIGINT NOT NULL,
    paid_minor BIGINT NOT NULL,
    CONSTRAINT ck_open_awards_state CHECK (state IN ('held', 'payable', 'stopped')),
    CONSTRAINT ck_open_awards_paid_minor CHECK (paid_minor >= 0 AND paid_minor < amount_minor)
);

CREATE INDEX ix_open_awards_round_key_award_id ON open_awards (round_key, award_id);
CREATE INDEX ix_open_awards_waiting ON open_awards (round_key, award_id) WHERE state IN ('held', 'stopped');
CREATE INDEX ix_open_awards_claims ON open_awards (casino_id, since) WHERE state = 'payable';
ALTER TABLE open_awards ADD CONSTRAINT pk_open_awards PRIMARY KEY (jackpot_id, round_key, bet_id, tier, correction);

-- Each of some act. An amount below zero reverses the payment of the act that it names. `withheld_minor` is the part of it
-- that the casino kept for its authority.
CREATE TABLE payments (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    round_key BIGINT NOT NULL,
    act_seq BIGINT NOT NULL,
    bet_id TEXT COLLATE "C" NOT NULL,
    tier TEXT COLLATE "C" NOT NULL,
    correction INTEGER NOT NULL DEFAULT 0,
    amount_minor BIGINT NOT NULL,
    withheld_minor BIGINT NOT NULL DEFAULT 0,
    cost NUMERIC NOT NULL,
    reference TEXT COLLATE "C" NOT NULL,
    reverses BIGINT,
    CONSTRAINT pk_payments PRIMARY KEY (jackpot_id, round_key, act_seq),
    CONSTRAINT ck_payments_correction CHECK (correction >= 0),
    CONSTRAINT ck_payments_amount_minor CHECK (amount_minor <> 0 AND (amount_minor < 0) = (reverses IS NOT NULL)),
    CONSTRAINT ck_payments_withheld_minor
        CHECK (withheld_minor BETWEEN least(amount_minor, 0) AND greatest(amount_minor, 0)),
    CONSTRAINT ck_payments_exact CHECK (scale(cost) <= 18 AND abs(cost) < 1e20)
);

CREATE UNIQUE INDEX uq_payments_reference ON payments (jackpot_id, round_key, bet_id, tier, correction, reference)
    WHERE reverses IS NULL;
CREATE UNIQUE INDEX uq_payments_reverses ON payments (jackpot_id, round_key, reverses) WHERE reverses IS NOT NULL;

-- Each casino numbers its slips without a gap. The first print of a slip is copy 1; each further one is a duplicate.
CREATE TABLE slip_prints (
    casino_id TEXT COLLATE "C" NOT NULL,
    number INTEGER NOT NULL,
    copy INTEGER NOT NULL,
    jackpot_id TEXT COLLATE "C" NOT NULL,
    round_key BIGINT NOT NULL,
    bet_id TEXT COLLATE "C" NOT NULL,
    tier TEXT COLLATE "C" NOT NULL,
    correction INTEGER NOT NULL DEFAULT 0,
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_slip_prints PRIMARY KEY (casino_id, number, copy),
    CONSTRAINT ck_slip_prints_correction CHECK (correction >= 0),
    CONSTRAINT ck_slip_prints_number CHECK (number > 0),
    CONSTRAINT ck_slip_prints_copy CHECK (copy > 0)
);

CREATE UNIQUE INDEX uq_slip_prints_award ON slip_prints (jackpot_id, round_key, bet_id, tier, correction, copy);

-- An amount below zero takes a compensation back.
CREATE TABLE compensations (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    round_key BIGINT NOT NULL,
    act_seq BIGINT NOT NULL,
    bet_id TEXT COLLATE "C" NOT NULL,
    player_id TEXT COLLATE "C" NOT NULL,
    amount_minor BIGINT NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    cost NUMERIC NOT NULL,
    document TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_compensations PRIMARY KEY (jackpot_id, round_key, act_seq),
    CONSTRAINT ck_compensations_amount_minor CHECK (amount_minor <> 0),
    CONSTRAINT ck_compensations_exact CHECK (scale(cost) <= 18 AND abs(cost) < 1e20)
);

CREATE TABLE statement_settlements (
    jackpot_id TEXT COLLATE "C" NOT NULL,
    casino_id TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    reference TEXT COLLATE "C" NOT NULL,
    period_from TIMESTAMP WITH TIME ZONE NOT NULL,
    period_to TIMESTAMP WITH TIME ZONE NOT NULL,
    amount NUMERIC NOT NULL,
    positions BIGINT[] NOT NULL,
    balance_before NUMERIC NOT NULL,
    act_seq BIGINT NOT NULL,
    CONSTRAINT pk_statement_settlements PRIMARY KEY (jackpot_id, casino_id, currency, reference),
    CONSTRAINT ck_statement_settlements_amount CHECK (amount <> 0),
    CONSTRAINT ck_statement_settlements_period CHECK (period_to > period_from),
    CONSTRAINT ck_statement_settlements_exact CHECK (scale(amount) <= 18 AND abs(amount) < 1e20
        AND scale(balance_before) <= 18 AND abs(balance_before) < 1e20)
);
