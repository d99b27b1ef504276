"""The table servers' calls: bets, voids, closing, result, cancellation."""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import Any, ClassVar, Final

import flask
from marshmallow import Schema, ValidationError, fields, validate

from jackpot_service.api import batch_errors, fast_path
from jackpot_service.api.asgi import by_thread
from jackpot_service.api.exceptions import CallContent, keep_all, kept_if_refused, records_of
from jackpot_service.api.parsing import Invalid, invalid_by, read_json
from jackpot_service.api.places import Caller
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, RequestContext, act, answer, context, now, principal
from jackpot_service.api.requests import Request
from jackpot_service.api.round_bodies import BetList
from jackpot_service.api.schemas import (
    MeterSchema,
    RefundSchema,
    RequestSchema,
    RoundSchema,
    SettlementSchema,
    body_of_meter,
    body_of_refund,
    body_of_round,
    body_of_settlement,
    decimal,
)
from jackpot_service.auth.authenticator import allow, allowed
from jackpot_service.config.settings import Config
from jackpot_service.database.failures import Busy
from jackpot_service.domain import facts
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.money import plain
from jackpot_service.domain.outcomes import Cancellation, Closing, Result
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.usecases.accept_bets import AcceptBets, BetsAccepted
from jackpot_service.usecases.cancel_round import CancelRound, cancel_round
from jackpot_service.usecases.close_betting import CloseBetting, close_betting
from jackpot_service.usecases.fields import BoundedList, Identifier, Instant, Text, Whole
from jackpot_service.usecases.payloads import Cards, HandSchema, hands_of
from jackpot_service.usecases.readers import identifier
from jackpot_service.usecases.settle_round import SettleRound, settle_round
from jackpot_service.usecases.void_bets import VoidBets, void_bets

MOST_HANDS = 60
"""Far more hands than one deck can deal, so that the count of cards is what refuses."""

MOST_COUNTED = 2_000_000_000
"""More bets than any round has; fits the column."""

MOST_LISTED = {"maxItems": Config().max_batch}
"""The batch limit as it is described; what is enforced is the configuration's."""

MOST_DEALT = {"maxItems": MOST_HANDS}


def most_in_batch() -> int:
    """The largest batch that the configuration allows."""
    return context().config.max_batch


def most_hands() -> int:
    """The most hands that a round may name."""
    return MOST_HANDS


BYTES_OF_A_PLACE = 16 * 1024
"""Of a body of bets. A longer one, which takes longer to book, holds a place for each of these; most hold one."""

TABLE_SERVERS = (Role.TABLE,)

_JUST_BETS = frozenset({"bets"})
_NUMBERED_BETS = frozenset({"bets", "game_number"})

_OF_EVERY_CALL: Final = ("no-jackpot", "occurred-in-future", "table-unknown")
_OF_HANDS: Final = ("card-repeated", "hands-invalid")

blueprint = Blueprint(
    "rounds", __name__, url_prefix="/v1/tables/<id:table_id>/rounds", description="A table's rounds, for its server."
)


def game_number() -> Identifier:
    """The field of a body that says a round's game number."""
    text = "The number that players see, such as 21:10:10. The first one said stays; another is refused."
    return Identifier(load_default=None, metadata={"description": text})


class VoidsSchema(RequestSchema):
    """Ids of bets to make void, known or not."""

    bet_ids = BoundedList(
        Identifier(),
        most=most_in_batch,
        required=True,
        validate=validate.Length(min=1, error="must hold at least one id"),
        metadata=MOST_LISTED,
    )
    occurred_at = Instant(load_default=None)
    reason = Text(load_default=None, metadata={"description": "Required after betting was closed."})


class BettingClosingSchema(RequestSchema):
    """The end of a round's betting."""

    bet_count = Whole(required=True, most=MOST_COUNTED, metadata={"description": "Bets accepted and not void."})
    occurred_at = Instant(load_default=None)


class ResultSchema(RequestSchema):
    """How a round ended. Every hand that carries a bet must be there."""

    bet_count = Whole(required=True, most=MOST_COUNTED, metadata={"description": "Bets accepted and not void."})
    hands = BoundedList(fields.Nested(HandSchema()), most=most_hands, required=True, metadata=MOST_DEALT)
    dealer = Cards(load_default=())
    occurred_at = Instant(load_default=None)
    game_number = game_number()


