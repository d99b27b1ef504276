"""After every test with a world, the laws of the books hold. Tests of most screens are among the long ones."""

from pathlib import Path
from typing import Final

import pytest

from tests.support.fixtures import books_obey_their_laws, open_awards_follow, world

__all__ = ["books_obey_their_laws", "open_awards_follow", "world"]

IN_MAKE_TEST: Final = (
    "test_assets.py",
    "test_changes.py",
    "test_charts.py",
    "test_figures.py",
    "test_frame.py",
    "test_sign_in.py",
)
"""The modules whose tests `make test` runs: the frame of all screens, and what is graver than a look."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the tests of the other screens to `make test-long`: together they take longer than those of the ledger."""
    here = Path(__file__).parent
    for item in items:
        if item.path.parent == here and item.path.name not in IN_MAKE_TEST:
            item.add_marker(pytest.mark.long)
