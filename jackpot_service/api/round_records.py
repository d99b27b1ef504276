"""Reading rounds: one whole, or a table's latest."""

from collections.abc import Mapping
from typing import Any

import flask
from marshmallow import Schema, fields

from jackpot_service.api import answers
from jackpot_service.api.lists import ListQuerySchema, cursor
from jackpot_service.api.request_context import Blueprint, act, answer, principal
from jackpot_service.api.schemas import AwardSchema, RoundSchema, SettlementSchema, decimal, described
from jackpot_service.auth.authenticator import allow
from jackpot_service.domain.batches import BookedBet
from jackpot_service.domain.contribution import contribute
from jackpot_service.domain.facts import instant
from jackpot_service.domain.money import plain
from jackpot_service.domain.outcomes import Result
from jackpot_service.domain.principals import Role
from jackpot_service.domain.round_keys import LAST_KEY
from jackpot_service.domain.rules import as_document
from jackpot_service.domain.verdict import Hand
from jackpot_service.records.compensations import Compensation
from jackpot_service.records.corrections import BookedCorrection
from jackpot_service.reports.rounds import RoundRecord, latest_rounds, round_record
from jackpot_service.usecases.fields import Instant

READERS = (Role.TABLE, Role.FINANCE, Role.OPERATOR, Role.AUDITOR)

blueprint = Blueprint(
    "round-records", __name__, url_prefix="/v1/tables/<id:table_id>/rounds", description="A table's rounds, to read."
)


class ContributionSchema(Schema):
    """The parts of a bet, exact, in the base currency."""

    value = decimal("The stake's value.")
    meter = decimal("To the current prize.")
    reserve = decimal("To the start of the next.")
    prize_fund = decimal("To the fixed prizes.")
    house = decimal("To the house.")


class BookedBetSchema(Schema):
    """A bet as it was booked."""

    bet_id = fields.String(required=True)
    player_id = fields.String(required=True)
    hand = fields.String(required=True)
    currency = fields.String(required=True)
    stake_minor = fields.Integer(required=True)
    occurred_at = fields.DateTime(required=True, allow_none=True)
    is_void = fields.Boolean(required=True)
    contribution = fields.Nested(ContributionSchema(), required=True)


class BookedHandSchema(Schema):
    """A hand as it was told."""

    hand = fields.String(required=True)
    status = fields.String(required=True)
    cards = fields.List(fields.String(), required=True)


class EntrySchema(Schema):
    """An entry of the round: its place in the books."""

    step = fields.Integer(required=True)
    kind = fields.String(required=True)
    principal = fields.String(required=True)
    stripe = fields.Integer(required=True)
    seq = fields.Integer(required=True)
    received_at = fields.DateTime(required=True)
    booked_at = fields.DateTime(required=True)


class RecordSettlementSchema(SettlementSchema):
    """The settlement, with its calculation."""

    overflow = decimal("What a limit had kept off the offer, moved to the reserve at a hit.")
    entitlements = fields.List(
        fields.Dict(), required=True, metadata={"description": "What each winner was entitled to, exact fractions."}
    )
    positions = fields.List(
        fields.Integer(), required=True, metadata={"description": "Every stripe's seq as the pools were read."}
    )


class CorrectionSchema(Schema):
    """Another verdict on the round, approved by two people; the last one is in force."""

    number = fields.Integer(required=True)
    request_id = described(fields.String, "The change request that it carried out.", allow_none=True)
    act = described(fields.Integer, "Its act's place in the audit trail.")
    corrected_at = fields.DateTime(required=True)
    verdict = described(fields.Dict, "Its result, calculation and postings, and the awards that it took back.")
    awards = described(
        fields.List, "The awards that it made, as they stand now.", cls_or_instance=fields.Nested(AwardSchema())
    )


class CancellationViewSchema(Schema):
    """Why the round was cancelled."""

    reason = fields.String(required=True)
    occurred_at = fields.DateTime(required=True, allow_none=True)


class CompensationSchema(Schema):
    """What the house gave for a bet of a cancelled round, or (negative) took back of it."""

    bet_id = fields.String(required=True)
    player_id = fields.String(required=True)
    amount_minor = fields.Integer(required=True)
    currency = fields.String(required=True)
    cost_base = decimal("In the base currency, exact, at the round's rates.")
    document = fields.String(required=True)
    act = fields.Integer(required=True, metadata={"description": "The act that gave it: its seq."})


class RoundRecordSchema(Schema):
    """Everything the ledger holds of a round."""

    round = fields.Nested(RoundSchema(), required=True)
    opened_at = fields.DateTime(required=True)
    bets = fields.List(fields.Nested(BookedBetSchema()), required=True)
    tombstones = fields.List(fields.String(), required=True)
    hands = fields.List(fields.Nested(BookedHandSchema()), required=True)
    dealer = fields.List(fields.String(), required=True)
    result = fields.Dict(required=True, allow_none=True)
    cancellation = fields.Nested(CancellationViewSchema(), required=True, allow_none=True)
    settlement = fields.Nested(
        RecordSettlementSchema(), required=True, allow_none=True, metadata={"description": "The first verdict."}
    )
    corrections = described(
        fields.List, "Later verdicts, by number.", cls_or_instance=fields.Nested(CorrectionSchema())
    )
    compensations = fields.List(fields.Nested(CompensationSchema()), required=True)
    entries = fields.List(fields.Nested(EntrySchema()), required=True)
    rules = fields.Dict(required=True, metadata={"description": "The rules version pinned."})
    rate_sheet = fields.Dict(required=True, metadata={"description": "The rate sheet pinned."})


