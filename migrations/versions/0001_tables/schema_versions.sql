-- With which older revisions each revision is compatible; `env.py` writes it.

CREATE TABLE schema_versions (
    revision TEXT COLLATE "C" NOT NULL,
    compatible_from TEXT COLLATE "C" NOT NULL,
    applied_at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT now(),
    CONSTRAINT pk_schema_versions PRIMARY KEY (revision)
);
