"""One operation of the description: its name, its words, who may call it, and how it is answered."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from jackpot_service.api.contract import answers, headers
from jackpot_service.api.reading import is_at_replica, may_lag
from jackpot_service.auth.authenticator import roles_of

_SCHEMA: Final = "#/components/schemas/"

_ORDER: Final[tuple[str, ...]] = (
    "operationId",
    "tags",
    "summary",
    "description",
    "x-roles",
    "security",
    "parameters",
    "requestBody",
    "responses",
)

_PARAGRAPHS: Final = re.compile(r"\n\s*\n")
_END: Final = re.compile(r"(?<=[.])\s+(?=[A-Z`])")


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation as flask-smorest describes it, and the view that does it."""

    method: str
    path: str
    described: dict[str, Any]
    view: Callable[..., Any]

    def complete(self, schemas: Mapping[str, Any]) -> frozenset[str]:
        """Say in the description all that the view says; returns the codes of its problems."""
        roles = roles_of(self.view)
        self.described["operationId"] = operation_id(self.view.__name__, is_list=self._is_list(schemas))
        self.described["summary"], self.described["description"] = _words(self.view, self._callers())
        if roles is None:
            self.described["security"] = []
        else:
            self.described["x-roles"] = sorted(map(str, roles))
        self._take_null_from_query()
        self._name_headers()
        codes = self._describe_problems()
        in_order = {name: self.described.pop(name) for name in _ORDER if name in self.described}
        in_order |= self.described
        self.described.clear()
        self.described.update(in_order)
        return codes

    def _callers(self) -> str:
        roles = roles_of(self.view)
        if roles is None:
            return "No key is needed."
        return f"Keys of these roles may call it: {', '.join(f'`{role}`' for role in sorted(map(str, roles)))}."

    def _is_list(self, schemas: Mapping[str, Any]) -> bool:
        """Whether it answers with `items`."""
        schema = self._answers().get("200", {}).get("content", {}).get("application/json", {}).get("schema", {})
        name = schema.get("$ref", "").removeprefix(_SCHEMA)
        return self.method == "GET" and "items" in schemas.get(name, {}).get("properties", {})

    def _answers(self) -> Mapping[str, Any]:
        return {status: response for status, response in self.described["responses"].items() if status[0] in "23"}

    def _take_null_from_query(self) -> None:
        """A parameter that is left out has no value, and null is none that a query can send."""
        for schema in (
            parameter["schema"] for parameter in self.described.get("parameters", ()) if parameter["in"] == "query"
        ):
            if isinstance(schema.get("type"), list):
                (schema["type"],) = (type_ for type_ in schema["type"] if type_ != "null")
            if "enum" in schema:
                schema["enum"] = [word for word in schema["enum"] if word is not None]
            if schema.get("default", ...) is None:
                del schema["default"]

    def _name_headers(self) -> None:
        has_etag = str(HTTPStatus.NOT_MODIFIED.value) in self.described["responses"]
        if has_etag:
            self.described["parameters"] = [*self.described.get("parameters", ()), headers.IF_NONE_MATCH]
        writes = self.method != "GET" and roles_of(self.view) is not None
        takes_position = self.method == "GET" and is_at_replica(self.view)
        for name in [*(["WantLogPosition"] if writes else []), *(["LogPosition"] if takes_position else [])]:
            self.described["parameters"] = [*self.described.get("parameters", ()), headers.parameter(name)]
        for status, response in self.described["responses"].items():
            if not status.isdigit():
                continue
            response["headers"] = {
                **headers.headers_of_answer(int(status), has_etag=has_etag, may_lag=may_lag(self.view), writes=writes),
                **response.get("headers", {}),
            }

    def _describe_problems(self) -> frozenset[str]:
        responses = self.described["responses"]
        by_status = answers.codes_by_status(
            self.view, method=self.method, has_id="{" in self.path, has_body="requestBody" in self.described
        )
        stated = {
            status: response for status, response in responses.items() if status[0] in "235" and "$ref" not in response
        }
        for status, codes in by_status.items():
            stated.setdefault(str(status), answers.response(codes, status))
        self.described["responses"] = {**dict(sorted(stated.items())), "default": answers.default()}
        return frozenset().union(*by_status.values())


def operation_id(view: str, *, is_list: bool) -> str:
    """Name an operation after its view: `post_bets` is `postBets`, and `get_awards`, which lists, is `listAwards`."""
    verb, *words = view.split("_")
    return "".join(["list" if is_list else verb, *(word.capitalize() for word in words)])


def _words(view: Callable[..., Any], callers: str) -> tuple[str, str]:
    """Divide what a view says of itself: its first sentence, and the others, to which the callers are added."""
    first, *paragraphs = _PARAGRAPHS.split(inspect.getdoc(view) or "")
    summary, *rest = _END.split(" ".join(first.split()), maxsplit=1)
    return summary, "\n\n".join([*rest, *(" ".join(paragraph.split()) for paragraph in paragraphs), callers])
