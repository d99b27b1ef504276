"""
Maker and checker are principals, names that look alike are one name, and nobody releases what an own key won.

Facts about letters that look alike: Unicode Security Mechanisms (UTS #39), confusables.txt, version 17.0.0 of
2025-07-22, restricted to the letters that a name may have and to what one letter can be taken for. Added to them are
small letters that are drawn as small capitals, and i, since I and l look alike in many typefaces.
"""

import unicodedata
from collections.abc import Iterable, Sequence

from alembic import op

revision: str = "0029"
down_revision: str | None = "0028"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ROLE = "jackpot_app"

LETTERS = " -~À-ÖØ-öø-ıĴ-ľŁ-ňŊ-žƠơƯưȘ-țḀ-ẕẞẠ-ỹΆΈ-ΊΌΎ-ΡΣ-ώЀ-џҊ-ӿ"
"""What a name is written in: ASCII, and the precomposed letters of Latin, Greek and Cyrillic."""

ALIKE = """
'`" 3ЗзӠ 6б aΑαАа bΒВвЬь cСс eΕЕеҽ hΗНнһ jЈј kĸΚκКк l1Ii|ıΙιІіӀӏ mΜМм nΝ o0ΟοσОо pþΡρРр rг sЅѕ tΤτТт uυ vν wш xΧχХх
yΥγУуҮү zΖ ßẞβ đĐÐ ħЋћ ŋη æӔӕ ΓГ ΠπПп φΦФф θΘӨө єεЄ лΛЛ ҷҶӋӌ \u0306\u030c \u0326\u0327
"""  # noqa: RUF001  these are the letters
"""Each word is letters that look alike; the first stands for all."""

SEQUENCES = (("æ", "ae"), ("œ", "oe"), ("ы", "bl"), ("Ю", "lo"), ("rn", "m"))
"""Letters that look like two others, or two like one, after those above."""

DECIDERS = (
    ("rate-sheet", "rates"),
    ("rules", "operator"),
    ("retirement", "operator"),
    ("adjustment", "operator"),
    ("seed-recovery", "operator"),
    ("prize-fund-true-up", "operator"),
    ("held-awards", "operator"),
    ("compensation", "operator"),
    ("round-correction", "operator"),
    ("statement-settlement", "operator"),
)
"""Which role decides which kind of change."""


def _bases() -> list[str]:
    """List the letters of names without their marks, and the marks."""
    found: set[str] = set()
    for first, last in _ranges(LETTERS):
        for code in range(ord(first), ord(last) + 1):
            found.update(unicodedata.normalize("NFD", chr(code)))
    return sorted(found)


def _ranges(letters: str) -> Iterable[tuple[str, str]]:
    place = 0
    while place < len(letters):
        is_range = letters[place + 1 : place + 2] == "-"
        yield letters[place], letters[place + 2] if is_range else letters[place]
        place += 3 if is_range else 1


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _translated(change: dict[str, str]) -> str:
    """Write an expression that takes a name apart into letters and marks, and changes each."""
    pairs = [(letter, change[letter]) for letter in _bases() if change.get(letter, letter) != letter]
    old, new = ("".join(side) for side in zip(*pairs, strict=True))
    return f"translate(normalize(name, NFD), {_quoted(old)}, {_quoted(new)})"


def _in_one_case() -> str:
    folded = {letter: letter.casefold() for letter in _bases()}
    expression = _translated({letter: other for letter, other in folded.items() if len(other) == 1})
    return f"replace(replace({expression}, 'ß', 'ss'), 'ẞ', 'ss')"


def _by_look() -> str:
    alike = {letter: word[0] for word in ALIKE.split() for letter in word}
    small = {letter: letter.lower() for letter in _bases() if letter != "Ю"}
    expression = _translated(small | alike)
    for letters, others in SEQUENCES:
        expression = f"replace({expression}, {_quoted(letters)}, {_quoted(others)})"
    return expression


