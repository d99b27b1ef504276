"""The headers of answers, as parts of the description that responses refer to."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from jackpot_service.api.reading import AGE, POSITION, WANTS_POSITION
from jackpot_service.domain.shapes import IDENTIFIER_PATTERN

_TEXT: Final = {"type": "string"}


def _described(description: str, schema: Mapping[str, Any] = _TEXT, *, is_required: bool = True) -> Mapping[str, Any]:
    return {"description": description, "required": is_required, "schema": dict(schema)}


COMPONENTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "RequestId": _described(
        "The `X-Request-Id` of the request, or a new one: the log names it.",
        {"type": "string", "pattern": IDENTIFIER_PATTERN},
    ),
    "RetryAfter": _described("Seconds until the same call may be sent again.", {"type": "integer", "minimum": 1}),
    "Challenge": _described("`Bearer`: send a key or a token in `Authorization`."),
    "Allow": _described("The methods that the path takes, with commas between."),
    "ETag": _described("Names this state: `If-None-Match` with it is answered 304 until something was booked."),
    "FileName": _described("`attachment`, with the name of the file."),
    "ReplicaAge": _described(
        "Only of what was read at a replica: how many seconds it is behind the ledger at most.",
        {"type": "string", "pattern": r"^\d+\.\d$"},
        is_required=False,
    ),
    "LogPosition": _described(
        "Only if `Want-Log-Position` was sent: how far the ledger's log went after the commit. Absent if nobody knows.",
        is_required=False,
    ),
}

IF_NONE_MATCH: Final = {
    "in": "header",
    "name": "If-None-Match",
    "required": False,
    "description": "The `ETag` of an earlier answer.",
    "schema": {"type": "string"},
}

PARAMETERS: Final[Mapping[str, Mapping[str, Any]]] = {
    "LogPosition": {
        "in": "header",
        "name": POSITION,
        "required": False,
        "description": "The `Log-Position` of an earlier answer: what was written by then is shown.",
        "schema": {"type": "string", "pattern": "^[0-9a-f]{1,16}$"},
    },
    "WantLogPosition": {
        "in": "header",
        "name": WANTS_POSITION,
        "required": False,
        "description": "With any value, the answer has a `Log-Position`. That takes the service a statement more.",
        "schema": {"type": "string"},
    },
}
"""Of many operations, by name."""

_OF_STATUS: Final[Mapping[int, Mapping[str, str]]] = {
    HTTPStatus.NOT_MODIFIED: {"ETag": "ETag"},
    HTTPStatus.UNAUTHORIZED: {"WWW-Authenticate": "Challenge"},
    HTTPStatus.METHOD_NOT_ALLOWED: {"Allow": "Allow"},
    HTTPStatus.TOO_MANY_REQUESTS: {"Retry-After": "RetryAfter"},
    HTTPStatus.SERVICE_UNAVAILABLE: {"Retry-After": "RetryAfter"},
}


def headers_of_problem(status: int) -> dict[str, Any]:
    """Return the headers of a problem of a status: references to `COMPONENTS`, by name."""
    return _references({"X-Request-Id": "RequestId", **_OF_STATUS.get(status, {})})


def headers_of_answer(status: int, *, has_etag: bool, may_lag: bool = False, writes: bool = False) -> dict[str, Any]:
    """Return the headers of an answer that is no problem. One of a status without a body has them as well."""
    etag = {"ETag": "ETag"} if has_etag or status == HTTPStatus.NOT_MODIFIED else {}
    age = {AGE: "ReplicaAge"} if may_lag else {}
    position = {POSITION: "LogPosition"} if writes else {}
    return _references({"X-Request-Id": "RequestId", **etag, **age, **position})


def parameter(name: str) -> dict[str, Any]:
    """Return a parameter of many operations."""
    return {"$ref": f"#/components/parameters/{name}"}


def _references(names: Mapping[str, str]) -> dict[str, Any]:
    return {header: {"$ref": f"#/components/headers/{name}"} for header, name in names.items()}
