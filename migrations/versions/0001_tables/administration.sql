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

-- The decision repeats the maker, so that a CHECK can say that the checker is another. One of a request is final.
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
    CONSTRAINT pk_change_decisions PRIMARY KEY (request_id, checker, outcome),
    CONSTRAINT fk_change_decisions_request_id_maker_change_requests FOREIGN KEY (request_id, maker)
        REFERENCES change_requests (request_id, maker),
    CONSTRAINT fk_change_decisions_checker_principals FOREIGN KEY (checker) REFERENCES principals (name),
    CONSTRAINT ck_change_decisions_reason CHECK (length(reason) > 0),
    CONSTRAINT ck_change_decisions_outcome CHECK (outcome IN ('approved', 'rejected')),
    CONSTRAINT ck_change_decisions_two_people CHECK ((checker <> maker) <> is_emergency)
);

CREATE UNIQUE INDEX uq_change_decisions_final ON change_decisions (request_id) WHERE is_final;

-- Which role decides which kind of change. Only the owner writes this table and the next.
CREATE TABLE change_deciders (
    kind TEXT COLLATE "C" NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_change_deciders PRIMARY KEY (kind, role)
);

INSERT INTO change_deciders (kind, role)
VALUES ('rate-sheet', 'rates'),
       ('rules', 'operator'),
       ('retirement', 'operator'),
       ('adjustment', 'operator'),
       ('seed-recovery', 'operator'),
       ('prize-fund-true-up', 'operator'),
       ('held-awards', 'operator'),
       ('compensation', 'operator'),
       ('declined-compensation', 'operator'),
       ('round-correction', 'operator'),
       ('statement-settlement', 'operator');

-- Whether one person alone may approve an own request: the latest row says what is so now. The first says no.
CREATE TABLE emergency_switches (
    entry_seq BIGINT NOT NULL,
    is_on BOOLEAN NOT NULL,
    CONSTRAINT pk_emergency_switches PRIMARY KEY (entry_seq)
);

INSERT INTO emergency_switches (entry_seq, is_on) VALUES (0, false);
