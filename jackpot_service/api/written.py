"""Fields of what was written before: described, and shown as it is, so nothing of it is looked at."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow import Schema, fields


class Written(fields.Nested):
    """An object."""

    def _serialize(self, *args: Any, **_: Any) -> Any:  # noqa: ANN401  as the bases
        return args[0]


class SelfDescribing(fields.Field[Any]):
    """A field that says itself how the API describes it; `described_by_itself` asks for that."""

    @abstractmethod
    def description_in(self, converter: OpenAPIConverter) -> Mapping[str, Any]:
        """Return its part of the description."""


class AnyWritten(SelfDescribing):
    """An object of one of some schemas, or null; which it is, follows from another member."""

    def __init__(self, *schemas: type[Schema], **kwargs: Any) -> None:  # noqa: ANN401  as the base
        super().__init__(required=True, allow_none=True, **kwargs)
        self.schemas = schemas

    def description_in(self, converter: OpenAPIConverter) -> Mapping[str, Any]:
        """Describe each of the objects."""
        objects = [converter.resolve_nested_schema(schema) for schema in self.schemas]  # type: ignore[no-untyped-call]  # apispec
        return {"anyOf": [*objects, {"type": "null"}]}


class Row(SelfDescribing):
    """A list of so many items, each with a meaning of its own."""

    def __init__(self, *items: fields.Field[Any], **kwargs: Any) -> None:  # noqa: ANN401  as the base
        super().__init__(required=True, **kwargs)
        self.items: Sequence[fields.Field[Any]] = items

    def description_in(self, converter: OpenAPIConverter) -> Mapping[str, Any]:
        """Describe the items in their order."""
        described = [converter.field2property(item) for item in self.items]
        count = len(described)
        # None comes after these; linters ask for `items` all the same.
        return {"type": "array", "prefixItems": described, "items": {}, "minItems": count, "maxItems": count}


def described_by_itself(converter: OpenAPIConverter, field: fields.Field[Any], **_: object) -> Mapping[str, Any]:
    """Ask a field for its description; apispec calls it for every field."""
    return field.description_in(converter) if isinstance(field, SelfDescribing) else {}
