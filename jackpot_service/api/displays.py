"""The feed of a jackpot, for displays: frame after frame or one at a time, and open to all where it says so."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from marshmallow import fields

from jackpot_service.api import cross_origin, fast_path, parsing
from jackpot_service.api.feeds import Currencies, frame_of
from jackpot_service.api.places import Caller
from jackpot_service.api.reading import age_headers, note_fresh, with_all
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, RequestContext, context, look
from jackpot_service.api.requests import Fallback, Request
from jackpot_service.api.schemas import AnswerSchema, Moment, RequestSchema, described, listed, word
from jackpot_service.api.streams import STREAMED, Listening, Stream
from jackpot_service.auth.authenticator import allow, allowed
from jackpot_service.domain.lives import Life
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.reports.displays import displayed_hit
from jackpot_service.usecases.fields import CurrencyCodes

PUBLIC: Final = Caller("", "")
"""Those who show no key share their places as one caller."""

VARY: Final = (b"vary", f"Accept, Authorization, {cross_origin.VARIES}".encode())
"""A cache holds streams and frames apart, and the answers to those with a key and without one."""

KEPT: Final = (b"cache-control", b"public, max-age=1")
"""A frame that is open to all may be answered by a proxy: displays that cannot listen ask once a second."""

blueprint = Blueprint(
    "displays", __name__, url_prefix="/v1/jackpots", description="The feed of a jackpot, for displays."
)


class FeedQuerySchema(RequestSchema):
    """In which currencies to show."""

    currency = CurrencyCodes(load_default=tuple)


class FeedAmountSchema(AnswerSchema):
    """The meter in a currency."""

    currency = fields.String(required=True)
    exponent = described(fields.Integer, "How many decimals the currency has.")
    amount_minor = described(fields.Integer, "On offer, in whole minor units, rounded down; never more.")


class LastHitSchema(AnswerSchema):
    """The last hit: no player, no table and no position."""

    cycle = described(fields.Integer, "The cycle that it ended.")
    hit_at = Moment(required=True)
    casino_id = fields.String(required=True)
    casino = described(fields.String, "The casino's name.")
    currency = described(fields.String, "The base currency.")
    exponent = described(fields.Integer, "How many decimals it has.")
    amount_minor = described(fields.Integer, "The meter's payment, in whole minor units, rounded down.")
    cards = described(fields.List, "The royal flush, the ace first.", cls_or_instance=fields.String())
    winners = described(fields.Integer, "How many players shared it.")


class FeedFrameSchema(AnswerSchema):
    """A jackpot as a display shows it."""

    jackpot_id = fields.String(required=True)
    state = word(Life)
    cycle = described(fields.Integer, "The running cycle; a later one than before means that the jackpot was hit.")
    rate_sheet = described(
        fields.Integer, "The sheet by which amounts are shown; null if there is none.", allow_none=True
    )
    amounts = listed(FeedAmountSchema)
    last_hit = fields.Nested(LastHitSchema(), required=True, allow_none=True)


@blueprint.route("/<id:jackpot_id>/feed", methods=["GET"])
@allow(*Role)
@with_all
@refused_with("jackpot-unknown", "no-rate")
@blueprint.arguments(FeedQuerySchema(), location="query")
@blueprint.response(200, FeedFrameSchema())
@blueprint.doc(responses={200: {"content": STREAMED}})
def get_feed(query: Mapping[str, Any], jackpot_id: str) -> Mapping[str, Any]:
    """
    Show a jackpot as displays do; with `Accept: text/event-stream` as it changes, at most once a second.

    Each server-sent event is such a frame, and holds everything. A comment comes every five seconds if nothing changes.
    Where the jackpot's rules say `displayed`, no key is needed, and pages of the configured origins may read it.
    """
    shown = context().displays.get(jackpot_id)
    note_fresh(shown.fresh_at)
    running = shown.value.meter.cycle
    hit = look(lambda session: displayed_hit(session, jackpot_id, running=running))  # At the primary, which has it.
    return frame_of(shown.value, hit, query["currency"])


async def _take(context: RequestContext, listening: Listening, jackpot_id: str) -> fast_path.Answer | Stream:
    request = listening.request
    listening.headers.append(VARY)
    caller = await _caller(context, listening, jackpot_id)
    if caller is None:
        origin = request.header(cross_origin.ORIGIN)
        listening.headers.extend(cross_origin.allowing(origin, context.config.public_origins))
    currencies: Currencies = parsing.read_query(_QUERY, request.query)["currency"]
    shown = await context.feeds.state(jackpot_id, ends_at=request.ends_at)
    state = shown.value
    listening.headers.extend(age_headers(shown.fresh_at))
    if not listening.wants_stream:
        frame = await context.feeds.frame(state, currencies)
        return fast_path.Answer(frame, headers=(*([KEPT] if caller is None else []), *listening.headers))
    listening.take_place(context.listeners, PUBLIC if caller is None else Caller.of(caller))
    pieces = await context.feeds.listen(state, currencies, listening.presence, needs_display=caller is None)
    return Stream(pieces if caller is None else listening.admitted_again(pieces), tuple(listening.headers))


async def _caller(context: RequestContext, listening: Listening, jackpot_id: str) -> Principal | None:
    """
    Return who calls; None for somebody without a key, where the jackpot is displayed.

    For those without a key nothing is read that was read within the last second. Raises: Unauthenticated, also
    for a jackpot that there is not; what else refuses a key.
    """
    request = listening.request
    is_open = not request.header(b"authorization") and await _is_displayed(context, request, jackpot_id)
    return None if is_open else await listening.admit()


async def _is_displayed(context: RequestContext, request: Request, jackpot_id: str) -> bool:
    return await context.feeds.is_displayed(jackpot_id, ends_at=request.ends_at)


async def take_preflight(context: RequestContext, request: Request, jackpot_id: str) -> fast_path.Answer:
    """
    Let a browser make a call that is open to all for a page of a configured origin.

    Raises: Fallback for everybody else, as if there were no such question; Unavailable.
    """
    headers = cross_origin.allowing_call(request.header(cross_origin.ORIGIN), context.config.public_origins)
    is_reading = request.header(b"access-control-request-method") == "GET"
    if not (headers and is_reading and await _is_displayed(context, request, jackpot_id)):
        raise Fallback
    return fast_path.Answer(None, HTTPStatus.NO_CONTENT, headers)


_QUERY: Final = FeedQuerySchema()

FEED_CALL: Final = fast_path.StreamCall(re.compile(f"/v1/jackpots/{fast_path.ID}/feed"), allowed(get_feed), _take)
"""The same call as the event loop answers it, also for those without a key."""

FEED_PREFLIGHT: Final = fast_path.Preflight(FEED_CALL.path, take_preflight)
