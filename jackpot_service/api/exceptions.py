"""Exceptions: the refusals that finance must see are kept; all that somebody has to look into is listed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import sqlalchemy
import structlog
from marshmallow import fields, validate

from jackpot_service.api.lists import Cursor, PeriodQuerySchema, matching, page, page_schema
from jackpot_service.api.reading import at_replica
from jackpot_service.api.refusals import refused_with
from jackpot_service.api.request_context import Blueprint, act, context, now, principal, signed
from jackpot_service.api.schemas import AnswerSchema, Moment, ReasonedSchema, described
from jackpot_service.auth.authenticator import allow
from jackpot_service.database.transactions import Session, transact
from jackpot_service.domain.acceptance import CurrencyNotAccepted, HandLimit, StakeOutOfRange
from jackpot_service.domain.bets import BetConflict
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.exceptions import (
    AWARD_UNCLAIMED,
    EMERGENCY_APPROVAL,
    EXCEPTION_ID,
    LATE_VOID,
    PRIZE_DENIED,
    ROUND_OPEN,
    NotedException,
    Resolution,
)
from jackpot_service.domain.money import NoRate
from jackpot_service.domain.occurrence import DatedBeforeBet, OccurredAhead
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.domain.rounds import BettingClosed, GameNumberConflict, RoundCancelled, RoundSettled
from jackpot_service.ledger.journal import JackpotSuspended
from jackpot_service.records import exceptions
from jackpot_service.records.exceptions import ExceptionRecord
from jackpot_service.records.noted_exceptions import ExceptionFilters
from jackpot_service.records.rounds import RoundName
from jackpot_service.reports.audit import latest_exceptions
from jackpot_service.usecases.acknowledge_exception import Acknowledged, AcknowledgeException, acknowledge_exception
from jackpot_service.usecases.cancel_round import CancellationConflict
from jackpot_service.usecases.close_betting import ClosingConflict
from jackpot_service.usecases.fields import Flag, Identifier
from jackpot_service.usecases.settle_round import BetCountMismatch, ClosingRequired, ResultConflict

log = structlog.get_logger()

T = TypeVar("T")

TO_KEEP: tuple[type[LedgerError], ...] = (
    BetConflict,
    BetCountMismatch,
    ResultConflict,
    CancellationConflict,
    RoundSettled,
    RoundCancelled,
    BettingClosed,
    ClosingConflict,
    ClosingRequired,
    DatedBeforeBet,
    GameNumberConflict,
)


COUNTED: tuple[type[LedgerError], ...] = (
    NoRate,
    HandLimit,
    CurrencyNotAccepted,
    StakeOutOfRange,
    JackpotSuspended,
    OccurredAhead,
)
"""Refusals that may meet every call of a casino: kept as one line a kind, table and hour, with their count."""

ALL_KEPT = (*TO_KEEP, *COUNTED)


@dataclass(frozen=True, slots=True)
class CallContent:
    """The content of a call, by which a repeated call is the same; `request` also has its remarks."""

    content: object
    request: Mapping[str, Any]


TAKES_NO_BETS = (RoundSettled, RoundCancelled, BettingClosed)

LATE_BET = "late-bet"
"""The kind of a bet for a round that is closed or over; other late calls keep the refusal's own code."""

_OWN_CODES = {refusal.code for refusal in TO_KEEP if refusal is not BettingClosed}  # Only bets are refused so.

_COUNTED_CODES = {refusal.code for refusal in COUNTED}

_NOTED = {LATE_BET, LATE_VOID, PRIZE_DENIED, AWARD_UNCLAIMED, ROUND_OPEN, EMERGENCY_APPROVAL}

KINDS = sorted({*_NOTED, *_OWN_CODES, *_COUNTED_CODES})
"""Every kind of exception that there is."""


def kept_if_refused(
    run: Callable[[], T], *, call: str, table_id: str, round_id: str, content_of: Callable[[], CallContent]
) -> T:
    """
    Run a call; if it is refused in a way that finance must see, keep that in a transaction of its own.

    It is written after the rollback, and before the caller is answered: if it cannot be, the answer is the database's
    failure, and the caller's retry brings the refusal again. `content_of` is called only if something has to be kept.
    """
    try:
        return run()
    except LedgerError as refusal:
        name = RoundName(table_id, round_id)
        records = records_of(refusal, content_of, call=call, name=name, caller=principal(), at=now())
        keep_all(context().engine, records)
        raise


