"""Refusals speak the words of the command line: its options, and the commands that help."""

import re
from collections.abc import Iterator
from typing import Final

import click
import pytest

from jackpot_service.api.problem_catalogue.catalogue import ROWS
from jackpot_service.cli import change_fields
from jackpot_service.cli.main import cli
from jackpot_service.cli.remedies import REMEDIES, place_of
from jackpot_service.domain.principals import Role
from tests.support.command_line import Jackpot, calling, program
from tests.support.fixtures import books_verify
from tests.support.fixtures import world as world  # noqa: PLC0414  a fixture of these tests
from tests.support.world import World

__all__ = ["books_verify"]

OF_THE_API: Final = re.compile(r"GET |POST |PUT |DELETE |`[a-z]+_[a-z_]+`|`errors`|`Retry-After`|`X-")
"""How calls, headers and members of the API look."""

NOT_PRINTED: Final = frozenset(
    {
        *("method-not-allowed", "not-found", "unauthenticated"),  # Said otherwise: see `Service._what_to_do`.
        *("not-json", "unsupported-media-type", "problem-unknown"),  # No command sends such a call.
        *("bet-count-mismatch", "reason-required"),  # Answers to table servers.
        *("passkey-invalid", "passkey-not-shown"),  # Answers to browsers.
        # They always name the fields that are wrong, and then no remedy is printed.
        *("confirmation-required", "payload-invalid", "validation"),
    }
)


def command_in(group: click.Command, name: str) -> click.Command:
    """The command of a name in a group, which there is."""
    assert isinstance(group, click.Group), name
    command = group.get_command(click.Context(group), name)
    assert command is not None, name
    return command


def option(text: str) -> set[str]:
    return set(re.findall(r"--[a-z-]+", text))


PRINTED: Final = [
    pytest.param(code, REMEDIES.get(code) or ROWS[code].remedy, id=code)
    for code in sorted({*ROWS, *REMEDIES} - NOT_PRINTED)
]


@pytest.mark.parametrize(("code", "remedy"), PRINTED)
def test_a_remedy_names_nothing_that_only_callers_of_the_api_have(code: str, remedy: str) -> None:
    assert code in ROWS
    assert OF_THE_API.search(remedy) is None


@pytest.mark.parametrize("remedy", [remedy for remedy in REMEDIES.values() if "`jackpot " in remedy])
def test_a_remedy_names_commands_and_options_that_there_are(remedy: str) -> None:
    for line in re.findall(r"`jackpot ([^`]+)`", remedy):
        command: click.Command = cli
        for word in line.split():
            if not word.startswith("--"):
                command = command_in(command, word)
        assert option(line) <= {opt for parameter in command.params for opt in parameter.opts}


def place(path: str, pointer: str, **params: object) -> str:
    """How the place of an error is named while a command runs."""
    command: click.Command = cli
    for word in path.split():
        command = command_in(command, word)
    context = click.Context(command)
    context.params = params
    with context:
        return place_of({"pointer": pointer})


def test_a_place_is_named_by_the_option_of_the_command_that_runs() -> None:
    assert place("changes approve", "/confirm/GBP:inverted") == "--confirm GBP:inverted=…"
    assert place("changes request casino-claims", "/payload/claim_days") == "--claim-days"
    assert place("changes request rate-sheet", "/payload/rates/GBP") == "--rate GBP=…"
    assert place("changes request statement-settlement", "/payload/to") == "--to"
    assert place("changes request rules", "/payload/settings/payout_tiers/0/from") == ("--set payout_tiers=… at 0/from")
    assert place("casinos add", "/casino_id") == "CASINO_ID"
    assert place("jobs create", "/parameters/name") == "name=…"


def test_a_place_that_no_option_has_is_named_as_the_api_does() -> None:
    assert place("casinos list", "/a~1b") == "/a~1b"
    assert place("changes request casino-claims", "/payload/claim_days", payload={}) == "/payload/claim_days"
    assert place("casinos list", "") == "the body"


def test_options_of_a_change_are_found_by_the_names_of_its_fields() -> None:
    for kind, fields in change_fields.FIELDS.items():
        for name, field in fields.items():
            (first, *_) = change_fields.option_of(name, field).opts
            assert place(f"changes request {kind}", f"/payload/{name}").split(" ")[0] == first


@pytest.fixture
def jackpot(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], database_url: str
) -> Iterator[Jackpot]:
    """The program, calling a service with a jackpot."""
    world.open()
    with calling(monkeypatch, world.app):
        yield program(monkeypatch, capsys, database_url)


@pytest.mark.slow
def test_refusals_say_the_option(world: World, jackpot: Jackpot, monkeypatch: pytest.MonkeyPatch) -> None:
    rates = ("changes", "request", "rate-sheet", "--base", "EUR", "--reason", "x")
    monkeypatch.setenv("JACKPOT_KEY", world.person("Rita", Role.RATES))
    jackpot(*rates, "--rate", "GBP=0.5", "--request-id", "q1").ok()
    monkeypatch.setenv("JACKPOT_KEY", world.person("Ruth", Role.RATES))
    approved = jackpot("changes", "approve", "q1", "--reason", "x")
    monkeypatch.setenv("JACKPOT_KEY", world.person("Olga", Role.OPERATOR))
    claims = ("changes", "request", "casino-claims", "--casino", "c1", "--claim-days", "0", "--reason", "x")
    claimed = jackpot(*claims)
    forbidden = jackpot("reports", "show", "trial-balance")
    monkeypatch.setenv("JACKPOT_KEY", world.person("Fay", Role.FINANCE))
    reported = jackpot("reports", "show", "casino-statement")

    approved.refused(
        1,
        "jackpot: confirmation-required: Figures that the approver has to repeat: ",
        "  --confirm GBP=…: has to be repeated\n",
    )
    claimed.refused(1, "jackpot: payload-invalid: --claim-days must be a whole number from 1 to 36500.\n")
    forbidden.refused(
        1, "jackpot: role-forbidden: Only these roles may do this: ", "  Call with a key of a role that may."
    )
    reported.refused(
        1, "jackpot: question-invalid: The report casino-statement needs a casino.\n  `jackpot reports list`"
    )
