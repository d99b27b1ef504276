"""Events as CloudEvents: everything that happened, from the beginning, in pages that a consumer follows."""

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any, ClassVar, Final

from marshmallow import ValidationError, fields, validate

from jackpot_service.api import fast_path, parsing
from jackpot_service.api.parsing import Invalid
from jackpot_service.api.places import Caller
from jackpot_service.api.reading import age_headers, note_fresh, with_all
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, RequestContext, context, principal
from jackpot_service.api.requests import Fallback
from jackpot_service.api.schemas import AnswerSchema, Moment, RequestSchema, described, listed, word
from jackpot_service.api.streams import BEGINNING as STREAM_BEGINNING
from jackpot_service.api.streams import STREAMED, Listening, Pieces, Stream, page_bytes, reached
from jackpot_service.auth.authenticator import allow, allowed
from jackpot_service.domain.principals import READERS, Principal
from jackpot_service.events.cursor import BEGINNING, LONGEST, Cursor, decode, encode
from jackpot_service.events.event import EventType, as_cloud_event
from jackpot_service.events.page import Page
from jackpot_service.events.visibility import is_of_the_house
from jackpot_service.usecases.fields import QueryNumber, ReadField

MOST_LISTED: Final = 1000
DEFAULT_LISTED: Final = 100
LONGEST_WAIT_S: Final = 20

ALIVE_EVERY_S: Final = 15.0
"""How often a stream without events says up to where there are none."""

LAST_EVENT_ID: Final = b"last-event-id"

NOW: Final = "now"

blueprint = Blueprint(
    "events", __name__, url_prefix="/v1/events", description="Events of the books, as CloudEvents 1.0."
)


class EventCursor(ReadField[Cursor | None]):
    """The place to go on from: `next` of the page before; None for now."""

    described: ClassVar = {
        "type": "string",
        "maxLength": LONGEST,
        "pattern": "^[A-Za-z0-9_-]+$",
        "description": "The `next` of the page before; `now`; without it, the very beginning.",
    }

    def read(self, value: object) -> Cursor | None:
        """Raises: ValidationError."""
        if value == NOW:
            return None
        try:
            return decode(str(value))
        except ValueError as error:
            raise ValidationError(str(error)) from None


class EventsQuerySchema(RequestSchema):
    """After which event, how many at most, and how many seconds to wait if there is none."""

    after = EventCursor(load_default=lambda: BEGINNING)  # Called, so that the description shows no default.
    limit = QueryNumber(1, MOST_LISTED, load_default=DEFAULT_LISTED)
    wait = QueryNumber(0, LONGEST_WAIT_S, load_default=0)


class CloudEventSchema(AnswerSchema):
    """An event by CloudEvents 1.0; its type says what its `data` holds, with an example of each in docs/events.md."""

    specversion = fields.String(required=True, validate=validate.OneOf(["1.0"]))
    id = described(fields.String, "Always the same for the same event: drop what came before.")
    source = described(fields.String, "The book that it stands in: a jackpot's, or `-` for acts.")
    type = word(EventType)
    subject = described(fields.String, "The object of the event.")
    time = described(Moment, "When it was booked.")
    datacontenttype = fields.String(required=True, validate=validate.OneOf(["application/json"]))
    data = fields.Dict(required=True)


class EventsSchema(AnswerSchema):
    """A page of events, in the order of booking."""

    items = listed(CloudEventSchema)
    next = described(fields.String, "Ask for what comes after with this as `after`; never null: there is no last page.")
    has_more = described(fields.Boolean, "Whether there is more to be asked for at once, without waiting.")


@blueprint.route("", methods=["GET"])
@allow(*READERS)
@with_all
@refused_with("cursor-ahead")
@blueprint.arguments(EventsQuerySchema(), location="query")
@blueprint.response(200, EventsSchema())
@blueprint.doc(responses={200: {"content": STREAMED}})
def get_events(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """
    List what happened after a cursor: at least once, nothing skipped; `wait` waits for something to happen.

    With `Accept: text/event-stream` events come as they happen. Each page ends with its cursor as the event's id. A
    listener that comes again sends that as `Last-Event-ID`, which counts more than `after`.
    """
    page = context().events.page(principal(), query["after"], limit=query["limit"])
    note_fresh(page.fresh_at)
    return _written(page, principal())


def _written(page: Page, reader: Principal) -> Mapping[str, Any]:
    with_people = is_of_the_house(reader)
    return {
        "items": [as_cloud_event(event, with_people=with_people) for event in page.items],
        "next": encode(page.next),
        "has_more": page.has_more,
    }


async def _take(context: RequestContext, listening: Listening) -> fast_path.Answer | Stream:
    if not listening.wants_stream and b"wait=" not in listening.request.query:
        raise Fallback  # Before it is admitted: that takes a token of the key's rate.
    reader = await listening.admit()
    query = parsing.read_query(_QUERY, listening.request.query)
    if listening.wants_stream:
        return await _stream(context, listening, reader, query)
    listening.take_place(context.listeners, Caller.of(reader))
    listening.presence.listen()  # Until it is answered.
    page = await context.events.wait(
        reader, query["after"], listening.presence, limit=query["limit"], wait_s=query["wait"]
    )
    return fast_path.Answer(_written(page, reader), headers=age_headers(page.fresh_at))


async def _stream(context: RequestContext, listening: Listening, reader: Principal, query: Mapping[str, Any]) -> Stream:
    after = _last_event_id(listening.request.header(LAST_EVENT_ID)) or query["after"]
    listening.take_place(context.listeners, Caller.of(reader))
    first = await context.events.page_on_loop(reader, after, limit=query["limit"])
    pages = context.events.follow(reader, first, listening.presence, limit=query["limit"], alive_every_s=ALIVE_EVERY_S)
    return Stream(listening.admitted_again(_pieces(pages, reader)), age_headers(first.fresh_at))


def _last_event_id(shown: str) -> Cursor | None:
    """Read the id of the last event that a listener had. Raises: Invalid for one that no event has."""
    if not shown:
        return None
    try:
        return decode(shown)
    except ValueError:
        message = "must be the `id` of an event of this stream, unchanged; or left out"
        raise Invalid((parsing.error_of_parameter("Last-Event-ID", message),)) from None


async def _pieces(pages: AsyncIterator[Page], reader: Principal) -> Pieces:
    """Write pages as server-sent events."""
    yield STREAM_BEGINNING
    with_people = is_of_the_house(reader)
    async for page in pages:
        written = [as_cloud_event(event, with_people=with_people) for event in page.items]
        yield page_bytes(written, encode(page.next)) if written else reached(encode(page.next))


_QUERY: Final = EventsQuerySchema()

EVENTS_CALL: Final = fast_path.StreamCall(re.compile("/v1/events"), allowed(get_events), _take)
"""The same call as the event loop answers it, for those who wait; a page that nobody waits for is Flask's."""
