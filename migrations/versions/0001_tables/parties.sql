-- The parties: casinos, their tables, people and machines, and the keys that show who somebody is.

-- A gaming day starts at a wall-clock time of the casino's zone. The check of the zone is that it can be used.
CREATE TABLE casinos (
    casino_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    entry_seq BIGINT NOT NULL,
    zone TEXT COLLATE "C" NOT NULL,
    day_starts TIME NOT NULL,
    CONSTRAINT pk_casinos PRIMARY KEY (casino_id),
    CONSTRAINT ck_casinos_casino_id CHECK (casino_id ~ '^[A-Za-z0-9._:-]{1,64}$'),
    CONSTRAINT ck_casinos_zone CHECK (timestamptz 'epoch' AT TIME ZONE zone IS NOT NULL),
    CONSTRAINT ck_casinos_day_starts CHECK (day_starts < '24:00' AND extract(second FROM day_starts) = 0)
);

-- From which amount a casino reports an award, and withholds a part of it: the latest version that was in force when the
-- award's round was opened. Amounts are minor units of the currency.
CREATE TABLE withholding_rules (
    casino_id TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    version INTEGER NOT NULL,
    in_force_from TIMESTAMP WITH TIME ZONE NOT NULL,
    least_multiple BIGINT,
    report_at_minor BIGINT NOT NULL,
    withhold_at_minor BIGINT,
    percent NUMERIC,
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_withholding_rules PRIMARY KEY (casino_id, currency, version),
    CONSTRAINT fk_withholding_rules_casino_id_casinos FOREIGN KEY (casino_id) REFERENCES casinos (casino_id),
    CONSTRAINT ck_withholding_rules_version CHECK (version >= 1),
    CONSTRAINT ck_withholding_rules_least_multiple CHECK (least_multiple > 0),
    CONSTRAINT ck_withholding_rules_report_at_minor CHECK (report_at_minor > 0),
    CONSTRAINT ck_withholding_rules_withhold_at_minor
        CHECK ((withhold_at_minor IS NULL) = (percent IS NULL) AND withhold_at_minor >= report_at_minor),
    CONSTRAINT ck_withholding_rules_percent CHECK (percent > 0 AND percent < 100 AND scale(percent) <= 4)
);

-- For how long an award can be claimed there, and where it goes if nobody does: the latest version says what is so now.
CREATE TABLE casino_claims (
    casino_id TEXT COLLATE "C" NOT NULL,
    version INTEGER NOT NULL,
    claim_days INTEGER,
    forfeited_to TEXT COLLATE "C" NOT NULL,
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_casino_claims PRIMARY KEY (casino_id, version),
    CONSTRAINT fk_casino_claims_casino_id_casinos FOREIGN KEY (casino_id) REFERENCES casinos (casino_id),
    CONSTRAINT ck_casino_claims_version CHECK (version > 0),
    CONSTRAINT ck_casino_claims_claim_days CHECK (claim_days BETWEEN 1 AND 36500),
    CONSTRAINT ck_casino_claims_forfeited_to CHECK (forfeited_to IN ('meter', 'statutory'))
);

CREATE TABLE tables (
    table_id TEXT COLLATE "C" NOT NULL,
    casino_id TEXT COLLATE "C" NOT NULL,
    game TEXT COLLATE "C" NOT NULL,
    jackpot_id TEXT COLLATE "C",
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_tables PRIMARY KEY (table_id),
    CONSTRAINT fk_tables_casino_id_casinos FOREIGN KEY (casino_id) REFERENCES casinos (casino_id),
    CONSTRAINT ck_tables_table_id CHECK (table_id ~ '^[A-Za-z0-9._:-]{1,64}$')
);

-- Which names are allowed, and which are one: see 0002_names.
CREATE TABLE principals (
    name TEXT COLLATE "C" NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    casino_id TEXT COLLATE "C",
    is_automaton BOOLEAN NOT NULL,
    department TEXT COLLATE "C" NOT NULL,
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_principals PRIMARY KEY (name),
    CONSTRAINT fk_principals_casino_id_casinos FOREIGN KEY (casino_id) REFERENCES casinos (casino_id),
    CONSTRAINT ck_principals_role CHECK (role IN ('table', 'finance', 'rates', 'operator', 'auditor', 'display')),
    CONSTRAINT ck_principals_department CHECK (department ~ '^[a-z0-9-]{1,64}$'),
    CONSTRAINT ck_principals_casino_id
        CHECK (CASE
            WHEN role = 'table' THEN casino_id IS NOT NULL
            WHEN role IN ('finance', 'display') THEN true
            ELSE casino_id IS NULL
        END),
    CONSTRAINT ck_principals_cli
        CHECK ((name = 'cli') = (entry_seq = 0) AND (name <> 'cli' OR (role = 'operator' AND is_automaton)))
);

-- The command line acts before there is anybody else. No act recorded it.
INSERT INTO principals (name, role, casino_id, is_automaton, department, entry_seq)
VALUES ('cli', 'operator', NULL, true, 'operator', 0);

