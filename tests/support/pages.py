"""Commands as a page of the documentation has them: fenced blocks, each with the word that says where it can be run."""

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"

_BLOCK: Final = re.compile(r"^( *)```sh ([a-z]+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """One block of commands, and its word."""

    word: str
    commands: str


def blocks(page: str, word: str | None = None) -> Sequence[Block]:
    """Return the blocks of a page in their order: all, or those of a word."""
    every = [
        Block(match[2], re.sub(rf"^{match[1]}", "", match[3], flags=re.MULTILINE))
        for match in _BLOCK.finditer((DOCS / page).read_text(encoding="utf-8"))
    ]
    return [block for block in every if word in {None, block.word}]


def run(block: Block, environment: Mapping[str, str], *, before: Sequence[str] = (), cwd: Path | None = None) -> str:
    """Run a block as it stands; its first command that fails ends it, and the test. Returns what it printed."""
    shell = [*before, "bash", "-euo", "pipefail", "-c", block.commands]
    ended = subprocess.run(shell, env=dict(environment), cwd=cwd, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise AssertionError(f"{block.commands}\n{ended.stdout}\n{ended.stderr}")
    return ended.stdout