def records_of(
    refusal: LedgerError,
    content_of: Callable[[], CallContent],
    *,
    call: str,
    name: RoundName,
    caller: Principal,
    at: datetime,
) -> Sequence[ExceptionRecord]:
    """
    Write down what of a refusal finance must see: one record a kind, also of the refusals that would have followed.

    The caller mends all at once, so those that followed would never come. None for most refusals.
    """
    by_code = {
        refusal_.code: refusal_ for refusal_ in reversed((refusal, *refusal.further)) if isinstance(refusal_, ALL_KEPT)
    }
    if not by_code:
        return ()
    content = content_of()
    return [
        record_of(refusal_, content, call=call, name=name, caller=caller, at=at)
        for refusal_ in reversed(by_code.values())
    ]


def record_of(
    refusal: LedgerError, content: CallContent, *, call: str, name: RoundName, caller: Principal, at: datetime
) -> ExceptionRecord:
    """Write down a refusal that finance must see, and the call that it answers."""
    is_late_bet = call == "bets" and isinstance(refusal, TAKES_NO_BETS)
    if isinstance(refusal, COUNTED):
        hour = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        first = {"call": call, "round_id": name.round_id, **content.request}
        return ExceptionRecord(
            kind=refusal.code,
            table_id=name.table_id,
            round_id="",
            principal=caller.name,
            noticed_at=at,
            content=[hour.isoformat()],
            request=first,
            detail=f"Refusals of the hour from {hour:%Y-%m-%d %H:%M}Z on; the first: {refusal.detail}",
            is_counted=True,
        )
    return ExceptionRecord(
        kind=LATE_BET if is_late_bet else refusal.code,
        table_id=name.table_id,
        round_id=name.round_id,
        principal=caller.name,
        noticed_at=at,
        content=[call, content.content],
        request={"call": call, **content.request},
        detail=refusal.detail,
    )


def keep_all(engine: sqlalchemy.Engine, records: Iterable[ExceptionRecord]) -> None:
    """Keep refusals, one after another."""
    for record in records:
        keep(engine, record)


def keep(engine: sqlalchemy.Engine, record: ExceptionRecord) -> None:
    """Keep a refusal in a transaction of its own, and log it."""
    keeping = exceptions.count if record.is_counted else _keep_one
    transact(engine, partial(keeping, record=record))
    log.warning("refused", kind=record.kind, table_id=record.table_id, round_id=record.round_id, detail=record.detail)


def _keep_one(session: Session, record: ExceptionRecord) -> None:
    exceptions.keep(session, [record])


blueprint = Blueprint(
    "exceptions",
    __name__,
    url_prefix="/v1/exceptions",
    description="Late bets and voids, denied prizes, miscounts, conflicts, rounds open too long, emergency approvals.",
)

ACKNOWLEDGERS = (Role.FINANCE, Role.OPERATOR)
"""The roles that acknowledge exceptions; of finance only keys that are bound to no casino."""

READERS = (*ACKNOWLEDGERS, Role.AUDITOR)


class ExceptionsQuerySchema(PeriodQuerySchema):
    """Which exceptions; the period is that in which they happened."""

    list_name = "exceptions"

    after = Cursor(matching(EXCEPTION_ID))
    kind = fields.String(load_default=None, validate=validate.OneOf(KINDS))
    jackpot_id = Identifier(load_default=None)
    casino_id = Identifier(load_default=None)
    table_id = Identifier(load_default=None)
    acknowledged = Flag(load_default=None)


class AcknowledgementRequestSchema(ReasonedSchema):
    """The outcome of an exception."""


class AcknowledgementSchema(AnswerSchema):
    """How an exception was closed, by whom, and its outcome."""

    principal = described(fields.String, "The user who looked into it; of a denied prize, who approved the decision.")
    reason = fields.String(required=True)
    acknowledged_at = Moment(required=True)
    resolution = described(
        fields.String,
        "Two people compensate a denied prize, or decline to.",
        validate=validate.OneOf([resolution.value for resolution in Resolution]),
    )


class GrantedSchema(AnswerSchema):
    """An amount that was granted for a denied prize, less what was taken back."""

    currency = fields.String(required=True)
    amount_minor = fields.Integer(required=True)