def _function(name: str, expression: str) -> str:
    return (
        f"CREATE FUNCTION {name}(name text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE "
        f"AS $$ SELECT {expression} $$"
    )


# Whoever was there before keeps the name, even if it looks like an earlier one or has other letters: the application
# may not write the mark.
NAMES = f"""
ALTER TABLE principals ADD COLUMN precedes_name_rules BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE principals DISABLE TRIGGER append_only;
UPDATE principals AS one SET precedes_name_rules = true
WHERE name !~ '^[{LETTERS}]+$'
   OR name_by_look(name) = name_by_look('cli')
   OR EXISTS (
       SELECT FROM principals AS earlier
       WHERE earlier.entry_seq < one.entry_seq
         AND (name_by_look(earlier.name) = name_by_look(one.name)
              OR name_in_one_case(earlier.name) = name_in_one_case(one.name))
   );
ALTER TABLE principals ENABLE TRIGGER append_only;
ALTER TABLE principals DROP CONSTRAINT ck_principals_name;
DROP INDEX uq_principals_lower_name;
INSERT INTO principals (name, role, casino_id, is_automaton, entry_seq) VALUES ('cli', 'operator', NULL, true, 0);
ALTER TABLE principals ADD CONSTRAINT ck_principals_name CHECK (precedes_name_rules OR name ~ '^[{LETTERS}]+$');
ALTER TABLE principals ADD CONSTRAINT ck_principals_cli
    CHECK ((name = 'cli') = (entry_seq = 0) AND (name <> 'cli' OR (role = 'operator' AND is_automaton)));
CREATE UNIQUE INDEX uq_principals_name_in_one_case ON principals (name_in_one_case(name)) WHERE NOT precedes_name_rules;
CREATE UNIQUE INDEX uq_principals_name_by_look ON principals (name_by_look(name)) WHERE NOT precedes_name_rules;
ALTER TABLE keys ADD CONSTRAINT ck_keys_principal CHECK (principal <> 'cli');
REVOKE INSERT ON principals FROM {ROLE};
GRANT INSERT (name, role, casino_id, is_automaton, entry_seq) ON principals TO {ROLE};
"""  # noqa: S608  constants above

EARLIER_NAMES = f"""
ALTER TABLE keys DROP CONSTRAINT ck_keys_principal;
DROP INDEX uq_principals_name_by_look;
DROP INDEX uq_principals_name_in_one_case;
ALTER TABLE principals DROP CONSTRAINT ck_principals_cli, DROP CONSTRAINT ck_principals_name;
ALTER TABLE principals DISABLE TRIGGER append_only;
DELETE FROM principals WHERE name = 'cli';
ALTER TABLE principals ENABLE TRIGGER append_only;
CREATE UNIQUE INDEX uq_principals_lower_name ON principals (lower(name));
ALTER TABLE principals
    ADD CONSTRAINT ck_principals_name CHECK (name <> '' AND lower(name) <> 'cli'),
    DROP COLUMN precedes_name_rules;
REVOKE INSERT (name, role, casino_id, is_automaton, entry_seq) ON principals FROM {ROLE};
GRANT INSERT ON principals TO {ROLE};
"""  # noqa: S608  as above

PEOPLE = """
ALTER TABLE change_requests ADD CONSTRAINT fk_change_requests_maker_principals
    FOREIGN KEY (maker) REFERENCES principals (name);
ALTER TABLE change_decisions ADD CONSTRAINT fk_change_decisions_checker_principals
    FOREIGN KEY (checker) REFERENCES principals (name);
CREATE TABLE change_deciders (
    kind TEXT COLLATE "C" NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_change_deciders PRIMARY KEY (kind, role)
);
CREATE TABLE emergency_switches (
    entry_seq BIGINT NOT NULL,
    is_on BOOLEAN NOT NULL,
    CONSTRAINT pk_emergency_switches PRIMARY KEY (entry_seq)
);
INSERT INTO emergency_switches SELECT coalesce(max(seq), 0), false FROM acts;
"""

