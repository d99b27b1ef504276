"""`jackpot changes …`: fields as options, what a change does before | after, and the figures to repeat."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from jackpot_service.domain.principals import Role
from tests.support.command_line import Jackpot, calling, program
from tests.support.fixtures import books_verify
from tests.support.fixtures import world as world  # noqa: PLC0414  a fixture of these tests
from tests.support.world import World

pytestmark = pytest.mark.slow

__all__ = ["books_verify"]

SECOND: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}Z"

RATES: Final = ("changes", "request", "rate-sheet", "--base", "EUR")


@pytest.fixture
def jackpot(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str
) -> Iterator[Jackpot]:
    """The program, calling the world's service as Rita, who requests rates."""
    monkeypatch.setenv("JACKPOT_KEY", world.person("Rita", Role.RATES))
    with calling(monkeypatch, world.app):
        yield program(monkeypatch, capsys, database_url)


def row(printed: str, name: str) -> tuple[str, str]:
    """What there is before and after of a value that a change makes another."""
    result = re.search(rf"^  {re.escape(name)} +(.*?) +\| +(.*)$", printed, re.MULTILINE)
    assert result, printed
    before, after = result.groups()
    return before, after


def test_a_request_shows_what_it_does_before_and_after(jackpot: Jackpot) -> None:
    requested = jackpot(
        *RATES, "--rate", "GBP=1.18", "--removed-currency", "JPY", "--reason", "moved", "--request-id", "q1"
    )

    assert row(requested.ok(), "GBP") == ("1.17", "1.18")
    assert row(requested.out, "JPY") == ("0.0061", "-")
    assert row(requested.out, "effective at")[1] == "when it is approved"
    assert re.search(r"^unchanged\n  base +EUR\n  EUR +1\n  SEK +0\.0873$", requested.out, re.MULTILINE), requested.out
    assert requested.err == "Change request q1: it waits for another user.\n"
    assert re.search(r"^  what changes +before +\| +after$", requested.out, re.MULTILINE), requested.out
    assert re.search(rf"^calculated at +{SECOND}$", requested.out, re.MULTILINE), requested.out
    again = jackpot(
        *RATES, "--rate", "GBP=1.18", "--removed-currency", "JPY", "--reason", "moved", "--request-id", "q1"
    )
    assert again.err == "Change request q1: it was requested before, and is pending.\n"


