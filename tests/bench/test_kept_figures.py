"""The figures that docs/bench.json keeps are those of the packages that are measured now."""

import json
from pathlib import Path

from bench.machine import PACKAGES

KEPT = Path(__file__).parents[2] / "docs" / "bench.json"


def test_the_kept_figures_name_the_packages_that_are_measured() -> None:
    packages = json.loads(KEPT.read_text(encoding="utf-8"))["machine"]["packages"]

    assert packages.keys() == set(PACKAGES)
