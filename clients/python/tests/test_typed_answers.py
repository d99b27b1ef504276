"""
Each answer of the client is typed to its last member, as openapi.yaml describes the answer of the call's operation.

The types are walked together with the schemas, from the calls down to the last text and number.
"""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from types import GenericAlias, NoneType, UnionType
from typing import Any, Final, get_args, get_origin, get_type_hints

import pytest

import jackpot_client
from jackpot_client import AwardState, Page, Problem, RoundState
from jackpot_client.choosing import CHOICE, Choice
from tests.support.contract import DOCUMENT
from tests.support.described_calls import CALLS, LISTS, Describe, operation_of

Schema = Mapping[str, Any]

SCHEMAS: Final[Mapping[str, Schema]] = DOCUMENT["components"]["schemas"]

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

MADE_HERE: Final = {"Bet", "Hand", "Event", "FeedState", "FieldError", "Problem", "Retry"}
"""Dataclasses that are no part of an answer: they are sent, or made by the client, and those of problems."""

UNTYPED: Final[Mapping[str, str]] = {
    "CloudEvent.data": "of a type of event that a later service has",
    "BookEntry.facts": "of a kind of entry that a later service has",
    "Entry.stated": "of a kind of entry that a later service has",
}
"""Members that are left as they came, as a mapping, and when; of all types and kinds of the contract they are typed."""

SHOWN: Final = {"Meter.amount", "PaidMeter.amount", "ShownMeter.amount", "MeterAmount.amount"}
"""Amounts to show keep the decimals that the service wrote: they are not figured with."""

CLOSED: Final = {AwardState, RoundState}
"""Words that decide what is done with money: of these alone a later service's further word is not passed on as text."""

PAST: Final = {"AwardMadeData.state", "VerdictAward.state"}
"""Records of how awards began: nobody pays by them, so they are passed on with any word."""

TYPES: Final[Mapping[tuple[str, str | None], Any]] = {
    ("string", None): str,
    ("string", "decimal"): Decimal,
    ("string", "fraction"): Fraction,
    ("string", "date-time"): datetime,
    ("string", "date"): date,
    ("integer", None): int,
    ("boolean", None): bool,
}


