"""Keeping the refusals that finance must see: late bets, count mismatches, stakes out of range, conflicts."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import structlog

from jackpot_service.api.door import act, now, principal
from jackpot_service.db import Session
from jackpot_service.domain.bets import StakeOutOfRange
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.rounds import RoundCancelled, RoundSettled
from jackpot_service.records import exceptions, pinned
from jackpot_service.records.exceptions import ExceptionRecord
from jackpot_service.usecases.accept_bets import BetConflict
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

LATE_BET = "late-bet"
"""The kind of a bet for a round that is over; other late calls keep the refusal's own code."""


def act_or_keep(
    use_case: Callable[[Session], T], *, call: str, table_id: str, round_id: str, request: Mapping[str, Any]
) -> T:
    """
    Run a use case; if it is refused in a way that finance must see, keep that in a transaction of its own.

    It is written after the rollback, and before the caller is answered: if it cannot be, the answer is the database's
    failure, and the caller's retry brings the refusal again.
    """
    try:
        return act(use_case)
    except TO_KEEP as refusal:
        kind = LATE_BET if call == "bets" and isinstance(refusal, RoundSettled | RoundCancelled) else refusal.code
        asked = {"call": call, **request}
        act(partial(_keep, kind=kind, detail=refusal.detail, table_id=table_id, round_id=round_id, request=asked))
        log.warning("refused", kind=kind, table_id=table_id, round_id=round_id, detail=refusal.detail)
        raise


def _keep(
    session: Session, *, kind: str, detail: str, table_id: str, round_id: str, request: Mapping[str, Any]
) -> None:
    jackpot_id = pinned.table(session, table_id).jackpot_id or ""
    record = ExceptionRecord(
        kind=kind,
        jackpot_id=jackpot_id,
        table_id=table_id,
        round_id=round_id,
        principal=principal().name,
        noticed_at=now(),
        request=request,
        detail=detail,
    )
    exceptions.keep(session, record)