class ExceptionSchema(AnswerSchema):
    """An exception."""

    exception_id = fields.String(required=True)
    kind = described(fields.String, "Of a refused call the problem's code.", validate=validate.OneOf(KINDS))
    noticed_at = described(Moment, "When the call was refused or the change approved; since when the round is open.")
    jackpot_id = fields.String(required=True, allow_none=True)
    casino_id = fields.String(required=True, allow_none=True)
    table_id = fields.String(required=True, allow_none=True)
    round_id = fields.String(required=True, allow_none=True)
    principal = described(fields.String, "The principal whose call it was, or who approved.", allow_none=True)
    detail = described(fields.String, "The case, in a sentence.")
    facts = described(fields.Dict, "The content of the call, of the round, or of the approval.")
    count = described(
        fields.Integer, "How many refusals it stands for, where those of a table in an hour are one line; else 1."
    )
    granted = fields.List(
        fields.Nested(GrantedSchema()),
        required=True,
        allow_none=True,
        metadata={
            "description": "The amounts that were granted for a denied prize until now; empty if none was, null of "
            "other kinds. `facts` have the `amount_minor` and the `currency` of what was denied."
        },
    )
    acknowledgement = fields.Nested(AcknowledgementSchema(), required=True, allow_none=True)

    def get_attribute(self, obj: Any, attr: str, default: Any) -> Any:  # noqa: ANN401  as the base
        """List what was granted by currency."""
        if attr != "granted" or not isinstance(obj, NotedException) or obj.granted is None:
            return super().get_attribute(obj, attr, default)
        return [{"currency": currency, "amount_minor": minor} for currency, minor in sorted(obj.granted.items())]


def filters_of(query: Mapping[str, Any]) -> ExceptionFilters:
    """Read which exceptions a query asks for."""
    return ExceptionFilters(
        kind=query.get("kind"),
        jackpot_id=query["jackpot_id"],
        casino_id=query["casino_id"],
        table_id=query["table_id"],
        is_acknowledged=query["acknowledged"],
        noticed_from=query["start"],
        noticed_to=query["end"],
    )


@blueprint.route("", methods=["GET"])
@allow(*READERS)
@at_replica
@blueprint.arguments(ExceptionsQuerySchema(), location="query")
@blueprint.response(200, page_schema(ExceptionSchema, "Exceptions"))
def get_exceptions(query: Mapping[str, Any]) -> Mapping[str, Any]:
    """List exceptions, the latest first; a key with a casino sees those of its casino. `to` is not included."""
    filters = filters_of(query)

    def rows(session: Session, limit: int) -> Sequence[NotedException]:
        return latest_exceptions(
            session, principal(), filters, opened_before=opened_before(), limit=limit, before=query["after"]
        )

    return page(query, rows, lambda exception: exception.exception_id)


@blueprint.route("/<id:exception_id>/acknowledgement", methods=["POST"])
@allow(*ACKNOWLEDGERS)
@refused_with("exception-acknowledged", "exception-unknown", "request-conflict", "two-people-required")
@blueprint.arguments(AcknowledgementRequestSchema())
@blueprint.response(201, ExceptionSchema())
@blueprint.alt_response(200, schema=ExceptionSchema(), description="The same acknowledgement again.")
def post_acknowledgement(body: Mapping[str, Any], exception_id: str) -> tuple[Mapping[str, Any], int]:
    """Say what came of an exception, once; an open round stays listed until it ends. Of denied prizes two decide."""
    command = AcknowledgeException(signed(body), exception_id, opened_before())
    done = act(lambda session: acknowledge_exception(session, command))
    return _acknowledged(exception_id, done), 200 if done.is_replay else 201


def opened_before() -> datetime:
    """Return before which instant a round was opened that has been open for too long."""
    return now() - context().config.longest_open


def _acknowledged(exception_id: str, done: Acknowledged) -> dict[str, Any]:
    """The exception as it was acknowledged: of a round also when it has ended since."""
    acknowledgement = {
        "principal": done.act.principal,
        "reason": done.act.reason,
        "acknowledged_at": done.act.booked_at,
        "resolution": Resolution.ACKNOWLEDGED,
    }
    shown = done.act.before or {}
    return {
        "exception_id": exception_id,
        **shown,
        "count": done.count,
        "granted": None,  # Two people close a denied prize.
        "acknowledgement": acknowledgement,
    }
