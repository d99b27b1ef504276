"""Slips of awards: each casino numbers its own without a gap, and every print of one is kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, insert, select

from jackpot_service.database.models import SlipPrintRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.held_awards import AwardKey
from jackpot_service.records import acts
from jackpot_service.records.awards import AwardRecord, made


@dataclass(frozen=True, slots=True)
class SlipPrint:
    """A print of a slip: its number at its casino, and which copy it is, who printed it and when."""

    number: int
    copy: int
    printed_by: str
    printed_at: datetime


def last_print(session: Session, record: AwardRecord, *, copy: int | None = None) -> SlipPrint | None:
    """Find the last print of an award's slip, or that of a copy; None if it was never printed."""
    bet_id, tier, correction = made(record.award).key
    row = session.execute(
        select(SlipPrintRow.number, SlipPrintRow.copy, SlipPrintRow.entry_seq)
        .where(
            SlipPrintRow.jackpot_id == record.jackpot_id,
            SlipPrintRow.round_key == record.round_key,
            SlipPrintRow.bet_id == bet_id,
            SlipPrintRow.tier == tier,
            SlipPrintRow.correction == correction,
            *(() if copy is None else (SlipPrintRow.copy == copy,)),
        )
        .order_by(SlipPrintRow.copy.desc())
        .limit(1)
    ).one_or_none()
    if row is None:
        return None
    act = acts.by_seq(session, row.entry_seq)
    return SlipPrint(row.number, row.copy, act.principal, act.received_at)


def prints_of(session: Session, record: AwardRecord) -> Sequence[SlipPrint]:
    """List the prints of an award's slip, the first one first."""
    bet_id, tier, correction = made(record.award).key
    rows = session.execute(
        select(SlipPrintRow.number, SlipPrintRow.copy, SlipPrintRow.entry_seq)
        .where(
            SlipPrintRow.jackpot_id == record.jackpot_id,
            SlipPrintRow.round_key == record.round_key,
            SlipPrintRow.bet_id == bet_id,
            SlipPrintRow.tier == tier,
            SlipPrintRow.correction == correction,
        )
        .order_by(SlipPrintRow.copy)
    ).all()
    by_seq = {act.seq: act for act in acts.acts_of(session, [row.entry_seq for row in rows])}
    return [
        SlipPrint(row.number, row.copy, by_seq[row.entry_seq].principal, by_seq[row.entry_seq].received_at)
        for row in rows
    ]


def next_number(session: Session, casino_id: str) -> int:
    """Return the number of a casino's next slip, with the lock of all acts held: so none is given twice or left out."""
    last = session.scalar(select(func.max(SlipPrintRow.number)).where(SlipPrintRow.casino_id == casino_id))
    return (last or 0) + 1


def add(session: Session, record: AwardRecord, *, number: int, copy: int, entry_seq: int) -> None:
    """Write that an act printed a slip."""
    key: AwardKey = made(record.award).key
    bet_id, tier, correction = key
    session.execute(
        insert(SlipPrintRow).values(
            casino_id=record.casino_id,
            number=number,
            copy=copy,
            jackpot_id=record.jackpot_id,
            round_key=record.round_key,
            bet_id=bet_id,
            tier=tier,
            correction=correction,
            entry_seq=entry_seq,
        )
    )
