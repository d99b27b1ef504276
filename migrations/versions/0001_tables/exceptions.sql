-- Refusals that finance must see, and who looked into them. Each refusal's head is the hash of the head before it and of
-- what it says: none can be changed, or removed from between others. `exception_chain` says where the chain ends.

CREATE TABLE exceptions (
    exception_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    table_id TEXT COLLATE "C" NOT NULL,
    round_id TEXT COLLATE "C" NOT NULL,
    digest BYTEA NOT NULL,
    jackpot_id TEXT COLLATE "C" NOT NULL,
    principal TEXT COLLATE "C" NOT NULL,
    noticed_at TIMESTAMP WITH TIME ZONE NOT NULL,
    detail JSONB NOT NULL,
    number BIGINT NOT NULL,
    head BYTEA NOT NULL,
    CONSTRAINT pk_exceptions PRIMARY KEY (exception_id),
    CONSTRAINT uq_exceptions_kind_table_id_round_id_digest UNIQUE (kind, table_id, round_id, digest),
    CONSTRAINT uq_exceptions_number UNIQUE (number),
    CONSTRAINT ck_exceptions_digest CHECK (length(digest) = 32),
    CONSTRAINT ck_exceptions_chain CHECK (number >= 1 AND length(head) = 32)
);

-- The number and the head of the last exception. A transaction that writes one locks this row and changes it.
CREATE TABLE exception_chain (
    chain TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    head BYTEA NOT NULL,
    CONSTRAINT pk_exception_chain PRIMARY KEY (chain),
    CONSTRAINT ck_exception_chain_one CHECK (chain = 'exceptions'),
    CONSTRAINT ck_exception_chain_end CHECK (number >= 0 AND length(head) = 32)
);

INSERT INTO exception_chain (chain, number, head) VALUES ('exceptions', 0, sha256('exceptions'));

-- How many refusals a line stands for that counts those of a table in an hour. The line itself never changes.
CREATE TABLE exception_counts (
    exception_id TEXT COLLATE "C" NOT NULL,
    refusals BIGINT NOT NULL,
    CONSTRAINT pk_exception_counts PRIMARY KEY (exception_id),
    CONSTRAINT fk_exception_counts_exception_id_exceptions FOREIGN KEY (exception_id)
        REFERENCES exceptions (exception_id),
    CONSTRAINT ck_exception_counts_refusals CHECK (refusals >= 1)
);

-- Of any exception: also of those that are no rows, such as a round that is open too long.
CREATE TABLE exception_acknowledgements (
    exception_id TEXT COLLATE "C" NOT NULL,
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_exception_acknowledgements PRIMARY KEY (exception_id)
);