class CancellationSchema(RequestSchema):
    """Why a round is cancelled, and which hands had been dealt, if known."""

    reason = Text(required=True)
    hands = BoundedList(fields.Nested(HandSchema()), most=most_hands, load_default=(), metadata=MOST_DEALT)
    occurred_at = Instant(load_default=None)


class BetsSchema(RequestSchema):
    """A batch of bets: booked as a whole, or not at all."""

    bets = BetList(most=most_in_batch, required=True, metadata=MOST_LISTED)
    occurred_at = Instant(load_default=None, metadata={"description": "Of the bets that do not state their own."})
    game_number = game_number()

    most_errors: ClassVar = 10_000
    """So many field errors name all that is missing in the largest batch."""

    def __init__(self, *, most: Callable[[], int] = most_in_batch) -> None:
        super().__init__()
        bets = self.fields["bets"]
        assert isinstance(bets, BetList)  # noqa: S101  narrows a type
        bets.most = most
        self._bets = bets

    def read(self, document: Any) -> dict[str, Any]:  # noqa: ANN401  any JSON
        """
        Read a body as `load` does, which takes longer than reading bets: it is left out where only bets are stated.

        Raises: ValidationError.
        """
        if type(document) is dict and document.keys() == _JUST_BETS:
            with suppress(ValidationError):
                return {"bets": self._bets.read(document["bets"]), "occurred_at": None, "game_number": None}
        if type(document) is dict and document.keys() == _NUMBERED_BETS:
            with suppress(ValidationError):
                number = identifier(document["game_number"])
                return {"bets": self._bets.read(document["bets"]), "occurred_at": None, "game_number": number}
        loaded: dict[str, Any] = self.load(document)
        return loaded


class BetsAcceptedSchema(Schema):
    """The outcome of a batch."""

    round = fields.Nested(RoundSchema(), required=True)
    accepted = fields.Integer(required=True, metadata={"description": "Booked by this call."})
    replayed = fields.Integer(required=True, metadata={"description": "Booked before, by the same ids."})
    void = fields.List(fields.String(), required=True, metadata={"description": "Ids of the batch that are void."})
    meter = fields.Nested(MeterSchema(), required=True)
    payout_per_unit = decimal("The part of the meter for one unit staked, in its own currency.", allow_none=True)


class BetsVoidedSchema(Schema):
    """Which ids were bets, now refunded, and which were not known: they stay void for ever."""

    round = fields.Nested(RoundSchema(), required=True)
    voided = fields.List(fields.String(), required=True)
    unknown_ids = fields.List(fields.String(), required=True, data_key="unknown")


class ClosedRoundSchema(Schema):
    """The round whose betting is closed."""

    round = fields.Nested(RoundSchema(), required=True)


class RoundSettledSchema(Schema):
    """A settled round."""

    round = fields.Nested(RoundSchema(), required=True)
    settlement = fields.Nested(SettlementSchema(), required=True)


class RoundCancelledSchema(Schema):
    """A cancelled round; its refunds by bet id."""

    round = fields.Nested(RoundSchema(), required=True)
    refunds = fields.List(fields.Nested(RefundSchema()), required=True)


def _command(caller: Principal, table_id: str, round_id: str, body: dict[str, Any], *, now: datetime) -> AcceptBets:
    bets = body["bets"].dated(body["occurred_at"]) if body["occurred_at"] else body["bets"]
    return AcceptBets(caller, table_id, round_id, bets, now, body["game_number"])


@blueprint.route("/<id:round_id>/bets", methods=["POST"])
@allow(*TABLE_SERVERS)
@refused_with(
    *_OF_EVERY_CALL,
    *("bet-conflict", "betting-closed", "duplicate-bet", "game-number-conflict", "round-cancelled", "round-settled"),
    *("currency-not-accepted", "hand-limit", "no-rate", "stake-out-of-range", "unknown-currency"),
    *("jackpot-retired", "jackpot-suspended"),
)
@batch_errors.names_all(_command)
@blueprint.arguments(BetsSchema())
@blueprint.response(201, BetsAcceptedSchema(), description="Some bets were booked.")
@blueprint.alt_response(200, schema=BetsAcceptedSchema(), description="All were replays.")
def post_bets(body: dict[str, Any], table_id: str, round_id: str) -> flask.Response:
    """Book a batch of a round's bets. The first batch opens the round."""
    command = _command(principal(), table_id, round_id, body, now=now())
    done = kept_if_refused(
        lambda: context().bet_groups.accept(command),
        call="bets",
        table_id=table_id,
        round_id=round_id,
        content_of=lambda: _content_of(command),
    )
    return answer(_body_of_accepted(done), _status(done))


