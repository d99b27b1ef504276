"""A node's processes are its own: the number in a file that a killed server has left may be somebody else's."""

import os
from pathlib import Path

import pytest

from tests.support.patroni import Node


def test_the_process_whose_number_a_killed_server_has_left_behind_is_not_of_the_node(tmp_path: Path) -> None:
    node = Node("pg1", tmp_path, 1, 2)
    node.data.mkdir()
    (node.data / "postmaster.pid").write_text(f"{os.getpid()}\n")

    assert node.family() == []


def test_a_process_that_works_in_the_data_directory_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = Node("pg1", tmp_path, 1, 2)
    node.data.mkdir()
    (node.data / "postmaster.pid").write_text(f"{os.getpid()}\n")
    monkeypatch.chdir(node.data)

    assert os.getpid() in node.family()
