"""`make check` fails for a known hole in what is locked, or if it cannot look, and never for want of a network."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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
    output = json.dumps({"dependencies": dependencies, "fixes": []})
    return [sys.executable, "-c", f"print({output!r}); raise SystemExit({code})"]


def ending_with(stderr: str) -> list[str]:
    """A command that fails with a message."""
    return [sys.executable, "-c", f"import sys; sys.stderr.write({stderr!r}); raise SystemExit(1)"]


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


@pytest.mark.parametrize(
    "last_words",
    [
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded",
        "requests.exceptions.ProxyError: HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded",
        "requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='pypi.org', port=443): Read timed out.",
        "ERROR:pip_audit._cli:Tip: your network may be blocking this service. Try another service with `-s SERVICE`",
    ],
)
def test_without_a_source_one_line_says_so(last_words: str) -> None:
    output = "Known holes: not looked for, since no source of advisories can be reached\n"
    assert audit(*ending_with(f"Traceback\n  File\n{last_words}")) == (0, output)


def test_a_source_that_does_not_answer_in_time_is_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    specification = importlib.util.spec_from_file_location("advisories", SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    script = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(script)
    monkeypatch.setattr(script, "LONGEST_S", 0.2)

    assert script.main([sys.executable, "-c", "import time; time.sleep(60)"]) == 0
    assert "no source of advisories can be reached" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("stderr", "last_words"),
    [
        ("usage: pip-audit\n  [-r]\npip-audit: error: unrecognized arguments: --json", "--json"),
        ("Traceback\n  File\nKeyError: 'vulnerabilities'", "KeyError: 'vulnerabilities'"),
        ("ERROR:pip_audit._cli:invalid specifier at line 1: flask=1\n    flask=1\n         ^", "flask=1"),
        ("ERROR: requests.exceptions.ConnectionError: said of something else\nKeyError: 'x'", "KeyError: 'x'"),
        ("", "exit code 1, and no word"),
    ],
)
def test_an_auditor_that_fails_otherwise_fails_with_its_last_words(stderr: str, last_words: str) -> None:
    code, output = audit(*ending_with(stderr))

    assert code == 1
    assert output.startswith("Known holes: not looked for, since the auditor failed: ")
    assert output.endswith(f"{last_words}\n")
    assert output.count("\n") == 1


def test_an_answer_in_another_form_is_a_failure() -> None:
    code, output = audit(sys.executable, "-c", "print('{}')")

    assert (code, output) == (1, "Known holes: not looked for, since the auditor failed: exit code 0, and no word\n")
