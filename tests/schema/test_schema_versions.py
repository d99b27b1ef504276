"""An old version works on a newer schema as long as each newer revision says so, and a revision that takes says not."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy
from alembic.script import ScriptDirectory

from jackpot_service.schema import migrate
from jackpot_service.schema.migrate import NoSuchRevision, SchemaInUse, SchemaState, SchemaTooNew
from tests.support.next_version import THIS, add_revision, scripts_in, statements_up

pytestmark = pytest.mark.slow

CLAUSE = r"(?:[^,;()']|'[^']*'|\((?:[^()]|\([^()]*\))*\))*?"
"""Part of one action of ALTER TABLE, such as a column that is added: up to a comma that is in no brackets."""

TAKES = re.compile(
    r"\b(drop|rename|truncate|revoke|delete\s+from|create\s+or\s+replace|create\s+(constraint\s+)?trigger"
    r"|create\s+rule|create\s+policy|create\s+unique\s+index|detach\s+partition|row\s+level\s+security|set\s+schema"
    r"|add\s+(constraint|check|unique|primary\s+key|foreign\s+key|exclude)|set\s+not\s+null"
    rf"|add\s+(?!{CLAUSE}\b(default|generated)\b){CLAUSE}\bnot\s+null"
    r"|alter\s+(column\s+)?\S+\s+(set\s+data\s+)?type)\b",
    re.IGNORECASE,
)
"""What an old service may find gone, or changed, or by which what it writes may be refused."""

Migrated = Callable[..., None]


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_database_url: str) -> Migrated:
    """Migrate the test's database by a later version, which has revisions of its own."""
    migrate.upgrade(empty_database_url)
    scripts = scripts_in(tmp_path)

    def upgrade(number: str, **revision: Any) -> None:
        add_revision(scripts, number, **revision)
        by_later(lambda: migrate.upgrade(empty_database_url))

    def by_later(act: Callable[[], object]) -> None:
        migrate._known.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr(migrate, "SCRIPTS", scripts)
            act()

    upgrade.by_later = by_later  # type: ignore[attr-defined]
    return upgrade


def state(url: str) -> SchemaState:
    return migrate.state(sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool))


def compatible_from(url: str) -> dict[str, str]:
    with psycopg.connect(url.replace("+psycopg", "")) as owner:
        return dict(owner.execute("SELECT revision, compatible_from FROM schema_versions").fetchall())


def test_a_version_works_on_a_newer_schema_that_says_so(empty_database_url: str, later: Migrated) -> None:
    assert state(empty_database_url) is SchemaState.CURRENT
    later("9001")
    assert state(empty_database_url) is SchemaState.NEWER
    later("9002", before="9001", up="SELECT 1", down="SELECT 1")
    assert state(empty_database_url) is SchemaState.NEWER

    engine = sqlalchemy.create_engine(empty_database_url, poolclass=sqlalchemy.NullPool)
    assert migrate.is_current(engine)


def test_a_version_changes_nothing_of_a_newer_schema(empty_database_url: str, later: Migrated) -> None:
    later("9001")
    before = compatible_from(empty_database_url)

    migrate.upgrade(empty_database_url)

    assert compatible_from(empty_database_url) == before
    assert before["9001"] == THIS


def test_one_revision_that_is_not_compatible_is_enough_whatever_a_later_one_says(
    empty_database_url: str, later: Migrated
) -> None:
    later("9001", since="9001")
    assert state(empty_database_url) is SchemaState.TOO_NEW
    later("9002", before="9001", since=THIS, up="SELECT 1", down="SELECT 1")
    assert state(empty_database_url) is SchemaState.TOO_NEW
    with pytest.raises(SchemaTooNew):
        migrate.upgrade(empty_database_url)


def test_a_revision_that_says_nothing_is_compatible_with_no_earlier_version(
    empty_database_url: str, later: Migrated
) -> None:
    later("9001", since=None)
    assert state(empty_database_url) is SchemaState.TOO_NEW


def test_a_revision_that_is_taken_back_says_nothing_any_more(empty_database_url: str, later: Migrated) -> None:
    later("9001", since="9001")
    later.by_later(lambda: migrate.downgrade(empty_database_url, "-1"))  # type: ignore[attr-defined]

    assert "9001" not in compatible_from(empty_database_url)
    assert state(empty_database_url) is SchemaState.CURRENT


def test_a_revision_that_nobody_knows_is_refused(empty_database_url: str) -> None:
    with pytest.raises(NoSuchRevision):
        migrate.upgrade(empty_database_url, "9001")


def test_a_schema_that_is_behind_is_no_newer_one(empty_database_url: str) -> None:
    assert state(empty_database_url) is SchemaState.BEHIND
    migrate.upgrade(empty_database_url, "0001")
    assert state(empty_database_url) is SchemaState.BEHIND


def test_a_database_of_an_unknown_revision_that_says_nothing_is_too_new(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url, "0001")
    with psycopg.connect(empty_database_url.replace("+psycopg", "")) as owner:
        owner.execute("UPDATE alembic_version SET version_num = 'theirs'")
    assert state(empty_database_url) is SchemaState.TOO_NEW


