"""Payments by hand: compensations to players of cancelled rounds, and casinos' statements that were settled."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from sqlalchemy import BigInteger, ColumnElement, Text, and_, func, insert, literal_column, select

from jackpot_service.database.models import CompensationRow, RoundRow, StatementSettlementRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.rounds import Round
from jackpot_service.records.rounds import RoundName


@dataclass(frozen=True, slots=True)
class Compensation:
    """The amount granted for a bet, its cost in the base currency, and the act and document that granted it."""

    act_seq: int
    bet_id: str
    player_id: str
    amount_minor: int
    currency: str
    cost: Decimal
    document: str


def compensations_of(session: Session, round_: Round) -> tuple[Compensation, ...]:
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
    rows = session.execute(
        select(*columns)
        .where(CompensationRow.jackpot_id == round_.jackpot_id, CompensationRow.round_key == round_.round_key)
        .order_by(CompensationRow.act_seq)
    )
    return tuple(Compensation(*row) for row in rows)


def granted_for(
    session: Session, jackpot_id: str, name: RoundName, bet_id: str, *, upto: int | None
) -> Mapping[str, int]:
    """Sum what was granted for a bet, less what was taken back, by currency; up to an act if one is stated."""
    is_of_bet = and_(
        CompensationRow.jackpot_id == jackpot_id,
        CompensationRow.round_key == RoundRow.round_key,
        CompensationRow.bet_id == bet_id,
    )
    is_round = func.by_index(RoundRow.table_id + _SPACE + RoundRow.round_id) == f"{name.table_id} {name.round_id}"
    amount_minor = func.sum(CompensationRow.amount_minor).cast(BigInteger)
    question = (
        select(CompensationRow.currency, amount_minor)
        .join(RoundRow, is_of_bet)
        .where(RoundRow.jackpot_id == jackpot_id, is_round)
        .group_by(CompensationRow.currency)
        .having(amount_minor != 0)
    )
    if upto is not None:
        question = question.where(CompensationRow.act_seq <= upto)
    return {currency: minor for currency, minor in session.execute(question)}  # noqa: C416  rows are no pairs to mypy


_SPACE: Final = literal_column("' '", Text)


def add_compensation(session: Session, round_: Round, compensation: Compensation) -> None:
    """Write a compensation."""
    session.execute(
        insert(CompensationRow).values(
            jackpot_id=round_.jackpot_id,
            round_key=round_.round_key,
            act_seq=compensation.act_seq,
            bet_id=compensation.bet_id,
            player_id=compensation.player_id,
            amount_minor=compensation.amount_minor,
            currency=compensation.currency,
            cost=compensation.cost,
            document=compensation.document,
        )
    )


@dataclass(frozen=True, slots=True)
class Account:
    """The account of a casino, in a currency, in a jackpot's book."""

    jackpot_id: str
    casino_id: str
    currency: str


@dataclass(frozen=True, slots=True)
class SettledStatement:
    """A settled statement; see `StatementSettlementRow`."""

    account: Account
    reference: str
    period_from: datetime
    period_to: datetime
    amount: Decimal
    positions: tuple[int, ...]
    balance_before: Decimal


def is_settled(session: Session, account: Account, reference: str) -> bool:
    """Whether a statement of this reference was settled before."""
    row = StatementSettlementRow
    return bool(session.scalar(select(func.count()).where(*_is_of(account), row.reference == reference)))


def last_statement(session: Session, account: Account) -> tuple[tuple[int, ...], Decimal] | None:
    """The positions and the balance before the statement that was settled last; None if none was."""
    row = StatementSettlementRow
    last = session.execute(
        select(row.positions, row.balance_before).where(*_is_of(account)).order_by(row.act_seq.desc()).limit(1)
    ).one_or_none()
    return None if last is None else (tuple(last[0]), last[1])


def last_act_on(session: Session, account: Account) -> int:
    """The act by which a statement of the account was settled last; 0 if none was."""
    return (
        session.scalar(select(func.coalesce(func.max(StatementSettlementRow.act_seq), 0)).where(*_is_of(account))) or 0
    )


def _is_of(account: Account) -> tuple[ColumnElement[bool], ...]:
    row = StatementSettlementRow
    return (
        row.jackpot_id == account.jackpot_id,
        row.casino_id == account.casino_id,
        row.currency == account.currency,
    )


def add_statement(session: Session, settled: SettledStatement, *, act_seq: int) -> None:
    """Write a settled statement."""
    session.execute(
        insert(StatementSettlementRow).values(
            jackpot_id=settled.account.jackpot_id,
            casino_id=settled.account.casino_id,
            currency=settled.account.currency,
            reference=settled.reference,
            period_from=settled.period_from,
            period_to=settled.period_to,
            amount=settled.amount,
            positions=list(settled.positions),
            balance_before=settled.balance_before,
            act_seq=act_seq,
        )
    )
