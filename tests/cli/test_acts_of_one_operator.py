"""What one operator does alone on the command line: why is asked for each time, and who is told by the key."""

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

import psycopg
import pytest

from jackpot_service.app import create_app
from jackpot_service.cli import opening
from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import guarded
from tests.cli.test_command_line import Jackpot, jackpot, opened
from tests.support.answers import Answer
from tests.support.logins import owner_conninfo

pytestmark = pytest.mark.long

__all__ = ["jackpot", "opened"]

ACTS: Final = {
    "casino_added": ("casinos", "add", "oslo", "Casino Oslo"),
    "table_added": ("tables", "add", "T1", "--casino", "riga", "--game", "caribbean-stud", "--jackpot", "live"),
    "jackpot_opened": ("jackpots", "open", "small", "--rules", "cyber-caribbean-stud", "--currency", "EUR"),
    "stripes_added": ("jackpots", "stripes", "live", "20"),
    "rates_published": ("rates", "publish", "--base", "USD", "GBP=1.25"),
}
"""By the kind that the audit trail gives each."""

OF_THE_MACHINE: Final = (
    ("keys", "create", "--role", "rates", "--name", "Rita"),
    ("users", "add", "Rita", "--role", "rates", "--oidc-subject", "sub-1"),
)
"""What is recorded under `cli`, whatever JACKPOT_KEY says."""

WRITTEN: Final = ("entries", "acts", "principals", "keys", "casinos", "tables", "jackpots", "rate_sheets")

AGAIN: Final = ("casino_added", "table_added", "stripes_added")
"""What may be asked for again, and then changes nothing."""


def key_of(opened: Jackpot, name: str, *, role: str) -> str:
    return opened("keys", "create", "--role", role, "--name", name, "--reason", "hired").ok().strip()


def latest_act(opened: Jackpot) -> dict[str, Any]:
    act: dict[str, Any] = json.loads(opened("audit", "--json", "--limit", "1").ok())
    return act


def test_an_act_without_a_reason_is_a_usage_error(opened: Jackpot, subtests: pytest.Subtests) -> None:
    for command in (*ACTS.values(), *OF_THE_MACHINE):
        with subtests.test(" ".join(command[:2])):
            before = opened("audit").ok()

            opened(*command).refused(2, "Missing option '--reason'")

            assert opened("audit").ok() == before


@pytest.mark.parametrize("kind", ACTS)
def test_without_a_key_an_act_is_the_machines(opened: Jackpot, kind: str) -> None:
    opened(*ACTS[kind], "--reason", "as agreed").ok()

    act = latest_act(opened)
    assert (act["kind"], act["principal"], act["reason"]) == (kind, "cli", "as agreed")
    opened("verify").ok()