class RoundListSchema(Schema):
    """A page of rounds."""

    items = fields.List(fields.Nested(RoundSchema()), required=True)
    next = fields.String(required=True, allow_none=True)


class RoundQuerySchema(ListQuerySchema):
    """Which rounds."""

    opened_from = Instant(data_key="from", load_default=None)
    opened_to = Instant(data_key="to", load_default=None)


@blueprint.route("/<id:round_id>", methods=["GET"])
@allow(*READERS)
@blueprint.response(200, RoundRecordSchema())
def get_round(table_id: str, round_id: str) -> flask.Response:
    """Recall a round whole: bets, contributions, cards, awards, calculation, rules version, rate sheet."""
    record = act(lambda session: round_record(session, principal(), table_id=table_id, round_id=round_id))
    return answer(
        {
            "round": answers.of_round(record.view),
            "opened_at": instant(record.view.round.opened_at),
            "bets": [_bet(record, booked) for booked in record.bets],
            "tombstones": sorted(record.tombstones),
            "hands": [_hand(hand) for hand in _hands(record)],
            "dealer": [] if record.result is None else list(record.result.dealer),
            "result": _result(record.result),
            "cancellation": _cancellation(record),
            "settlement": _settlement(record),
            "corrections": [_correction(correction) for correction in record.corrections],
            "compensations": [_compensation(given) for given in record.compensations],
            "entries": _entries(record),
            "rules": as_document(record.rules),
            "rate_sheet": _sheet(record),
        }
    )


def _bet(record: RoundRecord, booked: BookedBet) -> dict[str, Any]:
    bet = booked.bet
    parts = contribute({bet.currency: bet.stake_minor}, split=record.rules.split, sheet=record.sheet)
    return {
        "bet_id": bet.bet_id,
        "player_id": bet.player_id,
        "hand": bet.hand,
        "currency": bet.currency,
        "stake_minor": bet.stake_minor,
        "occurred_at": instant(bet.occurred_at),
        "is_void": booked.is_void,
        "contribution": {
            "value": plain(parts.value),
            "meter": plain(parts.meter),
            "reserve": plain(parts.reserve),
            "prize_fund": plain(parts.prize_fund),
            "house": plain(parts.house),
        },
    }


def _hands(record: RoundRecord) -> tuple[Hand, ...]:
    if record.result is not None:
        return record.result.hands
    return () if record.cancellation is None else record.cancellation.hands


def _hand(hand: Hand) -> dict[str, Any]:
    return {"hand": hand.hand, "status": hand.status.value, "cards": list(hand.cards)}


def _result(result: Result | None) -> dict[str, Any] | None:
    return None if result is None else {"bet_count": result.bet_count, "occurred_at": instant(result.occurred_at)}


def _cancellation(record: RoundRecord) -> dict[str, Any] | None:
    if record.cancellation is None:
        return None
    return {"reason": record.cancellation.reason, "occurred_at": instant(record.cancellation.occurred_at)}


def _settlement(record: RoundRecord) -> dict[str, Any] | None:
    if record.settlement is None or record.result is None:
        return None
    dead = record.result.dead_hands
    refunds = [booked.bet for booked in record.bets if booked.bet.hand in dead and not booked.is_void]
    return {
        **answers.of_settlement(record.settlement, record.awards, refunds),
        "overflow": plain(record.settlement.overflow),
        "entitlements": record.settlement.entitlements,
        "positions": record.settlement.positions,
    }


def _correction(correction: BookedCorrection) -> dict[str, Any]:
    return {
        "number": correction.number,
        "request_id": correction.act.decides,
        "act": correction.act.seq,
        "corrected_at": instant(correction.act.booked_at),
        "verdict": correction.act.after,
        "awards": [answers.of_award(award) for award in correction.awards],
    }


def _compensation(given: Compensation) -> dict[str, Any]:
    return {
        "bet_id": given.bet_id,
        "player_id": given.player_id,
        "amount_minor": given.amount_minor,
        "currency": given.currency,
        "cost_base": plain(given.cost),
        "document": given.document,
        "act": given.act_seq,
    }


def _entries(record: RoundRecord) -> list[dict[str, Any]]:
    return [
        {
            "step": place.step,
            "kind": place.kind,
            "principal": place.principal,
            "stripe": place.stripe_no,
            "seq": place.seq,
            "received_at": instant(place.received_at),
            "booked_at": instant(place.booked_at),
        }
        for place in record.entries
    ]


def _sheet(record: RoundRecord) -> dict[str, Any]:
    sheet = record.sheet
    rates = [answers.of_rate(rate) for rate in sheet.rates.values()]
    return {"base": sheet.base, "number": sheet.number, "rates": rates}


@blueprint.route("", methods=["GET"])
@allow(*READERS)
@blueprint.arguments(RoundQuerySchema(), location="query")
@blueprint.response(200, RoundListSchema())
def get_rounds(query: Mapping[str, Any], table_id: str) -> flask.Response:
    """List the table's latest rounds, newest first; `from` is included, `to` is not."""
    page = act(
        lambda session: latest_rounds(
            session,
            principal(),
            table_id=table_id,
            limit=query["limit"],
            before=LAST_KEY if query["after"] is None else query["after"],
            opened_from=query["opened_from"],
            opened_to=query["opened_to"],
        )
    )
    return answer({"items": [answers.of_round(view) for view in page.items], "next": cursor(page.next_key)})
