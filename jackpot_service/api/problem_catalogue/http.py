"""Problems of requests as such: those that are none, or ask for nothing that there is."""

from typing import Final

from jackpot_service.api.problem_catalogue.rows import Row

_READ_AGAIN: Final = "Correct the program that sends the request."

NOT_JSON: Final = Row(
    "not-json",
    400,
    "The body is not JSON",
    "The body of the request is not JSON, or is nested too deeply.",
    "Send JSON in UTF-8. Numbers such as `NaN` are not JSON.",
)
DUPLICATE_MEMBER: Final = Row(
    "duplicate-member",
    400,
    "A member stands twice",
    "An object of the body names a member twice, so two readers could see two contents.",
    "Name each member once.",
)
BAD_REQUEST: Final = Row(
    "bad-request",
    400,
    "Bad request",
    "The bytes that came are no request of HTTP/1.1, or contradict one another.",
    f"{_READ_AGAIN} The service closes the connection after this answer.",
)
NOT_FOUND: Final = Row(
    "not-found",
    404,
    "Not found",
    "The service has no such path.",
    "Compare the path with `openapi.yaml`. An id in it is not empty and has no `/`.",
)
METHOD_NOT_ALLOWED: Final = Row(
    "method-not-allowed",
    405,
    "Method not allowed",
    "The path does not take this method.",
    "Use one of the methods that the header `Allow` names.",
)
REQUEST_TIMEOUT: Final = Row(
    "request-timeout",
    408,
    "Request timeout",
    "The request began and did not arrive in time; nothing was done.",
    "Send it again, with the same ids, on a new connection.",
    retryable=True,
)
BODY_TOO_LARGE: Final = Row(
    "body-too-large",
    413,
    "The body is too large",
    "The body is larger than the service takes (`JACKPOT_MAX_BODY_BYTES`).",
    "Send less at once: a batch of bets can be divided, as each bet has an id of its own.",
)
URI_TOO_LONG: Final = Row(
    "uri-too-long",
    414,
    "The address is too long",
    "The path and the query are longer than the service takes.",
    "Ask with fewer or shorter parameters.",
)
UNSUPPORTED_MEDIA_TYPE: Final = Row(
    "unsupported-media-type",
    415,
    "Unsupported media type",
    "The body was not sent as plain JSON.",
    "Send it with `Content-Type: application/json`, without `Content-Encoding`.",
)
VALIDATION: Final = Row(
    "validation",
    422,
    "Invalid request",
    "The path, the query or the body does not have the shape that `openapi.yaml` describes.",
    "Correct every place that `errors` points at. Those of a batch of bets may have other codes: it is examined whole.",
)
HEAD_TOO_LARGE: Final = Row(
    "head-too-large",
    431,
    "The head is too large",
    "The header fields, or the framing of the body, are larger than the service takes.",
    "Send fewer or shorter header fields.",
)
INTERNAL_ERROR: Final = Row(
    "internal-error",
    500,
    "Internal error",
    "An unexpected error has happened. It is a bug: the log has it under the id of the request.",
    "Report it with the `X-Request-Id` of the answer. A write may be repeated with the same ids.",
)
METHOD_UNKNOWN: Final = Row(
    "method-unknown",
    501,
    "Unknown method",
    "The service knows no such method of HTTP.",
    f"{_READ_AGAIN} The service closes the connection after this answer.",
)

ROWS: Final = (
    NOT_JSON,
    DUPLICATE_MEMBER,
    BAD_REQUEST,
    NOT_FOUND,
    METHOD_NOT_ALLOWED,
    REQUEST_TIMEOUT,
    BODY_TOO_LARGE,
    URI_TOO_LONG,
    UNSUPPORTED_MEDIA_TYPE,
    VALIDATION,
    HEAD_TOO_LARGE,
    INTERNAL_ERROR,
    METHOD_UNKNOWN,
)
