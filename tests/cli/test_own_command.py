"""How `jackpot run` names itself to another shell, whose PATH may not have it."""

import sys
from pathlib import Path

import pytest

from jackpot_service.cli.demo.playing import own_command


@pytest.mark.parametrize(
    ("started_as", "named"),
    [
        ("{here}/.venv/bin/jackpot", ".venv/bin/jackpot"),
        (".venv/bin/jackpot", ".venv/bin/jackpot"),
        ("/opt/ledger/bin/jackpot", "/opt/ledger/bin/jackpot"),
        ("/opt/our ledger/bin/jackpot", "'/opt/our ledger/bin/jackpot'"),
        ("{here}/jackpot_service/cli/__main__.py", f"{sys.executable} -m jackpot_service.cli"),
    ],
)
def test_another_shell_is_given_a_command_that_it_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started_as: str, named: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [started_as.format(here=tmp_path), "run"])

    assert own_command() == named
