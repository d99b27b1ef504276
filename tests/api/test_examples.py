"""The contract's examples are true: of the schemas that they stand at, and of a running service. Issue 25, point 1."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final

import httpx
import jsonschema_rs
import pytest
import yaml

from jackpot_service import signing
from jackpot_service.api.contract import examples
from jackpot_service.api.contract.examples import Exchange
from jackpot_service.config.settings import Config
from jackpot_service.database.clocks import utc_now
from jackpot_service.database.connections import create_engine
from jackpot_service.database.transactions import Session, transact
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.ledger.verification import Reached
from jackpot_service.records import checkpoints
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.keys import create_key
from jackpot_service.usecases.seal_books import SealBooks, seal_books
from tests.faults.service import served
from tests.support.contract import DOCUMENT, METHODS, resolved
from tests.support.replaying import Replay, played

JSON: Final = "application/json"
STREAM: Final = "text/event-stream"

HTML: Final = "text/html"
XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

WITHOUT: Final = {
    ("getRulesPage", HTML): "a page of some hundred lines, for people",
    ("getAwardSlip", HTML): "a page to print",
    ("postAwardSlip", HTML): "a page to print",
    ("listProblems", HTML): "a page of some hundred lines, for people",
    ("getProblem", HTML): "a page for people; the JSON says the same",
    ("getReport", XLSX): "a spreadsheet is not text",
    ("getJobFile", XLSX): "a spreadsheet is not text",
}
"""The answers that have no example, by operation and media type, and why."""

CALLERS: Final = {
    "server": Principal("a server of Riga", Role.TABLE, "riga"),
    "Olga": Principal("Olga", Role.OPERATOR),
    "Oona": Principal("Oona", Role.OPERATOR),
    "Fay": Principal("Fay", Role.FINANCE),
    "Rita": Principal("Rita", Role.RATES),
    "Ruth": Principal("Ruth", Role.RATES),
    "Ada": Principal("Ada", Role.AUDITOR),
}

OPERATIONS: Final = {
    operation["operationId"]: operation
    for item in DOCUMENT["paths"].values()
    for method, operation in item.items()
    if method in METHODS
}


@cache
def validator(schema: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator({"components": DOCUMENT["components"], **yaml.safe_load(schema)})


def contents(operation: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield what is sent and what is answered by an operation, with the status and the media type."""
    if "requestBody" in operation:
        yield "request", JSON, operation["requestBody"]["content"][JSON]
    for status, response in operation["responses"].items():
        yield from ((status, form, content) for form, content in resolved(response).get("content", {}).items())


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_example_is_of_the_schema_that_it_stands_at(name: str) -> None:
    for where, _, content in contents(OPERATIONS[name]):
        for example in content.get("examples", {}).values():
            value = resolved(example)["value"]
            wrong = [error.message for error in validator(yaml.dump(content["schema"])).iter_errors(value)]
            assert not wrong, (where, wrong)


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_body_that_is_sent_and_every_answer_has_an_example(name: str) -> None:
    """Those of problems are made of the catalogue."""
    for where, form, content in contents(OPERATIONS[name]):
        assert bool(content.get("examples")) is not ((name, form) in WITHOUT), (where, form)


def test_what_has_no_example_is_answered() -> None:
    answered = {(name, form) for name, operation in OPERATIONS.items() for _, form, _ in contents(operation)}

    assert WITHOUT.keys() <= answered


STREAMED: Final = {"getFeed": "FeedFrame", "listEvents": "CloudEvent"}


