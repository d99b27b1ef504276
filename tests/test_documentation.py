"""The documentation says what the service does, leaves nothing out, and its links lead somewhere."""

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Final

import click
import pytest

from jackpot_service.cli import address
from jackpot_service.cli.calls.changes import Kinds
from jackpot_service.cli.demo import key_file
from jackpot_service.cli.main import cli
from jackpot_service.config.settings import Config
from jackpot_service.domain.change_policy import KindPolicy
from jackpot_service.reports.finance.registry import REPORTS
from jackpot_service.usecases.changes.adjustment import Cause, Pool
from jackpot_service.usecases.changes.registry import KINDS, SHIPPED_POLICY
from tests.support.contract import DOCUMENT

ROOT: Final = Path(__file__).resolve().parents[1]
DOCS: Final = ROOT / "docs"
PAGES: Final = sorted(
    page for pattern in ("*.md", "docs/**/*.md", "clients/*/*.md", "demo/*.md") for page in ROOT.glob(pattern)
)
DECISIONS: Final = sorted(page for page in (DOCS / "decisions").glob("*.md") if page.name != "README.md")
TEXT: Final = (DOCS / "changes.md").read_text(encoding="utf-8")
ON_CALLS: Final = (DOCS / "calls.md").read_text(encoding="utf-8")
ON_OPERATIONS: Final = (DOCS / "operations.md").read_text(encoding="utf-8")
ON_REPORTS: Final = (DOCS / "reports.md").read_text(encoding="utf-8")

ROLES: Final = {
    kind: (requested_by, decided_by)
    for kind, requested_by, decided_by in re.findall(r"^\| `([a-z-]+)` \| (`.*?) \| (`.*?) \|", TEXT, re.MULTILINE)
}
EXAMPLES: Final = dict(re.findall(r"^`([a-z-]+)`:(?:(?!```).)*```json\n(.*?)```", TEXT, re.MULTILINE | re.DOTALL))


def test_every_kind_of_change_is_listed_with_who_asks_and_who_decides() -> None:
    assert {name: _in_words(policy) for name, policy in SHIPPED_POLICY.items()} == ROLES


def _in_words(policy: KindPolicy) -> tuple[str, str]:
    requested_by, decided_by = (
        ", ".join(f"`{role}`" for role in sorted(roles)) for roles in (policy.requested_by, policy.decided_by)
    )
    return requested_by, decided_by + _apart_in_words(policy)


def _apart_in_words(policy: KindPolicy) -> str:
    asked_for = {"department": policy.needs_other_department, "role": policy.needs_other_role}
    named = " and ".join(name for name, is_asked in asked_for.items() if is_asked)
    return f", another {named}" if named else ""


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_a_kind_is_a_payload_that_it_reads(kind: str) -> None:
    KINDS[kind].read(json.loads(EXAMPLES[kind]))


@pytest.mark.parametrize("word", [*Pool, *Cause])
def test_the_words_that_an_adjustment_takes_are_listed(word: str) -> None:
    assert f"`{word}`" in TEXT


def test_every_report_is_described_as_what_it_is() -> None:
    described = dict(re.findall(r"^## ([a-z-]+)\n\n(.*?)(?=\n## |\Z)", ON_REPORTS, re.MULTILINE | re.DOTALL))

    assert described.keys() == REPORTS.keys()
    for name, report in REPORTS.items():
        assert described[name].startswith("\\* ") is report.is_for_casinos, name
        assert all(f"`{by}`" in described[name] for by in report.by), name
        assert all(f"Needs `{needed}`" in described[name] for needed in report.required), name


def test_the_calls_that_are_named_are_there() -> None:
    """Each call that the page of calls names is described, whatever the page calls the parts of its path."""
    described = {f"{method.upper()} {path}" for path, item in DOCUMENT["paths"].items() for method in item}
    named = set(re.findall(r"`((?:GET|POST|PUT) /v1/[^`?]*)[^`]*`", ON_CALLS))

    assert len(named) > 50
    assert named <= described


