"""Whether the service is alive, and whether it can write."""

import flask
from marshmallow import Schema, fields

from jackpot_service.api.door import Blueprint, answer, door
from jackpot_service.api.schemas import described
from jackpot_service.auth import anyone
from jackpot_service.db import is_writable
from jackpot_service.migrate import is_current

EMERGENCY_WARNING = "emergency-approvals: one person alone may approve changes (JACKPOT_EMERGENCY_APPROVALS)"

blueprint = Blueprint("health", __name__, description="For load balancers; no key.")


class HealthSchema(Schema):
    """How it is."""

    status = fields.String(required=True)


class ReadinessSchema(HealthSchema):
    """What it depends on."""

    database_writable = fields.Boolean(required=True)
    migrations_current = fields.Boolean(required=True)
    warnings = described(fields.List, "What somebody should look into soon.", cls_or_instance=fields.String())


@blueprint.route("/healthz", methods=["GET"])
@anyone
@blueprint.response(200, HealthSchema())
def get_health() -> flask.Response:
    """Tell that the process answers."""
    return answer({"status": "ok"})


@blueprint.route("/readyz", methods=["GET"])
@anyone
@blueprint.response(200, ReadinessSchema())
@blueprint.alt_response(503, schema=ReadinessSchema(), description="It cannot take bets now.")
def get_readiness() -> flask.Response:
    """Tell whether the database is a writable primary, with the schema that this version needs."""
    writable = is_writable(door().engine)
    current = writable and is_current(door().engine)
    body = {
        "status": "ready" if current else "not-ready",
        "database_writable": writable,
        "migrations_current": current,
        "warnings": _warnings(),
    }
    return answer(body, 200 if current else 503)


def _warnings() -> list[str]:
    return [EMERGENCY_WARNING] if door().config.emergency_approvals else []
