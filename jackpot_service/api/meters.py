"""The meter of a jackpot: from the committed books, or at most a second old for those who ask often."""

import hashlib
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import flask
from werkzeug.http import is_resource_modified

from jackpot_service.api import fast_path
from jackpot_service.api.jackpots import CurrencyQuerySchema
from jackpot_service.api.request_context import Blueprint, RequestContext, answer, context
from jackpot_service.api.requests import Fallback, Request
from jackpot_service.api.schemas import PaidMeterSchema, of_paid_meter
from jackpot_service.auth.authenticator import allow, allowed
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.reports.jackpots import JackpotState
from jackpot_service.usecases.fields import QueryNumber

blueprint = Blueprint("meters", __name__, url_prefix="/v1/jackpots", description="Meters, for everyone with a key.")


class MeterQuerySchema(CurrencyQuerySchema):
    """In which currency, and how old the answer may be."""

    max_age = QueryNumber(0, 1, load_default=0)


@blueprint.route("/<id:jackpot_id>/meter", methods=["GET"])
@allow(*Role)
@blueprint.arguments(MeterQuerySchema(), location="query")
@blueprint.response(200, PaidMeterSchema())
@blueprint.alt_response(304, description="Nothing was booked since the answer of this ETag.")
def get_meter(query: Mapping[str, Any], jackpot_id: str) -> flask.Response:
    """Show the meter, from the committed books; only with `max_age=1` it may be a second old."""
    recent = context().meters
    state = recent.get(jackpot_id) if query["max_age"] else recent.read(jackpot_id)
    currency = query["currency"] or state.rules.base
    response = answer(of_paid_meter(state.meter, currency, state.sheet, state.payment))
    response.set_etag(_etag(state, currency))
    response.cache_control.no_cache = True  # Kept, and asked for again with its ETag each time.
    response.make_conditional(flask.request)
    return response


async def _take(context: RequestContext, request: Request, _caller: Principal, jackpot_id: str) -> fast_path.Answer:
    if request.query not in {b"", b"max_age=1"} or b"if-match" in request.headers:
        raise Fallback
    look = context.meters.get_async if request.query else context.meters.read_async
    state = await look(jackpot_id, ends_at=request.ends_at)
    currency = state.rules.base
    etag = f'"{_etag(state, currency)}"'
    headers = ((b"etag", etag.encode()), (b"cache-control", b"no-cache"))
    if not is_resource_modified({"HTTP_IF_NONE_MATCH": request.header(b"if-none-match")}, etag=etag):
        return fast_path.Answer(None, HTTPStatus.NOT_MODIFIED, headers)
    return fast_path.Answer(of_paid_meter(state.meter, currency, state.sheet, state.payment), headers=headers)


METER_CALL: Final = fast_path.Call("GET", re.compile(f"/v1/jackpots/{fast_path.ID}/meter"), allowed(get_meter), _take)
"""The same call as it takes the fast path: in the jackpot's own currency, perhaps only if it has another tag."""


def _etag(state: JackpotState, currency: str) -> str:
    named = (
        f"{state.jackpot_id}/{state.meter.version}/{state.meter.as_of}/{currency}/{state.sheet.number}/{state.payment}"
    )
    return hashlib.sha256(named.encode()).hexdigest()[:32]
