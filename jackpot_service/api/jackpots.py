"""Jackpots: their state, paytable and hits; suspending and resuming them. Not their meters and rules."""

from collections.abc import Callable, Mapping
from typing import Any

from marshmallow import fields

from jackpot_service.api.lists import MOST_LISTED, Cursor, ListQuerySchema, cursor, matching, page, page_schema
from jackpot_service.api.reading import at_replica
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, act, look, now, principal, signed
from jackpot_service.api.schemas import (
    AnswerSchema,
    AwardSchema,
    Moment,
    PaidMeterSchema,
    RatedSchema,
    ReasonedSchema,
    RequestSchema,
    body_of_award,
    body_of_paid_meter,
    body_of_rate,
    decimal,
    described,
    listed,
    word,
)
from jackpot_service.auth.authenticator import allow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.awards import HitPayment
from jackpot_service.domain.lives import Life
from jackpot_service.domain.paytables import paytable
from jackpot_service.domain.principals import READERS, Role
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rules import Policy
from jackpot_service.domain.shapes import IDENTIFIER
from jackpot_service.reports.jackpots import Hit, JackpotState, jackpot_state, jackpot_states, last_hits
from jackpot_service.usecases.fields import CurrencyCode, QueryNumber
from jackpot_service.usecases.jackpots import ChangeSuspension, SuspensionChanged, resume_jackpot, suspend_jackpot

DEFAULT_HITS = 25

blueprint = Blueprint("jackpots", __name__, url_prefix="/v1/jackpots", description="Jackpots, for everyone with a key.")


class CurrencyQuerySchema(RequestSchema):
    """In which currency to show; the base currency if none is named."""

    currency = CurrencyCode(load_default=None)


class JackpotsQuerySchema(ListQuerySchema):
    """Which jackpots."""

    after = Cursor(matching(IDENTIFIER))


class HitsQuerySchema(ListQuerySchema):
    """How many of the last hits, and from where."""

    limit = QueryNumber(1, MOST_LISTED, load_default=DEFAULT_HITS)


class JackpotSchema(AnswerSchema):
    """A jackpot as it stands."""

    jackpot_id = fields.String(required=True)
    rulebook = fields.String(required=True, attribute="rules.rulebook")
    currency = described(fields.String, "The base currency.", attribute="rules.base")
    state = word(Life, attribute="life")
    is_accepting = described(fields.Boolean, "Whether it takes bets: while it is open.")
    rules_version = fields.Integer(required=True)
    meter = fields.Nested(PaidMeterSchema(), required=True)
    reserve = decimal("The reserve, which starts the next jackpot.", attribute="pools.reserve")
    prize_fund = decimal("The fund that pays the fixed prizes; may be negative.", attribute="pools.prize_fund")

    def get_attribute(self, obj: JackpotState, attr: str, default: Any) -> Any:  # noqa: ANN401  as the base
        """Show the meter in the base currency."""
        if attr == "meter":
            return body_of_paid_meter(obj.meter, obj.rules.base, obj.sheet, obj.payment)
        return obj.life is Life.OPEN if attr == "is_accepting" else super().get_attribute(obj, attr, default)


class PaytableLineSchema(AnswerSchema):
    """A tier's prize: a part of the meter, so many times the stake, or an amount."""

    tier = word(Tier)
    meter_part = decimal("1 is the whole meter.", allow_none=True)
    stake_multiple = fields.Integer(required=True, allow_none=True)
    fixed_amount = decimal("In units of the base currency, whatever the token is worth.", allow_none=True)
    amount_minor = fields.Integer(
        required=True,
        metadata={"description": "For display: of the meter now, for one unit or token, or the amount."},
    )


class PaytableSchema(RatedSchema):
    """The paytable of a jackpot in a currency."""

    jackpot_id = fields.String(required=True)
    currency = fields.String(required=True)
    rulebook = fields.String(required=True)
    rules_version = fields.Integer(required=True)
    policy = word(Policy)
    lines = listed(PaytableLineSchema)


class HitSchema(AnswerSchema):
    """A jackpot won."""

    cycle = described(fields.Integer, "The cycle that it ended.", attribute="settlement.cycle")
    casino_id = fields.String(required=True, attribute="round.casino_id")
    table_id = fields.String(required=True, attribute="round.table_id")
    round_id = fields.String(required=True, attribute="round.round_id")
    hit_at = Moment(required=True)
    currency = described(fields.String, "The jackpot's, of every amount here but those of awards.", attribute="base")
    meter_before = decimal("The meter on offer before the hit.", attribute="settlement.meter_before")
    total_stake_base = decimal("The value of the bets on dealt hands.", attribute="settlement.weight")
    paid = decimal("The part of the meter that was paid.")
    cards = described(fields.List, "The royal flush, the ace first.", cls_or_instance=fields.String())
    winners = described(fields.Integer, "How many players got something of the meter.")
    payment = word(
        HitPayment,
        "`pending` while awards are held or stopped, `released` while all may be paid, `paid` once all were; null if "
        "nothing is to be paid.",
        allow_none=True,
    )
    carried = decimal("The rest, carried into the next cycle.", attribute="settlement.carried")
    house_seed = decimal("The amount that the house paid in.", attribute="settlement.house_seed")
    meter_after = decimal("The meter that the next cycle began with.", attribute="settlement.meter_after")
    awards = listed(AwardSchema)

    def get_attribute(self, obj: Hit, attr: str, default: Any) -> Any:  # noqa: ANN401  as the base
        """Show the players of awards only to those who may see their table."""
        if attr != "awards" or principal().sees_table(obj.round.table_id, obj.round.casino_id):
            return super().get_attribute(obj, attr, default)
        return [{**body_of_award(award), "player_id": None} for award in obj.awards]


