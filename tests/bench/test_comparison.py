"""The ratio of what was measured in turns, and the checkout to compare with."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.__main__ import main
from bench.comparison import ratio


def test_what_is_a_fifth_slower_whatever_the_machine_does_is_so_without_error() -> None:
    theirs = [100.0, 50.0, 75.0, 200.0]

    ratio_ = ratio([0.8 * other for other in theirs], theirs)

    assert ratio_.value == pytest.approx(0.8)
    assert ratio_.error == pytest.approx(0)


def test_pairs_that_differ_from_their_ratio_make_it_uncertain() -> None:
    ratio_ = ratio([90, 110, 90, 110], [100, 100, 100, 100])

    assert ratio_.value == 1
    assert ratio_.error == pytest.approx(2 * (400 / 3) ** 0.5 / 2 / 100)


def test_a_folder_that_is_no_checkout_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["compare", str(tmp_path)])

    assert result.exit_code == 2
    assert "is no checkout of the service" in result.output
