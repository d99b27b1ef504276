"""What the documentation says of change requests is what the service reads, and nothing is left out."""

import json
import re
from pathlib import Path
from typing import Final

import pytest

from jackpot_service.reports.finance.registry import REPORTS
from jackpot_service.usecases.changes.adjustment import Cause, Pool
from jackpot_service.usecases.changes.registry import KINDS

DOCS: Final = Path(__file__).resolve().parents[1] / "docs"
TEXT: Final = (DOCS / "changes.md").read_text(encoding="utf-8")
ON_REPORTS: Final = (DOCS / "reports.md").read_text(encoding="utf-8")

ROLES: Final = dict(re.findall(r"^\| `([a-z-]+)` \| `([a-z]+)` \|", TEXT, re.MULTILINE))
EXAMPLES: Final = dict(re.findall(r"^`([a-z-]+)`:(?:(?!```).)*```json\n(.*?)```", TEXT, re.MULTILINE | re.DOTALL))


def test_every_kind_of_change_is_listed_with_its_role() -> None:
    assert {name: " ".join(sorted(kind.roles)) for name, kind in KINDS.items()} == ROLES


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
        assert all(f"Needs `{needed}`" in described[name] for needed in report.needs), name
