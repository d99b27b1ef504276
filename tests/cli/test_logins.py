"""Two logins of one database: which command takes which, and what it says if that is not the right one."""

import io
from collections.abc import Callable

import psycopg
import pytest

from tests.support.command_line import Jackpot
from tests.support.logins import owner_conninfo, owner_url, service_url

pytestmark = pytest.mark.slow

OWNER = "JACKPOT_OWNER_URL"
SERVICE = "JACKPOT_DATABASE_URL"


@pytest.fixture
def as_owner(database_url: str) -> Callable[[str], None]:
    """Run statements by the owner's login."""

    def run(statements: str) -> None:
        with psycopg.connect(owner_conninfo(database_url), autocommit=True) as owner:
            owner.execute(statements.encode())

    return run


def test_a_login_that_could_do_more_starts_nothing_until_an_upgrade_has_mended_it(
    machine: Jackpot, as_owner: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    as_owner("GRANT UPDATE ON entries TO jackpot_app; GRANT CREATE ON SCHEMA public TO PUBLIC")

    refused = machine("verify")

    refused.refused(2, "jackpot: the login jackpot_app could do more than the service may: ", "run: jackpot db upgrade")
    assert len(refused.err.splitlines()) == 1
    monkeypatch.delenv(OWNER)
    machine("serve", "--port", "1").refused(2, "could do more")
    monkeypatch.setenv(OWNER, owner_url(database_url))
    machine("db", "upgrade").ok()
    machine("verify").ok()


def test_a_login_without_its_rights_is_told_how_to_get_them(machine: Jackpot, as_owner: Callable[[str], None]) -> None:
    as_owner("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM jackpot_app")

    refused = machine("verify")

    refused.refused(1, "lacks rights, as after a restore (", "run: jackpot db upgrade")
    assert len(refused.err.splitlines()) == 1
    machine("db", "upgrade").ok()
    machine("verify").ok()


def test_the_owners_login_runs_no_service(machine: Jackpot, monkeypatch: pytest.MonkeyPatch, database_url: str) -> None:
    monkeypatch.delenv(OWNER)
    monkeypatch.setenv(SERVICE, owner_url(database_url))

    for command in (["verify"], ["serve", "--port", "1"], ["jobs", "worker"], ["seal", "--show", "1"]):
        machine(*command).refused(2, "the service logs in as postgres", "name jackpot_app in JACKPOT_DATABASE_URL")


def test_a_process_that_stays_does_not_hold_the_owners_login(machine: Jackpot) -> None:
    for command in (["serve", "--port", "1"], ["jobs", "worker"]):
        machine(*command).refused(2, "JACKPOT_OWNER_URL='…' is refused", "unset it")


def test_a_command_of_the_schema_takes_the_owners_login_alone(
    machine: Jackpot, monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    monkeypatch.delenv(SERVICE)
    for command in (["upgrade"], ["months"]):
        machine("db", *command).ok()

    monkeypatch.setenv(SERVICE, service_url(database_url))
    monkeypatch.delenv(OWNER)
    for command in (["upgrade"], ["months"]):
        machine("db", *command).refused(2, "JACKPOT_OWNER_URL='' is refused", "the login that owns the database")


def test_no_other_command_takes_the_owners_login_for_want_of_the_services(
    machine: Jackpot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SERVICE)

    machine("verify").refused(2, "JACKPOT_DATABASE_URL='' is refused", "the service's login jackpot_app")


def test_the_services_login_changes_no_schema(
    machine: Jackpot, monkeypatch: pytest.MonkeyPatch, database_url: str, as_owner: Callable[[str], None]
) -> None:
    as_owner("REVOKE INSERT ON entries FROM jackpot_app")
    monkeypatch.setenv(OWNER, service_url(database_url))

    machine("db", "upgrade").refused(1, "jackpot: rights-not-made: ", "has to run: ")


@pytest.mark.parametrize("entered", ["", "\n", "two\0words\n", "\ttab\n", "x" * 1025])
def test_what_is_no_password_is_refused(machine: Jackpot, monkeypatch: pytest.MonkeyPatch, entered: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(entered))

    machine("db", "service-password").refused(1, "a password is one line of text")