TABLES = ("change_deciders", "emergency_switches")
"""The owner writes them: the first by a migration, the second by a command that is an act."""

# The key that posted an entry is not recorded; its owner is. So every key counts that its owner could have used then:
# a process believes in a revoked one for 15 seconds, and clocks may differ by two.
KEY_MAKERS = """
CREATE VIEW key_makers AS
SELECT key.principal, made.principal AS maker,
       made.received_at - interval '1 minute' AS usable_from,
       coalesce(key.revoked_at + interval '1 minute', 'infinity') AS usable_until
FROM keys AS key
JOIN entries AS made ON made.jackpot_id = '-' AND made.stripe_no = 0 AND made.seq = key.entry_seq
WHERE made.principal <> 'cli'
"""

ON_BOTH_SIDES = """
CREATE FUNCTION is_key_maker_on_both_sides(of_jackpot text, of_round bigint, actor text, acted_at timestamptz)
RETURNS boolean LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM entries AS played
        JOIN key_makers AS theirs ON theirs.principal = played.principal
         AND played.received_at BETWEEN theirs.usable_from AND theirs.usable_until
        WHERE played.jackpot_id = of_jackpot AND played.round_key = of_round
          AND (theirs.maker = actor OR EXISTS (
              SELECT FROM key_makers AS own
              WHERE own.principal = actor AND own.maker = theirs.maker
                AND acted_at BETWEEN own.usable_from AND own.usable_until
          ))
    )
$$
"""

REQUIRE_CHECKER = """
CREATE FUNCTION require_checker() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    request change_requests;
    decider principals;
BEGIN
    SELECT * INTO request FROM change_requests WHERE request_id = NEW.request_id;
    SELECT * INTO decider FROM principals WHERE name = NEW.checker;
    IF request IS NULL OR decider IS NULL THEN
        RETURN NEW;  -- The foreign keys refuse it.
    END IF;
    IF decider.is_automaton OR decider.role = 'table' THEN
        RAISE insufficient_privilege USING MESSAGE = 'a service account decides no change';
    END IF;
    IF NOT EXISTS (SELECT FROM change_deciders WHERE kind = request.kind AND role = decider.role) THEN
        RAISE insufficient_privilege
            USING MESSAGE = format('the role %s decides no change of kind %s', decider.role, request.kind);
    END IF;
    IF NEW.checker <> NEW.maker AND (name_by_look(NEW.checker) = name_by_look(NEW.maker)
                                     OR name_in_one_case(NEW.checker) = name_in_one_case(NEW.maker)) THEN
        RAISE insufficient_privilege USING MESSAGE = 'the maker decides no change, also in other letters';
    END IF;
    IF NEW.is_emergency AND NOT (SELECT is_on FROM emergency_switches ORDER BY entry_seq DESC LIMIT 1) THEN
        RAISE insufficient_privilege USING MESSAGE = 'emergency approvals are switched off';
    END IF;
    IF NEW.outcome = 'approved' AND request.kind IN ('held-awards', 'compensation', 'round-correction')
       AND request.payload ->> 'decision' IS DISTINCT FROM 'reject'
       AND EXISTS (
           SELECT FROM rounds
           WHERE jackpot_id || ' ' || table_id || ' ' || round_id = concat_ws(
               ' ', request.payload ->> 'jackpot_id', request.payload ->> 'table_id', request.payload ->> 'round_id')
             AND is_key_maker_on_both_sides(jackpot_id, round_key, NEW.checker, NEW.decided_at)
       ) THEN
        RAISE insufficient_privilege USING MESSAGE = 'who made a key of a round approves nothing of its awards';
    END IF;
    RETURN NEW;
END
$$
"""

