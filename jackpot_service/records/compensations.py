"""What the house gave to players of cancelled rounds, or (negative) took back of it."""

from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import insert, select

from jackpot_service.database.transactions import Session
from jackpot_service.domain.rounds import Round
from jackpot_service.records.schema import CompensationRow


@dataclass(frozen=True, slots=True)
class Compensation:
    """What was given for a bet, what it cost in the base currency, by which act and document."""

    act_seq: int
    bet_id: str
    player_id: str
    amount_minor: int
    currency: str
    cost: Decimal
    document: str


def of_round(session: Session, round_: Round) -> tuple[Compensation, ...]:
    """The compensations of a round, in the order in which they were given."""
    columns = (
        CompensationRow.act_seq,
        CompensationRow.bet_id,
        CompensationRow.player_id,
        CompensationRow.amount_minor,
        CompensationRow.currency,
        CompensationRow.cost,
        CompensationRow.document,
    )
    found = session.execute(
        select(*columns)
        .where(CompensationRow.jackpot_id == round_.jackpot_id, CompensationRow.round_key == round_.round_key)
        .order_by(CompensationRow.act_seq)
    )
    return tuple(Compensation(*row) for row in found)


def add(session: Session, round_: Round, given: Compensation) -> None:
    """Write a compensation."""
    session.execute(
        insert(CompensationRow).values(
            jackpot_id=round_.jackpot_id,
            round_key=round_.round_key,
            act_seq=given.act_seq,
            bet_id=given.bet_id,
            player_id=given.player_id,
            amount_minor=given.amount_minor,
            currency=given.currency,
            cost=given.cost,
            document=given.document,
        )
    )
