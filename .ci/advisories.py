"""
Look for known holes in the locked packages: `python .ci/advisories.py AUDITOR …`, which answers as pip-audit does.

Exit code: 1 for a known hole. Where no source of advisories can be reached, or it does not know a package, one line
says so and the code is 0: what is locked was not made worse by a network that is not there.
"""

import json
import subprocess
import sys

LONGEST_S = 60

Dependency = dict[str, object]


def main(auditor: list[str]) -> int:
    """Ask the auditor, and say what it found."""
    found = audited(auditor)
    if found is None:
        print("Known holes: not looked for, since no source of advisories can be reached")
        return 0
    skipped = sorted(str(one["name"]) for one in found if "skip_reason" in one)
    if len(skipped) == len(found):
        print(f"Known holes: not looked for, since the source knows none of {len(found)} locked packages")
        return 0
    holes = [f"{one['name']} {one.get('version')}: {ids(one)}" for one in found if one.get("vulns")]
    report = f"Known holes: {len(holes)} of {len(found) - len(skipped)} locked packages have one"
    print(report + (f"; the source does not know {len(skipped)}: {', '.join(skipped)}" if skipped else ""))
    print(*holes, sep="\n", end="\n" if holes else "")
    return 1 if holes else 0


def audited(auditor: list[str]) -> list[Dependency] | None:
    """Return what the auditor says of each package; None if it says nothing in time."""
    try:
        run = subprocess.run(auditor, capture_output=True, text=True, timeout=LONGEST_S, check=False)  # noqa: S603  ours
        dependencies: list[Dependency] = json.loads(run.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError):
        return None
    return dependencies


def ids(one: Dependency) -> str:
    """Name the advisories of a package, and in which versions they are mended."""
    vulns = one["vulns"]
    assert isinstance(vulns, list)  # noqa: S101  narrows a type
    return ", ".join(f"{v['id']} (mended in {' '.join(v.get('fix_versions', [])) or 'none'})" for v in vulns)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
