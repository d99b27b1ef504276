"""Which roles a path lets in, asked before a call gets a body or a thread."""

from collections.abc import Mapping

import flask
from werkzeug.exceptions import HTTPException

from jackpot_service.auth.authenticator import roles_of
from jackpot_service.domain.principals import Role


class Routes:
    """The routes of an application, all of which are there. Raises: LookupError if one states no roles."""

    def __init__(self, app: flask.Flask) -> None:
        self.roles_of_endpoints: Mapping[str, frozenset[Role] | None] = {
            endpoint: roles_of(view) for endpoint, view in app.view_functions.items()
        }
        self._adapter = app.url_map.bind("localhost")

    def roles(self, method: str, path: str) -> frozenset[Role] | None:
        """The roles that may make a call; None if anybody may, or if there is no such call, which Flask says."""
        try:
            endpoint, _ = self._adapter.match(path, method)
        except HTTPException:
            return None
        return self.roles_of_endpoints[endpoint]