@dataclass
class Walk:
    """A walk through types and their schemas: what differs, and the dataclasses and untyped members on the way."""

    wrong: list[str] = field(default_factory=list)
    seen: dict[Any, str] = field(default_factory=dict)
    untyped: set[str] = field(default_factory=set)

    def value(self, hint: Any, schema: Schema, where: str) -> None:
        """Compare a type with what describes it, null only where it says so."""
        variants = [schema_ for schema_ in schema.get("anyOf", [schema]) if schema_.get("type") != "null"]
        may_be_null = len(variants) < len(schema.get("anyOf", [schema])) or "null" in schema.get("type", ())
        kinds = get_args(hint) if get_origin(hint) is UnionType else (hint,)
        if (NoneType in kinds) is not may_be_null:
            self.wrong.append(f"{where}: {hint} is not null where {dict(schema)} is")
            return
        (variant,) = variants
        self.not_null(tuple(kind for kind in kinds if kind is not NoneType), variant, where)

    def not_null(self, kinds: tuple[Any, ...], schema: Schema, where: str) -> None:
        name, whole = resolved(schema)
        kind, *rest = kinds
        words = set(whole.get("enum", ())) - {None}
        if len(words) > 1:
            later = [] if kind in CLOSED and where not in PAST else [str]
            if not (is_word(kind) and {word.value for word in kind} == words and rest == later):
                self.wrong.append(f"{where}: {kinds} are not the words {sorted(words)}")
        elif rest:
            self.wrong.append(f"{where}: {kinds} for {name or dict(whole)}")
        elif "properties" in whole or "oneOf" in whole:
            self.object(kind, name, whole, where)
        else:
            self.plain(kind, whole, where)

    def plain(self, kind: Any, schema: Schema, where: str) -> None:
        type_ = schema["type"]
        (type_,) = [name for name in type_ if name != "null"] if isinstance(type_, list) else [type_]
        if type_ == "array" and "prefixItems" in schema:
            self.row(kind, schema["prefixItems"], where)
        elif type_ == "array" and get_origin(kind) is tuple and get_args(kind)[1:] == (Ellipsis,):
            self.value(get_args(kind)[0], schema["items"], f"{where}/0")
        elif type_ == "object" and is_mapping_of_texts(kind) and schema["additionalProperties"]:
            self.value(get_args(kind)[1], schema["additionalProperties"], f"{where}/*")
        elif kind is not TYPES.get((type_, schema.get("format"))) and not (where in SHOWN and kind is str):
            self.wrong.append(f"{where}: {kind} for {dict(schema)}")

    def row(self, kind: Any, items: list[Schema], where: str) -> None:
        """Compare a named tuple, item by item."""
        hints = [get_type_hints(kind)[name] for name in getattr(kind, "_fields", ())]
        if len(hints) != len(items):
            self.wrong.append(f"{where}: {kind} for {len(items)} items")
            return
        for hint, item in zip(hints, items, strict=True):
            self.value(hint, item, f"{where}/{kind.__name__}")

    def object(self, kind: Any, name: str, schema: Schema, where: str) -> None:
        """Compare a dataclass, member by member: it has all of the contract's, and no other."""
        if not is_dataclass(get_origin(kind) or kind) or (not is_page(kind) and schema_name(kind) != name):
            self.wrong.append(f"{where}: {kind} for {name}")
            return
        if kind in self.seen:
            return
        self.seen[kind] = name
        members, required = members_of(schema)
        hints = hints_of(kind)
        by_name = {field_.name.removesuffix("_"): field_ for field_ in fields(get_origin(kind) or kind)}
        if by_name.keys() != members.keys():
            self.wrong.append(f"{where}: {name} has {sorted(by_name.keys() ^ members.keys())} on one side alone")
            return
        for member, field_ in by_name.items():
            place = f"{(get_origin(kind) or kind).__name__}.{member}"
            if is_optional(field_) is (member in required):
                self.wrong.append(f"{place}: {'required' if member in required else 'may be absent'} in the contract")
            hint = without_none(hints[field_.name]) if field_.default is None else hints[field_.name]
            if CHOICE in field_.metadata:
                self.choice(hint, field_.metadata[CHOICE], schema, members[member], place)
            else:
                self.value(hint, members[member], place)

    def choice(self, hint: Any, choice: Choice, schema: Schema, described: Schema, where: str) -> None:
        """Compare a member that another decides: each word has its type; of any other word it is as it came."""
        self.untyped.add(where)
        kinds = set(get_args(hint))
        if Mapping[str, Any] not in kinds:
            self.wrong.append(f"{where}: nothing for a word that is not known")
        if "oneOf" in schema:
            mapping = schema["discriminator"]["mapping"]
            expected = {word: data_of(reference)[where.rpartition(".")[2]] for word, reference in mapping.items()}
            if choice.by != schema["discriminator"]["propertyName"] or choice.kinds.keys() != expected.keys():
                self.wrong.append(f"{where}: {sorted(choice.kinds.keys() ^ expected.keys())} on one side alone")
        else:
            variants = [variant for variant in described["anyOf"] if "$ref" in variant]
            by_kind = {resolved(variant)[0]: variant for variant in variants}
            expected = {word: by_kind.pop(schema_name(kind), {}) for word, kind in choice.kinds.items()}
            if by_kind or (NoneType in kinds) is not ({"type": "null"} in described["anyOf"]):
                self.wrong.append(f"{where}: no word for {sorted(by_kind)}, or null on one side alone")
        for word, reference in expected.items():
            kind = choice.kinds[word]
            if not any(issubclass(kind, part) for part in kinds if isinstance(part, type)):
                self.wrong.append(f"{where}: {kind} is none of {hint}")
            self.value(kind, reference, f"{where}:{word}")


def resolved(schema: Schema) -> tuple[str, Schema]:
    """A schema, or the one that it refers to, with that one's name."""
    name = schema.get("$ref", "").rpartition("/")[2]
    return name, SCHEMAS[name] if name else schema


def members_of(schema: Schema) -> tuple[Mapping[str, Schema], set[str]]:
    """The members of an object, and which of them are required; of one that has kinds those of all its kinds."""
    if "oneOf" not in schema:
        return schema["properties"], set(schema.get("required", ()))
    kinds = [resolved(variant)[1]["allOf"] for variant in schema["oneOf"]]
    (head,) = {head["$ref"] for head, _ in kinds}
    (own,) = {frozenset(part["required"]) for _, part in kinds}
    members, required = members_of(resolved({"$ref": head})[1])
    words = {"type": "string", "enum": [*schema["discriminator"]["mapping"]]}
    by_kind: dict[str, Schema] = {name: {} for name in own} | {schema["discriminator"]["propertyName"]: words}
    return {**members, **by_kind}, required | own


def data_of(reference: str) -> Mapping[str, Schema]:
    """The members that a kind has of its own."""
    properties: Mapping[str, Schema] = resolved({"$ref": reference})[1]["allOf"][1]["properties"]
    return properties


def hints_of(kind: Any) -> Mapping[str, Any]:
    """The types of a dataclass's fields; of a page with that of its items."""
    hints = get_type_hints(get_origin(kind) or kind)
    if not is_page(kind):
        return hints
    return {**hints, "items": GenericAlias(tuple, (*get_args(kind), ...))}


def is_page(kind: Any) -> bool:
    return get_origin(kind) is Page


def is_word(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, StrEnum)


