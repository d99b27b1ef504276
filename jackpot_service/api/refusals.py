"""Keeping the refusals that finance must see: late bets, count mismatches, stakes out of range, conflicts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import sqlalchemy
import structlog

from jackpot_service.api.request_context import context, now, principal
from jackpot_service.database.transactions import transact
from jackpot_service.domain.acceptance import StakeOutOfRange
from jackpot_service.domain.batches import BetConflict
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.exceptions import EMERGENCY_APPROVAL, ROUND_OPEN
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rounds import RoundCancelled, RoundSettled
from jackpot_service.records import exceptions
from jackpot_service.records.exceptions import ExceptionRecord
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases.cancel_round import CancellationConflict
from jackpot_service.usecases.settle_round import BetCountMismatch, ResultConflict

log = structlog.get_logger()

T = TypeVar("T")

TO_KEEP: tuple[type[LedgerError], ...] = (
    StakeOutOfRange,
    BetConflict,
    BetCountMismatch,
    ResultConflict,
    CancellationConflict,
    RoundSettled,
    RoundCancelled,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a call asked: `content` is what makes a repeated call the same, `request` also has its remarks."""

    content: object
    request: Mapping[str, Any]


LATE_BET = "late-bet"
"""The kind of a bet for a round that is over; other late calls keep the refusal's own code."""

KINDS = sorted({LATE_BET, ROUND_OPEN, EMERGENCY_APPROVAL, *(refusal.code for refusal in TO_KEEP)})
"""Every kind of exception that there is."""


def kept_if_refused(run: Callable[[], T], *, call: str, table_id: str, round_id: str, asked: Callable[[], Asked]) -> T:
    """
    Run a call; if it is refused in a way that finance must see, keep that in a transaction of its own.

    It is written after the rollback, and before the caller is answered: if it cannot be, the answer is the database's
    failure, and the caller's retry brings the refusal again. `asked` tells what was asked, if that has to be kept.
    """
    try:
        return run()
    except TO_KEEP as refusal:
        name = RoundName(table_id, round_id)
        keep(context().engine, record_of(refusal, asked(), call=call, name=name, caller=principal(), at=now()))
        raise


def record_of(
    refusal: LedgerError, asked: Asked, *, call: str, name: RoundName, caller: Principal, at: datetime
) -> ExceptionRecord:
    """Write down a refusal that finance must see, and the call that it answers."""
    kind = LATE_BET if call == "bets" and isinstance(refusal, RoundSettled | RoundCancelled) else refusal.code
    return ExceptionRecord(
        kind=kind,
        table_id=name.table_id,
        round_id=name.round_id,
        principal=caller.name,
        noticed_at=at,
        content=[call, asked.content],
        request={"call": call, **asked.request},
        detail=refusal.detail,
    )


def keep(engine: sqlalchemy.Engine, record: ExceptionRecord) -> None:
    """Keep a refusal in a transaction of its own, and log it."""
    transact(engine, lambda session: exceptions.keep(session, record))
    log.warning("refused", kind=record.kind, table_id=record.table_id, round_id=record.round_id, detail=record.detail)
