"""Jackpots to read: state, paytable, rules, hits. Their meters are in `meters`."""

from collections.abc import Mapping
from typing import Any, ClassVar

import flask
from marshmallow import Schema, ValidationError, fields, validate

from jackpot_service.api import answers
from jackpot_service.api.lists import Limit, ListQuerySchema, cursor
from jackpot_service.api.request_context import Blueprint, answer, look, now, principal
from jackpot_service.api.schemas import AwardSchema, MeterSchema, RequestSchema, decimal
from jackpot_service.auth.authenticator import allow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.facts import instant
from jackpot_service.domain.lives import Life
from jackpot_service.domain.money import plain
from jackpot_service.domain.paytables import PaytableLine, paytable
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.domain.rules import JackpotRules, as_document
from jackpot_service.domain.rules_text import in_sentences
from jackpot_service.domain.shapes import IDENTIFIER
from jackpot_service.reports.jackpots import Hit, JackpotState, jackpot_state, jackpot_states, last_hits, pending_rules
from jackpot_service.usecases.fields import CurrencyCode, ReadField

DEFAULT_HITS = 25

blueprint = Blueprint("jackpots", __name__, url_prefix="/v1/jackpots", description="Jackpots, for everyone with a key.")


class CurrencyQuerySchema(RequestSchema):
    """In which currency to show; the base currency if none is named."""

    currency = CurrencyCode(load_default=None)


class JackpotCursor(ReadField[str]):
    """Where the list goes on: what `next` of the page before said."""

    described: ClassVar = {"type": "string"}

    def read(self, value: object) -> str:
        """Raises: ValidationError."""
        if isinstance(value, str) and IDENTIFIER.fullmatch(value):
            return value
        message = "must be the `next` of a page of this list"
        raise ValidationError(message)


class JackpotsQuerySchema(ListQuerySchema):
    """Which jackpots."""

    after = JackpotCursor(load_default=None)


class HitsQuerySchema(ListQuerySchema):
    """How many of the last hits, and from where."""

    limit = Limit(load_default=DEFAULT_HITS)


class JackpotSchema(Schema):
    """A jackpot as it stands."""

    jackpot_id = fields.String(required=True)
    rulebook = fields.String(required=True)
    currency = fields.String(required=True, metadata={"description": "The base currency."})
    state = fields.String(required=True, validate=validate.OneOf([life.value for life in Life]))
    is_accepting = fields.Boolean(required=True, metadata={"description": "Whether it takes bets: while it is open."})
    rules_version = fields.Integer(required=True)
    meter = fields.Nested(MeterSchema(), required=True)
    reserve = decimal("What starts the next jackpot.")
    prize_fund = decimal("What pays the fixed prizes; may be negative.")


class JackpotListSchema(Schema):
    """A page of jackpots, by id."""

    items = fields.List(fields.Nested(JackpotSchema()), required=True)
    next = fields.String(required=True, allow_none=True)


class PaytableLineSchema(Schema):
    """What a tier pays: a part of the meter, or so many times the stake."""

    tier = fields.String(required=True)
    meter_part = decimal("1 is the whole meter.", allow_none=True)
    stake_multiple = fields.Integer(required=True, allow_none=True)
    amount_minor = fields.Integer(
        required=True, metadata={"description": "For display: of the meter now, or for one unit (or token) staked."}
    )


class PaytableSchema(Schema):
    """The paytable of a jackpot in a currency."""

    jackpot_id = fields.String(required=True)
    currency = fields.String(required=True)
    rulebook = fields.String(required=True)
    rules_version = fields.Integer(required=True)
    policy = fields.String(required=True)
    lines = fields.List(fields.Nested(PaytableLineSchema()), required=True)


class RulesVersionSchema(Schema):
    """A version of the rules, as parameters and in sentences."""

    version = fields.Integer(required=True)
    rules = fields.Dict(
        required=True,
        metadata={
            "description": "The parameters; `largest_stakes` is there if any currency has a largest stake of its own."
        },
    )
    text = fields.List(fields.String(), required=True)


class RulesSchema(RulesVersionSchema):
    """The rules of the running cycle."""

    jackpot_id = fields.String(required=True)
    pending = fields.Nested(
        RulesVersionSchema(),
        required=True,
        allow_none=True,
        metadata={"description": "Approved, and in force for rounds opened once the jackpot is won."},
    )


class HitSchema(Schema):
    """A jackpot won."""

    cycle = fields.Integer(required=True, metadata={"description": "The cycle that it ended."})
    table_id = fields.String(required=True)
    round_id = fields.String(required=True)
    hit_at = fields.DateTime(required=True)
    meter_before = decimal("What was on offer.")
    total_stake_base = decimal("The value of the bets on dealt hands.")
    paid = decimal("What was paid of it.")
    carried = decimal("What was left, and carried into the next cycle.")
    house_seed = decimal("What the house put in.")
    meter_after = decimal("What the next cycle began with.")
    awards = fields.List(fields.Nested(AwardSchema()), required=True)


class HitListSchema(Schema):
    """A page of hits, the latest first."""

    items = fields.List(fields.Nested(HitSchema()), required=True)
    next = fields.String(required=True, allow_none=True)