def test_streams_are_shown_as_what_is_said_in_them() -> None:
    shown = {}
    for name, operation in OPERATIONS.items():
        content = resolved(operation["responses"].get("200", {})).get("content", {})
        for example in content.get(STREAM, {}).get("examples", {}).values():
            beginning, *events, end = example["value"].split("\n\n")
            assert (beginning, end) == ("retry: 3000", "")
            shown[name] = [line.removeprefix("data: ") for event in events for line in event.splitlines()]

    assert shown.keys() == STREAMED.keys()
    assert [line.startswith("id: ") for line in shown["listEvents"]] == [False, True, False]
    for name, lines in shown.items():
        is_valid = validator(yaml.dump({"$ref": f"#/components/schemas/{STREAMED[name]}"})).is_valid
        assert all(is_valid(json.loads(line)) for line in lines if not line.startswith("id: ")), name


def test_examples_of_an_operation_have_names_of_their_own() -> None:
    names = [(exchange.operation, exchange.name) for exchange in examples.exchanges()]

    assert len(names) == len(set(names))


def times_in(value: Any) -> Iterator[datetime]:
    """Yield the times in an answer at which the service did something."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in {"made_at", "figured_at", "decided_at", "booked_at", "created_at"} and inner is not None:
                yield datetime.fromisoformat(inner)
            else:
                yield from times_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from times_in(inner)


def test_times_of_the_story_are_of_one_replay() -> None:
    times = [at for exchange in examples.exchanges() for at in times_in([exchange.answer, exchange.again])]

    assert max(times) - min(times) < timedelta(minutes=10)


@pytest.mark.long
def test_the_story_of_the_examples_is_what_a_running_service_answers(
    database_url: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """With `--write-examples` the answers are written into the files of the story instead."""
    settings = {"JACKPOT_OIDC_ISSUER": "https://issuer.invalid", "JACKPOT_OIDC_AUDIENCE": "jackpot"}
    engine = create_engine(Config(), database_url)
    with (
        served(database_url, tmp_path / "log", settings=settings) as service,
        httpx.Client(
            base_url=service.base_url, trust_env=False, timeout=30, limits=httpx.Limits(max_keepalive_connections=0)
        ) as client,
    ):
        is_written = pytestconfig.getoption("write_examples")
        replay = Replay(client, keys(lambda use_case: transact(engine, use_case)), takes_times=is_written)
        before = {"getCheckpoints": lambda: transact(engine, check)}
        by_file = {file: played(replay, examples.exchanges_of(file), before) for file in examples.files()}
    engine.dispose()

    assert not replay.refused, "\n".join(replay.refused)
    if is_written:
        for file, exchanges in by_file.items():
            file.write_text(written(exchanges), encoding="utf-8")
    else:
        assert not replay.differences, "\n".join(replay.differences)


def keys(do: Callable[[Callable[[Session], Any]], Any]) -> Callable[[str], str]:
    """A key of each caller, which is created when it is asked for first."""

    @cache
    def key_of(name: str) -> str:
        act = Act(SYSTEM_OPERATOR, utc_now())
        key: str = do(lambda session: create_key(session, act, CALLERS[name])).whole
        return key

    return key_of


def check(session: Session) -> None:
    """Verify the books and seal them, as people do on the machine."""
    at = datetime.now(UTC)
    checkpoints.add_verification(
        session,
        reached=Reached(is_whole=True, entries=40, rounds=3, bets=6, awards=4, books={}),
        begun_at=at,
        noted_at=at,
        service_version="0.1.0",
        continues=None,
    )
    seal_books(session, SealBooks(Act(SYSTEM_OPERATOR, at), signing.new_key(), "0.1.0"))


def written(exchanges: list[Exchange]) -> str:
    """Write exchanges as a file of the story; what is as usual is left out."""
    usual = asdict(Exchange("", "", ""))
    plain = [
        {name: value for name, value in asdict(exchange).items() if name not in usual or value != usual[name]}
        for exchange in exchanges
    ]
    return yaml.dump(plain, Dumper=Readable, sort_keys=False, allow_unicode=True, width=120)


class Readable(yaml.SafeDumper):
    """Writes texts of several lines line by line."""


def _text(dumper: Readable, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


Readable.add_representer(str, _text)
