"""The service's login in a cluster that does not know it: made, given a password, and made again after a restore."""

import io
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import psycopg
import pytest
import sqlalchemy

from jackpot_service.cli import opening
from jackpot_service.database import embedded, role
from jackpot_service.database.connections import create_engine, create_owners_engine
from jackpot_service.database.embedded import Cluster
from jackpot_service.database.role import RightsNotMade, RoleInUse
from jackpot_service.schema import migrate
from tests.faults.service import served
from tests.races import books, scene
from tests.races.processes import CONFIG
from tests.support.command_line import Jackpot, program

pytestmark = pytest.mark.long

OPERATIONS = Path(__file__).resolve().parents[2] / "docs" / "operations.md"

WITHOUT_RIGHTS = ("--no-owner", "--no-privileges")


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Cluster]:
    """Give the test a PostgreSQL in which no role was ever made."""
    with embedded.running(tmp_path / "fresh") as cluster:
        yield cluster


@pytest.fixture
def played(durable: Cluster, engine: sqlalchemy.Engine) -> Cluster:
    """Have rounds in another PostgreSQL, to be dumped."""
    scene.open_house(engine)
    scene.open_live(engine, "live", tables=["T1"], base_amount="100", stripes=2)
    for number, cards in enumerate((scene.FLUSH, scene.ROYAL, scene.FLUSH)):
        scene.bet(engine, "T1", f"r{number}", scene.euro("a"), scene.euro("b"))
        scene.settle(engine, "T1", f"r{number}", 2, {"1": cards})
    return durable


On = Callable[[str], Jackpot]


