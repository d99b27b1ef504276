"""Problems as `openapi.yaml` describes them: the schema and the response of some codes of the catalogue."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from jackpot_service.api.problem_catalogue.catalogue import require_row
from jackpot_service.api.problem_catalogue.rows import RETRYABLE, Row
from jackpot_service.api.problems import MEDIA_TYPE

_RETRY_AFTER: Final = {
    "description": "Seconds until the next call is let in.",
    "required": True,
    "schema": {"type": "integer", "minimum": 1},
}


def schema_of(codes: Iterable[str]) -> dict[str, Any]:
    """
    Make the JSON Schema of problems: `Problem`, its code one of some, with the further members of these.

    A member that each of these problems has is required. Raises: UnknownProblem.
    """
    return _schema(_rows(codes))


def response_of(codes: Iterable[str], *, description: str | None = None) -> dict[str, Any]:
    """
    Make a response of an operation: problems of one status, with a line about each unless a description says more.

    Raises: UnknownProblem; ValueError for codes of several statuses.
    """
    rows = _rows(codes)
    (status,) = {row.status for row in rows}
    response: dict[str, Any] = {
        "description": description or "\n".join(f"- `{row.code}`: {row.title}." for row in rows),
        "content": {MEDIA_TYPE: {"schema": _schema(rows)}},
    }
    return {**response, "headers": {"Retry-After": _RETRY_AFTER}} if status in RETRYABLE else response


def _rows(codes: Iterable[str]) -> Sequence[Row]:
    return [require_row(code) for code in sorted(set(codes))]


def _schema(rows: Sequence[Row]) -> dict[str, Any]:
    members = {name: member.described for row in rows for name, member in row.members.items()}
    always = set.intersection(*({name for name, member in row.members.items() if member.is_always} for row in rows))
    properties = {"code": {"type": "string", "enum": [row.code for row in rows]}, **dict(sorted(members.items()))}
    required = {"required": sorted(always)} if always else {}
    of_codes = {"type": "object", **required, "properties": properties}
    return {"allOf": [{"$ref": "#/components/schemas/Problem"}, of_codes]}
