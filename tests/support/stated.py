"""Every problem that a test meets is one that openapi.yaml states of the operation, with its headers."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from tests.support.answers import PROBLEM, Answer
from tests.support.contract import DOCUMENT, METHODS, resolved

NO_OPERATIONS: Final = frozenset({"bad-request", "internal-error", "books-broken"})
"""Codes that `default` stands for: of requests that are no good HTTP, and of bugs."""

Parts = Mapping[str, Any]


def require_stated(method: str, path: str, answer: Answer) -> None:
    """Hold a problem against the operation that was called; a path or a method that is none is no operation's."""
    stated = codes_of(method, path.partition("?")[0])
    if answer.media_type != PROBLEM or stated is None:
        return
    code = answer.body["code"]
    if code in NO_OPERATIONS:
        return
    if code not in stated.get(str(answer.status), {}):
        message = f"openapi.yaml does not state that {method} {path} is answered {answer.status} {code}"
        raise AssertionError(message)
    missing = [name for name in stated[str(answer.status)][code] if name not in answer.headers]
    assert not missing, f"{method} {path} was answered {answer.status} {code} without {missing}"


def codes_of(method: str, path: str) -> Mapping[str, Mapping[str, frozenset[str]]] | None:
    """The codes that an operation states, by status, each with the headers that come with it."""
    for pattern, stated in _operations().get(method.upper(), ()):
        if pattern.fullmatch(path):
            return stated
    return None


@cache
def _operations() -> Mapping[str, list[tuple[re.Pattern[str], Mapping[str, Mapping[str, frozenset[str]]]]]]:
    by_method: dict[str, list[Any]] = {}
    # A path with a name in it may look like one without: the latter goes first.
    for path, item in sorted(DOCUMENT["paths"].items(), key=lambda path_item: path_item[0].count("{")):
        pattern = re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)))
        for method in item.keys() & METHODS:
            responses = item[method]["responses"]
            by_method.setdefault(method.upper(), []).append(
                (pattern, {status: _codes(resolved(response)) for status, response in responses.items()})
            )
    return by_method


def _codes(response: Parts) -> Mapping[str, frozenset[str]]:
    schema = response.get("content", {}).get(PROBLEM, {}).get("schema", {})
    headers = frozenset(response.get("headers", ()))
    return {code: headers for variant in schema.get("oneOf", [schema]) for code in _code_of(resolved(variant))}


def _code_of(schema: Parts) -> list[str]:
    if "allOf" not in schema:
        return []
    codes: list[str] = schema["allOf"][1]["properties"]["code"]["enum"]
    return codes
