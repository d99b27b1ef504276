"""Events of the books, as CloudEvents 1.0."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudEvent:
    """
    An event; one that comes again has the same `id` and the same content.

    More types may come, and more members of `data`: ignore those that are not known. `data` has no float.
    """

    specversion: str
    id: str
    source: str
    type: str
    subject: str
    time: datetime
    datacontenttype: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPage:
    """Some events, and the cursor to store with their results; it is never None. `has_more` needs no waiting."""

    items: tuple[CloudEvent, ...]
    next: str
    has_more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(CloudEvent):
    """
    An event of an iterator, with a cursor to store once the event is handled.

    Events that follow this one are all returned after the cursor, perhaps with some that came before. None is the
    very beginning.
    """

    cursor: str | None