def test_the_amounts_of_a_request_have_their_thousands_apart(
    world: World, jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.open(base_amount="100000")
    monkeypatch.setenv("JACKPOT_KEY", world.person("Olga", Role.OPERATOR))
    fields = ("--jackpot", "j1", "--account", "meter", "--amount", "12345.5", "--document", "20261126")

    shown = jackpot("changes", "request", "adjustment", *fields, "--cause", "count-error", "--reason", "x").ok()

    assert re.search(r"^  amount +12,345\.50 EUR$", shown, re.MULTILINE), shown
    assert re.search(r"^  document +20261126$", shown, re.MULTILINE), shown


def test_a_dry_run_does_nothing(jackpot: Jackpot) -> None:
    shown = jackpot(*RATES, "--rate", "GBP=1.18", "--reason", "moved", "--request-id", "q1", "--dry-run")

    assert row(shown.ok(), "GBP") == ("1.17", "1.18")
    assert shown.err == "Change request q1: nothing was done, this was a dry run.\n"
    jackpot("changes", "show", "q1").refused(1, "jackpot: change-unknown: ")


def test_unusual_figures_are_named_as_they_are_to_be_repeated(
    world: World, jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch
) -> None:
    requested = jackpot(*RATES, "--rate", "GBP=0.854", "--reason", "moved", "--request-id", "q1").ok()
    assert requested.endswith("Who approves it repeats these figures: --confirm GBP:inverted=0.854\n")
    monkeypatch.setenv("JACKPOT_KEY", world.person("Ruth", Role.RATES))

    approving = ("changes", "approve", "q1", "--reason", "checked")
    jackpot(*approving).refused(1, "jackpot: confirmation-required: ")
    done = jackpot(*approving, "--confirm", "GBP:inverted=0.854")

    assert done.err == "Change request q1: approved and done.\n"
    assert row(done.ok(), "GBP") == ("1.17", "0.854")


def test_what_an_approved_change_did_is_shown_afterwards(
    world: World, jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.change("rate-sheet", {"base": "EUR", "rates": {"GBP": "1.18"}}, role=Role.RATES)
    monkeypatch.setenv("JACKPOT_KEY", world.person("Ada", Role.AUDITOR))

    shown = jackpot("changes", "show", "q1").ok()

    assert row(shown, "GBP") == ("1.17", "1.18")
    assert re.search(r"^  approved +Bob +2026-11-20 .* +no +checked$", shown, re.MULTILINE)
    assert json.loads(jackpot("changes", "show", "q1", "--json").ok())["state"] == "approved"


def test_a_change_is_rejected_and_listed(world: World, jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch) -> None:
    jackpot(*RATES, "--rate", "GBP=1.18", "--reason", "moved", "--request-id", "q1").ok()
    monkeypatch.setenv("JACKPOT_KEY", world.person("Ruth", Role.RATES))

    assert jackpot("changes", "reject", "q1", "--reason", "not today").err == "Change request q1: rejected.\n"

    assert jackpot("changes", "list").err == "There are none.\n"
    (_, line) = jackpot("changes", "list", "--state", "all", "--kind", "rate-sheet").ok().splitlines()
    assert re.split(r" {2,}", line)[:4] == ["q1", "rejected", "rate-sheet", "Rita"]


def test_changes_are_counted_by_state(world: World, jackpot: Jackpot) -> None:
    for number, gbp in enumerate(("1.18", "1.19", "1.20")):
        jackpot(*RATES, "--rate", f"GBP={gbp}", "--reason", "x", "--request-id", f"q{number}").ok()
    world.approve("q0", role=Role.RATES).ok()

    assert re.split(r"\s+", jackpot("changes", "counts", "--kind", "rate-sheet").ok().strip()) == [
        *("pending", "2"),
        *("approved", "1"),
        *("rejected", "0"),
        *("expired", "0"),
    ]
    assert set(json.loads(jackpot("changes", "counts", "--kind", "rules", "--json").ok()).values()) == {0}


def test_all_fields_may_come_from_a_file(jackpot: Jackpot, tmp_path: Path) -> None:
    path = tmp_path / "rates.json"
    path.write_text(json.dumps({"base": "EUR", "rates": {"GBP": "1.18"}}))
    request = ("changes", "request", "rate-sheet", "--payload", str(path), "--reason", "moved")

    result = json.loads(jackpot(*request, "--json").ok())

    assert result["payload"] == {"base": "EUR", "rates": {"GBP": "1.18"}}
    jackpot(*request, "--base", "EUR").refused(2, "give the fields as options, or all of them by --payload")


def test_a_missing_field_is_named_before_anything_is_sent(jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACKPOT_URL", "http://127.0.0.1:9")

    requested = jackpot("changes", "request", "adjustment", "--jackpot", "j1", "--amount", "-5", "--reason", "x")

    requested.refused(2, "needs --account, --document, --cause, or all of it by --payload")


def test_a_role_that_may_not_request_a_kind_is_refused(jackpot: Jackpot) -> None:
    true_up = ("changes", "request", "prize-fund-true-up", "--jackpot", "j1", "--reason", "x")

    jackpot(*true_up).refused(1, "jackpot: role-forbidden: ")


def test_the_policy_is_a_table(jackpot: Jackpot) -> None:
    head, titles, *lines = jackpot("changes", "policy").ok().splitlines()

    assert head == "Change policy, version 1"
    assert jackpot("changes", "policy", "--version", "1").ok().splitlines() == [head, titles, *lines]
    jackpot("changes", "policy", "--version", "2").refused(1, "jackpot: change-policy-unknown: ")
    assert re.split(r" {2,}", titles)[:3] == ["kind", "requested by", "decided by"]
    assert ["rate-sheet", "rates", "rates", "no", "no", "no"] in [re.split(r" {2,}", line) for line in lines]


def test_what_rules_would_change_is_readable_on_a_narrow_terminal(
    world: World, jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.open()
    monkeypatch.setenv("JACKPOT_KEY", world.person("Olga", Role.OPERATOR))
    request = ("changes", "request", "rules", "--jackpot", "j1", "--set", "limit=500000", "--reason", "x", "--dry-run")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)

    printed = jackpot(*request).ok()

    assert max(map(len, printed.splitlines())) <= 80
    assert row(printed, "limit") == ("-", "500,000.00 EUR")
    assert re.search(r"^unchanged: [0-9]+ other values, which --json shows$", printed, re.MULTILINE), printed