@blueprint.route("", methods=["GET"])
@allow(*READERS)
@at_replica
@blueprint.arguments(JackpotsQuerySchema(), location="query")
@blueprint.response(200, page_schema(JackpotSchema, "JackpotList"))
def get_jackpots(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """List jackpots as they stand, by id."""
    return page(
        query,
        lambda session, limit: jackpot_states(session, at=now(), limit=limit, after=query["after"]),
        lambda state: state.jackpot_id,
    )


@blueprint.route("/<id:jackpot_id>", methods=["GET"])
@allow(*READERS)
@refused_with("jackpot-unknown")
@blueprint.response(200, JackpotSchema())
def get_jackpot(jackpot_id: str) -> JackpotState:
    """Show a jackpot as it stands."""
    return look(lambda session: jackpot_state(session, jackpot_id, at=now()))


@blueprint.route("/<id:jackpot_id>/paytable", methods=["GET"])
@allow(*READERS)
@refused_with("jackpot-unknown", "no-rate")
@blueprint.arguments(CurrencyQuerySchema(), location="query")
@blueprint.response(200, PaytableSchema())
def get_paytable(query: Mapping[str, Any], jackpot_id: str) -> Mapping[str, Any]:
    """Print the paytable in a currency, from the rules that settle."""
    state = look(lambda session: jackpot_state(session, jackpot_id, at=now()))
    currency = query["currency"] or state.rules.base
    lines = paytable(state.rules, meter=state.meter, sheet=state.sheet, currency=currency)
    return {
        "jackpot_id": jackpot_id,
        "currency": currency,
        **body_of_rate(state.sheet.rate(currency), state.sheet),
        "rulebook": state.rules.rulebook,
        "rules_version": state.rules_version,
        "policy": state.rules.policy,
        "lines": lines,
    }


@blueprint.route("/<id:jackpot_id>/hits", methods=["GET"])
@allow(*READERS)
@at_replica
@refused_with("jackpot-unknown")
@blueprint.arguments(HitsQuerySchema(), location="query")
@blueprint.response(200, page_schema(HitSchema, "HitList"))
def get_hits(query: Mapping[str, Any], jackpot_id: str) -> Mapping[str, Any]:
    """List hits, the latest first. A key bound to a casino or to tables sees no player ids of others."""
    return page(
        query,
        lambda session, limit: last_hits(session, jackpot_id, limit=limit, before=query["after"]),
        lambda hit: cursor(hit.settlement["cycle"]),
    )


suspensions = Blueprint(
    "suspensions", __name__, url_prefix="/v1/jackpots", description="Suspending jackpots, and resuming them."
)


class SuspensionRequestSchema(ReasonedSchema):
    """Why, under the caller's id."""


class ChangedJackpotSchema(AnswerSchema):
    """How the jackpot stood after the request; of a replay, as it did then."""

    jackpot_id = fields.String(required=True)
    state = word(Life, attribute="life")


@suspensions.route("/<id:jackpot_id>/suspension", methods=["PUT"])
@allow(Role.OPERATOR)
@refused_with("jackpot-retired", "jackpot-unknown", "request-conflict")
@suspensions.arguments(SuspensionRequestSchema())
@suspensions.response(201, ChangedJackpotSchema(), description="It takes no bets from now on.")
@suspensions.alt_response(200, schema=ChangedJackpotSchema(), description="The same request again.")
def put_suspension(body: Mapping[str, Any], jackpot_id: str) -> tuple[SuspensionChanged, int]:
    """Refuse a jackpot's bets from now on; all else goes on. A service account may do it too."""
    return _changed(body, jackpot_id, suspend_jackpot)


@suspensions.route("/<id:jackpot_id>/resumption", methods=["PUT"])
@allow(Role.OPERATOR)
@refused_with("jackpot-retired", "jackpot-unknown", "request-conflict", "user-required")
@suspensions.arguments(SuspensionRequestSchema())
@suspensions.response(201, ChangedJackpotSchema(), description="It takes bets from now on.")
@suspensions.alt_response(200, schema=ChangedJackpotSchema(), description="The same request again.")
def put_resumption(body: Mapping[str, Any], jackpot_id: str) -> tuple[SuspensionChanged, int]:
    """Take a jackpot's bets again. A user does it; a retired jackpot is never resumed."""
    return _changed(body, jackpot_id, resume_jackpot)


def _changed(
    body: Mapping[str, Any], jackpot_id: str, use_case: Callable[[Session, ChangeSuspension], SuspensionChanged]
) -> tuple[SuspensionChanged, int]:
    command = ChangeSuspension(signed(body), jackpot_id)
    done = act(lambda session: use_case(session, command))
    return done, 200 if done.is_replay else 201
