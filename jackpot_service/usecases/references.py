"""Booking an entry of the reference book: whoever adds a reference document posts it first, and notes its seq."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jackpot_service.db import Session, pipelined
from jackpot_service.domain.entries import REFERENCE_BOOK, Entry
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.principals import Principal
from jackpot_service.ledger import journal, stripes


class AlreadyExists(Conflict):
    """The id is taken, by something else than what was asked for."""

    code = "already-exists"
    title = "The id is taken"


@dataclass(frozen=True, slots=True)
class Act:
    """Who does an administrative act, and when."""

    principal: Principal
    now: datetime


def lock(session: Session) -> None:
    """Let the acts on reference documents come one by one, so that each sees those before it."""
    with pipelined(session) as pipe:
        stripes.lock_one(pipe, REFERENCE_BOOK, 0)


def post(session: Session, act: Act, kind: EntryKind, facts: Mapping[str, Any]) -> int:
    """Book an entry without postings in the reference book; returns its seq."""
    entry = Entry(book=REFERENCE_BOOK, kind=kind, principal=act.principal.name, received_at=act.now, facts=facts)
    with pipelined(session) as pipe:
        cursor = journal.post(pipe, entry, stripe_no=0)
    return next(int(seq) for (seq,) in cursor)
