"""Keeping each denied prize as an exception, in the transaction that ends its round."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.bets import BookedBet
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
class RoundEnd:
    """A round before its end, all its bets, the hands that were stated, and who stated them at `now`."""

    round: Round
    booked: tuple[BookedBet, ...]
    hands: Sequence[Hand]
    principal: Principal
    now: datetime
    is_cancelled: bool


def keep(
    session: Session, end: RoundEnd, *, terms: Terms, pools: Pools, cycle: Cycle, places: dict[int, tuple[int, int]]
) -> None:
    """
    Keep an exception for each bet that would have won and does not count.

    `pools` are as they were read before the round's end. The amount is what the meter made then: other tables may have
    moved it since, unless the round itself pays from the meter. `places` are where the round's entries stand.
    """
    ended = EndedRound.of(end.booked, end.hands, closed_by=_closed_by(session, end), is_cancelled=end.is_cancelled)
    denied = ended.denied(terms.rules)
    if denied:
        won_since = round_terms.won_since(end.booked, cycle, places)
        prizes = ended.prizes(denied, terms=terms, pools=pools, won_since=won_since)
        exceptions.keep_of_round(session, [_record(end, prize) for prize in prizes])


def _closed_by(session: Session, end: RoundEnd) -> int | None:
    if end.round.state is not RoundState.CLOSED or not any(one.is_void for one in end.booked):
        return None
    with pipelined(session) as pipe:
        cursor = closings.send_find(pipe, end.round)
    return closings.step_of(cursor)


def _record(end: RoundEnd, prize: DeniedPrize) -> ExceptionRecord:
    bet, tier, denial = prize.denied.bet, prize.denied.tier, prize.denied.denial
    request = {
        "bet_id": bet.bet_id,
        "player_id": bet.player_id,
        "hand": bet.hand,
        "cards": sorted(prize.denied.hand.cards),
        "denial": str(denial),
        "tier": str(tier),
        "amount_minor": prize.amount_minor,
        "currency": bet.currency,
    }
    return ExceptionRecord(
        kind=PRIZE_DENIED,
        table_id=end.round.table_id,
        round_id=end.round.round_id,
        principal=end.principal.name,
        noticed_at=end.now,
        content=[bet.bet_id, str(tier)],
        request=request,
        detail=f"Bet {bet.bet_id} would have won {tier}: in all {prize.amount_minor} minor units of {bet.currency}.",
    )
