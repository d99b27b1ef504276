"""Where commands write: a file is there when it is whole, and what is no file stays what it is."""

import os
import stat
from pathlib import Path

import click
import pytest

from jackpot_service.cli.writing import opened


def test_what_is_written_takes_the_place_of_what_was_there_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "it"
    path.write_bytes(b"before")

    with opened(path) as file:
        file.write(b"after")
        assert path.read_bytes() == b"before"

    assert path.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [path]


def test_what_breaks_off_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "it"
    path.write_bytes(b"before")

    def break_off() -> None:
        with opened(path) as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        break_off()

    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_pipe_stays_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    with opened(path) as file:
        file.write(b"through")

    assert os.read(reader, 100) == b"through"
    assert path.is_fifo()
    os.close(reader)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "it", tmp_path / "link"
    link.symlink_to(path)

    with opened(link) as file:
        file.write(b"there")

    assert link.is_symlink()
    assert path.read_bytes() == b"there"


@pytest.mark.parametrize("path", [Path(), Path("/"), Path("it/in/none")], ids=str)
def test_what_is_no_place_is_said_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(click.ClickException, match="cannot be written"), opened(path):
        pass


def test_two_runs_to_one_place_leave_one_of_the_two_whole(tmp_path: Path) -> None:
    path = tmp_path / "it"

    with opened(path) as first:
        first.write(b"the first of two")
        with opened(path) as second:
            second.write(b"the second")
        first.write(b", which ends last")

    assert path.read_bytes() == b"the first of two, which ends last"
    assert list(tmp_path.iterdir()) == [path]


def test_files_of_others_beside_it_stay_what_they_are(tmp_path: Path) -> None:
    path, other, linked = tmp_path / "it", tmp_path / "it.part", tmp_path / "linked"
    linked.write_bytes(b"theirs")
    other.symlink_to(linked)

    with opened(path) as file:
        file.write(b"ours")

    assert (path.read_bytes(), linked.read_bytes(), other.is_symlink()) == (b"ours", b"theirs", True)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_what_is_replaced_keeps_who_may_read_it(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "it"
    path.touch()
    path.chmod(mode)

    with opened(path) as file:
        file.write(b"after")

    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_is_read_by_whoever_may_read_new_files(tmp_path: Path) -> None:
    path, another = tmp_path / "it", tmp_path / "another"
    another.touch()

    with opened(path) as file:
        file.write(b"new")

    assert path.stat().st_mode == another.stat().st_mode


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)

    with opened(path) as file:
        file.write(b"it")

    assert path.read_bytes() == b"it"
