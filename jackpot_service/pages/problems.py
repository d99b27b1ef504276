"""The answer where a page cannot be shown: the problem that the API would answer, in the pages' frame."""

from http import HTTPStatus
from typing import Any, Final

import flask
import orjson
from werkzeug.exceptions import HTTPException
from werkzeug.exceptions import NotFound as NotFoundPage
from werkzeug.wrappers import Response

from jackpot_service.api.paths import InvalidPath
from jackpot_service.api.problems import problem_of, response_of
from jackpot_service.domain.errors import Conflict, Forbidden, LedgerError, NotFound, Refused
from jackpot_service.pages.blueprint import HEADERS, blueprint

API: Final = ("/v1/", "/problems", "/healthz", "/readyz", "/metrics", "/openapi.yaml", "/docs")
"""Where no person looks for a page: a wrong address under these is answered by a problem."""

DEFINITE: Final = (Refused, Conflict, Forbidden, NotFound)
"""Refusals that a form shows with what was typed into it; all others are a problem's page."""


@blueprint.errorhandler(LedgerError)
@blueprint.errorhandler(HTTPException)
@blueprint.errorhandler(HTTPStatus.NOT_FOUND)  # Before the application's, which Flask looks for by status first.
def show_problem(error: Exception) -> Response:
    """Show a problem: what it is, what can be done, and the id of the request that support asks for."""
    if isinstance(error, HTTPException) and isinstance(error.response, Response):
        return error.response
    problem = problem_of(error, instance=flask.request.path)
    body: dict[str, Any] = orjson.loads(problem.body)
    page = flask.render_template(
        "problem.html", problem=body, is_missing=problem.status == HTTPStatus.NOT_FOUND, request_id=flask.g.request_id
    )
    response = flask.Response(page, status=problem.status)
    for name, value in problem.headers:
        response.headers[name] = value
    return response


@blueprint.errorhandler(InvalidPath)
def show_nothing(_error: InvalidPath) -> Response:
    """Answer an address that cannot be as one where nothing is: people follow links, and do not make up ids."""
    return show_problem(NotFoundPage())


def show_missing(error: HTTPException) -> Response:
    """Answer an address, or a method of it, that there is not: by a page where a person looks for one."""
    path, accepted = flask.request.path, flask.request.accept_mimetypes
    is_page = not path.startswith(API) and accepted["text/html"] > accepted["application/json"]
    if not is_page:
        return response_of(error)
    response = show_problem(error)
    response.headers.extend(HEADERS)
    return response
