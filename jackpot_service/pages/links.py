"""Links to pages that not everybody may open: for whom a page is not, there is no link to it."""

from typing import Any

import flask

from jackpot_service.pages.access import audience_of, signed_in


def page_address(endpoint: str, **values: Any) -> str | None:  # noqa: ANN401  as `url_for`
    """Return the address of a page, without values that are empty; None if it is not for who is signed in."""
    shown = signed_in()
    if shown is None or not audience_of(endpoint).admits(shown.principal):
        return None
    return flask.url_for(endpoint, **{name: value for name, value in values.items() if value not in {None, ""}})
