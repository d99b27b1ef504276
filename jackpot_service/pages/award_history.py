"""The history of an award: its steps, its payments and their reversals, in one order, each with its act."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from jackpot_service.domain.awards import AwardState, AwardStep
from jackpot_service.domain.payments import Payment
from jackpot_service.pages import chips
from jackpot_service.records.acts import RecordedAct
from jackpot_service.records.awards import AwardRecord

REVERSAL: Final = "payment reversed"

_GOOD: Final = frozenset({AwardStep.APPROVED, AwardStep.REINSTATED, AwardStep.RELEASED})


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """
    An event of an award: its word and colour, when it was, and its act; None where the settlement did it.

    `payment` is the one that was recorded, or reversed.
    """

    word: str
    kind: str
    at: datetime
    act: RecordedAct | None
    payment: Payment | None = None


def history_of(record: AwardRecord, acts: Mapping[int, RecordedAct]) -> list[HistoryLine]:
    """Return the lines of an award's history, the oldest first; `acts` are those of the award, by seq."""
    steps = [_step(step.step, step.taken_at, acts.get(step.act_seq or 0)) for step in record.steps]
    return sorted([*steps, *_payments(record, acts)], key=lambda line: 0 if line.act is None else line.act.seq)


def _step(step: AwardStep, at: datetime, act: RecordedAct | None) -> HistoryLine:
    return HistoryLine(step.value, chips.GOOD if step in _GOOD else chips.chip_kind(step.value), at, act)


def _payments(record: AwardRecord, acts: Mapping[int, RecordedAct]) -> Iterator[HistoryLine]:
    """The payments and reversals, with what was paid after each: a payment of the rest says that all is paid."""
    moves = [(acts[paid.act_seq], paid.payment, 1) for paid in record.payments]
    moves += [(acts[paid.reversed_by], paid.payment, -1) for paid in record.payments if paid.reversed_by is not None]
    paid_minor = 0
    for act, payment, sign in sorted(moves, key=lambda move: move[0].seq):
        paid_minor += sign * payment.amount_minor
        state = AwardState.PAID if paid_minor == record.award.amount_minor else AwardState.PART_PAID
        word = state.value if sign > 0 else REVERSAL
        yield HistoryLine(word, chips.chip_kind(word), act.booked_at, act, payment)