def is_mapping_of_texts(kind: Any) -> bool:
    return get_origin(kind) is Mapping and get_args(kind)[0] is str


def is_optional(field_: Field[Any]) -> bool:
    return field_.default is not MISSING or field_.default_factory is not MISSING


def without_none(hint: Any) -> Any:
    """The type of a member that may be absent, where it is there."""
    kind: Any = None
    for part in get_args(hint):
        if part is not NoneType:
            kind = part if kind is None else kind | part
    return kind


def schema_name(kind: Any) -> str:
    """The contract's name of a dataclass."""
    name: str = kind.__name__
    return OTHER_NAMES.get(name, name)


def answer_of(describe: Describe) -> Any:
    """The type of a call's answer; of a list a page."""
    made = get_type_hints(describe)["return"]
    kind: Any = get_args(made)[0]
    return GenericAlias(Page, (kind,)) if describe in LISTS else kind


def walked(describe: Any) -> Walk:
    """Walk through a call's answer, as the contract describes every success of its operation."""
    walk = Walk()
    responses = operation_of(describe)[1]["responses"]
    described = [responses[status]["content"]["application/json"]["schema"] for status in responses if status[0] == "2"]
    for schema in described:
        walk.value(answer_of(describe), schema, describe.__name__)
    assert described
    return walk


@pytest.mark.parametrize("describe", [*CALLS, *LISTS])
def test_an_answer_is_typed_as_the_contract_describes_it(describe: Describe) -> None:
    assert walked(describe).wrong == []


def test_only_what_a_later_service_may_add_is_left_as_it_came() -> None:
    assert {place for describe in (*CALLS, *LISTS) for place in walked(describe).untyped} == UNTYPED.keys()


def test_no_other_member_holds_anything() -> None:
    """No field of any type but the facts of a problem, which say in words what differs from code to code."""
    kinds = {kind for describe in (*CALLS, *LISTS) for kind in walked(describe).seen}
    vague = {
        f"{(get_origin(kind) or kind).__name__}.{name}"
        for kind in kinds | {Problem}
        for name, hint in hints_of(kind).items()
        if Any in parts_of(hint)
    }

    assert vague == UNTYPED.keys() | {"Problem.facts"}


def parts_of(hint: Any) -> Iterator[Any]:
    yield hint
    for part in get_args(hint):
        yield from parts_of(part)


def test_a_program_can_import_each_type_of_an_answer() -> None:
    public = {name for name in jackpot_client.__all__ if is_dataclass(getattr(jackpot_client, name))}
    kinds = {(get_origin(kind) or kind).__name__ for describe in (*CALLS, *LISTS) for kind in walked(describe).seen}

    assert kinds | MADE_HERE == public
    assert not kinds & MADE_HERE


# The walk itself.


def differences(kind: Any, schema: Schema) -> list[str]:
    walk = Walk()
    walk.value(kind, schema, "it")
    return walk.wrong


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (str, {"type": "string", "format": "decimal"}),
        (str, {"type": "string", "enum": ["a", "b"]}),
        (int, {"type": "string"}),
        (int | None, {"type": "integer"}),
        (int, {"type": ["integer", "null"]}),
        (tuple[int, ...], {"type": "array", "items": {"type": "string"}}),
        (tuple[int, ...], {"type": "array", "prefixItems": [{"type": "integer"}]}),
        (Mapping[str, Any], {"type": "object", "additionalProperties": {}}),
        (Mapping[str, str], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Mapping[int, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (tuple[int], {"type": "array", "items": {"type": "integer"}}),
        (tuple[int, str], {"type": "array", "items": {"type": "integer"}}),
        (jackpot_client.Tier, {"$ref": "#/components/schemas/Tier"}),
        (RoundState | str, {"type": "string", "enum": [*map(str, RoundState)]}),
        (Mapping[str, Any], {"$ref": "#/components/schemas/Award"}),
        (jackpot_client.Refund, {"$ref": "#/components/schemas/Award"}),
    ],
)
def test_a_type_that_is_not_what_is_described_is_seen(kind: Any, schema: Schema) -> None:
    assert len(differences(kind, schema)) == 1


def test_a_member_on_one_side_alone_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    refund = SCHEMAS["Refund"]
    monkeypatch.setitem(SCHEMAS, "Refund", {**refund, "properties": {**refund["properties"], "more": {}}})
    (difference,) = differences(jackpot_client.Refund, {"$ref": "#/components/schemas/Refund"})
    assert "['more']" in difference


def test_a_word_more_on_one_side_is_seen() -> None:
    words = [*SCHEMAS["Tier"]["enum"], "two_pairs"]
    assert differences(jackpot_client.Tier | str, {"type": "string", "enum": words})
    assert not differences(jackpot_client.Tier | str, {"$ref": "#/components/schemas/Tier"})
