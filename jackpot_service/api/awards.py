"""Awards: what was won, whether it may be paid, and that it was."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from marshmallow import ValidationError, fields, validates_schema

from jackpot_service.api.lists import Cursor, ListQuerySchema, cursor_at, page, page_schema, place_in
from jackpot_service.api.reading import at_replica
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, act, look, now, principal, signed
from jackpot_service.api.schemas import (
    AnswerSchema,
    AwardSchema,
    IdentifiedSchema,
    Moment,
    ReasonedSchema,
    body_of_award,
    described,
    listed,
    word,
)
from jackpot_service.auth.authenticator import allow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.awards import AwardState, AwardStep
from jackpot_service.domain.facts import instant
from jackpot_service.domain.payments import Channel
from jackpot_service.domain.principals import Role
from jackpot_service.domain.rules import FundedBy
from jackpot_service.domain.shapes import LARGEST_MINOR
from jackpot_service.records import awards as records
from jackpot_service.records.award_filters import AwardFilters, Position
from jackpot_service.records.awards import AwardRecord
from jackpot_service.usecases.fields import CurrencyCode, Flag, Identifier, Instant, Text, Whole
from jackpot_service.usecases.record_payment import RecordPayment, record_payment
from jackpot_service.usecases.stop_award import StopAward, stop_award

READERS = (Role.TABLE, Role.FINANCE, Role.OPERATOR, Role.AUDITOR)
STOPPERS = (Role.FINANCE, Role.OPERATOR, Role.AUDITOR)
PAYERS = (Role.TABLE, Role.FINANCE, Role.OPERATOR)

blueprint = Blueprint(
    "awards",
    __name__,
    url_prefix="/v1/awards",
    description="Awards. Two people decide on held and stopped ones by a change request of kind `held-awards`.",
)


def position_in(text: str) -> Position | None:
    """Read where the list of awards goes on; None if it is no such place."""
    place = place_in(text)
    return None if place is None else Position(*place)


class AwardsQuerySchema(ListQuerySchema):
    """Which awards."""

    state = fields.Enum(AwardState, by_value=True, load_default=None)
    jackpot_id = Identifier(load_default=None)
    casino_id = Identifier(load_default=None)
    player_id = Identifier(load_default=None)
    open = Flag(
        load_default=False,
        metadata={"description": "`true`: those of which something is still to be paid or decided."},
    )
    claimable_before = Instant(
        load_default=None,
        metadata={"description": "Those to be paid whose claim period ends before that, or has ended."},
    )
    oldest_first = Flag(
        load_default=False,
        metadata={"description": "`true`: those of the oldest rounds come first. Not with `player_id`."},
    )
    after = Cursor(position_in)

    @validates_schema(skip_on_field_errors=True)
    def _require_order(self, query: Mapping[str, Any], **_: object) -> None:
        if query["oldest_first"] and query["player_id"] is not None:
            message = "is not answered with `player_id`"
            raise ValidationError(message, field_name="oldest_first")


class PaymentRequestSchema(IdentifiedSchema):
    """That an award was paid to its player, or a part of it."""

    reference = Text(
        required=True,
        metadata={"description": "The casino's own. It names one payment of the award, for ever."},
    )
    amount_minor = Whole(
        least=1, most=LARGEST_MINOR, load_default=None, metadata={"description": "Null for all that is unpaid."}
    )
    currency = CurrencyCode(load_default=None, metadata={"description": "The award's, if it is stated."})
    paid_at = Instant(
        load_default=None, metadata={"description": "Not before the award became payable, and not ahead of the clock."}
    )
    channel = fields.Enum(Channel, by_value=True, load_default=None)
    payer = Text(load_default=None, metadata={"description": "The person who handed the money over."})
    withheld_minor = Whole(
        most=LARGEST_MINOR,
        load_default=0,
        metadata={"description": "The part of the amount that the casino kept for its authority."},
    )


class StopRequestSchema(ReasonedSchema):
    """That an award is not to be paid for now, and why."""


class PaymentSchema(AnswerSchema):
    """A casino's statement that it has paid an award, or a part of it."""

    amount_minor = fields.Integer(required=True, attribute="payment.amount_minor")
    reference = fields.String(required=True, attribute="payment.reference")
    paid_at = Moment(required=True, allow_none=True, attribute="payment.paid_at")
    channel = word(Channel, allow_none=True, attribute="payment.channel")
    payer = fields.String(required=True, allow_none=True, attribute="payment.payer")
    withheld_minor = described(
        fields.Integer,
        "The part of it that the casino kept for its authority.",
        attribute="payment.withheld_minor",
    )
    act = described(fields.Integer, "The act that recorded it: its seq.", attribute="act_seq")
    reversed_by = described(fields.Integer, "The act that reversed it: its seq.", allow_none=True)


class StepSchema(AnswerSchema):
    """A step that an award took."""

    step = word(AwardStep)
    taken_at = Moment(required=True)
    act = described(
        fields.Integer,
        "The act that took it: its seq; null for the settlement's.",
        attribute="act_seq",
        allow_none=True,
    )


@dataclass(frozen=True, slots=True)
class Shown:
    """An award, and the instant at which it is shown: only by that it is unclaimed."""

    record: AwardRecord
    at: datetime