def test_every_command_is_listed_with_its_call_or_among_those_that_stay_on_the_machine() -> None:
    with_call = set(re.findall(r"^\| `([a-z -]+)` \| `(?:GET|POST|PUT) ", ON_CALLS, re.MULTILINE))
    (rest,) = re.findall(r"^These need no call: (.*?)^## ", ON_CALLS, re.MULTILINE | re.DOTALL)

    assert with_call | set(re.findall(r"`([a-z -]+)`", rest)) == set(_commands(cli, ()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_that_pages_name_are_there_with_their_options(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = [" ".join(span.split()) for span in re.findall(r"`(jackpot [a-z][^`]*)`", text)]

    assert [span for span in named if not _is_command(span)] == []


def _is_command(span: str) -> bool:
    """Whether a command and its options are there; `…`, words in capitals and `a|b` stand for what a reader chooses."""
    command: click.Command | None = cli
    for word in span.split()[1:]:
        if not isinstance(command, click.Group) or not re.fullmatch(r"[a-z-]+", word):
            break
        command = command.get_command(click.Context(command), word)
    if command is None or isinstance(command, click.Group):  # A reader chooses which of the group.
        return command is not None
    options = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    return set(re.findall(r"(?<!\S)\[?(--[a-z-]+)", span)) <= options | {"--help"}


def test_every_setting_is_explained_once() -> None:
    rows = re.findall(r"^\| (`JACKPOT_.*?`) \|", ON_OPERATIONS, re.MULTILINE)
    explained = [name for row in rows for name in re.findall(r"JACKPOT_[A-Z_]+", row)]

    settings = {f"JACKPOT_{setting.name.upper()}" for setting in fields(Config)}
    assert sorted(explained) == sorted(settings | {address.URL_VARIABLE})


def _commands(command: click.Command, path: tuple[str, ...]) -> Iterator[str]:
    if not isinstance(command, click.Group) or isinstance(command, Kinds):
        yield " ".join(path)
        return
    if command.invoke_without_command:
        yield " ".join(path)
    context = click.Context(command)
    for name in command.list_commands(context):
        child = command.get_command(context, name)
        assert child is not None
        yield from _commands(child, (*path, name))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_variable_of_a_curl_line_is_set_on_its_page_or_holds_a_key_of_the_demo(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = {
        name for line in re.findall(r"^.*\bcurl .*$", text, re.MULTILINE) for name in re.findall(r"\$([A-Z]+)", line)
    }
    assert named - key_file.principals().keys() <= set(re.findall(r"^ *(?:export )?([A-Z]+)=", text, re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_of_prose_fit_120_columns(page: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert [line for line in prose.splitlines() if len(line) > 120 and not line.startswith(("|", "    "))] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_to_a_heading_of_it(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if re.match(r"https?:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{target} is not there"
        assert not anchor or anchor in anchors(file), f"{target} has no such heading"


def anchors(page: Path) -> set[str]:
    """The names under which a page's headings can be linked."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_pages_that_code_names_are_there() -> None:
    named = {
        page
        for folder in ("jackpot_service", "tests", "bench")
        for path in (ROOT / folder).rglob("*.py")
        for page in re.findall(r"docs/[\w/-]+\.md", path.read_text(encoding="utf-8"))
    }
    assert {page for page in named if not (ROOT / page).is_file()} == set()


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_a_decision_has_the_common_form_and_is_in_the_index(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    number, subject, choice = re.findall(r"\A# (\d+)\. ([^:\n]+): (.+)$", text, re.MULTILINE)[0]
    index = (DOCS / "decisions" / "README.md").read_text(encoding="utf-8")

    assert f"| {number} | [{subject}]({page.name}) | {choice} |" in index
    assert re.search(r"^\d{4}-\d\d-\d\d.* · (accepted|replaced by .+)$", text, re.MULTILINE)
    assert [f"**{part}.**" in text for part in ("Context", "Decision", "Consequences")] == [True, True, True]
    assert 10 <= len(text.splitlines()) <= 40


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_files_that_pages_name_are_there(page: Path) -> None:
    folders = "tests|jackpot_service|migrations|bench|docs|clients|demo"
    named = re.findall(rf"`((?:{folders})/[\w./-]+)`", page.read_text(encoding="utf-8"))

    assert [path for path in named if not (ROOT / path).exists()] == []
