"""
Look for known holes in the locked packages: `python .ci/advisories.py AUDITOR …`, which answers as pip-audit does.

Exit code: 1 for a known hole, and for an auditor that failed. Where no source of advisories can be reached, or it does
not know a package, one line says so and the code is 0: what is locked was not made worse by a network that is not
there.
"""

import json
import re
import subprocess
import sys

LONGEST_S = 60

UNREACHABLE = re.compile(
    r"^requests\.exceptions\.(Connection|Proxy|SSL)Error\b|^requests\.exceptions\.(Connect|Read)?Timeout\b"
    r"|your network may be blocking this service"
)
"""How the auditor's last words begin where it cannot reach its source; the last of these are its own."""

Dependency = dict[str, object]


class AuditFailed(Exception):
    """The auditor failed for another reason than the network: its last words."""


def main(auditor: list[str]) -> int:
    """Ask the auditor, and say what it found."""
    try:
        dependencies = audited(auditor)
    except AuditFailed as failure:
        print(f"Known holes: not looked for, since the auditor failed: {failure}")
        return 1
    if dependencies is None:
        print("Known holes: not looked for, since no source of advisories can be reached")
        return 0
    skipped = sorted(str(dependency["name"]) for dependency in dependencies if "skip_reason" in dependency)
    if len(skipped) == len(dependencies):
        print(f"Known holes: not looked for, since the source knows none of {len(dependencies)} locked packages")
        return 0
    holes = [
        f"{dependency['name']} {dependency.get('version')}: {ids(dependency)}"
        for dependency in dependencies
        if dependency.get("vulns")
    ]
    report = f"Known holes: {len(holes)} of {len(dependencies) - len(skipped)} locked packages have one"
    print(report + (f"; the source does not know {len(skipped)}: {', '.join(skipped)}" if skipped else ""))
    print(*holes, sep="\n", end="\n" if holes else "")
    return 1 if holes else 0


def audited(auditor: list[str]) -> list[Dependency] | None:
    """Return what the auditor says of each package; None if its source cannot be reached. Raises: AuditFailed."""
    try:
        run = subprocess.run(auditor, capture_output=True, text=True, timeout=LONGEST_S, check=False)  # noqa: S603  ours
    except subprocess.TimeoutExpired:
        return None
    try:
        dependencies: list[Dependency] = json.loads(run.stdout)["dependencies"]
    except (ValueError, KeyError):
        last = last_words(run.stderr) or f"exit code {run.returncode}, and no word"
        if UNREACHABLE.search(last):
            return None
        raise AuditFailed(last) from None
    return dependencies


def last_words(stderr: str) -> str:
    """Return the last line of a message; the lines below it that are indented only show a place."""
    lines = [line for line in stderr.splitlines() if line.strip() and not line[0].isspace()]
    return lines[-1] if lines else ""


def ids(dependency: Dependency) -> str:
    """Name the advisories of a package, and in which versions they are mended."""
    vulns = dependency["vulns"]
    assert isinstance(vulns, list)  # noqa: S101  narrows a type
    return ", ".join(f"{v['id']} (mended in {' '.join(v.get('fix_versions', [])) or 'none'})" for v in vulns)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
