"""
Change requests, jobs and events, each kind by itself: `oneOf` with the kind as discriminator.

The schemas of a kind's payload or parameters are those that read them. The other members are those of the schema that
all kinds share.
"""

from collections.abc import Mapping
from typing import Any, Final

from apispec.core import Components
from marshmallow import Schema

from jackpot_service.api import job_parameters
from jackpot_service.api.event_data import schemas as event_data
from jackpot_service.events.event import EventType
from jackpot_service.usecases.changes.registry import KINDS

_SCHEMAS: Final = "#/components/schemas/"

Schemas = Mapping[str, type[Schema]]


def describe(components: Components) -> None:
    """
    Divide what is requested, and what is answered, into one schema for each kind.

    Raises: KeyError for a type of event whose data has no schema.
    """
    payloads: Schemas = {name: kind.payload() for name, kind in KINDS.items()}
    data: Schemas = {type_.value: event_data.SCHEMAS[type_] for type_ in EventType}
    _divide(components, "ChangeRequest", "payload", payloads, is_closed=True)
    _divide(components, "Change", "payload", payloads)
    _divide(components, "ListedChange", "payload", payloads)
    _divide(components, "JobRequest", "parameters", job_parameters.STATED, is_closed=True)
    _divide(components, "Job", "parameters", job_parameters.SETTLED)
    _divide(components, "CloudEvent", "data", data, discriminator="type")


def _divide(
    components: Components,
    name: str,
    member: str,
    by_kind: Schemas,
    *,
    is_closed: bool = False,
    discriminator: str = "kind",
) -> None:
    """
    Replace a schema by one for each kind, in which `discriminator` is this kind and a member has its schema.

    A closed schema is written out for each kind. An open one refers to `…Head` for the members that all kinds share.
    """
    shared = components.schemas[name]
    mapping = {}
    for kind, schema in by_kind.items():
        own = {discriminator: {"type": "string", "const": kind}, member: {"$ref": _registered(components, schema)}}
        title = f"{_titled(kind)}{name}"
        components.schemas[title] = _whole(shared, own) if is_closed else _with_head(name, own)
        mapping[kind] = f"{_SCHEMAS}{title}"
    if not is_closed:
        components.schemas[f"{name}Head"] = _without(shared, {discriminator, member})
    components.schemas[name] = {
        "oneOf": [{"$ref": reference} for reference in mapping.values()],
        "discriminator": {"propertyName": discriminator, "mapping": mapping},
    }


def _whole(shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the shared schema with members of its own in place of the shared ones."""
    return {**shared, "properties": {**shared["properties"], **own}}


def _with_head(name: str, own: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "allOf": [
            {"$ref": f"{_SCHEMAS}{name}Head"},
            {"type": "object", "required": [*own], "properties": dict(own)},
        ],
        "unevaluatedProperties": False,
    }


def _without(shared: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    own = {name: schema for name, schema in shared["properties"].items() if name not in names}
    required = [name for name in shared["required"] if name not in names]
    return {"type": "object", "required": required, "properties": own}


def _registered(components: Components, schema: type[Schema]) -> str:
    """Describe a schema once; returns the reference to it."""
    name = schema.__name__.removesuffix("Schema")
    if name not in components.schemas:
        components.schema(name, schema=schema)
    return f"{_SCHEMAS}{name}"


def _titled(kind: str) -> str:
    """Name a kind as schemas are named; of a type of event without the word that all types begin with."""
    return kind.removeprefix("jackpot.").title().replace("-", "").replace(".", "")
