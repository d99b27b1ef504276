"""
The problems that each operation may be answered by: those that it states, and those that all of its kind share.

A view states its own by `refused_with`. The others follow from its method, its path, its roles and its body.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from jackpot_service.api.contract import headers
from jackpot_service.api.problem_catalogue import examples
from jackpot_service.api.problem_catalogue.catalogue import ROWS, require_row
from jackpot_service.api.problem_catalogue.schemas import components_of, response_of
from jackpot_service.api.problems import MEDIA_TYPE
from jackpot_service.api.refusals import WRITING, codes_of
from jackpot_service.auth.authenticator import roles_of

OF_ALL: Final = ("method-not-allowed",)
WITH_ID: Final = ("not-found", "validation")
"""An id in the path that is empty, or has a `/`, makes another path of it; any other that is none is refused."""
WITH_KEY: Final = (
    "unauthenticated",
    "role-forbidden",
    "validation",
    "too-many-requests",
    "busy",
    "issuer-unavailable",
)
"""A query that the operation does not take is refused as well."""
WITH_BODY: Final = ("not-json", "duplicate-member", "bad-request", "body-too-large", "unsupported-media-type")

_NAMED: Final[Mapping[str, Iterable[str]]] = {
    "BadRequest": ("not-json", "duplicate-member", "bad-request"),
    "Unauthenticated": ("unauthenticated",),
    "RoleForbidden": ("role-forbidden",),
    "NotFound": ("not-found",),
    "MethodNotAllowed": OF_ALL,
    "BodyTooLarge": ("body-too-large",),
    "UnsupportedMediaType": ("unsupported-media-type",),
    "Invalid": ("validation",),
    "TooManyRequests": ("too-many-requests",),
    "Unavailable": ("busy", "issuer-unavailable"),
    "UnavailableToWrite": ("busy", "issuer-unavailable", *WRITING),
}
"""Responses of many operations, by name."""

_NAME_OF: Final = {frozenset(codes): name for name, codes in _NAMED.items()}

DEFAULT: Final = "OtherProblem"

OF_ANY_REQUEST: Final = ("bad-request", "body-too-large")
"""Codes that operations with a body state. A request to any other operation may be no good HTTP, or have a body too."""

_DEFAULT: Final[Mapping[str, Any]] = {
    "description": (
        "Any other problem. Of requests that are no good HTTP: `bad-request` (400), `request-timeout` (408), "
        "`uri-too-long` (414), `head-too-large` (431), `method-unknown` (501). Of a body that nobody reads: "
        "`body-too-large` (413). Of bugs (500): `internal-error`, or a broken law of the books."
    ),
    "headers": headers.headers_of_problem(0),
}

_ANY_PATH: Final = "/v1/jackpots"
"""The path of problems that no operation states, in their examples."""


def codes_by_status(
    view: Callable[..., Any], *, method: str, has_id: bool, has_body: bool
) -> Mapping[int, frozenset[str]]:
    """Find the codes of an operation by their status. Raises: UnknownProblem for a code that is none."""
    codes = {*OF_ALL, *codes_of(view)}
    if has_id:
        codes |= {*WITH_ID}
    if roles_of(view) is not None:
        codes |= {*WITH_KEY, *(WRITING if method != "GET" else ())}
    if has_body:
        codes |= {*WITH_BODY}
    by_status: defaultdict[int, set[str]] = defaultdict(set)
    for code in codes:
        by_status[require_row(code).status].add(code)
    return {status: frozenset(by_status[status]) for status in sorted(by_status)}


def response(codes: frozenset[str], status: int) -> dict[str, Any]:
    """Describe the answer of a status that has one of some codes; a reference where many operations have the same."""
    name = _NAME_OF.get(codes)
    return response_of(codes, headers=headers.headers_of_problem(status)) if name is None else _reference(name)


def default() -> dict[str, Any]:
    """Describe every other answer."""
    return _reference(DEFAULT)


def components(paths: Mapping[str, str]) -> Mapping[str, Mapping[str, Any]]:
    """
    Return the parts that `response` and `default` refer to, by kind.

    `paths` has, for each code that operations state in all, the path of one of them.
    """
    rest = ROWS.keys() - paths.keys()
    named = {
        name: response_of(of_name, headers=headers.headers_of_problem(require_row(next(iter(of_name))).status))
        for name, of_name in _NAMED.items()
    }
    of_any_code = {"$ref": "#/components/schemas/Problem"}
    content = {MEDIA_TYPE: {"schema": of_any_code, "examples": examples.examples_of({*rest, *OF_ANY_REQUEST})}}
    return {
        "responses": {**named, DEFAULT: {**_DEFAULT, "content": content}},
        "schemas": components_of(paths),
        "examples": examples.components_of({**dict.fromkeys(rest, _ANY_PATH), **paths}),
    }


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/responses/{name}"}
