"""Keys and people on the command line: created once, listed, revoked; and a secret is printed once and nowhere else."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from jackpot_service.auth.authenticator import Authenticator
from jackpot_service.cli.demo import house
from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.domain.errors import Unauthenticated
from jackpot_service.domain.principals import Role
from tests.support.command_line import Jackpot, calling, calling_service, key_of, program
from tests.support.fixtures import world as world  # noqa: PLC0414  a fixture of these tests
from tests.support.visitor import Visitor
from tests.support.world import World

pytestmark = pytest.mark.slow


def test_a_key_is_printed_once_listed_without_its_secret_and_revoked(jackpot: Jackpot) -> None:
    created = jackpot(*shlex.split("db key --role operator --name Ann --reason hired --request-id k1"))
    prefix, key_id, secret = created.ok().strip().split("_", 2)
    assert prefix == "jk"

    again = jackpot(*shlex.split("db key --role operator --name Ann --reason hired --request-id k1"))
    assert (again.ok(), key_id in again.err) == ("", True)

    titles, line, _ = jackpot("keys", "list").ok().splitlines()
    assert re.split(r" {2,}", titles)[:6] == ["key", "name", "role", "kind", "department", "casino"]
    assert re.split(r" {2,}", line)[:6] == [key_id, "Ann", "operator", "user", "operator", "-"]
    assert re.split(r" {2,}", line)[8:] == ["-", "live", "-"]

    revoked = jackpot("keys", "revoke", key_id, "--reason", "it was lost")
    assert (revoked.ok(), revoked.err) == ("", f"Key {key_id} of Ann is revoked.\n")
    jackpot("keys", "revoke", key_id, "--reason", "it was lost").refused(1, "jackpot: key-revoked: ")
    listed = jackpot("keys", "list").ok()
    assert f"{key_id}  Ann " in listed
    assert "  revoked 20" in listed
    assert secret not in listed + revoked.err + jackpot("keys", "list", "--json").ok()
    assert jackpot("verify").status == 0


def test_a_key_that_was_made_over_http_is_shown_once(jackpot: Jackpot) -> None:
    creating = shlex.split('keys create --role auditor --name "the inspector" --reason inspection --request-id k1')

    key = jackpot(*creating).ok().strip()
    again = jackpot(*creating)

    assert (again.ok(), again.err.startswith(f"Key {key.split('_')[1]} was created by this request before")) == (
        "",
        True,
    )


@pytest.fixture
def in_a_world(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str
) -> Iterator[Jackpot]:
    """The program, calling the world's service as an operator."""
    monkeypatch.setenv("JACKPOT_KEY", world.person("Olga", Role.OPERATOR))
    with calling(monkeypatch, world.app):
        yield program(monkeypatch, capsys, database_url)


def test_the_owner_of_a_key_is_signed_out_of_the_pages_everywhere(world: World, in_a_world: Jackpot) -> None:
    key = world.person("Ann", Role.FINANCE)
    visitors = [Visitor(world).sign_in(key=key) for _ in range(2)]
    signing_out = ("keys", "sign-out", key.split("_")[1], "--reason", "a notebook was lost")

    ended = in_a_world(*signing_out)

    assert (ended.ok(), ended.err) == ("", "Ann is signed out of the pages; sessions ended: 2.\n")
    assert [visitor.open("/account").status for visitor in visitors] == [303, 303]
    world.get("/v1/me", key=key).ok()
    assert in_a_world(*signing_out).err == "Ann is signed out of the pages; sessions ended: 0.\n"


def test_people_are_listed_with_their_keys(jackpot: Jackpot) -> None:
    for _ in range(2):
        key_of(jackpot, "Rita", "rates", "--service-account")
    key_of(jackpot, "Nina", "operator", "--department", "night-shift")

    _, *people = (line.split() for line in jackpot("people", "list").ok().splitlines())

    assert [" ".join(words[: 6 + ("account" in words)]) for words in people] == [
        "Nina operator user night-shift - 1",
        "Olga operator user operator - 1",
        "Rita rates service account rates - 2",
    ]
    assert len(json.loads(jackpot("people", "show", "Rita", "--json").ok())["keys"]) == 2
    assert len(jackpot("people", "list", "--csv").ok().splitlines()) == 4
    jackpot("people", "show", "Nobody").refused(1, "jackpot: key-unknown: there is nobody named Nobody with a key")


def test_a_department_is_for_ever(jackpot: Jackpot) -> None:
    key_of(jackpot, "Nina", "operator", "--department", "night-shift")

    other = jackpot("db", "key", "--role", "operator", "--name", "Nina", "--reason", "hired")

    other.refused(1, "jackpot: principal-conflict: Nina is a user of role operator, department night-shift; ")


