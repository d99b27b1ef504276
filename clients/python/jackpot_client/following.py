"""Lists and events, followed from page to page by their cursors."""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Final, TypeVar

from jackpot_client.calls.call import Listing
from jackpot_client.calls.events import LONGEST_WAIT_S, event_page
from jackpot_client.errors import ProtocolError
from jackpot_client.etags import ETags
from jackpot_client.exchange import Policy, exchange
from jackpot_client.steps import Item, Steps
from jackpot_client.values.events import CloudEvent, Event, EventPage

T = TypeVar("T")

NOW: Final = "now"
_MEMBERS: Final = tuple(field.name for field in fields(CloudEvent))


def listed(listing: Listing[T], policy: Policy, etags: ETags) -> Steps[None]:
    """Hand out the items of a list. Raises: as `exchange`; ProtocolError for a list that comes back to a cursor."""
    call, seen = listing.first, set[str]()
    while True:
        page = yield from exchange(call, policy, etags)
        for item in page.items:
            yield Item(item)
        if page.next is None:
            return
        if page.next in seen:
            raise ProtocolError(f"the list {call.request.path} comes back to {page.next!r}")
        seen.add(page.next)
        call = listing.after(page.next)


def followed_pages(
    policy: Policy, etags: ETags, *, after: str | None, limit: int | None, deadline: float | None
) -> Steps[None]:
    """
    Hand out page after page of events, for ever; it goes on after the last page that came, whatever breaks.

    A page may have no items and still a new cursor. Without a `deadline` it never gives up. Raises: as `exchange`.
    """
    patient = replace(policy, deadline=float("inf") if deadline is None else deadline)
    while True:
        page = yield from exchange(event_page(after=after, limit=limit, wait=LONGEST_WAIT_S), patient, etags)
        yield Item(page)
        after = page.next


def with_cursors(page: EventPage, before: str | None) -> Iterator[Event]:
    """
    Yield a page's events, each with the cursor to store once it is handled.

    That of the last one is the page's. Until then it is the one `before` the page: what was not handled comes again.
    """
    last = len(page.items) - 1
    for at, event in enumerate(page.items):
        members = {name: getattr(event, name) for name in _MEMBERS}
        yield Event(**members, cursor=page.next if at == last else before)


def followed_events(
    policy: Policy, etags: ETags, *, after: str | None, limit: int | None, deadline: float | None
) -> Steps[None]:
    """Hand out events one by one, for ever. Raises: as `exchange`."""
    patient = replace(policy, deadline=float("inf") if deadline is None else deadline)
    wait = 0 if after == NOW else LONGEST_WAIT_S  # The first page says where now is, before anything happens.
    while True:
        page = yield from exchange(event_page(after=after, limit=limit, wait=wait), patient, etags)
        for event in with_cursors(page, after):
            yield Item(event)
        after, wait = page.next, LONGEST_WAIT_S
