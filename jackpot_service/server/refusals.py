"""The answers that the server gives by itself, to what is no request that the application could be given."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import orjson

from jackpot_service.api.asgi import REQUEST_ID, request_id
from jackpot_service.api.problems import MEDIA_TYPE


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused, and its connection closed."""

    status: HTTPStatus
    code: str
    detail: str


BAD_REQUEST: Final = Refusal(HTTPStatus.BAD_REQUEST, "bad-request", "This is no request of HTTP/1.1.")
WRONG_VERSION: Final = Refusal(HTTPStatus.BAD_REQUEST, "bad-request", "The service speaks HTTP/1.1 and HTTP/1.0.")
WRONG_TARGET: Final = Refusal(HTTPStatus.BAD_REQUEST, "bad-request", "A request names a path, without a fragment.")
UNKNOWN_METHOD: Final = Refusal(HTTPStatus.NOT_IMPLEMENTED, "method-unknown", "The service knows no such method.")
WRONG_HOST: Final = Refusal(HTTPStatus.BAD_REQUEST, "bad-request", "A request names one host, in one `Host` field.")
WRONG_CODING: Final = Refusal(HTTPStatus.BAD_REQUEST, "bad-request", "The only transfer coding is `chunked`.")
REQUEST_TIMEOUT: Final = Refusal(HTTPStatus.REQUEST_TIMEOUT, "request-timeout", "The request did not arrive in time.")
BODY_TOO_LARGE: Final = Refusal(
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body-too-large", "The body is larger than the service takes."
)
TARGET_TOO_LONG: Final = Refusal(
    HTTPStatus.REQUEST_URI_TOO_LONG, "uri-too-long", "The path and the query are longer than the service takes."
)
HEAD_TOO_LARGE: Final = Refusal(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    "head-too-large",
    "The header fields, or the framing of the body, are larger than the service takes.",
)

_LONGEST_INSTANCE: Final = 1000


def answer(refusal: Refusal, *, path: bytes, named: str) -> bytes:
    """Write an answer as it is sent. `path` is the path of the request, `named` the id that the request gave itself."""
    status = refusal.status
    body = orjson.dumps(
        {
            "type": f"urn:jackpot:problem:{refusal.code}",
            "title": status.phrase,
            "status": status.value,
            "detail": refusal.detail,
            "instance": path[:_LONGEST_INSTANCE].decode("latin-1") or "/",
            "code": refusal.code,
            "retryable": refusal is REQUEST_TIMEOUT,
        }
    )
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\n"
        f"Content-Type: {MEDIA_TYPE}\r\n"
        f"Content-Length: {len(body)}\r\n"
        f"{REQUEST_ID}: {request_id(named)}\r\n"
        "Cache-Control: no-store\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + body
