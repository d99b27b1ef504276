"""
Fetch the files of others that the pages ship, and one that their tests need: `python tools/vendor.py`; needs npm.

Each folder has a `LOCK.json`, which says of which package and version its files are. It has the hash of the package, as
npm publishes it, and of each file. Anything else is refused. With `--write` the hashes of new versions, which somebody
has looked at, are written instead. NOTICE says who made what the pages ship; it is written anew.
"""

import argparse
import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
SHIPPED: Final = (ROOT / "jackpot_service/pages/static/vendor", ROOT / "jackpot_service/api/viewer/vendor")
FOLDERS: Final = (*SHIPPED, ROOT / "tests/pages/browser/vendor")
LOCK: Final = "LOCK.json"


class WrongHash(Exception):
    """What was fetched is not what is locked."""


def main() -> int:
    """Fetch all packages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="lock what is fetched, instead of holding it to the lock")
    is_to_lock = parser.parse_args().write
    try:
        for folder in FOLDERS:
            _fill(folder, is_to_lock=is_to_lock)
        (ROOT / "NOTICE").write_text(notice())
    except WrongHash as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def notice() -> str:
    """Write who made what the pages ship, and under which licence."""
    made = [
        f"- {package['package']} {package['version']}, {package['licence']}: files of {folder.relative_to(ROOT)}/\n"
        for folder in SHIPPED
        for package in json.loads((folder / LOCK).read_text())
    ]
    return f"Jackpot ledger\n\nThese packages are the work of others, and are shipped with it:\n\n{''.join(made)}"


def _fill(folder: Path, *, is_to_lock: bool) -> None:
    """Write the files of a folder, when all are there. Raises: WrongHash."""
    packages = json.loads((folder / LOCK).read_text())
    files = {name: content for package in packages for name, content in _fetched(package, is_to_lock=is_to_lock)}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / LOCK).write_text(json.dumps(packages, indent=2) + "\n")
    print(f"{folder.relative_to(ROOT)}: {len(files)} files of {len(packages)} packages")


def _fetched(package: dict[str, Any], *, is_to_lock: bool) -> list[tuple[str, bytes]]:
    """Return the files of a package. Raises: WrongHash."""
    named = f"{package['package']}@{package['version']}"
    with tempfile.TemporaryDirectory() as room:
        packing = ["npm", "pack", "--silent", "--pack-destination", room, named]
        subprocess.run(packing, check=True, stdout=subprocess.DEVNULL)  # noqa: S603  what the lock names
        (packed,) = Path(room).iterdir()
        digest = base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode()
        _hold(package, "integrity", f"sha512-{digest}", named, is_to_lock=is_to_lock)
        with tarfile.open(packed) as archive:
            return [_file_of(archive, file, named, is_to_lock=is_to_lock) for file in package["files"]]


def _file_of(archive: tarfile.TarFile, file: dict[str, str], named: str, *, is_to_lock: bool) -> tuple[str, bytes]:
    member = archive.extractfile(f"package/{file['from']}")
    if member is None:
        message = f"{named} has no file {file['from']}."
        raise WrongHash(message)
    content = member.read()
    _hold(file, "sha256", hashlib.sha256(content).hexdigest(), f"{file['from']} of {named}", is_to_lock=is_to_lock)
    return file["name"], content


def _hold(locked: dict[str, Any], key: str, value: str, what: str, *, is_to_lock: bool) -> None:
    if is_to_lock:
        locked[key] = value
    elif locked[key] != value:
        message = f"{what}: {key} is {value}, and {locked[key]} is locked."
        raise WrongHash(message)


if __name__ == "__main__":
    sys.exit(main())
