"""`make reset` takes the data of a checkout away: for ever, so it asks, and never from under somebody who uses it."""

import fcntl
import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parents[2] / "Makefile"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with data."""
    (tmp_path / "Makefile").symlink_to(MAKEFILE)
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "books").write_text("all of them")
    return tmp_path


def reset(checkout: Path, *words: str, answer: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--silent", "reset", *words],
        cwd=checkout,
        input=answer,
        capture_output=True,
        text=True,
        check=False,
    )


def has_books(checkout: Path) -> bool:
    return (checkout / "var" / "books").exists()


@pytest.mark.parametrize("answer", ["", "\n", "y\n", "no\n", "Yes\n"])
def test_without_a_yes_nothing_is_removed(checkout: Path, answer: str) -> None:
    done = reset(checkout, answer=answer)

    assert done.returncode != 0
    assert "This removes ./var for ever" in done.stdout
    assert "Nothing was removed" in done.stderr
    assert has_books(checkout)


@pytest.mark.parametrize(("words", "answer"), [((), "yes\n"), (("SURE=yes",), "")])
def test_with_a_yes_the_next_start_begins_afresh(checkout: Path, words: tuple[str, ...], answer: str) -> None:
    done = reset(checkout, *words, answer=answer)

    assert (done.returncode, done.stderr) == (0, "")
    assert not (checkout / "var").exists()
    assert "There is no ./var" in reset(checkout).stdout


def test_data_that_is_in_use_stays(checkout: Path) -> None:
    with (checkout / "var" / "in-use.lock").open("w") as in_use:
        fcntl.flock(in_use, fcntl.LOCK_SH)
        done = reset(checkout, "SURE=yes")

    assert done.returncode != 0
    assert "./var is in use" in done.stderr
    assert has_books(checkout)
