"""
Exceptions as they stand: refusals that were kept, and what is an exception by itself.

Rounds that are open too long and changes that one person approved alone are read where they stand, so that none can be
missed and none has to be written.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    CompoundSelect,
    Row,
    Select,
    Subquery,
    Text,
    and_,
    cast,
    func,
    literal_column,
    select,
    type_coerce,
    union_all,
)
from sqlalchemy.dialects.postgresql import JSONB

from jackpot_service.database.models import (
    NOT_ENDED,
    AcknowledgementRow,
    ActRow,
    ChangeDecisionRow,
    ChangeRequestRow,
    EntryRow,
    ExceptionCountRow,
    ExceptionRow,
    RoundRow,
    TableRow,
)
from jackpot_service.database.transactions import Session
from jackpot_service.domain.counting import counted
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.exceptions import (
    EMERGENCY_APPROVAL,
    PRIZE_DENIED,
    ROUND_OPEN,
    Acknowledgement,
    NotedException,
    Resolution,
    first_id_at,
)
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.rounds import first_key_at
from jackpot_service.records import manual_payments
from jackpot_service.records.exceptions import id_of
from jackpot_service.records.rounds import RoundName

RESOLUTIONS: Final[Mapping[str, Resolution]] = MappingProxyType(
    {
        EntryKind.EXCEPTION_ACKNOWLEDGED: Resolution.ACKNOWLEDGED,
        EntryKind.COMPENSATION: Resolution.COMPENSATED,
        EntryKind.COMPENSATION_DECLINED: Resolution.DECLINED,
    }
)
"""How each kind of act closes an exception."""


_HOUR: Final = timedelta(hours=1)

_ONE: Final = literal_column("1", BigInteger)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceptionFilters:
    """Which exceptions to list; None asks for all. The period's end is excluded."""

    kind: str | None = None
    jackpot_id: str | None = None
    casino_id: str | None = None
    table_id: str | None = None
    is_acknowledged: bool | None = None
    noticed_from: datetime | None = None
    noticed_to: datetime | None = None


def latest(
    session: Session, filters: ExceptionFilters, *, opened_before: datetime, limit: int, before: str | None = None
) -> Sequence[NotedException]:
    """List exceptions, the latest first: those before one; of rounds, those open since before an instant."""
    # Each kind is cut to the page by itself, so that none is read whole to be sorted with the others.
    parts = []
    for source in _sources(opened_before):
        part = _with_acknowledgements(source).where(*_conditions(source, filters))
        if before is not None:
            part = part.where(source.c.exception_id < before)
        parts.append(select(part.order_by(source.c.exception_id.desc()).limit(limit).subquery()))
    together = union_all(*parts).subquery()
    return _read(session, select(together).order_by(together.c.exception_id.desc()).limit(limit))


def between(session: Session, filters: ExceptionFilters, *, acts_end: int) -> Generator[NotedException, None, None]:
    """
    Read the refusals and emergency approvals of a period, in their order, a thousand at a time.

    Acts later than the one of seq `acts_end` do not count: neither approvals nor acknowledgements. A line that counts
    refusals of an hour stands for one of them while that hour is not over at the period's end: the rest may come.
    """
    together = _between(filters, acts_end).subquery()
    question = select(together).order_by(together.c.exception_id)
    with session.execute(question, execution_options={"stream_results": True, "yield_per": 1000}) as rows:
        for row in rows:
            yield _exception(row, _granted(session, row, upto=acts_end))


@dataclass(frozen=True, slots=True)
class KindCount:
    """How many exceptions of a kind there are, how many refusals they stand for, and how many were acknowledged."""

    kind: str
    exceptions: int
    refusals: int
    acknowledged: int


def counts_between(session: Session, filters: ExceptionFilters, *, acts_end: int) -> Sequence[KindCount]:
    """Count, by kind, what `between` reads, and what of it was acknowledged."""
    return _counted(session, _between(filters, acts_end))


def counts(session: Session, filters: ExceptionFilters, *, opened_before: datetime) -> Sequence[KindCount]:
    """Count what `latest` lists, by kind."""
    parts = [_with_acknowledgements(source).where(*_conditions(source, filters)) for source in _sources(opened_before)]
    return _counted(session, union_all(*parts))


