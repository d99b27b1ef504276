"""Problems as `openapi.yaml` describes them: a schema for each code, and a response for some codes of one status."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from jackpot_service.api.problem_catalogue import examples
from jackpot_service.api.problem_catalogue.catalogue import require_row
from jackpot_service.api.problem_catalogue.rows import Row
from jackpot_service.api.problems import MEDIA_TYPE

_SCHEMAS: Final = "#/components/schemas/"


def name_of(code: str) -> str:
    """Name the schema of a code: `BetConflictProblem`."""
    return f"{code.title().replace('-', '')}Problem"


def components_of(codes: Iterable[str]) -> Mapping[str, dict[str, Any]]:
    """
    Make the JSON Schema of each code's problems, by name: a `Problem` with this code, and the further members it has.

    A member that each problem of the code has is required. Raises: UnknownProblem.
    """
    return {name_of(row.code): _schema(row) for row in _rows(codes)}


def schema_of(codes: Iterable[str]) -> dict[str, Any]:
    """Make the JSON Schema of problems of one of some codes: references to `components_of`. Raises: UnknownProblem."""
    references = {row.code: f"{_SCHEMAS}{name_of(row.code)}" for row in _rows(codes)}
    one_of = [{"$ref": reference} for reference in references.values()]
    if len(one_of) == 1:
        return one_of[0]
    return {"oneOf": one_of, "discriminator": {"propertyName": "code", "mapping": references}}


def response_of(codes: Iterable[str], *, headers: Mapping[str, Any]) -> dict[str, Any]:
    """
    Make a response of an operation: problems of one status, with a line about each, and an example.

    Raises: UnknownProblem; ValueError for codes of several statuses.
    """
    rows = _rows(codes)
    (_,) = {row.status for row in rows}
    return {
        "description": "\n".join(f"- `{row.code}`: {row.title}." for row in rows),
        "headers": dict(headers),
        "content": {MEDIA_TYPE: {"schema": schema_of(codes), "examples": examples.examples_of(codes)}},
    }


def _rows(codes: Iterable[str]) -> Sequence[Row]:
    return [require_row(code) for code in sorted(set(codes))]


def _schema(row: Row) -> dict[str, Any]:
    always = sorted(name for name, member in row.members.items() if member.is_always)
    members = {name: member.described for name, member in sorted(row.members.items())}
    of_code = {
        "type": "object",
        **({"required": always} if always else {}),
        "properties": {"code": {"type": "string", "enum": [row.code]}, **members},
    }
    return {"description": row.meaning, "allOf": [{"$ref": f"{_SCHEMAS}Problem"}, of_code]}
