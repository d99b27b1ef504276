-- Acts, which are the audit trail, and the changes that one person requests and another decides.

CREATE TABLE acts (
    seq BIGINT NOT NULL,
    request_id TEXT COLLATE "C",
    decides TEXT COLLATE "C",
    subject TEXT COLLATE "C" NOT NULL,
    jackpot_id TEXT COLLATE "C",
    reason TEXT COLLATE "C",
    request JSONB,
    before JSONB,
    after JSONB NOT NULL,
    effects JSONB NOT NULL,
    CONSTRAINT pk_acts PRIMARY KEY (seq),
    CONSTRAINT uq_acts_request_id UNIQUE (request_id)
);

CREATE INDEX ix_acts_decides_seq ON acts (decides, seq);
CREATE INDEX ix_acts_jackpot_id_seq ON acts (jackpot_id, seq);
CREATE INDEX ix_acts_evidence ON acts (jackpot_id, (after -> 'round' -> 'round_key')) WHERE after ? 'evidence';

CREATE TABLE change_requests (
    request_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    jackpot_id TEXT COLLATE "C",
    payload JSONB NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    base_version TEXT COLLATE "C" NOT NULL,
    to_confirm JSONB NOT NULL,
    maker TEXT COLLATE "C" NOT NULL,
    made_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
    approvals_due INTEGER NOT NULL,
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_change_requests PRIMARY KEY (request_id),
    CONSTRAINT uq_change_requests_request_id_maker UNIQUE (request_id, maker),
    CONSTRAINT fk_change_requests_maker_principals FOREIGN KEY (maker) REFERENCES principals (name),
    CONSTRAINT ck_change_requests_request_id CHECK (request_id ~ '^[A-Za-z0-9._:-]{1,64}$'),
    CONSTRAINT ck_change_requests_reason CHECK (length(reason) > 0),
    CONSTRAINT ck_change_requests_approvals_due CHECK (approvals_due BETWEEN 1 AND 3),
    CONSTRAINT ck_change_requests_expires_at CHECK (expires_at > made_at)
);

-- The decision repeats the maker, so that a CHECK can say that the checker is another. One of a request is final. An
-- approval that a passkey signed has the assertion: what an authenticator states, what a browser states, a signature of
-- both, and the effect that the checker was shown. The passkey is the checker's own.
CREATE TABLE change_decisions (
    request_id TEXT COLLATE "C" NOT NULL,
    maker TEXT COLLATE "C" NOT NULL,
    checker TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    confirmed JSONB NOT NULL,
    is_emergency BOOLEAN NOT NULL,
    is_final BOOLEAN NOT NULL,
    decided_at TIMESTAMP WITH TIME ZONE NOT NULL,
    entry_seq BIGINT NOT NULL,
    passkey_id TEXT COLLATE "C",
    authenticator_data BYTEA,
    client_data BYTEA,
    signature BYTEA,
    signed_effect JSONB,
    CONSTRAINT pk_change_decisions PRIMARY KEY (request_id, checker, outcome),
    CONSTRAINT fk_change_decisions_request_id_maker_change_requests FOREIGN KEY (request_id, maker)
        REFERENCES change_requests (request_id, maker),
    CONSTRAINT fk_change_decisions_checker_principals FOREIGN KEY (checker) REFERENCES principals (name),
    CONSTRAINT fk_change_decisions_passkey_id_checker_passkeys FOREIGN KEY (passkey_id, checker)
        REFERENCES passkeys (passkey_id, principal),
    CONSTRAINT ck_change_decisions_signed
        CHECK (num_nulls(passkey_id, authenticator_data, client_data, signature, signed_effect) IN (0, 5)
               AND (passkey_id IS NULL OR outcome = 'approved')),
    CONSTRAINT ck_change_decisions_reason CHECK (length(reason) > 0),
    CONSTRAINT ck_change_decisions_outcome CHECK (outcome IN ('approved', 'rejected')),
    CONSTRAINT ck_change_decisions_two_people CHECK ((checker <> maker) <> is_emergency)
);

CREATE UNIQUE INDEX uq_change_decisions_final ON change_decisions (request_id) WHERE is_final;

-- The roles and departments that request and decide each kind of change: the latest version of a kind is in force.
-- Version 1 is of no act, as the service is shipped.
CREATE TABLE change_policies (
    kind TEXT COLLATE "C" NOT NULL,
    version INTEGER NOT NULL,
    requested_by TEXT[] NOT NULL,
    decided_by TEXT[] NOT NULL,
    needs_other_department BOOLEAN NOT NULL,
    needs_other_role BOOLEAN NOT NULL,
    needs_passkey BOOLEAN NOT NULL,
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_change_policies PRIMARY KEY (kind, version),
    CONSTRAINT ck_change_policies_requested_by
        CHECK (cardinality(requested_by) > 0 AND requested_by <@ ARRAY['finance', 'operator', 'rates']),
    CONSTRAINT ck_change_policies_decided_by
        CHECK (cardinality(decided_by) > 0 AND decided_by <@ ARRAY['finance', 'operator', 'rates']),
    CONSTRAINT ck_change_policies_version CHECK (version > 0 AND (version = 1) = (entry_seq = 0))
);

INSERT INTO change_policies (version, entry_seq, kind, requested_by, decided_by, needs_other_department,
                             needs_other_role, needs_passkey)
VALUES (1, 0, 'rate-sheet', '{rates}', '{rates}', false, false, false),
       (1, 0, 'rules', '{operator}', '{finance,operator}', false, false, false),
       (1, 0, 'table-limits', '{operator}', '{finance,operator}', false, false, false),
       (1, 0, 'retirement', '{operator}', '{finance}', false, false, false),
       (1, 0, 'adjustment', '{operator}', '{finance}', false, false, false),
       (1, 0, 'seed-recovery', '{operator}', '{finance}', false, false, false),
       (1, 0, 'prize-fund-true-up', '{operator}', '{finance}', false, false, false),
       (1, 0, 'held-awards', '{finance,operator}', '{finance,operator}', true, true, false),
       (1, 0, 'compensation', '{operator}', '{finance}', false, false, false),
       (1, 0, 'declined-compensation', '{finance,operator}', '{finance,operator}', true, true, false),
       (1, 0, 'round-correction', '{operator}', '{finance}', false, false, false),
       (1, 0, 'payment-reversal', '{finance,operator}', '{finance,operator}', true, true, false),
       (1, 0, 'casino-claims', '{operator}', '{finance}', false, false, false),
       (1, 0, 'award-forfeiture', '{finance,operator}', '{finance,operator}', true, true, false),
       (1, 0, 'statement-settlement', '{finance}', '{finance}', false, false, false),
       (1, 0, 'casino-withholding', '{finance}', '{finance}', false, false, false),
       (1, 0, 'change-policy', '{operator}', '{operator}', false, false, false);

-- Whether one person alone may approve an own request: the latest row says what is so now. The first says no.
CREATE TABLE emergency_switches (
    entry_seq BIGINT NOT NULL,
    is_on BOOLEAN NOT NULL,
    CONSTRAINT pk_emergency_switches PRIMARY KEY (entry_seq)
);

INSERT INTO emergency_switches (entry_seq, is_on) VALUES (0, false);
