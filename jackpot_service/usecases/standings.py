"""What every call about a round answers with: the round's cycle and its jackpot's meter, as they are now."""

from dataclasses import dataclass
from typing import Any

import psycopg
from sqlalchemy.orm import Session

from jackpot_service.db import Pipeline
from jackpot_service.domain.meters import Meter
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.ledger import cycles, stripes
from jackpot_service.records import pinned, verdicts


@dataclass(frozen=True, slots=True)
class RoundView:
    """A round, and the cycle it settled or was cancelled in; while it is open, the running one."""

    round: Round
    cycle: int


@dataclass(frozen=True, slots=True)
class MeterQuestion:
    """The meter's question, sent; `meter_of` reads its answer."""

    jackpot_id: str
    books: psycopg.Cursor[Any]
    cycle: psycopg.Cursor[Any]


def send_meter(pipe: Pipeline, jackpot_id: str) -> MeterQuestion:
    """
    Send the question for a jackpot's meter.

    Asked while a stripe is held (after posting), cycle and pools belong together, since a hit holds all stripes.
    """
    return MeterQuestion(jackpot_id, stripes.read(pipe, jackpot_id), cycles.read_running(pipe, jackpot_id))


def meter_of(session: Session, question: MeterQuestion) -> Meter:
    """Read the answer, once the pipeline has ended."""
    books = stripes.books_of(question.books)
    cycle = cycles.running_of(question.cycle)
    rules = pinned.rules(session, question.jackpot_id, cycle.rules_version)
    return Meter(
        jackpot_id=question.jackpot_id,
        cycle=cycle.cycle,
        base=rules.base,
        exact=books.pools.on_offer(rules.limit),
        overflow=books.pools.overflow(rules.limit),
        as_of=books.booked_at,
        positions=books.positions,
    )


def closing_cycle(pipe: Pipeline, round_: Round) -> psycopg.Cursor[Any] | None:
    """Send the question in which cycle a round ended; None for an open one."""
    return None if round_.state is RoundState.OPEN else verdicts.send_closing_cycle(pipe, round_)


def view(round_: Round, *, running: int, closing: psycopg.Cursor[Any] | None) -> RoundView:
    """Put a round together with its cycle."""
    if closing is None:
        return RoundView(round_, running)
    return RoundView(round_, verdicts.closing_cycle_of(closing))
