"""`jackpot login`: a person agrees in a browser, the token is kept for its owner alone, renewed, and forgotten."""

import json
import stat
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from jackpot_service.cli import sign_in
from jackpot_service.config.settings import Config
from tests.support.command_line import Jackpot, calling_service, program
from tests.support.issuer import AUDIENCE, LocalIssuer, local_issuer

pytestmark = pytest.mark.slow

DEVICE: Final = "/device"
TOKEN: Final = "/token"

INVITED: Final = {
    "device_code": "secret-of-the-device",
    "user_code": "WDJB-MJHT",
    "verification_uri": "https://sign-in.example/device",
    "expires_in": 600,
    "interval": 1,
}
WAITING: Final = (400, {"error": "authorization_pending"})


@pytest.fixture
def issuer() -> Iterator[LocalIssuer]:
    """An issuer that takes sign-ins of devices."""
    with local_issuer() as issuer:
        known = {"issuer": issuer.url, "jwks_uri": f"{issuer.url}/keys"}
        places = {"device_authorization_endpoint": f"{issuer.url}{DEVICE}", "token_endpoint": f"{issuer.url}{TOKEN}"}
        issuer.answer("/.well-known/openid-configuration", known | places)
        issuer.replies[DEVICE] = [(200, INVITED)]
        yield issuer


@pytest.fixture
def jackpot(
    issuer: LocalIssuer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str
) -> Iterator[Jackpot]:
    """The program, without a key, calling a service that knows Ann by the issuer."""
    monkeypatch.setattr("jackpot_service.cli.sign_in.time.sleep", lambda _: None)
    monkeypatch.setenv("JACKPOT_OIDC_ISSUER", issuer.url)
    monkeypatch.setenv("JACKPOT_OIDC_AUDIENCE", AUDIENCE)
    monkeypatch.setenv("JACKPOT_OIDC_AUTHORIZED_PARTIES", "command-line desk")
    run = program(monkeypatch, capsys, database_url)
    run("db", "user", "Ann", "--role", "operator", "--oidc-subject", "sub-ann", "--reason", "hired").ok()
    parties = ("command-line", "desk")
    config = replace(Config(), oidc_issuer=issuer.url, oidc_audience=AUDIENCE, oidc_authorized_parties=parties)
    with calling_service(monkeypatch, database_url, config):
        yield run


def granted(issuer: LocalIssuer, **more: Any) -> tuple[int, dict[str, Any]]:
    """What the issuer gives: a token in force for an hour."""
    token = issuer.token(datetime.now(UTC), azp="command-line", **more)
    return 200, {"access_token": token, "token_type": "Bearer", "refresh_token": "to-renew"}


def test_who_agreed_acts_under_their_name_without_a_key(
    issuer: LocalIssuer, jackpot: Jackpot, nothing_kept: Path
) -> None:
    jackpot("whoami").refused(1, "jackpot: unauthenticated: ", "jackpot login")
    issuer.replies[TOKEN] = [WAITING, (400, {"error": "slow_down"}), granted(issuer)]

    signed_in = jackpot("login")

    assert signed_in.ok() == ""
    assert "Open https://sign-in.example/device in a browser, and agree there to the code WDJB-MJHT." in signed_in.err
    assert signed_in.err.endswith(" as Ann.\n")
    assert "principal           Ann" in jackpot("whoami").ok()
    assert jackpot("casinos", "add", "riga", "Casino Riga", "--reason", "x").err == "Casino riga: added.\n"
    (path, form), *polls = issuer.posted
    assert (path, form["client_id"], "openid" in form["scope"].split()) == (DEVICE, "command-line", True)
    assert [form["device_code"] for _, form in polls] == ["secret-of-the-device"] * 3
    assert {form["grant_type"] for _, form in polls} == {sign_in.GRANT}
    stored = nothing_kept / "jackpot" / "sign-in.json"
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600
    token = next(iter(json.loads(stored.read_text()).values()))["token"]
    assert token not in signed_in.err


