"""What one operator does alone, and what only the owner of the database does: why is asked for, and who is recorded."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

import psycopg
import pytest

from jackpot_service.cli import db_keys
from jackpot_service.database.transactions import guarded
from tests.support.command_line import Jackpot, key_of
from tests.support.logins import owner_conninfo

pytestmark = pytest.mark.long

ACTS: Final = {
    "casino_added": ("casinos", "add", "oslo", "Casino Oslo"),
    "table_added": ("tables", "add", "T1", "--casino", "riga", "--game", "caribbean-stud", "--jackpot", "live"),
    "jackpot_opened": ("jackpots", "open", "small", "--rules", "cyber-caribbean-stud", "--currency", "EUR"),
    "stripes_added": ("jackpots", "stripes", "live", "20"),
    "rates_published": ("rates", "publish", "--base", "USD", "GBP=1.25"),
}
"""By the kind that the audit trail gives each."""

OF_THE_OWNER: Final = (
    ("db", "key", "--role", "rates", "--name", "Rita"),
    ("db", "user", "Ruth", "--role", "rates", "--oidc-subject", "sub-1"),
)
"""What is recorded under `cli`, whatever JACKPOT_KEY says."""

AGAIN: Final = ("casino_added", "table_added", "stripes_added")
"""What may be asked for again, and then changes nothing."""


def acts(url: str) -> list[tuple[Any, ...]]:
    """The kind, principal, reason and result of each act, the latest first."""
    with psycopg.connect(owner_conninfo(url)) as owner:
        return owner.execute(
            "SELECT kind, principal, reason, after FROM acts JOIN entries USING (seq) WHERE entries.jackpot_id = '-'"
            " ORDER BY seq DESC"
        ).fetchall()


def test_an_act_without_a_reason_is_a_usage_error(
    opened: Jackpot, database_url: str, subtests: pytest.Subtests
) -> None:
    before = acts(database_url)

    for command in (*ACTS.values(), *OF_THE_OWNER):
        with subtests.test(" ".join(command[:2])):
            opened(*command).refused(2, "Missing option '--reason'")

    assert acts(database_url) == before


@pytest.mark.parametrize("kind", ACTS)
def test_an_act_is_of_the_owner_of_the_key(
    opened: Jackpot, monkeypatch: pytest.MonkeyPatch, database_url: str, kind: str
) -> None:
    monkeypatch.setenv("JACKPOT_KEY", key_of(opened, "Ann", "operator"))

    opened(*ACTS[kind], "--reason", "as agreed").ok()

    done, principal, reason, after = acts(database_url)[0]
    assert (done, principal, reason) == (kind, "Ann", "as agreed")
    assert after
    opened("verify").ok()


def test_a_key_of_another_role_is_refused_and_so_is_none(
    opened: Jackpot, monkeypatch: pytest.MonkeyPatch, database_url: str, subtests: pytest.Subtests
) -> None:
    shown = {
        key_of(opened, "Rita", "rates"): "role-forbidden",
        key_of(opened, "Ada", "auditor"): "role-forbidden",
        "jk_0123456789abcdef_unknown": "unauthenticated",
        "no key at all": "unauthenticated",
    }
    before = acts(database_url)
    for key, code in shown.items():
        monkeypatch.setenv("JACKPOT_KEY", key)
        for kind, command in ACTS.items():
            with subtests.test(f"{kind}: {code}"):
                opened(*command, "--reason", "as agreed").refused(1, f"jackpot: {code}: ")
    monkeypatch.delenv("JACKPOT_KEY")
    opened(*ACTS["casino_added"], "--reason", "as agreed").refused(1, "jackpot: unauthenticated: ", "jackpot login")

    assert acts(database_url) == before


@pytest.mark.parametrize("kind", AGAIN)
def test_the_same_again_changes_nothing_whoever_asks_and_why(
    opened: Jackpot, monkeypatch: pytest.MonkeyPatch, database_url: str, kind: str
) -> None:
    opened(*ACTS[kind], "--reason", "as agreed").ok()
    key = key_of(opened, "Ann", "operator")
    before = acts(database_url)

    opened(*ACTS[kind], "--reason", "to be sure").ok()
    monkeypatch.setenv("JACKPOT_KEY", key)
    opened(*ACTS[kind], "--reason", "as agreed").ok()

    assert acts(database_url) == before


def test_what_is_wrong_with_the_arguments_is_said_before_anything_is_sent(
    opened: Jackpot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACKPOT_URL", "http://127.0.0.1:9")

    opened(*ACTS["jackpot_opened"], "--set", "limit", "--reason", "x").refused(2, "is not of the form name=value")
    opened("rates", "publish", "--base", "USD", "GBP", "--reason", "x").refused(2, "is not of the form name=value")
    opened("casinos", "add", "a/b", "B", "--reason", "x").refused(2, "'a/b' must be 1 to 64 letters")


@pytest.mark.parametrize("role", ["operator", "rates"])
def test_the_first_keys_are_the_databases_owners_affair_whatever_key_is_set(
    opened: Jackpot, monkeypatch: pytest.MonkeyPatch, database_url: str, role: str
) -> None:
    monkeypatch.setenv("JACKPOT_OIDC_ISSUER", "https://sign-in.example")
    monkeypatch.setenv("JACKPOT_OIDC_AUDIENCE", "jackpot-ledger")
    monkeypatch.setenv("JACKPOT_KEY", key_of(opened, "Ann", role))

    for command in OF_THE_OWNER:
        opened(*command, "--reason", "as agreed").ok()

        kind, principal, reason, after = acts(database_url)[0]
        assert (kind, principal, reason) == ("key_created", "cli", "as agreed")
        assert after["principal"] in {"Rita", "Ruth"}
    opened("verify").ok()


def test_nobody_makes_a_second_person_of_themselves_over_http(
    opened: Jackpot, monkeypatch: pytest.MonkeyPatch, database_url: str, subtests: pytest.Subtests
) -> None:
    """Neither with an operator's key, nor with the service's login: it is the owner of the database who may."""
    before = acts(database_url)
    for role in ("operator", "rates", "finance"):
        with subtests.test(role):
            creating = ("--role", role, "--name", "Eve", "--reason", "x")
            opened("keys", "create", *creating).refused(1, "jackpot: key-forbidden: ", "jackpot db key")
            with monkeypatch.context() as patch:
                patch.delenv("JACKPOT_OWNER_URL")
                opened("db", "key", *creating).refused(2, "JACKPOT_OWNER_URL='' is refused")

    assert acts(database_url) == before


@pytest.mark.parametrize("off", [timedelta(minutes=5), timedelta(seconds=-4)])
def test_by_a_clock_that_is_wrong_no_key_is_made(
    opened: Jackpot, database_url: str, monkeypatch: pytest.MonkeyPatch, off: timedelta
) -> None:
    monkeypatch.setenv("JACKPOT_OIDC_ISSUER", "https://sign-in.example")
    monkeypatch.setenv("JACKPOT_OIDC_AUDIENCE", "jackpots")
    before = acts(database_url)
    with monkeypatch.context() as patch:
        patch.setattr(db_keys, "guarded", partial(guarded, clock=lambda: datetime.now(UTC) + off))
        for command in OF_THE_OWNER:
            opened(*command, "--reason", "as agreed").refused(1, "jackpot: clock-skew: ")
            assert acts(database_url) == before

    for command in OF_THE_OWNER:
        opened(*command, "--reason", "as agreed").ok()


def test_the_act_that_makes_a_person_known_says_why_as_well(opened: Jackpot, database_url: str) -> None:
    key_of(opened, "Ann", "operator")

    created, made, *_ = acts(database_url)

    assert (created[:3], made[:3]) == (("key_created", "cli", "hired"), ("principal_added", "cli", "hired"))


def test_a_key_is_revoked_by_an_operator(opened: Jackpot, database_url: str) -> None:
    lost = key_of(opened, "Rita", "rates")

    opened("keys", "revoke", lost.split("_")[1], "--reason", "lost").ok()

    assert acts(database_url)[0][:3] == ("key_revoked", "Olga", "lost")
