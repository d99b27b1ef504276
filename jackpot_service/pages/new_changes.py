"""Links to the forms by which changes are asked for; where a form is not there, or not theirs, there is no link."""

from typing import Any
from urllib.parse import urlencode

import flask
from werkzeug.exceptions import HTTPException
from werkzeug.routing import RequestRedirect

from jackpot_service.database.transactions import Session
from jackpot_service.domain.change_policy import is_of_roles
from jackpot_service.domain.principals import Principal
from jackpot_service.pages import access
from jackpot_service.records import change_policies


def address_of_form(session: Session, person: Principal, kind: str, **fields: Any) -> str | None:  # noqa: ANN401
    """
    Return the address of the form of a kind of change, filled in with fields of its payload.

    None if somebody may not ask for such a change by the policy in force, or if there is no such form.
    """
    policy = change_policies.in_force(session).kinds.get(kind)
    if policy is None or not person.may_request or not is_of_roles(person, policy.requested_by):
        return None
    path = f"/changes/new/{kind}"
    try:
        endpoint, _ = flask.current_app.url_map.bind("").match(path, method="GET")
    except (HTTPException, RequestRedirect):
        return None
    if not access.audience_of(endpoint).admits(person):
        return None
    return f"{path}?{urlencode(fields)}"
