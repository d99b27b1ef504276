"""`jackpot passkeys …`: passkeys as the API lists them, and a lost one revoked by an operator."""

import json
import re
from collections.abc import Iterator

import pytest

from jackpot_service.domain.principals import Principal, Role
from tests.support import signing_people
from tests.support.authenticator import Authenticator
from tests.support.command_line import Jackpot, calling, program
from tests.support.fixtures import books_verify
from tests.support.fixtures import world as world  # noqa: PLC0414  a fixture of these tests
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]


@pytest.fixture
def passkey_id(world: World) -> str:
    """The only passkey of Bob, of finance."""
    bob, authenticator = Principal("Bob", Role.FINANCE), Authenticator()
    return world.transact(
        lambda session: signing_people.register(session, person=bob, authenticator=authenticator, now=world.clock())
    ).passkey_id


@pytest.fixture
def run(
    world: World, database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Jackpot]:
    """The program, calling the world's service as an operator."""
    monkeypatch.setenv("JACKPOT_KEY", world.person("Olga", Role.OPERATOR))
    with calling(monkeypatch, world.app):
        yield program(monkeypatch, capsys, database_url)


def test_a_lost_passkey_is_found_by_its_person_and_revoked(run: Jackpot, world: World, passkey_id: str) -> None:
    (line,) = run("passkeys", "list", "--person", "Bob").ok().splitlines()[1:]
    assert re.split(r" {2,}", line)[:4] == [passkey_id, "Bob", "blue", "localhost"]
    assert re.split(r" {2,}", line)[5:] == ["-", "live"]
    assert json.loads(run("passkeys", "list", "--json").ok()) == world.get("/v1/passkeys").ok()["items"][0]
    assert run("passkeys", "list", "--person", "Olga").err == "There are none.\n"

    revoking = ("passkeys", "revoke", passkey_id, "--reason", "it was lost", "--request-id", "r1")
    assert run(*revoking).err == f"Passkey {passkey_id} of Bob is revoked.\n"
    assert run(*revoking).err == f"Passkey {passkey_id} of Bob was revoked before, by this request.\n"

    assert re.search(r"  revoked 2026-11-20 \d\d:\d\d:\d\dZ$", run("passkeys", "list").ok(), re.MULTILINE)
    run(*revoking[:-1], "r2").refused(1, "jackpot: passkey-revoked: ")


def test_nobody_revokes_their_own_last_passkey(
    run: Jackpot, world: World, passkey_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACKPOT_KEY", world.person("Bob", Role.FINANCE))

    run("passkeys", "revoke", passkey_id, "--reason", "it was lost").refused(1, "jackpot: passkey-last: ")
    run("passkeys", "revoke", passkey_id).refused(2, "Missing option '--reason'")
    run("passkeys", "revoke", "none", "--reason", "it was lost").refused(1, "jackpot: passkey-unknown: ")
