"""Words of a closed list, described once under the name of the list: generated clients then have readable names."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from marshmallow import fields

NAME: Final = "x-words"
"""Under which a schema names the list of its words until `name_lists` has looked at it."""


def name_of_enum(_converter: object, field: fields.Field[Any], **_: object) -> Mapping[str, str]:
    """Name the list of a field's words; apispec calls it for every field."""
    return {NAME: field.enum.__name__} if isinstance(field, fields.Enum) else {}


def name_lists(document: Mapping[str, Any], schemas: dict[str, Any]) -> None:
    """
    Have each schema of named words refer to a schema of their list, or to that or null.

    Raises: ValueError if two lists have one name.
    """
    taken = frozenset(schemas)
    for part in [*_parts(document), *_parts(schemas)]:
        if NAME not in part:
            continue
        name, words = part.pop(NAME), [word for word in part["enum"] if word is not None]
        name = f"{name}Word" if name in taken else name  # An object has the name already.
        reference = {"$ref": f"#/components/schemas/{name}"}
        if schemas.setdefault(name, _list_of(words)) != _list_of(words):
            message = f"Two lists of words have the name {name}."
            raise ValueError(message)
        is_nullable = None in part["enum"]
        del part["enum"]
        part.pop("type", None)
        part.update({"anyOf": [reference, {"type": "null"}]} if is_nullable else reference)


def _list_of(words: list[str]) -> dict[str, Any]:
    return {"type": "string", "enum": [str(word) for word in words]}


def _parts(whole: object) -> Iterator[dict[str, Any]]:
    """Yield every object in a document."""
    if isinstance(whole, dict):
        yield whole
    for part in whole.values() if isinstance(whole, dict) else whole if isinstance(whole, list) else ():
        yield from _parts(part)
