"""Links to pages that not everybody may open, or that this version has not: they are left out, never grey."""

from typing import Any

import flask

from jackpot_service.api.request_context import look, principal
from jackpot_service.domain.change_policy import is_of_roles
from jackpot_service.pages.access import audience_of
from jackpot_service.records import change_policies

NEW_CHANGE = "pages.show_new_change"


def page_address(endpoint: str, **values: Any) -> str | None:  # noqa: ANN401  as Flask's
    """Return the address of a page; None if there is no such page, or it is not for who is signed in."""
    if endpoint not in flask.current_app.view_functions or not audience_of(endpoint).admits(principal()):
        return None
    return flask.url_for(endpoint, **values)


def askable(*kinds: str) -> frozenset[str]:
    """Return those of some kinds of change that somebody may ask for on a page; none while there is no such page."""
    if page_address(NEW_CHANGE, kind=kinds[0]) is None:
        return frozenset()
    policy = look(change_policies.in_force)
    return frozenset(kind for kind in kinds if is_of_roles(principal(), policy.kinds[kind].requested_by))