def test_a_revision_whose_locks_are_held_gives_up_in_the_end_and_has_changed_nothing(
    empty_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate.upgrade(empty_database_url)
    before = compatible_from(empty_database_url)
    scripts = scripts_in(tmp_path)
    add_revision(scripts, "9001")
    monkeypatch.setattr(migrate, "SCRIPTS", scripts)
    with psycopg.connect(empty_database_url.replace("+psycopg", "")) as reader:
        reader.execute("SELECT count(*) FROM bets")
        with pytest.raises(SchemaInUse):
            migrate.upgrade(empty_database_url, attempts=2)

    assert compatible_from(empty_database_url) == before
    migrate.upgrade(empty_database_url)
    assert compatible_from(empty_database_url) == before | {"9001": THIS}


# --- what a revision may do -------------------------------------------------------------------------------------------


def mistakes(scripts: Path) -> list[str]:
    """What revisions say wrongly of themselves."""
    chain = list(ScriptDirectory(str(scripts)).walk_revisions())[::-1]
    order = [script.revision for script in chain]
    wrong: list[str] = []
    before: str | None = None
    for script in chain:
        since = getattr(script.module, "compatible_from", None)
        if since not in order or order.index(since) > order.index(script.revision):
            wrong.append(f"{script.revision} does not say from which revision on services work with it")
            continue
        taken = sorted({match[0].lower() for match in TAKES.finditer(statements_up(script))})
        if before is not None and order.index(since) < order.index(before):
            wrong.append(f"{script.revision} takes back what {before} said")
        elif taken and since == before:
            wrong.append(f"{script.revision} says that nothing changes for {before}, and has: {', '.join(taken)}")
        before = since
    return wrong


def test_every_revision_says_truly_with_which_it_is_compatible() -> None:
    assert mistakes(migrate.SCRIPTS) == []


@pytest.mark.parametrize(
    ("revision", "mistake"),
    [
        ({"since": None}, "does not say"),
        ({"since": "9002"}, "does not say"),
        ({"since": "0001"}, "takes back"),
        ({"up": "ALTER TABLE bets DROP COLUMN note"}, "drop"),
        ({"up": "ALTER TABLE bets RENAME COLUMN note TO notes"}, "rename"),
        ({"up": "ALTER TABLE bets ALTER COLUMN note SET  NOT NULL"}, "set  not null"),
        ({"up": "REVOKE SELECT ON bets FROM jackpot_app"}, "revoke"),
        ({"up": "ALTER TABLE bets ADD CONSTRAINT ck_bets_note CHECK (note <> '')"}, "add constraint"),
        ({"up": "ALTER TABLE bets ADD CHECK (note <> '')"}, "add check"),
        ({"up": "ALTER TABLE bets ADD UNIQUE (note)"}, "add unique"),
        ({"up": "ALTER TABLE bets ADD FOREIGN KEY (note) REFERENCES notes"}, "add foreign key"),
        ({"up": "ALTER TABLE bets ADD COLUMN note TEXT NOT NULL"}, "not null"),
        ({"up": "ALTER TABLE bets ADD note TEXT CHECK (note IN ('a', 'b')) NOT NULL"}, "not null"),
        ({"up": "ALTER TABLE bets ADD COLUMN note NUMERIC(30, 4) NOT NULL, ADD COLUMN d INT DEFAULT 1"}, "not null"),
        ({"up": "ALTER TABLE bets ALTER COLUMN note TYPE BIGINT"}, "type"),
        ({"up": "ALTER TABLE bets ALTER note SET DATA TYPE BIGINT USING note::bigint"}, "type"),
        ({"up": "ALTER TABLE bets DETACH PARTITION bets_default"}, "detach partition"),
        ({"up": "CREATE TRIGGER t BEFORE INSERT ON bets FOR EACH ROW EXECUTE FUNCTION refuse()"}, "create trigger"),
        ({"up": "CREATE CONSTRAINT TRIGGER t AFTER INSERT ON bets EXECUTE FUNCTION refuse()"}, "create constraint"),
        ({"up": "CREATE OR REPLACE FUNCTION name_by_look(name text) RETURNS text AS 'SELECT 1'"}, "create or replace"),
        ({"up": "CREATE UNIQUE INDEX uq_bets_note ON bets (note)"}, "create unique index"),
        ({"up": '"""); op.drop_table("bets"); op.execute("""SELECT 1'}, "drop"),
    ],
)
def test_a_revision_that_takes_away_must_say_from_which_version_on(
    revision: dict[str, str], mistake: str, tmp_path: Path
) -> None:
    scripts = scripts_in(tmp_path)
    add_revision(scripts, "9001", **revision)
    (mistake_found,) = mistakes(scripts)
    assert mistake in mistake_found


@pytest.mark.parametrize(
    "up",
    [
        "ALTER TABLE bets ADD COLUMN note TEXT",
        "ALTER TABLE bets ADD COLUMN note NUMERIC(30, 4) NOT NULL DEFAULT 0",
        "ALTER TABLE bets ADD COLUMN note TEXT DEFAULT '' NOT NULL, ADD COLUMN other TEXT",
        "ALTER TABLE bets ADD COLUMN note TEXT CHECK (note IS NOT NULL OR jackpot_id <> '')",
        "CREATE TABLE notes (note TEXT NOT NULL UNIQUE CHECK (note <> ''))",
        "CREATE FUNCTION note_of(note text) RETURNS text LANGUAGE sql AS 'SELECT note'",
        "CREATE INDEX ix_bets_note ON bets (note)",
        "ALTER TABLE bets VALIDATE CONSTRAINT ck_bets_note",
        "ALTER TABLE bets ATTACH PARTITION bets_2027_01 DEFAULT",
    ],
)
def test_a_revision_that_only_adds_is_compatible_with_the_one_before(up: str, tmp_path: Path) -> None:
    scripts = scripts_in(tmp_path)
    add_revision(scripts, "9001", up=up)
    assert mistakes(scripts) == []


def test_a_revision_that_takes_away_and_says_from_which_version_on_is_right(tmp_path: Path) -> None:
    scripts = scripts_in(tmp_path)
    add_revision(scripts, "9001")
    add_revision(scripts, "9002", before="9001", since="9001", up="ALTER TABLE bets DROP COLUMN note", down="SELECT 1")
    assert mistakes(scripts) == []
