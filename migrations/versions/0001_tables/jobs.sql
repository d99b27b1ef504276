-- Jobs: long work, its state, and its file in chunks. They are no books: from the books the same job makes its file
-- again.

CREATE TABLE jobs (
    job_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    request JSONB NOT NULL,
    parameters JSONB NOT NULL,
    principal TEXT COLLATE "C" NOT NULL,
    casino_id TEXT COLLATE "C",
    request_id TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    file_name TEXT COLLATE "C" NOT NULL,
    media_type TEXT COLLATE "C" NOT NULL,
    chunks INTEGER NOT NULL,
    size BIGINT NOT NULL,
    position JSONB,
    done BIGINT NOT NULL,
    total BIGINT,
    attempts INTEGER NOT NULL,
    began_at TIMESTAMP WITH TIME ZONE,
    began_with BIGINT NOT NULL,
    heartbeat_at TIMESTAMP WITH TIME ZONE,
    ended_at TIMESTAMP WITH TIME ZONE,
    error TEXT COLLATE "C",
    cancelled_by TEXT COLLATE "C",
    removed_at TIMESTAMP WITH TIME ZONE,
    holder TEXT COLLATE "C",
    lease_until TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_jobs PRIMARY KEY (job_id),
    CONSTRAINT uq_jobs_principal_request_id UNIQUE (principal, request_id),
    CONSTRAINT ck_jobs_state CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    CONSTRAINT ck_jobs_counts
        CHECK (chunks >= 0 AND size >= 0 AND done >= 0 AND attempts >= 0 AND (total IS NULL OR total >= done)),
    CONSTRAINT ck_jobs_lease CHECK ((state = 'running') = (holder IS NOT NULL AND lease_until IS NOT NULL)),
    CONSTRAINT ck_jobs_ended_at CHECK ((state IN ('done', 'failed', 'cancelled')) = (ended_at IS NOT NULL)),
    CONSTRAINT ck_jobs_error CHECK ((state = 'failed') = (error IS NOT NULL)),
    CONSTRAINT ck_jobs_cancelled_by CHECK ((state = 'cancelled') = (cancelled_by IS NOT NULL))
);

CREATE INDEX ix_jobs_to_do ON jobs (job_id) WHERE state IN ('queued', 'running');
CREATE INDEX ix_jobs_to_remove ON jobs (ended_at) WHERE state IN ('done', 'failed', 'cancelled') AND chunks > 0;

CREATE TABLE job_chunks (
    job_id TEXT COLLATE "C" NOT NULL,
    number INTEGER NOT NULL,
    content BYTEA NOT NULL,
    sha256 BYTEA NOT NULL,
    CONSTRAINT pk_job_chunks PRIMARY KEY (job_id, number),
    CONSTRAINT fk_job_chunks_job_id_jobs FOREIGN KEY (job_id) REFERENCES jobs (job_id),
    CONSTRAINT ck_job_chunks_number CHECK (number >= 1),
    CONSTRAINT ck_job_chunks_sha256 CHECK (sha256 = sha256(content))
);
