"""The contract, openapi.yaml, as tests read it."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import yaml

OPENAPI: Final = Path(__file__).resolve().parents[2] / "openapi.yaml"
DOCUMENT: Final[dict[str, Any]] = yaml.load(OPENAPI.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)

METHODS: Final = {"get", "put", "post", "delete", "patch"}


def resolved(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """A part of the contract, or what it refers to."""
    if "$ref" not in part:
        return part
    node: Any = DOCUMENT
    for name in part["$ref"].removeprefix("#/").split("/"):
        node = node[name]
    return resolved(node)


@cache
def validator(schema: str) -> jsonschema_rs.Draft202012Validator:
    """What holds values against a schema of the contract, by its name."""
    reference = {"$ref": f"#/components/schemas/{schema}"}
    return jsonschema_rs.Draft202012Validator({"components": DOCUMENT["components"], **reference})
