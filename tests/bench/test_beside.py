"""The ratio of what was measured in turns."""

import pytest

from bench.beside import ratio


def test_what_is_a_fifth_slower_whatever_the_machine_does_is_so_without_error() -> None:
    others = [100.0, 50.0, 75.0, 200.0]

    found = ratio([0.8 * other for other in others], others)

    assert found.value == pytest.approx(0.8)
    assert found.error == pytest.approx(0)


def test_pairs_that_differ_from_their_ratio_make_it_uncertain() -> None:
    found = ratio([90, 110, 90, 110], [100, 100, 100, 100])

    assert found.value == 1
    assert found.error == pytest.approx(2 * (400 / 3) ** 0.5 / 2 / 100)
