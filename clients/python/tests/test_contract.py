"""The client makes the calls of the contract, openapi.yaml, with parameters of it, and knows what can be sent."""

import inspect
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final, get_args, get_origin

import pytest

from jackpot_client import AsyncJackpotClient, FoundRound, HandStatus, JackpotClient, SettledRound
from jackpot_client.calls import events, jackpots, rounds, tables
from tests.support.contract import DOCUMENT
from tests.support.described_calls import CALLS, LISTS, Describe, operation_of, parameters

SCHEMAS: Final[dict[str, Any]] = DOCUMENT["components"]["schemas"]


def test_each_status_of_a_hand_can_be_sent() -> None:
    assert {status.value for status in HandStatus} == set(SCHEMAS["Hand"]["properties"]["status"]["enum"])


def public(kind: type) -> set[str]:
    return {name for name in vars(kind) if not name.startswith("_")}


def test_both_clients_make_the_same_calls() -> None:
    assert public(JackpotClient) == public(AsyncJackpotClient)


@pytest.mark.parametrize(("kind", "iterator"), [(JackpotClient, Iterator), (AsyncJackpotClient, AsyncIterator)])
def test_help_shows_what_a_call_answers(kind: type, iterator: type) -> None:
    def shown(name: str) -> Any:
        return inspect.signature(getattr(kind, name)).return_annotation

    assert shown("put_result") is SettledRound
    assert (get_origin(shown("rounds")), get_args(shown("rounds"))) == (iterator, (FoundRound,))


def test_each_described_call_is_a_method() -> None:
    described = {
        name
        for module in (events, jackpots, rounds, tables)
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__ and not name.startswith("_") and callable(value)
    }
    methods = public(JackpotClient) - {"close", "event_pages", "events", "feed"}
    assert described == {"round_record" if name == "round" else name for name in methods}


@pytest.mark.parametrize("describe", [*CALLS, *LISTS])
def test_a_call_is_one_of_the_contract_with_all_its_parameters(describe: Describe) -> None:
    """Its path and method are described, and its parameters are those of the operation; a list has its own cursor."""
    path, operation = operation_of(describe)
    # Operations share parameters that are headers, of positions in the log: they are no part of what a call asks.
    known = {parameter["name"] for parameter in operation.get("parameters", ()) if "$ref" not in parameter}
    known |= set(re.findall(r"\{(\w+)\}", path))
    for body in operation.get("requestBody", {}).get("content", {}).values():
        known |= SCHEMAS[body["schema"]["$ref"].rpartition("/")[2]]["properties"].keys()
    known -= {"If-None-Match", *(("after", "limit") if describe in LISTS else ())}
    assert {name.removesuffix("_") for name in parameters(describe)} == known
