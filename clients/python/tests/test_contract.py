"""The client says what the contract says, openapi.yaml: each answer has the same members, of the same types."""

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, get_args, get_origin, get_type_hints

import pytest
import yaml

import jackpot_client
from jackpot_client import AsyncJackpotClient, AwardState, HandStatus, JackpotClient, JackpotState, RoundState
from jackpot_client.calls import events, jackpots, rounds, tables

OPENAPI: Final = Path(__file__).resolve().parents[3] / "openapi.yaml"
DOCUMENT: Final = yaml.safe_load(OPENAPI.read_text(encoding="utf-8"))
SCHEMAS: Final[dict[str, Any]] = DOCUMENT["components"]["schemas"]

OTHER_NAMES: Final = {
    "PlacedBets": "BetsAccepted",
    "VoidedBets": "BetsVoided",
    "SettledRound": "RoundSettled",
    "CancelledRound": "RoundCancelled",
    "RoundView": "Round",
    "RecordedSettlement": "RecordSettlement",
    "EventPage": "Events",
}
"""Answers are named as facts, requests as requests: the contract has one name more of the latter."""

NOT_OF_THE_CONTRACT: Final = {"Bet", "Event", "FeedState", "Page", "Problem", "Retry"}

ANSWERS: Final = {
    name: kind
    for name in jackpot_client.__all__
    if is_dataclass(kind := getattr(jackpot_client, name)) and name not in NOT_OF_THE_CONTRACT
}


SHOWN: Final = ("amount", str)
"""An amount to show keeps the decimals that the service wrote: it is not figured with."""


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_has_the_members_of_the_contract_with_their_types(name: str) -> None:
    schema = SCHEMAS[OTHER_NAMES.get(name, name)]
    hints = get_type_hints(ANSWERS[name])
    members = fields(ANSWERS[name])
    # A member that an answer need not have is none that the client waits for.
    assert set(schema["required"]) <= {member.name for member in members} <= schema["properties"].keys()
    optional = {member.name for member in members if member.default is None}
    assert set(schema["required"]).isdisjoint(optional)
    hints |= {member: without_none(hints[member]) for member in optional}
    wrong = {
        member: (hints[member], described)
        for member, described in schema["properties"].items()
        if member in hints and not is_of(hints[member], described) and (member, hints[member]) != SHOWN
    }
    assert wrong == {}


TYPES: Final[Mapping[Any, tuple[str, str | None]]] = {
    str: ("string", None),
    int: ("integer", None),
    bool: ("boolean", None),
    Decimal: ("string", "decimal"),
    datetime: ("string", "date-time"),
    date: ("string", "date"),
}


def is_of(hint: Any, described: Any) -> bool:
    """Whether a type holds what a schema describes, null only where it says so."""
    kinds = get_args(hint) if get_origin(hint) is UnionType else (hint,)
    schemas = described.get("anyOf", described.get("oneOf", [described]))
    may_be_null = any(schema.get("type") == "null" or "null" in schema.get("type", ()) for schema in schemas)
    if (NoneType in kinds) is not may_be_null:
        return False
    kind = next(kind for kind in kinds if kind is not NoneType)
    schema = next(schema for schema in schemas if schema.get("type") != "null")
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if name and "enum" not in SCHEMAS[name]:
        return get_origin(kind) is Mapping or name == schema_name(kind)
    schema = SCHEMAS[name] if name else schema  # Words have a schema of their own.
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    (type_,) = (member for member in types if member != "null")
    if type_ == "array":
        return get_origin(kind) is tuple and is_of(get_args(kind)[0], schema["items"])
    if type_ == "object":
        return get_origin(kind) is Mapping
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        words = {word for word in schema.get("enum", ()) if word is not None}
        return type_ == "string" and (not words or words == {word.value for word in kind})
    return (kind in TYPES and TYPES[kind] == (type_, schema.get("format"))) or (kind, type_) == (datetime, "string")


def without_none(hint: Any) -> Any:
    """Return the type of a member that may be absent, where it is there."""
    (kind,) = (kind for kind in get_args(hint) if kind is not NoneType)
    return kind


def schema_name(kind: Any) -> str:
    """Return the contract's name of a dataclass."""
    if get_args(kind):
        return "OpenRounds"
    name: str = kind.__name__
    return OTHER_NAMES.get(name, name)


@pytest.mark.parametrize(
    ("enum", "schema", "field"),
    [
        (AwardState, "Award", "state"),
        (RoundState, "Round", "state"),
        (HandStatus, "Hand", "status"),
        (JackpotState, "Jackpot", "state"),
    ],
)
def test_the_client_knows_each_word_of_the_contract(enum: type[StrEnum], schema: str, field: str) -> None:
    words = SCHEMAS[schema]["properties"][field]
    words = SCHEMAS[words["$ref"].rpartition("/")[2]] if "$ref" in words else words
    assert {member.value for member in enum} == set(words["enum"])


def public(kind: type) -> set[str]:
    return {name for name in vars(kind) if not name.startswith("_")}


def test_both_clients_make_the_same_calls() -> None:
    assert public(JackpotClient) == public(AsyncJackpotClient)


def test_each_described_call_is_a_method() -> None:
    described = {
        name
        for module in (events, jackpots, rounds, tables)
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__ and not name.startswith("_") and callable(value)
    }
    methods = public(JackpotClient) - {"close", "event_pages", "events", "feed"}
    assert described == {"round_record" if name == "round" else name for name in methods}


SAMPLES: Final = {
    **dict.fromkeys(["table_id", "round_id", "award_id", "jackpot_id", "request_id", "reference", "reason"], "x"),
    "bets": [],
    "bet_ids": ["b"],
    "bet_count": 1,
    "hands": [],
    "book": "x",
    "stripe": 0,
    "seq": 1,
}


def test_each_call_is_one_of_the_contract_with_parameters_of_it() -> None:
    """Its path and method are described, and so is each parameter that it could have."""
    describe: Any
    for describe in (*CALLS, *LISTS):
        made = describe(**{name: SAMPLES[name] for name in required(describe)})
        request = getattr(made, "first", made).request
        (path,) = (
            template
            for template in DOCUMENT["paths"]
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), request.path)
        )
        operation = DOCUMENT["paths"][path][request.method.lower()]
        known = {parameter["name"] for parameter in operation.get("parameters", ())}
        known |= set(re.findall(r"\{(\w+)\}", path))
        for body in operation.get("requestBody", {}).get("content", {}).values():
            known |= SCHEMAS[body["schema"]["$ref"].rpartition("/")[2]]["properties"].keys()
        assert {name.removesuffix("_") for name in parameters(describe)} <= known, describe.__name__


def required(describe: Any) -> list[str]:
    return [name for name in parameters(describe) if name not in (describe.__kwdefaults__ or {})]


def parameters(describe: Any) -> list[str]:
    return [name for name in get_type_hints(describe) if name != "return"]


CALLS: Final = [
    rounds.place_bets,
    rounds.void_bets,
    rounds.close_betting,
    rounds.put_result,
    rounds.cancel_round,
    rounds.round_record,
    rounds.payout_per_unit,
    rounds.entry,
    tables.me,
    tables.table,
    tables.award,
    tables.pay_award,
    jackpots.jackpot,
    jackpots.meter,
    jackpots.paytable,
    jackpots.rules,
    jackpots.table_limits,
    jackpots.feed_frame,
    events.event_page,
]
LISTS: Final = [
    rounds.rounds,
    rounds.table_rounds,
    tables.casinos,
    tables.tables,
    tables.awards,
    jackpots.jackpots,
    jackpots.hits,
]