class AwardRecordSchema(AwardSchema):
    """An award with its round, and what became of it."""

    @staticmethod
    def write(shown: Any) -> dict[str, Any]:  # noqa: ANN401  as the base
        """Write an award with its round."""
        record: AwardRecord = shown.record
        return {
            **body_of_award(record.award),
            "state": record.state_at(shown.at).value,
            "claimable_until": instant(record.claimable_until),
            "jackpot_id": record.jackpot_id,
            "casino_id": record.casino_id,
            "table_id": record.table_id,
            "round_id": record.round_id,
            "funded_by": record.award.funded_by,
            "steps": record.steps,
            "paid_minor": record.award.paid_minor,
            "payments": record.payments,
            "reportable": None if record.withholding is None else record.withholding.reportable,
            "withholding_due_minor": None if record.withholding is None else record.withholding.due_minor,
            "withheld_minor": record.withheld_minor,
        }

    jackpot_id = fields.String(required=True)
    casino_id = fields.String(required=True)
    table_id = fields.String(required=True)
    round_id = fields.String(required=True)
    funded_by = word(FundedBy, "Which pool paid it.")
    steps = listed(StepSchema)
    paid_minor = described(fields.Integer, "The amount that was paid of it, in minor units of its currency.")
    payments = listed(PaymentSchema)
    reportable = described(
        fields.Boolean,
        "Whether the casino reports it to its authority, by the withholding rule that was in force when the round was "
        "opened; null where the casino had none in this currency.",
        allow_none=True,
    )
    withholding_due_minor = described(
        fields.Integer,
        "How much of it is to be withheld by that rule, in minor units of its currency, rounded down.",
        allow_none=True,
    )
    withheld_minor = described(fields.Integer, "How much of it was withheld by the payments that stand.")
    claimable_until = described(
        Moment,
        "An award to be paid is `unclaimed` after that; it may be paid until two people forfeit it by a change request "
        "of kind `award-forfeiture`. Null: for ever, or nothing is to be paid.",
        allow_none=True,
    )


def filters_of(query: Mapping[str, Any]) -> AwardFilters:
    """Put a query together, as its schema reads it."""
    return AwardFilters(
        state=query["state"],
        jackpot_id=query["jackpot_id"],
        casino_id=query["casino_id"],
        player_id=query["player_id"],
        after=query["after"],
        is_open=query["open"],
        claimable_before=query["claimable_before"],
        is_oldest_first=query["oldest_first"],
    )


@blueprint.route("", methods=["GET"])
@allow(*READERS)
@at_replica
@refused_with("history-took-too-long")
@blueprint.arguments(AwardsQuerySchema(), location="query")
@blueprint.response(200, page_schema(AwardRecordSchema, "Awards"))
def get_awards(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """List awards, those of the latest rounds first unless asked otherwise; a key with a casino sees that casino's."""
    filters, at = filters_of(query), now()

    def latest(session: Session, limit: int) -> Sequence[Shown]:
        return [Shown(record, at) for record in records.latest(session, principal(), filters, limit=limit, now=at)]

    return page(query, latest, lambda shown: cursor_at(*shown.record.position))


@blueprint.route("/<id:award_id>", methods=["GET"])
@allow(*READERS)
@refused_with("award-unknown")
@blueprint.response(200, AwardRecordSchema())
def get_award(award_id: str) -> Shown:
    """Show an award."""
    return Shown(look(lambda session: records.visible(session, principal(), award_id)), now())


@blueprint.route("/<id:award_id>/payment", methods=["PUT"])
@allow(*PAYERS)
@refused_with(
    "award-state",
    "award-unknown",
    "dated-before-award",
    "key-maker",
    "occurred-in-future",
    "payment-currency",
    "payment-reference-taken",
    "payment-too-large",
    "payment-withheld",
    "request-conflict",
    "user-required",
    "withholding-too-large",
    "wrong-casino",
)
@blueprint.arguments(PaymentRequestSchema())
@blueprint.response(201, AwardRecordSchema())
@blueprint.alt_response(200, schema=AwardRecordSchema(), description="The same payment again.")
def put_award_payment(body: Mapping[str, Any], award_id: str) -> tuple[Shown, int]:
    """
    Record that the casino paid an award to its player, or a part of it.

    Several parts come to the award at most, each under a reference of its own. Two people reverse a wrong payment by a
    change request of kind `payment-reversal`. A part may be withheld for the casino's authority; in all at most what
    is due of the award.

    Not by who made a key by which the round was played, nor by a key that the same person made: 403 `key-maker`. Not by
    a table server's key for an award that reaches a payout tier: 403 `user-required`.
    """
    names = ("reference", "amount_minor", "currency", "paid_at", "channel", "payer", "withheld_minor")
    stated = {name: body[name] for name in names}
    command = RecordPayment(signed(body), award_id, **stated)
    done = act(lambda session: record_payment(session, command))
    return Shown(done.record, command.act.now), 200 if done.is_replay else 201


@blueprint.route("/<id:award_id>/stop", methods=["PUT"])
@allow(*STOPPERS)
@refused_with("award-state", "award-unknown", "request-conflict", "user-required")
@blueprint.arguments(StopRequestSchema())
@blueprint.response(201, AwardRecordSchema())
@blueprint.alt_response(200, schema=AwardRecordSchema(), description="The same request again.")
def put_award_stop(body: Mapping[str, Any], award_id: str) -> tuple[Shown, int]:
    """Stop the payment of an award, or of its unpaid rest; two release it by a change request of `held-awards`."""
    command = StopAward(signed(body), award_id)
    done = act(lambda session: stop_award(session, command))
    return Shown(done.record, command.act.now), 200 if done.is_replay else 201