-- A key is a secret, of which only the hash is here, or a subject of an issuer of tokens.
CREATE TABLE keys (
    key_id TEXT COLLATE "C" NOT NULL,
    secret_hash BYTEA,
    issuer TEXT COLLATE "C",
    subject TEXT COLLATE "C",
    principal TEXT COLLATE "C" NOT NULL,
    table_ids TEXT[] NOT NULL,
    entry_seq BIGINT NOT NULL,
    revoked_at TIMESTAMP WITH TIME ZONE,
    last_used_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_keys PRIMARY KEY (key_id),
    CONSTRAINT fk_keys_principal_principals FOREIGN KEY (principal) REFERENCES principals (name),
    CONSTRAINT ck_keys_secret_hash CHECK (length(secret_hash) = 32),
    CONSTRAINT ck_keys_principal CHECK (principal <> 'cli'),
    CONSTRAINT ck_keys_shown
        CHECK ((secret_hash IS NULL) <> (subject IS NULL) AND (issuer IS NULL) = (subject IS NULL))
);

CREATE INDEX ix_keys_principal_entry_seq ON keys (principal, entry_seq);
CREATE UNIQUE INDEX uq_keys_issuer_subject ON keys (issuer, subject) WHERE revoked_at IS NULL;

-- A passkey is a public key of a person, whose other half an authenticator keeps. It signs for one domain, for ever.
CREATE TABLE passkeys (
    passkey_id TEXT COLLATE "C" NOT NULL,
    principal TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    credential_id BYTEA NOT NULL,
    public_key BYTEA NOT NULL,
    sign_count BIGINT NOT NULL,
    rp_id TEXT COLLATE "C" NOT NULL,
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_passkeys PRIMARY KEY (passkey_id),
    CONSTRAINT uq_passkeys_passkey_id_principal UNIQUE (passkey_id, principal),
    CONSTRAINT uq_passkeys_credential_id UNIQUE (credential_id),
    CONSTRAINT uq_passkeys_entry_seq UNIQUE (entry_seq),
    CONSTRAINT fk_passkeys_principal_principals FOREIGN KEY (principal) REFERENCES principals (name),
    CONSTRAINT ck_passkeys_principal CHECK (principal <> 'cli'),
    CONSTRAINT ck_passkeys_name CHECK (length(name) BETWEEN 1 AND 100),
    CONSTRAINT ck_passkeys_credential_id CHECK (length(credential_id) BETWEEN 1 AND 1023),
    CONSTRAINT ck_passkeys_sign_count CHECK (sign_count BETWEEN 0 AND 4294967295)
);

CREATE INDEX ix_passkeys_principal_entry_seq ON passkeys (principal, entry_seq);

CREATE TABLE passkey_revocations (
    passkey_id TEXT COLLATE "C" NOT NULL,
    revoked_at TIMESTAMP WITH TIME ZONE NOT NULL,
    entry_seq BIGINT NOT NULL,
    CONSTRAINT pk_passkey_revocations PRIMARY KEY (passkey_id),
    CONSTRAINT uq_passkey_revocations_entry_seq UNIQUE (entry_seq),
    CONSTRAINT fk_passkey_revocations_passkey_id_passkeys FOREIGN KEY (passkey_id) REFERENCES passkeys (passkey_id)
);

-- The counter of an authenticator, which a signature moves: one that comes again with an older count is refused.
CREATE TABLE passkey_uses (
    passkey_id TEXT COLLATE "C" NOT NULL,
    sign_count BIGINT NOT NULL,
    used_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_passkey_uses PRIMARY KEY (passkey_id),
    CONSTRAINT fk_passkey_uses_passkey_id_passkeys FOREIGN KEY (passkey_id) REFERENCES passkeys (passkey_id)
);

-- A challenge waits for an authenticator to sign it, for a quarter of an hour.
CREATE TABLE passkey_challenges (
    challenge BYTEA NOT NULL,
    principal TEXT COLLATE "C" NOT NULL,
    made_at TIMESTAMP WITH TIME ZONE NOT NULL,
    request_id TEXT COLLATE "C",
    effect JSONB,
    CONSTRAINT pk_passkey_challenges PRIMARY KEY (challenge, principal),
    CONSTRAINT ck_passkey_challenges_challenge CHECK (length(challenge) = 32),
    CONSTRAINT ck_passkey_challenges_effect CHECK ((request_id IS NULL) = (effect IS NULL))
);

CREATE INDEX ix_passkey_challenges_principal_made_at ON passkey_challenges (principal, made_at);
CREATE INDEX ix_passkey_challenges_made_at ON passkey_challenges (made_at);

-- A person who has signed in with a browser, until they sign out: the cookie holds a secret, and here is its hash.
CREATE TABLE browser_sessions (
    secret_hash BYTEA NOT NULL,
    key_id TEXT COLLATE "C" NOT NULL,
    began_at TIMESTAMP WITH TIME ZONE NOT NULL,
    proved_at TIMESTAMP WITH TIME ZONE NOT NULL,
    seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
    passkey_id TEXT COLLATE "C",
    proof_passkey_id TEXT COLLATE "C",
    CONSTRAINT pk_browser_sessions PRIMARY KEY (secret_hash),
    CONSTRAINT fk_browser_sessions_key_id_keys FOREIGN KEY (key_id) REFERENCES keys (key_id),
    CONSTRAINT fk_browser_sessions_passkey_id_passkeys FOREIGN KEY (passkey_id) REFERENCES passkeys (passkey_id),
    CONSTRAINT fk_browser_sessions_proof_passkey_id_passkeys FOREIGN KEY (proof_passkey_id)
        REFERENCES passkeys (passkey_id),
    CONSTRAINT ck_browser_sessions_secret_hash CHECK (length(secret_hash) = 32)
);

CREATE INDEX ix_browser_sessions_key_id_began_at ON browser_sessions (key_id, began_at);
CREATE INDEX ix_browser_sessions_seen_at ON browser_sessions (seen_at);
