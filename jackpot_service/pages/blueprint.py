"""The blueprint of all pages: who may see them is asked before each, and each has the same headers."""

import math
from typing import Final

import flask

from jackpot_service.api.reading import BEYOND_ALL, POSITION_COOKIE, position_after
from jackpot_service.api.request_context import context
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
    if flask.request.method not in access.SAFE and context().reads.replica is not None:
        _have_position_remembered(response)
    return response


def _have_position_remembered(response: flask.Response) -> None:
    """
    Have the browser say with the next pages what was written by a form, for as long as a replica may lack it.

    Where nobody knows how far that was, it says a position that no replica reaches: the primary is read meanwhile.
    """
    position = position_after(context().engine) or BEYOND_ALL
    longest_s = math.ceil(context().config.replica_stale_after_s)
    response.set_cookie(
        POSITION_COOKIE, position, max_age=longest_s, path="/", secure=True, httponly=True, samesite="Lax"
    )
