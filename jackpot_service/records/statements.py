"""Casinos' statements that were settled."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sqlalchemy import ColumnElement, func, insert, select

from jackpot_service.database.transactions import Session
from jackpot_service.records.schema import StatementSettlementRow


@dataclass(frozen=True, slots=True)
class Account:
    """Whose account it is, in which currency, in which jackpot's book."""

    jackpot_id: str
    casino_id: str
    currency: str


@dataclass(frozen=True, slots=True)
class SettledStatement:
    """What was settled; see `schema.StatementSettlementRow`."""

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
    return bool(session.scalar(select(func.count()).where(*_of(account), row.reference == reference)))


def last(session: Session, account: Account) -> tuple[tuple[int, ...], Decimal] | None:
    """The positions and the balance before the statement that was settled last; None if none was."""
    row = StatementSettlementRow
    found = session.execute(
        select(row.positions, row.balance_before).where(*_of(account)).order_by(row.act_seq.desc()).limit(1)
    ).one_or_none()
    return None if found is None else (tuple(found[0]), found[1])


def last_act(session: Session, account: Account) -> int:
    """The act by which a statement of the account was settled last; 0 if none was."""
    return session.scalar(select(func.coalesce(func.max(StatementSettlementRow.act_seq), 0)).where(*_of(account))) or 0


def _of(account: Account) -> tuple[ColumnElement[bool], ...]:
    row = StatementSettlementRow
    return (
        row.jackpot_id == account.jackpot_id,
        row.casino_id == account.casino_id,
        row.currency == account.currency,
    )


def add(session: Session, settled: SettledStatement, *, act_seq: int) -> None:
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