@blueprint.route("", methods=["GET"])
@allow(*Role)
@blueprint.arguments(JackpotsQuerySchema(), location="query")
@blueprint.response(200, JackpotListSchema())
def get_jackpots(query: Mapping[str, Any]) -> flask.Response:
    """List jackpots as they stand, by id."""
    limit = query["limit"]
    found = look(lambda session: jackpot_states(session, at=now(), limit=limit + 1, after=query["after"]))
    page, more = found[:limit], found[limit:]
    return answer({"items": [_jackpot(state) for state in page], "next": page[-1].jackpot_id if more else None})


@blueprint.route("/<id:jackpot_id>", methods=["GET"])
@allow(*Role)
@blueprint.response(200, JackpotSchema())
def get_jackpot(jackpot_id: str) -> flask.Response:
    """Show a jackpot as it stands."""
    return answer(_jackpot(look(lambda session: jackpot_state(session, jackpot_id, at=now()))))


def _jackpot(state: JackpotState) -> dict[str, Any]:
    return {
        "jackpot_id": state.jackpot_id,
        "rulebook": state.rules.rulebook,
        "currency": state.rules.base,
        "state": state.life.value,
        "is_accepting": state.life is Life.OPEN,
        "rules_version": state.rules_version,
        "meter": answers.of_meter(state.meter, state.sheet.rate(state.rules.base)),
        "reserve": plain(state.pools.reserve),
        "prize_fund": plain(state.pools.prize_fund),
    }


@blueprint.route("/<id:jackpot_id>/paytable", methods=["GET"])
@allow(*Role)
@blueprint.arguments(CurrencyQuerySchema(), location="query")
@blueprint.response(200, PaytableSchema())
def get_paytable(query: Mapping[str, Any], jackpot_id: str) -> flask.Response:
    """Print the paytable in a currency, from the rules that settle."""
    state = look(lambda session: jackpot_state(session, jackpot_id, at=now()))
    currency = query["currency"] or state.rules.base
    lines = paytable(state.rules, meter=state.meter, sheet=state.sheet, currency=currency)
    return answer(
        {
            "jackpot_id": jackpot_id,
            "currency": currency,
            "rulebook": state.rules.rulebook,
            "rules_version": state.rules_version,
            "policy": state.rules.policy.value,
            "lines": [_line(line) for line in lines],
        }
    )


def _line(line: PaytableLine) -> dict[str, Any]:
    return {
        "tier": line.tier.value,
        "meter_part": None if line.meter_part is None else plain(line.meter_part),
        "stake_multiple": line.stake_multiple,
        "amount_minor": line.amount_minor,
    }


@blueprint.route("/<id:jackpot_id>/rules", methods=["GET"])
@allow(*Role)
@blueprint.response(200, RulesSchema())
def get_rules(jackpot_id: str) -> flask.Response:
    """Print the rules of the running cycle, and those that wait for the next."""
    state, pending = look(lambda session: _rules(session, jackpot_id))
    return answer(
        {
            "jackpot_id": jackpot_id,
            **_rules_version(state.rules_version, state.rules),
            "pending": None if pending is None else _rules_version(*pending),
        }
    )


def _rules(session: Session, jackpot_id: str) -> tuple[JackpotState, tuple[int, JackpotRules] | None]:
    state = jackpot_state(session, jackpot_id, at=now())
    return state, pending_rules(session, state)


def _rules_version(version: int, rules: JackpotRules) -> dict[str, Any]:
    return {"version": version, "rules": as_document(rules), "text": in_sentences(rules)}


@blueprint.route("/<id:jackpot_id>/hits", methods=["GET"])
@allow(*Role)
@blueprint.arguments(HitsQuerySchema(), location="query")
@blueprint.response(200, HitListSchema())
def get_hits(query: Mapping[str, Any], jackpot_id: str) -> flask.Response:
    """List hits, the latest first. A key bound to a casino or to tables sees no player ids of others."""
    limit = query["limit"]
    found = look(lambda session: last_hits(session, jackpot_id, limit=limit + 1, before=query["after"]))
    page, more = found[:limit], found[limit:]
    following = cursor(page[-1].settlement.cycle if more else None)
    return answer({"items": [_hit(hit, principal()) for hit in page], "next": following})


def _hit(hit: Hit, reader: Principal) -> dict[str, Any]:
    awards = [answers.of_award(award) for award in hit.awards]
    if not reader.sees_table(hit.round.table_id, hit.round.casino_id):
        awards = [award | {"player_id": None} for award in awards]
    return {
        "cycle": hit.settlement.cycle,
        "table_id": hit.round.table_id,
        "round_id": hit.round.round_id,
        "hit_at": instant(hit.hit_at),
        "meter_before": plain(hit.settlement.meter_before),
        "total_stake_base": plain(hit.settlement.weight),
        "paid": plain(hit.paid),
        "carried": None if hit.settlement.carried is None else plain(hit.settlement.carried),
        "house_seed": plain(hit.settlement.house_seed),
        "meter_after": plain(hit.settlement.meter_after),
        "awards": awards,
    }
