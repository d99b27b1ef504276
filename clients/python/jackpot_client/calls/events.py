"""The call for a page of events."""

from dataclasses import replace
from typing import Final

from jackpot_client.calls.call import Call, reading
from jackpot_client.values.events import EventPage

LONGEST_WAIT_S: Final = 20


def event_page(*, after: str | None = None, limit: int | None = None, wait: int = 0) -> Call[EventPage]:
    """
    Return a page of events after a cursor: at least once, nothing skipped.

    `after` is the `next` of the page before, None for the very beginning, or `now`. `limit` is at most 1000. The
    service waits up to `wait` seconds, 20 at most, if there is no event.
    """
    call = reading("/v1/events", EventPage, after=after, limit=limit, wait=wait or None)
    return replace(call, waits_seconds=wait)
