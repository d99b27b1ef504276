"""
The files that pages load: styles, scripts and fonts, all under one address that changes with any of them.

So browsers keep them for ever. Two services that are upgraded one after the other show pages of two versions for a
while. A page of the other version gets the files of this one, and keeps them for no time.

Files of others are in `static/vendor/`, with their licences. `LOCK.json` there says of which package and version each
is, and holds its hash.
"""

import gzip
import hashlib
from functools import cache
from pathlib import Path
from typing import Final

import flask
from werkzeug.exceptions import NotFound

from jackpot_service.auth.authenticator import page

STATIC: Final = Path(__file__).parent / "static"

TYPES: Final = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
"""By its ending, the type of what is served; anything else is not."""

COMPRESSED: Final = frozenset({".css", ".js", ".svg"})

FOR_EVER: Final = "public, max-age=31536000, immutable"

blueprint = flask.Blueprint("assets", __name__)


@blueprint.route("/assets/<tag>/<path:name>", methods=["GET"])
@page
def show_asset(tag: str, name: str) -> flask.Response:
    """Send a file; under the tag of another version only for now. Raises: NotFound."""
    file = _files().get(name)
    if file is None:
        raise NotFound
    plain, packed = _read(file)
    takes_packed = packed is not None and flask.request.accept_encodings.quality("gzip") > 0
    response = flask.Response(packed if takes_packed else plain, mimetype=TYPES[file.suffix])
    response.headers["Cache-Control"] = FOR_EVER if tag == current_tag() else "no-store"
    if packed is not None:
        response.headers["Vary"] = "Accept-Encoding"
    if takes_packed:
        response.headers["Content-Encoding"] = "gzip"
    return response


def address_of(name: str) -> str:
    """Return where a page finds a file. Raises: LookupError for one that is not there."""
    if name not in _files():
        message = f"There is no asset {name}."
        raise LookupError(message)
    return f"/assets/{current_tag()}/{name}"


def read_all() -> None:
    """Read all files now: an upgrade in place would change them under a process that runs."""
    for file in _files().values():
        _read(file)
    current_tag()


@cache
def current_tag() -> str:
    """Name the version of all files: it changes with any of them."""
    digest = hashlib.sha256()
    for name, file in sorted(_files().items()):
        digest.update(f"{name}\0{hashlib.sha256(_read(file)[0]).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


@cache
def _files() -> dict[str, Path]:
    return {
        str(file.relative_to(STATIC)): file
        for file in STATIC.rglob("*")
        if file.suffix in TYPES and not file.name.startswith(".")
    }


@cache
def _read(file: Path) -> tuple[bytes, bytes | None]:
    """Read a file once, and compress it, if it is not compressed by its nature."""
    plain = file.read_bytes()
    return plain, gzip.compress(plain, mtime=0) if file.suffix in COMPRESSED else None
