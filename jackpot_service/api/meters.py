"""The meter of a jackpot: from the committed books, or at most a second old for those who ask often."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

import flask
from marshmallow import fields
from werkzeug.http import is_resource_modified

from jackpot_service.api import fast_path
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, RequestContext, answer, context
from jackpot_service.api.requests import Fallback, Request
from jackpot_service.api.schemas import (
    PaidMeterSchema,
    RatedSchema,
    RequestSchema,
    body_of_paid_meter,
    decimal,
    described,
    listed,
)
from jackpot_service.auth.authenticator import allow, allowed
from jackpot_service.domain.principals import READERS, Principal
from jackpot_service.reports.jackpots import JackpotState
from jackpot_service.usecases.fields import MOST_CURRENCIES, CurrencyCodes, QueryNumber

blueprint = Blueprint("meters", __name__, url_prefix="/v1/jackpots", description="Meters, for everyone with a key.")


class MeterQuerySchema(RequestSchema):
    """In which currencies, and how old the answer may be."""

    currency = CurrencyCodes(load_default=tuple)
    max_age = QueryNumber(0, 1, load_default=0)


class MeterAmountSchema(RatedSchema):
    """The meter in one of the currencies that were asked for."""

    currency = fields.String(required=True)
    amount_minor = described(fields.Integer, "On offer, in whole minor units, rounded down; for display.")
    amount = decimal("The same as a text with the currency's decimals.")


class ShownMeterSchema(PaidMeterSchema):
    """A jackpot's meter in the first currency that was asked for, and in each of them."""

    amounts = listed(MeterAmountSchema)


@blueprint.route("/<id:jackpot_id>/meter", methods=["GET"])
@allow(*READERS)
@refused_with("jackpot-unknown", "no-rate")
@blueprint.arguments(MeterQuerySchema(), location="query")
@blueprint.response(200, ShownMeterSchema())
@blueprint.alt_response(304, description="Nothing was booked since the answer of this ETag.")
def get_meter(query: Mapping[str, Any], jackpot_id: str) -> flask.Response:
    """Show the meter, from the committed books; only with `max_age=1` it may be a second old."""
    recent = context().meters
    state = (recent.get(jackpot_id) if query["max_age"] else recent.read(jackpot_id)).value
    currencies = query["currency"] or (state.rules.base,)
    response = answer(_shown(state, currencies))
    response.set_etag(_etag(state, currencies))
    response.cache_control.no_cache = True  # Kept, and asked for again with its ETag each time.
    response.make_conditional(flask.request)
    return response


async def _take(context: RequestContext, request: Request, _caller: Principal, jackpot_id: str) -> fast_path.Answer:
    usual = _USUAL_QUERY.fullmatch(request.query)
    if usual is None or b"if-match" in request.headers:
        raise Fallback
    named, max_age = usual.groups()
    look = context.meters.get_async if max_age else context.meters.read_async
    state = (await look(jackpot_id, ends_at=request.ends_at)).value
    currencies = tuple(named.decode().split(",")) if named else (state.rules.base,)
    if len(set(currencies)) < len(currencies):
        raise Fallback
    etag = f'"{_etag(state, currencies)}"'
    headers = ((b"etag", etag.encode()), (b"cache-control", b"no-cache"))
    if not is_resource_modified({"HTTP_IF_NONE_MATCH": request.header(b"if-none-match")}, etag=etag):
        return fast_path.Answer(None, HTTPStatus.NOT_MODIFIED, headers)
    return fast_path.Answer(_shown(state, currencies), headers=headers)


_USUAL_QUERY: Final = re.compile(
    rb"(?:currency=([A-Z]{3}(?:,[A-Z]{3}){0,%d})(?:&(?=max)|$))?(max_age=1)?" % (MOST_CURRENCIES - 1)
)
"""A query that the fast path takes."""


METER_CALL: Final = fast_path.Call("GET", re.compile(f"/v1/jackpots/{fast_path.ID}/meter"), allowed(get_meter), _take)
"""The same call as it takes the fast path, perhaps only if it has another tag."""


def _shown(state: JackpotState, currencies: Sequence[str]) -> dict[str, Any]:
    """Write the meter. Raises: NoRate."""
    meters = [body_of_paid_meter(state.meter, currency, state.sheet, state.payment) for currency in currencies]
    return {**meters[0], "amounts": [{name: meter[name] for name in _OF_EACH} for meter in meters]}


_OF_EACH: Final = ("currency", "amount_minor", "amount", "rate", "rate_sheet")


def _etag(state: JackpotState, currencies: Sequence[str]) -> str:
    meter, shown = state.meter, ",".join(currencies)
    named = f"{state.jackpot_id}/{meter.version}/{meter.as_of}/{shown}/{state.sheet.number}/{state.payment}"
    return hashlib.sha256(named.encode()).hexdigest()[:32]
