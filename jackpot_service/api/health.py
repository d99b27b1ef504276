"""Whether the service is alive, and whether it can write: answered by the event loop, behind no other call."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from marshmallow import fields

from jackpot_service.api import fast_path
from jackpot_service.api.readiness import Ready
from jackpot_service.api.request_context import Blueprint, RequestContext, context
from jackpot_service.api.schemas import AnswerSchema, described
from jackpot_service.auth.authenticator import anyone

ALIVE: Final = {"status": "ok"}

blueprint = Blueprint("health", __name__, description="For load balancers; no key.")


class HealthSchema(AnswerSchema):
    """How it is."""

    status = fields.String(required=True)


class ReadinessSchema(HealthSchema):
    """What it depends on."""

    database_writable = fields.Boolean(required=True)
    migrations_current = fields.Boolean(required=True)
    clock_right = described(fields.Boolean, "Whether its clock and the database's differ by two seconds at most.")
    bets_accepted = described(fields.Boolean, "False for a moment after bets failed for want of the database.")
    warnings = described(fields.List, "What somebody should look into soon.", cls_or_instance=fields.String())


@blueprint.route("/healthz", methods=["GET"])
@anyone
@blueprint.response(200, HealthSchema())
def get_health() -> Mapping[str, Any]:
    """Show that the process answers."""
    return ALIVE


@blueprint.route("/readyz", methods=["GET"])
@anyone
@blueprint.response(200, ReadinessSchema())
@blueprint.alt_response(503, schema=ReadinessSchema(), description="It cannot take bets now.")
def get_readiness() -> tuple[Mapping[str, Any], int]:
    """Show whether it can take bets: the database is a writable primary of the right schema, and the clock is right."""
    ready = context().readiness.look()
    return ready.as_body(), _status_of(ready)


def _status_of(ready: Ready) -> HTTPStatus:
    return HTTPStatus.OK if ready.is_ready else HTTPStatus.SERVICE_UNAVAILABLE


async def _take_health(_context: RequestContext) -> fast_path.Answer:
    return fast_path.Answer(ALIVE)


async def _take_readiness(context: RequestContext) -> fast_path.Answer:
    ready = await context.readiness.found()
    return fast_path.Answer(ready.as_body(), _status_of(ready))


CALLS: Final = (
    fast_path.OpenCall(re.compile("/healthz"), _take_health),
    fast_path.OpenCall(re.compile("/readyz"), _take_readiness),
)
"""The same calls as the event loop answers them."""
