"""Pages name what is there: calls of the API, problems with their status, settings, and names of the code."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from jackpot_service.api.problem_catalogue.catalogue import ROWS
from jackpot_service.config.settings import Config
from jackpot_service.reports.finance.registry import REPORTS
from tests.support.contract import DOCUMENT

ROOT: Final = Path(__file__).resolve().parents[1]
DOCS: Final = ROOT / "docs"
PAGES: Final = sorted(page for pattern in ("*.md", "docs/**/*.md", "clients/*/*.md") for page in ROOT.glob(pattern))
DECISIONS: Final = sorted((DOCS / "decisions").glob("*.md"))

FOLDERS: Final = ("jackpot_service", "migrations", "clients", "demo", "tests", "bench")
FILES: Final = ("Makefile", "openapi.yaml", "pyproject.toml")
SUFFIXES: Final = frozenset({".py", ".sql", ".js", ".html", ".css", ".toml", ".txt", ".json"})

NOT_OF_OURS: Final[Mapping[str, str]] = {
    "held_threshold": "It was replaced by payout tiers.",
    "pg_last_xact_replay_timestamp": "PostgreSQL's: why the service does not ask it, stands next to it.",
    "pg_stat_wal_receiver": "PostgreSQL's, too.",
}


def prose_of(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def spans_of(page: Path) -> Iterator[str]:
    """What stands in backquotes, on one line or over two."""
    return (" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose_of(page)))


@cache
def code() -> str:
    """All the source, without this file."""
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*") if file.suffix in SUFFIXES]
    ours = [file for file in files if "vendor" not in file.parts and file != Path(__file__)]
    return "\n".join(file.read_text(encoding="utf-8") for file in [*ours, *(ROOT / name for name in FILES)])


def without_names(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "{}", path)


def test_the_calls_that_pages_name_are_there() -> None:
    calls = {(method.upper(), without_names(path)) for path, item in DOCUMENT["paths"].items() for method in item}
    named = {
        (page.name, method, path)
        for page in PAGES
        for span in spans_of(page)
        for method, path in re.findall(r"\b(GET|POST|PUT) (/v1/[^ ?…]*|/problems[^ ?…]*)", span)
    }

    assert {call for call in named if (call[1], without_names(call[2])) not in calls} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_problem_has_the_status_that_a_page_says(page: Path) -> None:
    named = re.findall(r"\b([45]\d\d)\s+`([a-z]+(?:-[a-z]+)*)`", prose_of(page))

    assert [(status, name) for status, name in named if name not in ROWS or ROWS[name].status != int(status)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_settings_that_a_page_names_are_there(page: Path) -> None:
    settings = {f"JACKPOT_{setting.name.upper()}" for setting in fields(Config)}
    named = {name for span in spans_of(page) for name in re.findall(r"\bJACKPOT_[A-Z_]+[A-Z]\b", span)}

    assert {name for name in named - settings if name not in code()} == set()


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_the_names_of_code_on_a_decision_page_are_in_the_code(page: Path) -> None:
    """Names of several words alone: a single word is found anywhere."""
    named = {
        name
        for span in spans_of(page)
        if not re.search(r"[A-Z][a-z]|[…«]", span)  # A sentence, or a part of one.
        for name in re.findall(r"(?<![\w/.-])[a-z][a-z0-9]*(?:[-_][a-z0-9]+)+(?![\w/])", span)
    }

    assert {name for name in named - NOT_OF_OURS.keys() if name not in code()} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_modules_that_a_page_names_are_there(page: Path) -> None:
    rooms = "|".join(sorted(room.name for room in (ROOT / "jackpot_service").iterdir() if room.is_dir()))
    named = [path for span in spans_of(page) for path in re.findall(rf"^((?:{rooms})/[\w/]+\.py)$", span)]

    assert [path for path in named if not (ROOT / "jackpot_service" / path).is_file()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_name_stands_in_the_module_of_which_a_page_says_so(page: Path) -> None:
    """As "`MEANWHILE` in `tests/pages/…`" does, or "`EventType` (`events/event.py`)"."""
    named = re.findall(r"`(_?[A-Za-z]\w*)`\s+(?:of|in|\()\s*`([\w/]+/\w+\.py)`", prose_of(page))
    modules = {name: [room / name for room in (ROOT, ROOT / "jackpot_service")] for _, name in named}
    texts = {
        name: next(file.read_text(encoding="utf-8") for file in files if file.is_file())
        for name, files in modules.items()
    }

    assert [(name, module) for name, module in named if not re.search(rf"\b{name}\b", texts[module])] == []


def test_the_reports_whose_hashes_no_closed_period_keeps_are_named() -> None:
    text = (DOCS / "reports.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"Not kept are (.*?)\. ", text, re.DOTALL)

    assert set(re.findall(r"`([a-z-]+)`", sentence)) == {name for name, made in REPORTS.items() if not made.is_kept}
