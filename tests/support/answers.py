"""What the service answered, as a test looks at it: no float is ever made of a number."""

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from werkzeug.datastructures import Headers
from werkzeug.test import TestResponse

from jackpot_service.api.problem_catalogue.catalogue import ROWS
from jackpot_service.api.problem_catalogue.rows import Member

PROBLEM = "application/problem+json"
STANDARD_MEMBERS = {"type", "title", "status", "detail", "instance", "code", "retryable"}
TYPES = {"string": str, "integer": int, "array": list, "object": dict, "null": type(None)}

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers and text of an answer."""

    status: int
    headers: Headers
    text: str

    @classmethod
    def of(cls, response: TestResponse) -> "Answer":
        with response:  # As a server does, which closes what it has sent.
            return cls(response.status_code, response.headers, response.get_data(as_text=True))

    @property
    def media_type(self) -> str:
        return self.headers.get("Content-Type", "").partition(";")[0]

    @property
    def body(self) -> Body:
        body: Body = json.loads(self.text, parse_float=Decimal)
        return body

    def ok(self, status: int = 200) -> Body:
        """Give the body of an answer that must have this status."""
        if self.status != status or self.media_type != "application/json":
            message = f"{status} was expected, not {self.status} {self.media_type}: {self.text[:1000]}"
            raise AssertionError(message)
        return self.body

    def problem(self, status: int, code: str, *pointers: str) -> Body:
        """Give the body of a problem that must have this status and code, and point at these places."""
        if self.status != status or self.media_type != PROBLEM:
            message = f"a problem {status} {code} was expected, not {self.status} {self.media_type}: {self.text[:1000]}"
            raise AssertionError(message)
        body = self.body
        pointed = places(body)
        if body["code"] != code or body["status"] != status or STANDARD_MEMBERS - body.keys():
            message = f"a problem {status} {code} was expected: {self.text[:1000]}"
            raise AssertionError(message)
        if pointers and pointed != pointers:
            message = f"the problem points at {pointed}, not at {pointers}: {self.text[:1000]}"
            raise AssertionError(message)
        require_in_catalogue(body)
        return body


def places(problem: Body) -> tuple[str, ...]:
    """The places that a problem names: pointers into the body, and `?name` for a parameter, which has none."""
    return tuple(
        f"?{error['parameter']}" if "parameter" in error else error["pointer"] for error in problem.get("errors", ())
    )


def require_in_catalogue(problem: Body) -> None:
    """Every problem that a test meets is what the catalogue says of its code, with the members that it names."""
    row = ROWS[problem["code"]]
    assert (problem["type"], problem["title"]) == (row.type, row.title), problem
    assert (problem["status"], problem["retryable"]) == (row.status, row.retryable), problem
    members = {name: value for name, value in problem.items() if name not in STANDARD_MEMBERS | {"errors"}}
    always = {name for name, member in row.members.items() if member.is_always}
    assert always <= members.keys() <= row.members.keys(), (sorted(members), sorted(row.members))
    for name, value in members.items():
        assert is_of(row.members[name], value), (name, value)
    assert all(error["code"] in ROWS for error in problem.get("errors", ())), problem


def is_of(member: Member, value: object) -> bool:
    named = member.schema["type"]
    types = tuple(TYPES[type_name] for type_name in ([named] if isinstance(named, str) else named))
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, types) and not isinstance(value, bool) and all(isinstance(part, str) for part in parts)
