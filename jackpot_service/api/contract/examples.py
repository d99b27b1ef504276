"""
Examples of requests and answers: one story, in the files of `api/examples/` in the order of their names.

Each exchange is true: a test sends the requests to a running service, in this order, and compares what is answered.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import yaml

from jackpot_service.api import streams
from jackpot_service.api.problems import MEDIA_TYPE

FOLDER: Final = Path(__file__).parents[1] / "examples"

SAME: Final = "same"

_JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Exchange:
    """
    A request of an operation, and its answer.

    `caller` has the key that is shown, None for none. `answer` is JSON, None where it is not; `text` are then the first
    lines of an answer of another `media_type`. `again` is the answer when the same request is sent once more, or
    `same`; None where that is not shown. Of a list whose name is in `shown`, the answer has only so many of its first
    items. An `outage` is what is answered while the database is silent.
    """

    operation: str
    name: str
    summary: str
    status: int = HTTPStatus.OK
    caller: str | None = None
    path: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    answer: Mapping[str, Any] | None = None
    again: Mapping[str, Any] | str | None = None
    shown: Mapping[str, int] = field(default_factory=dict)
    media_type: str | None = None
    text: str | None = None
    outage: bool = False

    @property
    def answers(self) -> Iterator[tuple[str, str, Mapping[str, Any] | str]]:
        """Yield the status, the name and the content of each answer that is shown."""
        if self.text is not None:
            yield str(self.status), self.name, self.text
        if self.answer is not None:
            yield str(self.status), self.name, self.answer
            if self.again is not None:
                again = self.answer if self.again == SAME else self.again
                assert isinstance(again, Mapping)  # noqa: S101  narrows a type
                yield str(HTTPStatus.OK.value), f"{self.name}Again", again


def files() -> list[Path]:
    """Return the files of the story, in order."""
    return sorted(FOLDER.glob("*.yaml"))


def exchanges_of(file: Path) -> list[Exchange]:
    """Read the exchanges of a file."""
    return [Exchange(**fields_) for fields_ in yaml.safe_load(file.read_text(encoding="utf-8"))]


def exchanges() -> Iterator[Exchange]:
    """Yield all exchanges of the story."""
    for file in files():
        yield from exchanges_of(file)


def describe(operations: Mapping[str, Mapping[str, Any]], parameters: Mapping[str, list[dict[str, Any]]]) -> None:
    """
    Add the examples to operations, by their ids. `parameters` are those of each operation: of its path, and its own.

    Raises: LookupError for one of an operation that there is not, or of an answer that it does not describe.
    """
    for exchange in exchanges():
        operation = operations[exchange.operation]
        if exchange.body is not None:
            _add(operation["requestBody"]["content"][_JSON], exchange.name, exchange.summary, exchange.body)
        for status, name, answer in exchange.answers:
            summary = exchange.summary if name == exchange.name else "The same request again."
            usual = MEDIA_TYPE if exchange.status >= HTTPStatus.BAD_REQUEST else _JSON
            content = operation["responses"][status]["content"]
            _add(content[exchange.media_type or usual], name, summary, answer)
            if streams.MEDIA_TYPE in content and isinstance(answer, Mapping):
                _add(content[streams.MEDIA_TYPE], name, summary, stream_of(answer))
        for parameter in parameters[exchange.operation]:
            stated = {"path": exchange.path, "query": exchange.query}.get(parameter.get("in", ""), {})
            if parameter.get("name") in stated:  # A reference is to a header's.
                parameter.setdefault("example", stated[parameter["name"]])


def stream_of(answer: Mapping[str, Any]) -> str:
    """Write how a stream begins whose JSON this would be: the events of a page, or a frame."""
    return (streams.BEGINNING + streams.page_bytes(answer.get("items", [answer]), answer.get("next"))).decode()


def _add(content: dict[str, Any], name: str, summary: str, value: Mapping[str, Any] | str) -> None:
    content.setdefault("examples", {})[name] = {"summary": summary, "value": value}
