"""The blueprint of all pages: who may see them is asked before each, and each has the same headers."""

from typing import Final

import flask

from jackpot_service.pages import access

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""The Content-Security-Policy: no inline script, style or handler, and nothing from another host."""

HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "private, no-store",
    "Vary": "HX-Request",
}

blueprint = flask.Blueprint("pages", __name__, template_folder="templates")
blueprint.before_request(access.require)


@blueprint.after_request
def add_headers(response: flask.Response) -> flask.Response:
    """Add the headers of a page, but for those that its view has set."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response