def bets_call(config: Config) -> fast_path.Call:
    """The same call as it takes the fast path."""
    schema = BetsSchema(most=lambda: config.max_batch)

    async def take(
        context: RequestContext, request: Request, caller: Principal, table_id: str, round_id: str
    ) -> fast_path.Answer:
        request.require_usual()
        turn = await context.bets.take(
            Caller.of(caller), 1 + len(request.body) // BYTES_OF_A_PLACE, ends_at=request.ends_at
        )
        command_of = partial(_command, caller, table_id, round_id, now=context.clock())
        try:
            try:
                command = command_of(schema.read(read_json(request.body)))
            except ValidationError as error:
                raise await _with_all_errors(error, command_of, context, ends_at=request.ends_at) from None
            try:
                done = await context.bet_groups.accept_async(command, ends_at=request.ends_at)
            except LedgerError as refusal:
                await _keep_if_seen(refusal, command, context, ends_at=request.ends_at)
                raise
        finally:
            turn.end()
        return fast_path.Answer(_body_of_accepted(done), _status(done))

    path = re.compile(f"/v1/tables/{fast_path.ID}/rounds/{fast_path.ID}/bets")
    return fast_path.Call("POST", path, allowed(post_bets), take)


async def _with_all_errors(
    error: ValidationError, command_of: batch_errors.CommandOf, context: RequestContext, *, ends_at: float
) -> Invalid:
    invalid = invalid_by(error, most=BetsSchema.most_errors)
    with suppress(Busy):
        naming = partial(batch_errors.all_named, invalid, command_of, context.engine)
        return await by_thread(context.threads, naming, ends_at=min(ends_at, time.monotonic() + batch_errors.LONGEST_S))
    return invalid


async def _keep_if_seen(refusal: LedgerError, command: AcceptBets, context: RequestContext, *, ends_at: float) -> None:
    """Keep what of a refusal finance must see; see `kept_if_refused`."""
    content_of, caller = partial(_content_of, command), command.principal
    records = records_of(refusal, content_of, call="bets", name=command.name, caller=caller, at=context.clock())
    if records:
        await by_thread(context.threads, partial(keep_all, context.engine, records), ends_at=ends_at)


def _content_of(command: AcceptBets) -> CallContent:
    content = sorted([bet.bet_id, *bet.content] for bet in command.bets)
    return CallContent(
        content, {"bets": facts.facts_of_refused_bets(command.bets), **_stated_number(command.game_number)}
    )


def _stated_number(number: str | None) -> dict[str, str]:
    return {} if number is None else {"game_number": number}


def _body_of_accepted(done: BetsAccepted) -> dict[str, Any]:
    return {
        "round": body_of_round(done.round),
        "accepted": done.accepted,
        "replayed": done.replayed,
        "void": done.void,
        "meter": body_of_meter(done.meter, done.base_rate),
        "payout_per_unit": None if done.share_per_unit is None else plain(done.share_per_unit),
    }


def _status(done: BetsAccepted) -> HTTPStatus:
    return HTTPStatus.CREATED if done.accepted else HTTPStatus.OK


@blueprint.route("/<id:round_id>/voids", methods=["POST"])
@allow(*TABLE_SERVERS)
@refused_with(*_OF_EVERY_CALL, "no-rate", "reason-required", "round-cancelled", "round-settled")
@blueprint.arguments(VoidsSchema())
@blueprint.response(200, BetsVoidedSchema())
def post_voids(body: dict[str, Any], table_id: str, round_id: str) -> flask.Response:
    """
    Make bets void, as long as the round has not ended; an unknown id stays void for ever.

    After betting was closed a reason is required, and the void is an exception.
    """
    bet_ids = tuple(dict.fromkeys(body["bet_ids"]))
    command = VoidBets(principal(), table_id, round_id, bet_ids, now(), body["occurred_at"], body["reason"])
    done = kept_if_refused(
        lambda: act(lambda session: void_bets(session, command)),
        call="voids",
        table_id=table_id,
        round_id=round_id,
        content_of=lambda: CallContent(sorted(bet_ids), {"bet_ids": sorted(bet_ids), "reason": body["reason"]}),
    )
    return answer({"round": body_of_round(done.round), "voided": done.voided, "unknown": done.unknown})


