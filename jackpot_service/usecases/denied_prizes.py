"""Keeping each denied prize as an exception, in the transaction that ends its round."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.bets import BookedBet
from jackpot_service.domain.currencies import written
from jackpot_service.domain.denied_prizes import DeniedPrize, EndedRound
from jackpot_service.domain.exceptions import PRIZE_DENIED
from jackpot_service.domain.outcomes import Hand
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.domain.settlement import Terms
from jackpot_service.ledger.cycles import Cycle
from jackpot_service.records import closings, exceptions
from jackpot_service.records.exceptions import ExceptionRecord
from jackpot_service.usecases import round_terms


@dataclass(frozen=True, slots=True)
class Ending:
    """A round before its end, all its bets, the hands that were stated, and who stated them at `now`."""

    round: Round
    booked: tuple[BookedBet, ...]
    hands: Sequence[Hand]
    principal: Principal
    now: datetime
    is_cancelled: bool


def keep(
    session: Session, ending: Ending, *, terms: Terms, pools: Pools, cycle: Cycle, places: dict[int, tuple[int, int]]
) -> None:
    """
    Keep an exception for each bet that would have won and does not count.

    `pools` are as they were read before the round ended. The amount is what the meter made then: other tables may have
    moved it since, unless the round itself pays from the meter. `places` are where the round's entries stand.

    It comes once the stripes are locked, and before the entry is posted: see `exceptions.keep`.
    """
    closed_by = _closed_by(session, ending)
    ended = EndedRound.of(ending.booked, ending.hands, closed_by=closed_by, is_cancelled=ending.is_cancelled)
    denied = ended.denied(terms.rules)
    if denied:
        won_since = round_terms.won_since(ending.booked, cycle, places)
        prizes = ended.prizes(denied, terms=terms, pools=pools, won_since=won_since)
        exceptions.keep(session, [_record(ending, prize) for prize in prizes])


def _closed_by(session: Session, ending: Ending) -> int | None:
    if ending.round.state is not RoundState.CLOSED or not any(booked_bet.is_void for booked_bet in ending.booked):
        return None
    with pipelined(session) as pipe:
        cursor = closings.send_find(pipe, ending.round)
    return closings.step_of(cursor)


def _record(ending: Ending, prize: DeniedPrize) -> ExceptionRecord:
    bet, tier = prize.denied.bet, prize.denied.tier
    return ExceptionRecord(
        kind=PRIZE_DENIED,
        table_id=ending.round.table_id,
        round_id=ending.round.round_id,
        principal=ending.principal.name,
        noticed_at=ending.now,
        content=[bet.bet_id, str(tier)],
        request={**prize.denied.facts, "amount_minor": prize.amount_minor},
        detail=f"Bet {bet.bet_id} would have won {tier.value.replace('_', ' ')}: "
        f"{written(prize.amount_minor, bet.currency)} in all.",
    )