REFUSED: Final = (
    ("db key --role operator --name Bea --department Cage --reason hired", 1, "jackpot: principal-invalid: "),
    ("db key --role operator --name cli --reason hired", 1, "jackpot: principal-invalid: "),
    ("db key --role operator --name ' Ann' --reason hired", 1, "jackpot: principal-invalid: "),
    ("db key --role operator --name Bea --reason ''", 2, "printable"),
    ("db key --role rates --name Ann --reason hired", 1, "jackpot: principal-conflict: "),
    ("db key --role operator --name ann --reason hired", 1, "jackpot: principal-conflict: "),
    ("db key --role auditor --name \N{CYRILLIC CAPITAL LETTER A}nn --reason hired", 1, "jackpot: principal-conflict"),
    ("db key --role operator --name \N{CHEROKEE LETTER GO}nn --reason hired", 1, "jackpot: principal-invalid: "),
    ("db key --role operator --name Ann --reason hired", 1, "jackpot: key-limit-reached: "),
    ("db user Bea --role operator --oidc-subject s --reason hired", 1, "set JACKPOT_OIDC_ISSUER"),
    ("db user Bea --role table --oidc-subject s", 2, "'table' is not one of"),
    ("keys create --role operator --name Bea --request-id 'no id'", 2, "must be 1 to 64 letters"),
    ("keys create --role table --casino nowhere --name server --reason hired", 1, "jackpot: casino-unknown: "),
    ("keys revoke 0a --reason lost", 1, "jackpot: key-unknown: "),
    ("keys revoke 0a", 2, "Missing option '--reason'"),
    ("keys sign-out 0a --reason lost", 1, "jackpot: key-unknown: "),
    ("keys sign-out 0a", 2, "Missing option '--reason'"),
    ("users add Bea --role auditor --oidc-subject s --reason hired", 1, "jackpot: issuer-not-configured: "),
)


def test_what_is_refused_is_said_in_a_line(jackpot: Jackpot, subtests: pytest.Subtests) -> None:
    for _ in range(2):
        key_of(jackpot, "Ann", "operator")

    for command, status, expected in REFUSED:
        with subtests.test(command):
            jackpot(*shlex.split(command)).refused(status, expected)


@pytest.fixture
def with_issuer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str
) -> Iterator[Jackpot]:
    """The program, calling a service whose people may show tokens."""
    monkeypatch.setenv("JACKPOT_OIDC_ISSUER", "https://sign-in.example")
    monkeypatch.setenv("JACKPOT_OIDC_AUDIENCE", "jackpot-ledger")
    run = program(monkeypatch, capsys, database_url)
    config = replace(Config(), oidc_issuer="https://sign-in.example", oidc_audience="jackpot-ledger")
    with calling_service(monkeypatch, database_url, config):
        monkeypatch.setenv("JACKPOT_KEY", key_of(run, "Olga", "operator"))
        yield run


def test_a_person_who_signs_in_elsewhere_is_added_once_and_revoked_as_a_key(with_issuer: Jackpot) -> None:
    run = with_issuer
    add = shlex.split("db user Ann --role operator --oidc-subject sub-1 --reason 'she began today'")

    assert run(*add).err == "Ann: added.\n"
    assert run(*add).err == "Ann: was there already.\n"
    other = shlex.split("db user Bea --role operator --oidc-subject sub-1 --reason hired")
    run(*other).refused(1, "jackpot: already-exists: That subject is Ann.\n")
    alike = ("db", "user", "\N{GREEK CAPITAL LETTER ALPHA}nn", "--role", "auditor", "--oidc-subject", "sub-2")
    run(*alike, "--reason", "hired").refused(1, "jackpot: principal-conflict: ")
    add_over_http = shlex.split("users add 'the inspector' --role auditor --oidc-subject sub-3 --reason inspection")
    assert run(*add_over_http).err == "the inspector: added.\n"
    powerful = shlex.split("users add Eve --role operator --oidc-subject sub-4 --reason x")
    run(*powerful).refused(1, "jackpot: key-forbidden: ")
    listed = {key["principal"]: key for key in map(json.loads, run("keys", "list", "--json").ok().splitlines())}
    assert listed["Ann"]["subject"] == "sub-1"
    assert run("keys", "revoke", listed["Ann"]["key_id"], "--reason", "left").status == 0
    assert run("verify").status == 0


def test_a_demo_that_lost_its_keys_rotates_them(database_url: str, tmp_path: Path) -> None:
    engine = create_engine(Config(), database_url)
    configs = [replace(Config(), data_dir=tmp_path / str(run)) for run in range(4)]
    results = [house.set_up(config, engine, at=datetime.now(UTC)) for config in configs]
    again = house.set_up(configs[-1], engine, at=datetime.now(UTC))
    authenticator = Authenticator(engine)
    for before in (results[2], results[3]):  # The last that was lost is kept, in case somebody still holds it.
        assert authenticator.principal(f"Bearer {before['OLGA']}").role is Role.OPERATOR
    with pytest.raises(Unauthenticated):
        authenticator.principal(f"Bearer {results[1]['OLGA']}")
    engine.dispose()

    assert again == results[3]
    assert len({key for keys in results for key in keys.values()}) == 4 * len(again)