@blueprint.route("/<id:round_id>/closing", methods=["PUT"])
@allow(*TABLE_SERVERS)
@refused_with(
    *(*_OF_EVERY_CALL, "dated-before-bet", "round-cancelled", "round-settled", "round-unknown"),
    *("bet-count-mismatch", "closing-conflict"),
)
@blueprint.arguments(BettingClosingSchema())
@blueprint.response(201, ClosedRoundSchema())
@blueprint.alt_response(200, schema=ClosedRoundSchema(), description="The same closing again.")
def put_closing(body: dict[str, Any], table_id: str, round_id: str) -> flask.Response:
    """Close a round's betting: a bet that comes later is refused."""
    closing = Closing(body["bet_count"], body["occurred_at"])
    command = CloseBetting(principal(), table_id, round_id, closing, now())
    done = kept_if_refused(
        lambda: act(lambda session: close_betting(session, command)),
        call="closing",
        table_id=table_id,
        round_id=round_id,
        content_of=lambda: CallContent(closing.bet_count, facts.facts_of_closing(closing)),
    )
    return answer({"round": body_of_round(done.round)}, 200 if done.is_replay else 201)


@blueprint.route("/<id:round_id>/result", methods=["PUT"])
@allow(*TABLE_SERVERS)
@refused_with(
    *(*_OF_EVERY_CALL, *_OF_HANDS, "hand-missing", "no-rate"),
    *("bet-count-mismatch", "closing-required", "dated-before-bet", "game-number-conflict", "result-conflict"),
    "round-cancelled",
)
@blueprint.arguments(ResultSchema())
@blueprint.response(201, RoundSettledSchema())
@blueprint.alt_response(200, schema=RoundSettledSchema(), description="The same result again.")
def put_result(body: dict[str, Any], table_id: str, round_id: str) -> flask.Response:
    """Settle a round by its dealt cards."""
    result = Result(body["bet_count"], hands_of(body["hands"]), body["dealer"], body["occurred_at"])
    command = SettleRound(principal(), table_id, round_id, result, now(), body["game_number"])
    done = kept_if_refused(
        lambda: act(lambda session: settle_round(session, command)),
        call="result",
        table_id=table_id,
        round_id=round_id,
        content_of=lambda: CallContent(
            result.content, {**facts.facts_of_result(result), **_stated_number(command.game_number)}
        ),
    )
    settlement = body_of_settlement(done.settlement, done.awards, done.refunds)
    return answer({"round": body_of_round(done.round), "settlement": settlement}, 200 if done.is_replay else 201)


@blueprint.route("/<id:round_id>/cancellation", methods=["PUT"])
@allow(*TABLE_SERVERS)
@refused_with(*_OF_EVERY_CALL, *_OF_HANDS, "cancellation-conflict", "no-rate", "round-settled")
@blueprint.arguments(CancellationSchema())
@blueprint.response(201, RoundCancelledSchema())
@blueprint.alt_response(200, schema=RoundCancelledSchema(), description="The same cancellation again.")
def put_cancellation(body: dict[str, Any], table_id: str, round_id: str) -> flask.Response:
    """Cancel a round and refund its bets."""
    cancellation = Cancellation(body["reason"], hands_of(body["hands"]), body["occurred_at"])
    command = CancelRound(principal(), table_id, round_id, cancellation, now())
    done = kept_if_refused(
        lambda: act(lambda session: cancel_round(session, command)),
        call="cancellation",
        table_id=table_id,
        round_id=round_id,
        content_of=lambda: CallContent(
            cancellation.content, {"reason": cancellation.reason, "hands": facts.facts_of_hands(cancellation.hands)}
        ),
    )
    refunds = [body_of_refund(bet) for bet in done.refunds]
    return answer({"round": body_of_round(done.round), "refunds": refunds}, 200 if done.is_replay else 201)