def test_a_key_counts_more_than_a_sign_in(
    issuer: LocalIssuer, jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer.replies[TOKEN] = [granted(issuer)]
    monkeypatch.setenv("JACKPOT_KEY", "jk_0123456789abcdef_unknown")

    assert "JACKPOT_KEY is set, and is used instead: unset it." in jackpot("login").err

    jackpot("whoami").refused(1, "jackpot: unauthenticated: ")


def test_a_token_that_is_about_to_end_is_renewed_once(issuer: LocalIssuer, jackpot: Jackpot) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=30)
    issuer.replies[TOKEN] = [granted(issuer, exp=int(soon.timestamp()))]
    jackpot("login").ok()
    issuer.posted.clear()
    issuer.replies[TOKEN] = [granted(issuer)]

    for _ in range(2):
        assert "Ann" in jackpot("whoami").ok()

    assert issuer.posted == [
        (TOKEN, {"grant_type": "refresh_token", "refresh_token": "to-renew", "client_id": "command-line"})
    ]


def test_a_sign_in_that_cannot_be_renewed_has_ended(issuer: LocalIssuer, jackpot: Jackpot) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=30)
    issuer.replies[TOKEN] = [granted(issuer, exp=int(soon.timestamp()))]
    jackpot("login").ok()
    issuer.replies[TOKEN] = [(400, {"error": "invalid_grant", "error_description": "withdrawn\x1b[2K"})]

    jackpot("whoami").refused(3, "jackpot: your sign-in has ended (withdrawn\\x1b[2K): run jackpot login")


def test_a_sign_in_is_forgotten(issuer: LocalIssuer, jackpot: Jackpot) -> None:
    issuer.replies[TOKEN] = [granted(issuer)]
    jackpot("login").ok()

    assert "Signed out of " in jackpot("logout").err
    assert "You were not signed in at " in jackpot("logout").err
    jackpot("whoami").refused(1, "jackpot: unauthenticated: ")


def test_the_token_for_the_service_may_be_the_id_token(issuer: LocalIssuer, jackpot: Jackpot) -> None:
    status, document = granted(issuer)
    issuer.replies[TOKEN] = [(status, {"access_token": "opaque", "id_token": document["access_token"]})]

    assert jackpot("login").err.endswith(" as Ann.\n")


REFUSED: Final[tuple[tuple[list[tuple[int, object]], int, str], ...]] = (
    ([(400, {"error": "access_denied"})], 1, "you are not signed in: access_denied"),
    ([(400, {"error": "expired_token"})], 1, "you are not signed in: expired_token"),
    ([(200, {"access_token": "opaque"})], 3, f"the issuer gave no token for {AUDIENCE}"),
    ([(200, [])], 3, "and not with what it should"),
    ([(500, {})], 3, "with status 500"),
)


def test_what_the_issuer_refuses_is_said_in_a_line(
    issuer: LocalIssuer, jackpot: Jackpot, nothing_kept: Path, subtests: pytest.Subtests
) -> None:
    for replies, status, expected in REFUSED:
        with subtests.test(expected):
            issuer.replies[TOKEN] = list(replies)

            ended = jackpot("login")

            assert (ended.status, expected in ended.err) == (status, True), ended.err
    assert not (nothing_kept / "jackpot" / "sign-in.json").exists()


def test_a_subject_whom_the_service_does_not_know_is_not_signed_in(issuer: LocalIssuer, jackpot: Jackpot) -> None:
    issuer.replies[TOKEN] = [granted(issuer, sub="stranger")]

    ended = jackpot("login")

    assert (ended.status, "jackpot: unauthenticated: " in ended.err) == (1, True)
    assert "You were not signed in at " in jackpot("logout").err


def test_a_file_that_others_can_read_is_not_used(issuer: LocalIssuer, jackpot: Jackpot, nothing_kept: Path) -> None:
    issuer.replies[TOKEN] = [granted(issuer)]
    jackpot("login").ok()
    stored = nothing_kept / "jackpot" / "sign-in.json"
    stored.chmod(0o640)

    jackpot("whoami").refused(1, "can be read by others than its owner")
    stored.chmod(0o600)
    stored.write_text("{")
    jackpot("whoami").refused(1, "cannot be read: remove it, and run jackpot login")


def test_an_issuer_without_that_flow_is_said_to_be_one(issuer: LocalIssuer, jackpot: Jackpot) -> None:
    issuer.answer("/.well-known/openid-configuration", {"issuer": issuer.url, "jwks_uri": f"{issuer.url}/keys"})
    jackpot("login").refused(1, "offers no sign-in of devices")
    issuer.answer("/.well-known/openid-configuration", {"issuer": "https://another.example"})
    jackpot("login").refused(3, "speaks as another issuer")


def test_a_service_without_an_issuer_takes_no_sign_in(
    machine: Jackpot, monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    with calling_service(monkeypatch, database_url):
        machine("login").refused(1, "takes keys only")
