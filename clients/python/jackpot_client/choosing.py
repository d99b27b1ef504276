"""Members of an answer whose type follows from another member: the data of an event from its type."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

CHOICE: Final = "choice"


@dataclass(frozen=True, slots=True)
class Choice:
    """The member that decides, and the type by its word; of any other word the member is left as it came."""

    by: str
    kinds: Mapping[str, Any]


def chosen_by(name: str, kinds: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a dataclass's field whose type another member decides."""
    return {CHOICE: Choice(name, kinds)}
