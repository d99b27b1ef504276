"""
Pages for people who look at the API: the viewer of its description, and the description itself. No key is needed.

The viewer is Swagger UI, whose files are kept in `viewer/vendor/` with their licence; `LOCK.json` there says of which
version, and their hashes. Nothing comes from another host.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

import flask
from werkzeug.exceptions import NotFound

from jackpot_service.api.pages import HTML
from jackpot_service.auth.authenticator import anyone

VIEWER: Final = Path(__file__).parent / "viewer"

_VENDOR: Final = VIEWER / "vendor"

_LOCKED: Final[list[dict[str, Any]]] = json.loads((_VENDOR / "LOCK.json").read_text())

FILES: Final = f"/docs/{_LOCKED[0]['version']}"

DESCRIPTION: Final = Path(__file__).parents[1] / "openapi.yaml"

_TYPES: Final = {".css": "text/css", ".js": "text/javascript"}

_SERVED: Final = {
    path.name: path
    for path in (VIEWER / "start.js", *(_VENDOR / file["name"] for package in _LOCKED for file in package["files"]))
    if path.suffix in _TYPES
}

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The viewer writes styles into its elements, and shows small pictures that it holds itself."""

YAML: Final = "application/yaml"

blueprint = flask.Blueprint("browsing", __name__)


@blueprint.route("/docs", methods=["GET"])
@anyone
def show_viewer() -> flask.Response:
    """Show the description, to be browsed and tried."""
    page = flask.render_template("api_viewer.html", files=FILES)
    return flask.Response(page, mimetype=HTML, headers={"Content-Security-Policy": _POLICY})


@blueprint.route(f"{FILES}/<name>", methods=["GET"])
@anyone
def show_file(name: str) -> flask.Response:
    """Send one of the viewer's files. Raises: NotFound."""
    path = _SERVED.get(name)
    if path is None:
        raise NotFound
    headers = {"Cache-Control": "public, max-age=31536000, immutable"} if path.parent == _VENDOR else {}
    return flask.Response(_read(path), mimetype=_TYPES[path.suffix], headers=headers)


@blueprint.route("/openapi.yaml", methods=["GET"])
@anyone
def show_description() -> flask.Response:
    """Send the description, as it was written when this version was built."""
    return flask.Response(_read(DESCRIPTION), mimetype=YAML)


@cache
def _read(path: Path) -> bytes:
    """Read a file of the package, once: anybody may ask for it as often as they like."""
    return path.read_bytes()
