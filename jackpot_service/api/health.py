"""Whether the service is alive, and whether it can write."""

from datetime import timedelta

import flask
from marshmallow import Schema, fields

from jackpot_service.api.door import Blueprint, answer, door, look, now
from jackpot_service.api.schemas import described
from jackpot_service.auth import anyone
from jackpot_service.db import is_writable
from jackpot_service.domain.errors import Unavailable
from jackpot_service.domain.months import Month
from jackpot_service.migrate import is_current
from jackpot_service.records import emergency_switches
from jackpot_service.reports.gauges import months_ahead, sheet_ages

EMERGENCY_WARNING = "emergency-approvals: one person alone may approve changes (jackpot db emergency)"

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
        "warnings": [*_switch_warnings(), *_sheet_warnings(), *_month_warnings()] if current else [],
    }
    return answer(body, 200 if current else 503)


def _switch_warnings() -> list[str]:
    try:
        is_on = look(emergency_switches.is_on)
    except Unavailable:
        return ["The switch of emergency approvals could not be looked at."]
    return [EMERGENCY_WARNING] if is_on else []


def _sheet_warnings() -> list[str]:
    at, stale_after = now(), timedelta(seconds=door().config.rates_stale_after_s)
    try:
        found = look(lambda session: sheet_ages(session, at=at))
    except Unavailable:
        return ["The rate sheets could not be looked at."]
    said = (sheet.warning(at=at, stale_after=stale_after) for sheet in found)
    return [warning for warning in said if warning is not None]


def _month_warnings() -> list[str]:
    at = now()
    try:
        is_missing = look(lambda session: months_ahead(session, at=at)) == 0
    except Unavailable:
        return ["The partitions of bets could not be looked at."]
    month = Month.of(at).later(1)
    return [f"Bets of {month} have no partition yet; run: jackpot db months"] if is_missing else []
