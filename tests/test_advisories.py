"""`make check` fails for a known hole in what is locked, and never for want of a network."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).parent.parent / ".ci" / "advisories.py"

SOUND = {"name": "flask", "version": "3.1.3", "vulns": []}
UNKNOWN = {"name": "rich", "skip_reason": "not found"}
HOLE = {"name": "idna", "version": "1.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"], "aliases": []}]}


def audit(*auditor: str) -> tuple[int, str]:
    run = subprocess.run([sys.executable, SCRIPT, *auditor], capture_output=True, text=True, check=False)
    assert run.stderr == ""
    return run.returncode, run.stdout


def saying(*dependencies: dict[str, Any], code: int = 0) -> list[str]:
    """A command that answers as pip-audit does."""
    said = json.dumps({"dependencies": dependencies, "fixes": []})
    return [sys.executable, "-c", f"print({said!r}); raise SystemExit({code})"]


def test_a_known_hole_fails_and_is_named() -> None:
    code, output = audit(*saying(SOUND, HOLE, code=1))

    assert code == 1
    assert output.splitlines() == [
        "Known holes: 1 of 2 locked packages have one",
        "idna 1.0: PYSEC-1 (mended in 1.1)",
    ]


def test_what_is_sound_passes() -> None:
    assert audit(*saying(SOUND)) == (0, "Known holes: 0 of 1 locked packages have one\n")


def test_packages_that_the_source_does_not_know_are_named() -> None:
    output = "Known holes: 0 of 1 locked packages have one; the source does not know 1: rich\n"
    assert audit(*saying(SOUND, UNKNOWN)) == (0, output)


def test_a_source_that_knows_nothing_is_none() -> None:
    output = "Known holes: not looked for, since the source knows none of 1 locked packages\n"
    assert audit(*saying(UNKNOWN)) == (0, output)


def test_without_a_source_one_line_says_so() -> None:
    output = "Known holes: not looked for, since no source of advisories can be reached\n"
    assert audit(sys.executable, "-c", "raise SystemExit('ConnectionError')") == (0, output)