@pytest.mark.parametrize("kind", ACTS)
def test_with_an_operators_key_an_act_is_his(opened: Jackpot, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setenv("JACKPOT_KEY", key_of(opened, "Ann", role="operator"))

    opened(*ACTS[kind], "--reason", "as agreed").ok()

    act = latest_act(opened)
    assert (act["kind"], act["principal"], act["reason"]) == (kind, "Ann", "as agreed")
    assert act["after"]
    assert opened("audit", "--limit", "1").ok().endswith("  by Ann: as agreed\n")
    opened("verify").ok()


def written(url: str) -> list[tuple[Any, ...]]:
    """What acts would have changed: the rows of each table that they write to, and the times of all stripes."""
    counts = ", ".join(f"(SELECT count(*) FROM {table})" for table in WRITTEN)  # noqa: S608  ours
    with psycopg.connect(owner_conninfo(url)) as owner:
        return owner.execute(f"SELECT booked_at, {counts} FROM stripes ORDER BY 1").fetchall()  # noqa: S608  ours


@pytest.mark.parametrize("off", [timedelta(minutes=5), timedelta(seconds=-4)])
def test_by_a_clock_that_is_wrong_every_act_is_refused_and_nothing_is_written(
    opened: Jackpot, database_url: str, monkeypatch: pytest.MonkeyPatch, off: timedelta, subtests: pytest.Subtests
) -> None:
    monkeypatch.setenv("JACKPOT_OIDC_ISSUER", "https://sign-in.example")
    monkeypatch.setenv("JACKPOT_OIDC_AUDIENCE", "jackpots")
    before = written(database_url)
    with monkeypatch.context() as patch:
        patch.setattr(opening, "guarded", partial(guarded, clock=lambda: datetime.now(UTC) + off))
        for command in (*ACTS.values(), *OF_THE_MACHINE):
            with subtests.test(" ".join(command[:2])):
                ended = opened(*command, "--reason", "as agreed")
                assert (ended.status, ended.err[:21]) == (1, "jackpot: clock-skew: "), ended
                assert written(database_url) == before

    for command in (*ACTS.values(), *OF_THE_MACHINE):
        opened(*command, "--reason", "as agreed").ok()
    assert written(database_url) != before


def test_a_key_of_another_role_is_refused_and_not_passed_over(
    opened: Jackpot, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    monkeypatch.setenv("JACKPOT_KEY", key_of(opened, "Rita", role="rates"))
    for kind, command in ACTS.items():
        with subtests.test(kind):
            before = opened("audit").ok()

            opened(*command, "--reason", "as agreed").refused(1, "jackpot: role-forbidden: ")

            assert opened("audit").ok() == before
            opened("verify").ok()


def test_a_key_that_is_not_in_force_is_refused_and_not_passed_over(
    opened: Jackpot, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    revoked = key_of(opened, "Ann", role="operator")
    opened("keys", "revoke", revoked.split("_")[1], "--reason", "lost").ok()
    for kind, command in ACTS.items():
        with subtests.test(kind):
            before = opened("audit").ok()

            for key in (revoked, "jk_0123456789abcdef_unknown", "no key at all"):
                monkeypatch.setenv("JACKPOT_KEY", key)
                opened(*command, "--reason", "as agreed").refused(1, "jackpot: unauthenticated: ")

            assert opened("audit").ok() == before
            opened("verify").ok()


@pytest.mark.parametrize("kind", AGAIN)
def test_the_same_again_changes_nothing_whoever_asks_and_why(
    opened: Jackpot, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    opened(*ACTS[kind], "--reason", "as agreed").ok()
    key = key_of(opened, "Ann", role="operator")
    before = opened("audit").ok()
    opened(*ACTS[kind], "--reason", "to be sure").ok()
    monkeypatch.setenv("JACKPOT_KEY", key)

    opened(*ACTS[kind], "--reason", "as agreed").ok()

    assert opened("audit").ok() == before


def test_what_is_wrong_with_the_arguments_is_said_before_the_key_is_asked_for(
    opened: Jackpot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACKPOT_KEY", "no key at all")

    opened("casinos", "add", "oslo", " ", "--reason", "x").refused(2, "a name is a text")
    opened(*ACTS["jackpot_opened"], "--set", "limit", "--reason", "x").refused(2, "is not of the form name=value")
    opened("rates", "publish", "--base", "USD", "GBP", "--reason", "x").refused(2, "is not of the form name=value")


@pytest.mark.parametrize("role", ["operator", "rates"])
def test_keys_and_people_are_the_machines_affair_whatever_key_is_set(
    opened: Jackpot, monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    monkeypatch.setenv("JACKPOT_OIDC_ISSUER", "https://sign-in.example")
    monkeypatch.setenv("JACKPOT_OIDC_AUDIENCE", "jackpot-ledger")
    monkeypatch.setenv("JACKPOT_KEY", key_of(opened, "Ann", role=role))

    for command in OF_THE_MACHINE:
        opened(*command, "--reason", "as agreed").ok()

        act = latest_act(opened)
        assert (act["kind"], act["principal"], act["reason"]) == ("key_created", "cli", "as agreed")
        assert act["after"]["principal"] == "Rita"
    opened("verify").ok()


def test_a_key_is_revoked_by_the_machine_whatever_key_is_set(opened: Jackpot, monkeypatch: pytest.MonkeyPatch) -> None:
    lost = key_of(opened, "Rita", role="rates")
    monkeypatch.setenv("JACKPOT_KEY", key_of(opened, "Ann", role="operator"))

    opened("keys", "revoke", lost.split("_")[1], "--reason", "lost").ok()

    act = latest_act(opened)
    assert (act["kind"], act["principal"], act["reason"]) == ("key_revoked", "cli", "lost")


def test_the_act_that_makes_a_person_known_says_why_as_well(opened: Jackpot) -> None:
    key_of(opened, "Ann", role="operator")

    created, made = opened("audit", "--limit", "2").ok().splitlines()

    assert "  key_created  key " in created
    assert "  principal" in made
    assert all("  by cli" in line and line.endswith(": hired") for line in (created, made))


def test_the_audit_trail_of_the_api_says_who_and_why_of_each(
    opened: Jackpot, monkeypatch: pytest.MonkeyPatch, database_url: str
) -> None:
    auditor = key_of(opened, "the inspector", role="auditor")
    monkeypatch.setenv("JACKPOT_KEY", key_of(opened, "Ann", role="operator"))
    for command in ACTS.values():
        opened(*command, "--reason", "as agreed").ok()

    engine = create_engine(Config(), database_url)
    client = create_app(Config(), engine).test_client()
    answer = client.get(f"/v1/audit?limit={len(ACTS)}", headers={"Authorization": f"Bearer {auditor}"})
    engine.dispose()

    said = [(act["kind"], act["principal"], act["reason"]) for act in Answer.of(answer).ok()["items"]]
    assert said == [(kind, "Ann", "as agreed") for kind in reversed(ACTS)]
