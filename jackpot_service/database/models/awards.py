"""The tables of awards, of what became of them, and of what else a casino is owed or paid."""

from datetime import datetime
from decimal import Decimal

from sqlalchemy.orm import Mapped

from jackpot_service.database.models.base import Base, Count, primary_key


class AwardRow(Base):
    """
    One bet's prize, written once; what becomes of it are rows of `award_steps`.

    `correction` numbers the verdict that made it: 0 for the round's settlement.
    """

    __tablename__ = "awards"

    jackpot_id: Mapped[str] = primary_key()
    round_key: Mapped[int] = primary_key()
    bet_id: Mapped[str] = primary_key()
    tier: Mapped[str] = primary_key()
    award_id: Mapped[str]
    amount_minor: Mapped[int]
    currency: Mapped[str]
    cost: Mapped[Decimal]
    funded_by: Mapped[str]
    correction: Mapped[Count] = primary_key()


class AwardStepRow(Base):
    """
    One step of an award's life; its state is the latest.

    `act_seq` is the act that took it; the first step was taken by the settlement itself.
    """

    __tablename__ = "award_steps"

    jackpot_id: Mapped[str] = primary_key()
    round_key: Mapped[int] = primary_key()
    bet_id: Mapped[str] = primary_key()
    tier: Mapped[str] = primary_key()
    step: Mapped[str] = primary_key()
    taken_at: Mapped[datetime]
    act_seq: Mapped[int | None]
    correction: Mapped[Count] = primary_key()


class OpenAwardRow(Base):
    """
    An award of which something is still to be paid or decided, as the database keeps it by steps and payments.

    `state` is the one that its last step led to, taken at `since`: held, payable or stopped.
    """

    __tablename__ = "open_awards"

    jackpot_id: Mapped[str] = primary_key()
    round_key: Mapped[int] = primary_key()
    bet_id: Mapped[str] = primary_key()
    tier: Mapped[str] = primary_key()
    correction: Mapped[Count] = primary_key()
    award_id: Mapped[str]
    casino_id: Mapped[str]
    currency: Mapped[str]
    state: Mapped[str]
    since: Mapped[datetime]
    amount_minor: Mapped[int]
    paid_minor: Mapped[int]


class PaymentRow(Base):
    """
    A casino's statement, by the act of this seq, that it paid an award or a part of it; all of it is in the act.

    One below zero reverses the payment of the act that it names. `cost` is the part's in the base currency.
    `withheld_minor`, of the same sign, is how much of it the casino kept for its authority.
    """

    __tablename__ = "payments"

    jackpot_id: Mapped[str] = primary_key()
    round_key: Mapped[int] = primary_key()
    act_seq: Mapped[int] = primary_key()
    bet_id: Mapped[str]
    tier: Mapped[str]
    correction: Mapped[Count]
    amount_minor: Mapped[int]
    withheld_minor: Mapped[int]
    cost: Mapped[Decimal]
    reference: Mapped[str]
    reverses: Mapped[int | None]


class SlipPrintRow(Base):
    """A print of an award's slip, by the act of this seq; the casino numbers its slips from 1, without a gap."""

    __tablename__ = "slip_prints"

    casino_id: Mapped[str] = primary_key()
    number: Mapped[Count] = primary_key()
    copy: Mapped[Count] = primary_key()
    jackpot_id: Mapped[str]
    round_key: Mapped[int]
    bet_id: Mapped[str]
    tier: Mapped[str]
    correction: Mapped[Count]
    entry_seq: Mapped[int]


class CompensationRow(Base):
    """
    An amount that the house granted, by the act of this seq, to a bettor who would have won.

    The round was cancelled, or it was settled and the bet's prize was denied.
    """

    __tablename__ = "compensations"

    jackpot_id: Mapped[str] = primary_key()
    round_key: Mapped[int] = primary_key()
    act_seq: Mapped[int] = primary_key()
    bet_id: Mapped[str]
    player_id: Mapped[str]
    amount_minor: Mapped[int]
    currency: Mapped[str]
    cost: Mapped[Decimal]
    document: Mapped[str]


class StatementSettlementRow(Base):
    """
    A casino's statement settled, by the act of this seq: what it paid (negative: was paid), for which period.

    `balance_before` is what the casino was owed (negative: owed) at `positions`, every stripe's seq.
    """

    __tablename__ = "statement_settlements"

    jackpot_id: Mapped[str] = primary_key()
    casino_id: Mapped[str] = primary_key()
    currency: Mapped[str] = primary_key()
    reference: Mapped[str] = primary_key()
    period_from: Mapped[datetime]
    period_to: Mapped[datetime]
    amount: Mapped[Decimal]
    positions: Mapped[list[int]]
    balance_before: Mapped[Decimal]
    act_seq: Mapped[int]
