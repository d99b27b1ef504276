"""Commands are listed by tables and imported when they are run: none waits for what others need."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import click
import pytest

from jackpot_service.cli.lazy import LazyGroup
from jackpot_service.cli.main import cli
from tests.support.command_line import Jackpot

HEAVY: Final = frozenset(
    {"alembic", "authlib", "cryptography", "flask", "joserfc", "marshmallow", "openpyxl", "prometheus_client"}
    | {"psycopg", "pygments", "reportlab", "rich", "sqlalchemy", "structlog", "uvicorn", "uvloop", "xlsxwriter", "yaml"}
)
"""Packages that take a moment to be imported, and that no call of the API needs."""

SAID: Final = (
    "import sys; from jackpot_service.cli.program import main\n"
    "try: main()\n"
    "except SystemExit as ended: print(ended.code, *sorted(sys.modules), file=sys.stderr)"
)


def modules(*arguments: str) -> frozenset[str]:
    """The packages that a command imports, which succeeds."""
    done = subprocess.run([sys.executable, "-c", SAID, *arguments], capture_output=True, text=True, check=True)
    status, *names = done.stderr.splitlines()[-1].split()
    assert status == "0", done
    assert done.stdout
    assert {"jackpot_service.cli.main", "click"} <= set(names)
    return frozenset(name.partition(".")[0] for name in names) | frozenset(
        name for name in names if name.startswith("jackpot_service.")
    )


def test_help_imports_nothing_heavy() -> None:
    loaded = modules("--help")

    assert loaded & (HEAVY | {"httpx"}) == set()
    assert {name for name in loaded if name.startswith("jackpot_service.")} == {
        "jackpot_service.cli",
        "jackpot_service.cli.lazy",
        "jackpot_service.cli.main",
        "jackpot_service.cli.program",
    }


LISTS: Final = (
    ("jackpots", "list"),
    ("casinos", "list", "--json"),
    ("people", "list", "--csv"),
    ("changes", "policy"),
    ("changes", "request", "adjustment", "--help"),
    ("whoami",),
)


@pytest.mark.slow
def test_a_call_imports_neither_the_database_nor_the_service(opened: Jackpot, subtests: pytest.Subtests) -> None:
    opened("keys", "list").ok()
    for arguments in LISTS:
        with subtests.test(" ".join(arguments)):
            loaded = modules(*arguments)

            assert "httpx" in loaded
            assert loaded & HEAVY == set()
            rooms = {name.split(".")[1] for name in loaded if name.startswith("jackpot_service.")}
            assert rooms == {"cli", "domain"}


def commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Every command with its words, groups too."""
    yield " ".join(path), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            yield from commands(subcommand, (*path, name))


ALL: Final = dict(commands(cli))


@pytest.mark.parametrize("path", [path for path, command in ALL.items() if isinstance(command, LazyGroup)])
def test_a_lazy_command_is_what_the_table_says(path: str) -> None:
    group = ALL[path]
    assert isinstance(group, LazyGroup)
    for name, lazy in group.lazily.items():
        command = group.get_command(click.Context(group), name)
        assert command is not None
        assert command.name == name
        assert command.help
        assert lazy.help.endswith(".")


@pytest.mark.parametrize("path", [path for path, command in ALL.items() if isinstance(command, click.Group)])
def test_a_group_lists_whole_sentences(path: str) -> None:
    listed = ALL[path].get_help(click.Context(ALL[path], info_name=f"jackpot {path}")).partition("Options:")[2]

    assert "..." not in listed


@pytest.mark.parametrize("path", [path for path, command in ALL.items() if not isinstance(command, click.Group)])
def test_every_command_has_help_and_an_example(path: str) -> None:
    command = ALL[path]
    assert command.help
    assert f"jackpot {path}" in (command.epilog or ""), path


@pytest.mark.parametrize("path", [path for path in ALL if path.rpartition(" ")[2] == "list"])
def test_every_list_is_printed_for_programs_too(path: str) -> None:
    options = {option for parameter in ALL[path].params for option in parameter.opts}

    assert options >= {"--json", "--csv"}


def test_lists_are_listed() -> None:
    nouns = {path.rpartition(" ")[0] for path in ALL if path.rpartition(" ")[2] == "list"}

    assert nouns >= {"awards", "casinos", "jackpots", "people", "rounds", "tables"}


EXAMPLES: Final = [
    pytest.param(path, match[1], id=line.strip())
    for path, command in ALL.items()
    for line in (command.epilog or "").splitlines()
    if (match := re.search(r"\bjackpot ([^#>]+?)(?:\)\"?)?(?: +[#>].*)?$", line))
]


@pytest.mark.parametrize(("path", "arguments"), EXAMPLES)
def test_every_example_is_taken(path: str, arguments: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("rates.json", "result.json", "kinds.json"):
        Path(name).write_text("{}")
    words = shlex.split(arguments)
    longest = max((name for name in ALL if words[: len(name.split())] == name.split()), key=len)

    with suppress(click.exceptions.Exit):  # --help
        ALL[longest].make_context(longest, words[len(longest.split()) :])

    assert longest.startswith(path), longest


def test_examples_are_found() -> None:
    commands_over_http = [path for path, command in ALL.items() if not isinstance(command, click.Group)]

    assert len(EXAMPLES) > len(commands_over_http) / 2