def _counted(session: Session, listed: CompoundSelect[Any]) -> Sequence[KindCount]:
    together = listed.subquery()
    refusals = func.sum(together.c.refusals).cast(BigInteger)
    columns = (together.c.kind, func.count(), refusals, func.count(together.c.acknowledged_by))
    rows = session.execute(select(*columns).group_by(together.c.kind).order_by(together.c.kind))
    return [KindCount(*row) for row in rows]


def _between(filters: ExceptionFilters, acts_end: int) -> CompoundSelect[*tuple[Any, ...]]:
    """An approval belongs to the period in which it was booked, a refusal to that in which it was noticed."""
    approvals = _emergencies().where(ChangeDecisionRow.entry_seq <= acts_end)
    if filters.noticed_from is not None:
        entry = and_(EntryRow.jackpot_id == REFERENCE_BOOK, EntryRow.stripe_no == 0)
        entry = and_(entry, EntryRow.seq == ChangeDecisionRow.entry_seq)
        approvals = approvals.join(EntryRow, entry).where(EntryRow.booked_at >= filters.noticed_from)
    of_any_time = replace(filters, noticed_from=None, noticed_to=None)
    parts = []
    refusals = _refusals(over_by=filters.noticed_to)
    for source, conditions in ((refusals, filters), (approvals, of_any_time)):
        relation = source.subquery()
        parts.append(_with_acknowledgements(relation, upto=acts_end).where(*_conditions(relation, conditions)))
    return union_all(*parts)


def find(session: Session, exception_id: str, *, opened_before: datetime) -> NotedException | None:
    """The exception, or None if there is none of this id, or its round is not open any more."""
    parts = [
        _with_acknowledgements(source).where(source.c.exception_id == exception_id)
        for source in _sources(opened_before)
    ]
    return next(iter(_read(session, union_all(*parts))), None)


def _read(
    session: Session, question: Select[*tuple[Any, ...]] | CompoundSelect[*tuple[Any, ...]]
) -> list[NotedException]:
    return [_exception(row, _granted(session, row)) for row in session.execute(question).all()]


def _granted(session: Session, row: Row[*tuple[Any, ...]], *, upto: int | None = None) -> Mapping[str, int] | None:
    if row.kind != PRIZE_DENIED:
        return None
    name, bet_id = RoundName(row.table_id, row.round_id), row.detail["request"]["bet_id"]
    return manual_payments.granted_for(session, row.jackpot_id, name, bet_id, upto=upto)


def _sources(opened_before: datetime) -> tuple[Subquery, ...]:
    return tuple(source.subquery() for source in (_refusals(), _open_rounds(opened_before), _emergencies()))


def _with_acknowledgements(source: Subquery, *, upto: int | None = None) -> Select[*tuple[Any, ...]]:
    noted = AcknowledgementRow.exception_id == source.c.exception_id
    if upto is not None:
        noted = and_(noted, AcknowledgementRow.entry_seq <= upto)
    entry = and_(
        EntryRow.jackpot_id == REFERENCE_BOOK, EntryRow.stripe_no == 0, EntryRow.seq == AcknowledgementRow.entry_seq
    )
    return (
        select(
            source,
            EntryRow.principal.label("acknowledged_by"),
            ActRow.reason,
            EntryRow.kind.label("act_kind"),
            EntryRow.booked_at.label("acknowledged_at"),
        )
        .join(AcknowledgementRow, noted, isouter=True)
        .join(ActRow, ActRow.seq == AcknowledgementRow.entry_seq, isouter=True)
        .join(EntryRow, entry, isouter=True)
    )


def _refusals(*, over_by: datetime | None = None) -> Select[*tuple[Any, ...]]:
    """Select refusals; the counts of those hours alone that are over by an instant, if one is stated."""
    counted = ExceptionCountRow.exception_id == ExceptionRow.exception_id
    if over_by is not None:
        counted = and_(counted, func.date_trunc("hour", ExceptionRow.noticed_at, "UTC") <= over_by - _HOUR)
    question = select(
        ExceptionRow.exception_id,
        ExceptionRow.kind,
        ExceptionRow.noticed_at,
        func.nullif(ExceptionRow.jackpot_id, "").label("jackpot_id"),
        TableRow.casino_id,
        ExceptionRow.table_id,
        func.nullif(ExceptionRow.round_id, "").label("round_id"),
        ExceptionRow.principal,
        ExceptionRow.detail,
        func.coalesce(ExceptionCountRow.refusals, _ONE).label("refusals"),
    )
    return question.join(TableRow, TableRow.table_id == ExceptionRow.table_id).join(
        ExceptionCountRow, counted, isouter=True
    )