def run(*command: str, env: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    path = f"{embedded._programs()}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, **(env or {})}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


def libpq(url: str) -> str:
    return url.replace("+psycopg", "")


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> On:
    """Run the program on a database, by the login that its command takes."""
    return partial(program, monkeypatch, capsys)


def as_owner(cluster: Cluster, *statements: str, database: str = "jackpot") -> None:
    with psycopg.connect(cluster.conninfo(database), autocommit=True) as owner:
        for statement in statements:
            owner.execute(statement.encode())


# --- After a restore ------------------------------------------------------------------------------------------------


def by_archive(*options: str, source: Cluster, target: Cluster, folder: Path) -> None:
    archive = str(folder / "archive")
    run("pg_dump", "--format=custom", *options, f"--file={archive}", libpq(source.url())).check_returncode()
    run("pg_restore", *options, f"--dbname={libpq(target.url())}", archive)


def by_script(*options: str, source: Cluster, target: Cluster, folder: Path) -> None:
    script = str(folder / "script")
    run("pg_dump", *options, f"--file={script}", libpq(source.url())).check_returncode()
    run("psql", f"--file={script}", libpq(target.url())).check_returncode()


@pytest.mark.parametrize(
    "restore",
    [
        by_archive,
        partial(by_archive, "--no-owner"),
        partial(by_archive, "--no-privileges"),
        partial(by_archive, *WITHOUT_RIGHTS),
        by_script,
        partial(by_script, *WITHOUT_RIGHTS),
    ],
)
def test_after_a_restore_into_a_new_cluster_an_upgrade_makes_the_service_run(
    played: Cluster, fresh: Cluster, on: On, tmp_path: Path, restore: Callable[..., None]
) -> None:
    verified = on(played.url())("verify").ok()
    assert verified.endswith(", 3 rounds, 6 bets, 6 awards: the books are right.\n")
    restore(source=played, target=fresh, folder=tmp_path)
    jackpot = on(fresh.url())

    before = jackpot("verify")
    before.refused(1, 'role "jackpot_app" does not exist', "run: jackpot db upgrade")
    assert len(before.err.splitlines()) == 1

    jackpot("db", "upgrade").ok()
    assert jackpot("verify").ok() == verified
    engine = create_engine(CONFIG, fresh.service_url())
    scene.bet(engine, "T1", "after", scene.euro("a"))
    engine.dispose()
    assert ", 4 rounds, 7 bets, " in jackpot("verify").ok()


def test_a_restore_beside_the_database_that_was_dumped_lacks_the_rights_until_an_upgrade(
    played: Cluster, on: On, tmp_path: Path
) -> None:
    as_owner(played, "CREATE DATABASE beside")
    archive = str(tmp_path / "archive")
    run("pg_dump", "--format=custom", f"--file={archive}", libpq(played.url())).check_returncode()
    run("pg_restore", *WITHOUT_RIGHTS, f"--dbname={libpq(played.url('beside'))}", archive).check_returncode()
    jackpot = on(played.url("beside"))

    jackpot("verify").refused(1, "lacks rights, as after a restore", "run: jackpot db upgrade")
    jackpot("db", "upgrade").ok()
    jackpot("verify").ok()


def test_the_commands_of_the_page_restore_a_dump_without_an_error(
    played: Cluster, fresh: Cluster, tmp_path: Path
) -> None:
    _, page = OPERATIONS.read_text(encoding="utf-8").split("\n### Restoring a dump\n", 1)
    commands = [line.strip() for line in page.partition("\n#")[0].splitlines() if line.startswith("    ")]
    assert [shlex.split(command)[0] for command in commands] == ["pg_dump", "pg_restore", "jackpot", "jackpot"]

    old = {"JACKPOT_OWNER_URL": libpq(played.url())}
    new = {"JACKPOT_OWNER_URL": libpq(fresh.url()), "JACKPOT_DATABASE_URL": libpq(fresh.service_url())}
    dumped, restored, upgraded, verified = (
        run("sh", "-euc", f"cd {shlex.quote(str(tmp_path))}; {command}", env=where)
        for command, where in zip(commands, (old, new, new, new), strict=True)
    )

    assert [process.returncode for process in (dumped, restored, upgraded, verified)] == [0, 0, 0, 0]
    assert (dumped.stderr, restored.stderr) == ("", "")
    assert ", 3 rounds, 6 bets, 6 awards: the books are right." in verified.stdout
    with served(fresh.service_url(), tmp_path / "service.log") as service:
        assert service.status_of("/readyz") == 200


def test_the_logins_of_the_page_are_made_as_it_says(fresh: Cluster) -> None:
    _, page = OPERATIONS.read_text(encoding="utf-8").split("\n### Two logins\n", 1)
    statements = [line.strip() for line in page.partition("\n###")[0].splitlines() if line.startswith("    ")]
    assert [statement.split()[:2] for statement in statements] == [["CREATE", "ROLE"], ["CREATE", "DATABASE"]]
    as_owner(fresh, "DROP DATABASE jackpot", *statements, database="postgres")
    owner = fresh.url(user="jackpot_owner")

    assert migrate.upgrade(owner)
    role.set_password(create_owners_engine(owner, lock_timeout_ms=0), "a secret")

    opening.require_ready(fresh.service_url())


# --- Making the login -----------------------------------------------------------------------------------------------


def test_databases_of_one_cluster_make_the_role_at_the_same_time(fresh: Cluster) -> None:
    names = [f"d{number}" for number in range(8)]
    as_owner(fresh, *(f"CREATE DATABASE {name}" for name in names))
    engines = [create_owners_engine(fresh.url(name), lock_timeout_ms=0) for name in names]

    for wrong in ("", "ALTER ROLE jackpot_app NOLOGIN CREATEDB"):
        if wrong:
            as_owner(fresh, wrong)
        with ThreadPoolExecutor(len(engines)) as pool:
            made = list(pool.map(role.make_role, engines))
        assert made.count(True) == (0 if wrong else 1)

    as_owner(fresh, "SET SESSION AUTHORIZATION jackpot_app")
    psycopg.connect(libpq(fresh.service_url("d3"))).close()


def test_a_role_that_others_change_each_time_is_not_waited_for_for_ever(
    fresh: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = create_owners_engine(fresh.url(), lock_timeout_ms=0)
    role.make_role(engine)
    as_owner(fresh, "ALTER ROLE jackpot_app NOLOGIN")
    monkeypatch.setattr(role, "ATTEMPTS", 1)
    with ThreadPoolExecutor(1) as pool, psycopg.connect(fresh.conninfo("jackpot")) as other:
        other.execute("ALTER ROLE jackpot_app CONNECTION LIMIT 5")
        making = pool.submit(role.make_role, engine)
        books.wait_until_one_waits(engine)
        other.commit()
        with pytest.raises(RoleInUse, match="is being changed by others"):
            making.result()


def test_a_database_that_is_behind_is_migrated_and_nobody_becomes_the_service_any_more(fresh: Cluster) -> None:
    as_owner(
        fresh,
        "CREATE ROLE owner LOGIN CREATEROLE",
        "ALTER DATABASE jackpot OWNER TO owner",
        "SET SESSION AUTHORIZATION owner",
        "CREATE ROLE jackpot_app NOLOGIN",
    )
    owner = fresh.url(user="owner")
    migrate.upgrade(owner, "0001")
    as_owner(
        fresh,
        "ALTER ROLE jackpot_app NOLOGIN INHERIT",
        "SET SESSION AUTHORIZATION owner",
        "GRANT jackpot_app TO owner",
    )
    may_become = "SET SESSION AUTHORIZATION owner; SET ROLE jackpot_app"
    as_owner(fresh, may_become)

    migrate.upgrade(owner)

    opening.require_ready(fresh.service_url())
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied to set role"):
        as_owner(fresh, may_become)


def test_an_owner_who_may_make_no_roles_says_which_statement_somebody_else_has_to_run(fresh: Cluster) -> None:
    as_owner(fresh, "CREATE ROLE owner LOGIN", "ALTER DATABASE jackpot OWNER TO owner")
    owner = fresh.url(user="owner")

    with pytest.raises(RightsNotMade) as refused:
        migrate.upgrade(owner)

    _, statement = str(refused.value).split(" has to run: ")
    as_owner(fresh, statement)
    migrate.upgrade(owner)
    opening.require_ready(fresh.service_url())


def test_a_login_that_owns_nothing_migrates_nothing_and_a_line_says_why(fresh: Cluster) -> None:
    as_owner(fresh, "CREATE ROLE somebody LOGIN CREATEROLE")

    with pytest.raises(RightsNotMade, match=r"permission denied for schema public.*must own the database"):
        migrate.upgrade(fresh.url(user="somebody"))


def test_a_password_is_given_from_standard_input_and_the_service_logs_in_by_it_alone(
    durable: Cluster, on: On, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = "local all jackpot_app scram-sha-256\nlocal all all trust\n"
    (durable.directory / "pg_hba.conf").write_text(rules)
    as_owner(durable, "SELECT pg_reload_conf()", "ALTER SYSTEM SET log_statement = 'all'", "SELECT pg_reload_conf()")

    jackpot = on(durable.url())

    jackpot("verify").refused(1, "the service cannot log in", "jackpot db service-password")
    monkeypatch.setattr("sys.stdin", io.StringIO("a long secret, Größe 9\n"))
    assert jackpot("db", "service-password").ok() == ""

    monkeypatch.setenv("PGPASSWORD", "a long secret, Größe 9")
    jackpot("verify").ok()
    monkeypatch.setenv("PGPASSWORD", "another")
    jackpot("verify").refused(1, "the service cannot log in")
    assert "PASSWORD 'SCRAM-SHA-256$" in (durable.directory / "server.log").read_text()
    assert "long secret" not in (durable.directory / "server.log").read_text()
