"""A short campaign, as `make chaos` runs the long one: it must find its own losses, and none of the service's."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.chaos.__main__ import main
from tests.chaos.violations import ANSWERS
from tests.properties.profile import CASES

MINUTES = "1" if CASES else "0.1"
FAULTS = ("a worker killed", "stopped at once")


@pytest.mark.deep
@pytest.mark.timeout(900)
@pytest.mark.long
def test_a_short_campaign_loses_nothing_and_sees_what_is_lost_on_purpose(tmp_path: Path) -> None:
    only = [word for fault in FAULTS for word in ("--only", fault)]

    done = CliRunner().invoke(main, ["--minutes", MINUTES, "--tables", "6", *only, "--output", str(tmp_path)])

    assert done.exit_code in {0, 2}, done.output  # 2: a busy machine made calls late.
    written = json.loads((tmp_path / "chaos.json").read_text())
    assert written["lost_without_synchronous_commit"] > 0
    assert all(written["tampered"].values())
    assert {fact for fact, _, _ in written["violations"]} <= ANSWERS
    rows = {row[0]: dict(zip(written["columns"], row, strict=True)) for row in written["rows"]}
    assert rows.keys() >= {"a worker killed", "the whole campaign"}
    assert int(rows["the whole campaign"]["acknowledged"]) > 0
    assert (tmp_path / "chaos.md").read_text().count("\n|") == len(written["rows"]) + 2  # Their head, and a line


def test_a_word_that_no_fault_has_is_refused_before_anything_begins() -> None:
    done = CliRunner().invoke(main, ["--only", "earthquake"])

    assert done.exit_code == 2
    assert "no fault has 'earthquake' in its name" in done.output