def _open_rounds(opened_before: datetime) -> Select[*tuple[Any, ...]]:
    facts = {"bet_count": RoundRow.bet_count, "total_stake_base": func.trim_scale(RoundRow.weight).cast(Text)}
    return select(
        id_of(RoundRow.opened_at, ROUND_OPEN, RoundRow.table_id, RoundRow.round_id).label("exception_id"),
        _text(f"'{ROUND_OPEN}'").label("kind"),
        RoundRow.opened_at.label("noticed_at"),
        RoundRow.jackpot_id,
        RoundRow.casino_id,
        RoundRow.table_id,
        RoundRow.round_id,
        _text("NULL").label("principal"),
        _document(facts).label("detail"),
        _ONE.label("refusals"),
    ).where(NOT_ENDED, RoundRow.round_key < first_key_at(opened_before))


def _emergencies() -> Select[*tuple[Any, ...]]:
    facts = {
        "request_id": ChangeRequestRow.request_id,
        "kind": ChangeRequestRow.kind,
        "subject": ChangeRequestRow.subject,
        "reason": ChangeRequestRow.reason,
    }
    return (
        select(
            id_of(ChangeDecisionRow.decided_at, EMERGENCY_APPROVAL, ChangeDecisionRow.request_id).label("exception_id"),
            _text(f"'{EMERGENCY_APPROVAL}'").label("kind"),
            ChangeDecisionRow.decided_at.label("noticed_at"),
            ChangeRequestRow.jackpot_id,
            _text("NULL").label("casino_id"),
            _text("NULL").label("table_id"),
            _text("NULL").label("round_id"),
            ChangeDecisionRow.checker.label("principal"),
            _document(facts).label("detail"),
            _ONE.label("refusals"),
        )
        .join(ChangeRequestRow, ChangeRequestRow.request_id == ChangeDecisionRow.request_id)
        .where(ChangeDecisionRow.is_emergency)
    )


def _text(sql: str) -> ColumnElement[str | None]:
    return cast(literal_column(sql), Text(collation="C"))


def _document(facts: Mapping[str, Any]) -> ColumnElement[Any]:
    named = chain.from_iterable((literal_column(f"'{name}'"), value) for name, value in facts.items())
    return type_coerce(func.jsonb_build_object(literal_column("'request'"), func.jsonb_build_object(*named)), JSONB)


def _conditions(source: Subquery, filters: ExceptionFilters) -> list[ColumnElement[bool]]:
    equal = {"kind": filters.kind, "jackpot_id": filters.jackpot_id, "casino_id": filters.casino_id}
    equal["table_id"] = filters.table_id
    conditions = [source.c[name] == value for name, value in equal.items() if value is not None]
    if filters.is_acknowledged is not None:
        unacknowledged = AcknowledgementRow.exception_id.is_(None)
        conditions.append(~unacknowledged if filters.is_acknowledged else unacknowledged)
    if filters.noticed_from is not None:
        conditions.append(source.c.exception_id >= first_id_at(filters.noticed_from))
    if filters.noticed_to is not None:
        conditions.append(source.c.exception_id < first_id_at(filters.noticed_to))
    return conditions


def _exception(row: Row[*tuple[Any, ...]], granted: Mapping[str, int] | None) -> NotedException:
    facts = row.detail["request"]
    acknowledgement = None
    if row.acknowledged_by is not None:
        resolution = RESOLUTIONS[row.act_kind]
        acknowledgement = Acknowledgement(row.acknowledged_by, row.reason, row.acknowledged_at, resolution)
    return NotedException(
        exception_id=row.exception_id,
        kind=row.kind,
        noticed_at=row.noticed_at,
        jackpot_id=row.jackpot_id,
        casino_id=row.casino_id,
        table_id=row.table_id,
        round_id=row.round_id,
        principal=row.principal,
        detail=row.detail.get("detail") or _sentence(row.kind, facts),
        facts=facts,
        count=row.refusals,
        granted=granted,
        acknowledgement=acknowledgement,
    )


def _sentence(kind: str, facts: Mapping[str, Any]) -> str:
    if kind == ROUND_OPEN:
        bets = counted(facts["bet_count"], "bet")
        return f"Still open; {bets}, worth {facts['total_stake_base']} in the base currency."
    return f"One person alone asked for and approved {facts['kind']} {facts['request_id']}: {facts['reason']}"
