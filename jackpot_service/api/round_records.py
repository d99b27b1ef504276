"""Reading rounds: one whole, or a table's latest."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from marshmallow import fields

from jackpot_service.api.lists import ListQuerySchema, cursor, page, page_schema
from jackpot_service.api.rates import RateSchema
from jackpot_service.api.recorded_facts import (
    EntitlementSchema,
    StatedCountSchema,
    VerdictSchema,
    VoidsFactsSchema,
)
from jackpot_service.api.refusals import WRITING, refused_with
from jackpot_service.api.request_context import Blueprint, act, look, principal
from jackpot_service.api.rules_document import DocumentSheetSchema, JackpotRulesSchema
from jackpot_service.api.schemas import (
    AnswerSchema,
    AwardSchema,
    Moment,
    RequestSchema,
    RoundSchema,
    SettlementSchema,
    SortedTexts,
    body_of_settlement,
    decimal,
    described,
    listed,
    word,
)
from jackpot_service.api.table_limits import TableLimitsSchema
from jackpot_service.api.written import AnyWritten, Written
from jackpot_service.auth.authenticator import allow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.allocation import contribute
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.outcomes import HandStatus
from jackpot_service.domain.principals import Role
from jackpot_service.domain.rounds import LAST_KEY, RoundState, RoundView
from jackpot_service.domain.rules import as_document
from jackpot_service.reports.player_rounds import record_of_player
from jackpot_service.reports.rounds import RoundRecord, RoundShare, latest_rounds, round_record, round_share
from jackpot_service.usecases.fields import Identifier, Instant

READERS = (Role.TABLE, Role.FINANCE, Role.OPERATOR, Role.AUDITOR)

blueprint = Blueprint(
    "round-records", __name__, url_prefix="/v1/tables/<id:table_id>/rounds", description="A table's rounds, to read."
)


class ContributionSchema(AnswerSchema):
    """The parts of a bet, exact, in the base currency."""

    value = decimal("The stake's value.")
    meter = decimal("To the current prize.")
    reserve = decimal("To the start of the next.")
    prize_fund = decimal("To the fixed prizes.")
    house = decimal("To the house.")


class TakenBetSchema(AnswerSchema):
    """A bet as it was sent, and whether it is void."""

    bet_id = fields.String(required=True, attribute="bet.bet_id")
    player_id = fields.String(required=True, attribute="bet.player_id")
    hand = fields.String(required=True, attribute="bet.hand")
    currency = fields.String(required=True, attribute="bet.currency")
    stake_minor = fields.Integer(required=True, attribute="bet.stake_minor")
    occurred_at = Moment(required=True, attribute="bet.occurred_at", allow_none=True)
    is_void = fields.Boolean(required=True)


class BookedBetSchema(TakenBetSchema):
    """A bet as it was booked."""

    contribution = fields.Nested(ContributionSchema(), required=True)


class BookedHandSchema(AnswerSchema):
    """A hand as it was sent."""

    hand = fields.String(required=True)
    status = word(HandStatus)
    cards = fields.List(fields.String(), required=True)


class EntrySchema(AnswerSchema):
    """An entry of the round: its place in the books."""

    step = fields.Integer(required=True)
    kind = word(EntryKind)
    principal = fields.String(required=True)
    stripe = fields.Integer(required=True, attribute="stripe_no")
    seq = fields.Integer(required=True)
    received_at = Moment(required=True)
    booked_at = Moment(required=True)
    limits = fields.Nested(
        TableLimitsSchema(),
        required=True,
        allow_none=True,
        metadata={"description": "Of bets: the table's own limits that they were taken under, if it had any."},
    )
    stated = AnyWritten(
        StatedCountSchema,
        VoidsFactsSchema,
        metadata={"description": "Of a closing its count of bets, of voids their ids and the reason; null of others."},
    )


class RecordSettlementSchema(SettlementSchema):
    """The settlement, with its calculation."""

    overflow = decimal("The amount that a limit had kept off the offer, moved to the reserve at a hit.")
    entitlements = fields.List(
        Written(EntitlementSchema()), required=True, metadata={"description": "The entitlement of each winner."}
    )
    positions = fields.List(
        fields.Integer(), required=True, metadata={"description": "Every stripe's seq as the pools were read."}
    )


class CorrectionSchema(AnswerSchema):
    """Another verdict on the round, approved by two people; the last one is in force."""

    number = fields.Integer(required=True)
    request_id = described(
        fields.String, "The change request that it carried out.", attribute="act.decides", allow_none=True
    )
    act = described(fields.Integer, "Its act's place in the audit trail.", attribute="act.seq")
    corrected_at = Moment(required=True, attribute="act.booked_at")
    verdict = Written(
        VerdictSchema(),
        required=True,
        attribute="act.after",
        metadata={"description": "Its result and calculation, the awards that it made and those that it took back."},
    )
    awards = listed(AwardSchema, "The awards that it made, as they stand now.")


class CancellationViewSchema(AnswerSchema):
    """Why the round was cancelled."""

    reason = fields.String(required=True)
    occurred_at = Moment(required=True, allow_none=True)


class CompensationSchema(AnswerSchema):
    """An amount granted for a bet of a cancelled round or for a denied prize, or (negative) taken back."""

    bet_id = fields.String(required=True)
    player_id = fields.String(required=True)
    amount_minor = fields.Integer(required=True)
    currency = fields.String(required=True)
    cost_base = decimal("In the base currency, exact, at the round's rates.", attribute="cost")
    document = fields.String(required=True)
    act = described(fields.Integer, "The act that gave it: its seq.", attribute="act_seq")


def _bets(record: RoundRecord) -> list[Mapping[str, Any]]:
    """The bets with their contributions."""
    return [
        {
            "bet": booked.bet,
            "is_void": booked.is_void,
            "contribution": contribute(
                {booked.bet.currency: booked.bet.stake_minor}, split=record.rules.split, sheet=record.sheet
            ),
        }
        for booked in record.bets
    ]


def _hands(record: RoundRecord) -> list[Mapping[str, Any]]:
    result = record.ending.get("result", record.ending)
    return [{"hand": hand, "status": status, "cards": cards} for hand, status, cards in result.get("hands", ())]


def _result(record: RoundRecord) -> Mapping[str, Any] | None:
    result = record.ending.get("result")
    return result and {"bet_count": result["bet_count"], "occurred_at": result["occurred_at"]}


def _settlement(record: RoundRecord) -> Mapping[str, Any] | None:
    settlement = record.ending.get("settlement")
    if settlement is None:
        return None
    refunds = [booked.bet for booked in record.bets if booked.bet.bet_id in settlement["refunds"]]
    more = {name: settlement[name] for name in ("overflow", "entitlements", "positions")}
    return {**body_of_settlement(settlement, record.awards, refunds), **more}


_RATES: Final = RateSchema(many=True)


def _sheet(record: RoundRecord) -> Mapping[str, Any]:
    sheet = record.sheet
    return {"base": sheet.base, "number": sheet.number, "rates": _RATES.dump(sheet.rates.values())}


_IMPLIED: Final[Mapping[str, Callable[[RoundRecord], object]]] = {
    "bets": _bets,
    "hands": _hands,
    "dealer": lambda record: record.ending["result"]["dealer"] if "result" in record.ending else (),
    "cancellation": lambda record: record.ending if "reason" in record.ending else None,
    "result": _result,
    "settlement": _settlement,
    "rules": lambda record: as_document(record.rules),
    "rate_sheet": _sheet,
}


class RoundRecordSchema(AnswerSchema):
    """Everything the ledger holds of a round."""

    round = fields.Nested(RoundSchema(), required=True, attribute="view")
    opened_at = Moment(required=True, attribute="view.round.opened_at")
    bets = listed(BookedBetSchema)
    tombstones = SortedTexts(required=True)
    hands = listed(BookedHandSchema)
    dealer = fields.List(fields.String(), required=True)
    result = Written(
        StatedCountSchema(),
        required=True,
        allow_none=True,
        metadata={"description": "The number of live bets that the first result stated; null without a result."},
    )
    cancellation = fields.Nested(CancellationViewSchema(), required=True, allow_none=True)
    settlement = fields.Nested(
        RecordSettlementSchema(), required=True, allow_none=True, metadata={"description": "The first verdict."}
    )
    corrections = listed(CorrectionSchema, "Later verdicts, by number.")
    compensations = listed(CompensationSchema)
    entries = listed(EntrySchema)
    rules = Written(
        JackpotRulesSchema(),
        required=True,
        metadata={
            "description": "The rules version of the round, fixed when it opened. Of `reset_amount`, `limit` and "
            "`payout_tiers` those of the cycle in which it is settled apply."
        },
    )
    rate_sheet = Written(
        DocumentSheetSchema(),
        required=True,
        metadata={"description": "The rate sheet of the round, fixed when it opened."},
    )

    def get_attribute(self, obj: RoundRecord, attr: str, default: Any) -> Any:  # noqa: ANN401  as the base
        """Work out what the record only implies."""
        write = _IMPLIED.get(attr)
        return super().get_attribute(obj, attr, default) if write is None else write(obj)


class PlayerQuerySchema(RequestSchema):
    """Of whose bets."""

    player_id = Identifier(
        load_default=None,
        metadata={
            "description": "Only this player's bets, awards, refunds and compensations, and nothing of other bets. A "
            "player without a bet has empty lists. Cards, figures and rules are the round's."
        },
    )


class RoundQuerySchema(ListQuerySchema):
    """Which rounds."""

    opened_from = Instant(data_key="from", load_default=None)
    opened_to = Instant(data_key="to", load_default=None)


@blueprint.route("/<id:round_id>", methods=["GET"])
@allow(*READERS)
@refused_with(*WRITING, "round-unknown", "table-unknown")
@blueprint.arguments(PlayerQuerySchema(), location="query")
@blueprint.response(200, RoundRecordSchema())
def get_round(query: Mapping[str, Any], table_id: str, round_id: str) -> RoundRecord:
    """
    Recall a round whole: bets, contributions, cards, awards, calculation, rules version, rate sheet.

    With `player_id` the record of one player: the own bets and awards, without those of all others.
    """
    record = act(lambda session: round_record(session, principal(), table_id=table_id, round_id=round_id))
    player_id = query["player_id"]
    return record if player_id is None else record_of_player(record, player_id)


class RoundShareSchema(AnswerSchema):
    """A bettor's share, if a hand of the round were a royal flush."""

    jackpot_id = fields.String(required=True, attribute="round.jackpot_id")
    table_id = fields.String(required=True, attribute="round.table_id")
    round_id = fields.String(required=True, attribute="round.round_id")
    state = word(RoundState, attribute="round.state")
    bet_count = described(fields.Integer, "Bets accepted and not void.", attribute="round.bet_count")
    payout_per_unit = decimal(
        "The part of the meter for one unit staked, in its own currency, as the answer to bets says it. Null once the "
        "round has ended, without a live bet, and where the rules do not share.",
        attribute="share_per_unit",
        allow_none=True,
    )
    last_movement_at = described(Moment, "Of the meter: nothing has moved since.", attribute="meter.as_of")
    version = described(fields.String, "Changes with every entry of the jackpot.", attribute="meter.version")


@blueprint.route("/<id:round_id>/payout-per-unit", methods=["GET"])
@allow(*READERS)
@refused_with("round-unknown", "table-unknown")
@blueprint.response(200, RoundShareSchema())
def get_payout_per_unit(table_id: str, round_id: str) -> RoundShare:
    """Show what one unit staked would receive of a royal flush now, at any time of a round; for displays."""
    return look(lambda session: round_share(session, principal(), table_id=table_id, round_id=round_id))


@blueprint.route("", methods=["GET"])
@allow(*READERS)
@refused_with("table-unknown")
@blueprint.arguments(RoundQuerySchema(), location="query")
@blueprint.response(200, page_schema(RoundSchema, "RoundList"))
def get_table_rounds(query: Mapping[str, Any], table_id: str) -> Mapping[str, Any]:
    """List the table's latest rounds, newest first; `from` is included, `to` is not."""

    def rows(session: Session, limit: int) -> Sequence[RoundView]:
        return latest_rounds(
            session,
            principal(),
            table_id=table_id,
            limit=limit,
            before=LAST_KEY if query["after"] is None else query["after"],
            opened_from=query["opened_from"],
            opened_to=query["opened_to"],
        )

    return page(query, rows, lambda view: cursor(view.round.round_key), read=act)
