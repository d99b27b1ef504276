"""Events as CloudEvents: everything that happened, from the beginning, in pages that a consumer follows."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from marshmallow import ValidationError, fields, validate

from jackpot_service.api.request_context import Blueprint, context, end_turn, has_left, principal
from jackpot_service.api.schemas import AnswerSchema, Moment, RequestSchema, described, listed, word
from jackpot_service.auth.authenticator import allow
from jackpot_service.database import deadlines
from jackpot_service.domain.principals import Role
from jackpot_service.events.cursor import BEGINNING, LONGEST, Cursor, decode, encode
from jackpot_service.events.event import EventType, as_cloud_event
from jackpot_service.events.visibility import is_of_the_house
from jackpot_service.usecases.fields import QueryNumber, ReadField

MOST_LISTED: Final = 1000
DEFAULT_LISTED: Final = 100
LONGEST_WAIT_S: Final = 20

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
    """An event by CloudEvents 1.0; docs/events.md says what the `data` of each type holds."""

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
@allow(*Role)
@blueprint.arguments(EventsQuerySchema(), location="query")
@blueprint.response(200, EventsSchema())
def get_events(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """List what happened after a cursor: at least once, nothing skipped; `wait` waits for something to happen."""
    reader = principal()
    wait_s = query["wait"]
    with deadlines.anew(wait_s + context().config.request_timeout_s):
        page = context().events.page(
            reader, query["after"], limit=query["limit"], wait_s=wait_s, before_waiting=end_turn, has_left=has_left
        )
    with_people = is_of_the_house(reader)
    return {
        "items": [as_cloud_event(event, with_people=with_people) for event in page.items],
        "next": encode(page.next),
        "has_more": page.has_more,
    }
