"""A small disk is full when it is told to be, and roomy again; where none can be mounted, that is said."""

import errno
from pathlib import Path

import pytest

from tests.chaos import disk


def test_a_full_disk_takes_no_more_until_it_is_given_room(tmp_path: Path) -> None:
    with disk.mounted(tmp_path / "small") as small:
        if small is None:
            assert list((tmp_path / "small").iterdir()) == []  # It is a directory like any other then.
            return
        file = tmp_path / "small" / "file"
        file.write_bytes(b"x" * 100_000)
        small.fill()
        with pytest.raises(OSError, match="No space left") as full, file.open("ab") as more:
            more.write(b"y" * 1_000_000)
        assert full.value.errno == errno.ENOSPC

        small.empty()
        with file.open("ab") as more:
            assert more.write(b"z" * 1_000_000) == 1_000_000


def test_a_disk_is_gone_at_the_end(tmp_path: Path) -> None:
    with disk.mounted(tmp_path / "small") as small:
        (tmp_path / "small" / "file").touch()

    assert (tmp_path / "small" / "file").exists() is (small is None)
