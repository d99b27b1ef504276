"""Commands are completed in a shell: `jackpot completion` prints what bash does it by, and bash is asked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import Jackpot

pytestmark = pytest.mark.slow

ASKED = """
eval "$(jackpot completion bash)"
COMP_WORDS=({words}); COMP_CWORD={last}
_jackpot_completion jackpot
echo "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (("aw",), "awards"),
        (("je",), ""),
        (("jackpots", "su"), "suspend"),
        (("jobs", "w"), "worker"),
        (("changes", "request", "seed"), "seed-recovery"),
        (("changes", "request", "rate-sheet", "--repl"), "--replace-all"),
        (("awards", "list", "--state", "un"), "unclaimed"),
        (("db", "s"), "service-password"),
    ],
)
def test_bash_completes_commands_options_and_words(words: tuple[str, ...], completed: str, tmp_path: Path) -> None:
    program = tmp_path / "jackpot"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m jackpot_service.cli "$@"\n')
    program.chmod(0o755)
    script = ASKED.format(words=" ".join(("jackpot", *words)), last=len(words))

    shell = subprocess.run(
        ["bash", "--norc", "-c", script],
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )

    assert shell.stdout.strip() == completed, shell


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_own(machine: Jackpot, shell: str) -> None:
    assert f"_JACKPOT_COMPLETE={shell}_complete" in machine("completion", shell).ok()


def test_another_shell_is_a_usage_error(machine: Jackpot) -> None:
    machine("completion", "csh").refused(2, "'csh' is not one of")