REQUIRE_ACTOR = """
CREATE FUNCTION require_actor() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM entries JOIN principals ON principals.name = entries.principal
        WHERE entries.jackpot_id = '-' AND entries.stripe_no = 0 AND entries.seq = NEW.seq
    ) THEN
        RAISE foreign_key_violation
            USING MESSAGE = format('act %s is no principal''s', NEW.seq), CONSTRAINT = 'require_actor';
    END IF;
    RETURN NEW;
END
$$
"""

REQUIRE_PAYER = """
CREATE FUNCTION require_payer() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM entries AS act
        WHERE act.jackpot_id = '-' AND act.stripe_no = 0 AND act.seq = NEW.act_seq
          AND is_key_maker_on_both_sides(NEW.jackpot_id, NEW.round_key, act.principal, act.received_at)
    ) THEN
        RAISE insufficient_privilege USING MESSAGE = 'who made a key of a round records no payment of its awards';
    END IF;
    RETURN NEW;
END
$$
"""

TRIGGERS = """
CREATE TRIGGER require_checker BEFORE INSERT ON change_decisions FOR EACH ROW EXECUTE FUNCTION require_checker();
CREATE TRIGGER require_actor BEFORE INSERT ON acts FOR EACH ROW EXECUTE FUNCTION require_actor();
CREATE TRIGGER require_payer BEFORE INSERT ON award_steps
    FOR EACH ROW WHEN (NEW.step = 'paid') EXECUTE FUNCTION require_payer();
"""

EARLIER_PEOPLE = """
DROP TRIGGER require_payer ON award_steps;
DROP TRIGGER require_actor ON acts;
DROP TRIGGER require_checker ON change_decisions;
DROP FUNCTION require_payer();
DROP FUNCTION require_actor();
DROP FUNCTION require_checker();
DROP FUNCTION is_key_maker_on_both_sides(text, bigint, text, timestamptz);
DROP VIEW key_makers;
DROP TABLE emergency_switches;
DROP TABLE change_deciders;
ALTER TABLE change_decisions DROP CONSTRAINT fk_change_decisions_checker_principals;
ALTER TABLE change_requests DROP CONSTRAINT fk_change_requests_maker_principals;
"""

REFUSE_SWITCHED = """
DO $$
BEGIN
    IF EXISTS (SELECT FROM entries WHERE kind = 'emergency_switched') THEN
        RAISE EXCEPTION 'emergency approvals were switched in this database'
            USING HINT = 'Acts say so, which the version before does not know.';
    END IF;
END
$$
"""


def upgrade() -> None:
    """Keep every name that is there; what was decided before is judged by the rules of then."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(_function("name_in_one_case", _in_one_case()))
    op.execute(_function("name_by_look", _by_look()))
    op.execute(NAMES)
    op.execute(PEOPLE)
    rows = ", ".join(f"('{kind}', '{role}')" for kind, role in DECIDERS)
    op.execute(f"INSERT INTO change_deciders VALUES {rows}")  # noqa: S608  constants above
    op.execute(KEY_MAKERS)
    for function in (ON_BOTH_SIDES, REQUIRE_CHECKER, REQUIRE_ACTOR, REQUIRE_PAYER):
        op.execute(function)
    op.execute(TRIGGERS)
    for name in (*TABLES, "key_makers"):
        op.execute(f"GRANT SELECT ON {name} TO {ROLE}")
    for table in TABLES:
        op.execute(
            f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION refuse_rewrite()"
        )
        op.execute(
            f"CREATE TRIGGER no_truncate BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewrite()"
        )


def downgrade() -> None:
    """Refuses books in which the emergency path was switched: the acts that say so stay in the chain."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute(REFUSE_SWITCHED)
    op.execute(EARLIER_PEOPLE)
    op.execute(EARLIER_NAMES)
    op.execute("DROP FUNCTION name_by_look(text)")
    op.execute("DROP FUNCTION name_in_one_case(text)")
