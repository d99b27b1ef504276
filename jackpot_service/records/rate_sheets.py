"""The rate sheets: numbered per base currency, written once, each in force from its effective time."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Select, and_, func, insert, literal, select
from sqlalchemy.orm import aliased

from jackpot_service.database.models import RateRow, RateSheetRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.money import Rate, RateSheet


@dataclass(frozen=True, slots=True)
class SheetHead:
    """A rate sheet without its rates; `source` is the document that they were taken from, None for figures by hand."""

    base: str
    number: int
    effective_at: datetime
    source: Facts | None


def add(session: Session, sheet: RateSheet, *, effective_at: datetime, source: Facts | None, entry_seq: int) -> None:
    """Write a rate sheet with its rates."""
    session.execute(
        insert(RateSheetRow).values(
            base=sheet.base, number=sheet.number, effective_at=effective_at, source=source, entry_seq=entry_seq
        )
    )
    session.execute(
        insert(RateRow),
        [
            {
                "base": sheet.base,
                "number": sheet.number,
                "currency": rate.currency,
                "base_per_unit": rate.base_per_unit,
                "exponent": rate.exponent,
            }
            for rate in sheet.rates.values()
        ],
    )


def last_number(session: Session, base: str) -> int:
    """The highest number of a base currency's sheets, 0 if it has none."""
    return session.scalar(select(func.coalesce(func.max(RateSheetRow.number), 0)).where(RateSheetRow.base == base)) or 0


def exponents(session: Session, base: str) -> dict[str, int]:
    """How every currency that a base currency's sheets ever had is divided; a sheet never changes that."""
    question = select(RateRow.currency, RateRow.exponent).where(RateRow.base == base).distinct()
    rows = session.execute(question)
    return {row.currency: row.exponent for row in rows}


def entry_seq(session: Session, base: str, number: int) -> int:
    """Return the seq of the act that put a sheet in force. Raises: LookupError if there is no such sheet."""
    question = select(RateSheetRow.entry_seq).where(RateSheetRow.base == base, RateSheetRow.number == number)
    seq = session.scalar(question)
    if seq is None:
        message = f"{base} has no rate sheet {number}."
        raise LookupError(message)
    return seq


def find(session: Session, base: str, number: int) -> SheetHead | None:
    """The sheet of this number, or None if there is none."""
    return _only(session, _heads(base).where(RateSheetRow.number == number))


def in_force(session: Session, base: str, *, at: datetime, upto: int | None = None) -> SheetHead | None:
    """
    The sheet in force at an instant: latest effective time, then highest number; None if none was.

    `upto` leaves out what was published by later acts than the one of this seq.
    """
    order = (RateSheetRow.effective_at.desc(), RateSheetRow.number.desc())
    question = _heads(base).where(RateSheetRow.effective_at <= at)
    if upto is not None:
        question = question.where(RateSheetRow.entry_seq <= upto)
    return _only(session, question.order_by(*order).limit(1))


def has_rates(session: Session, head: SheetHead) -> bool:
    """Whether a sheet has the rate of a currency other than its base."""
    question = select(RateRow.currency).where(
        RateRow.base == head.base, RateRow.number == head.number, RateRow.currency != head.base
    )
    return session.scalar(question.limit(1)) is not None


def with_which_it_came(session: Session, base: str, currency: str, *, number: int) -> SheetHead | None:
    """
    Return the sheet with which the rate of a currency came that a sheet has; None if there is no such sheet.

    Of the sheets up to this number it is the first since which the rate has been the same. The base currency itself
    came with the first of all.
    """
    each, stated = aliased(RateSheetRow), aliased(RateRow)
    rate = and_(stated.base == each.base, stated.number == each.number, stated.currency == currency)
    of_sheet = select(RateRow.base_per_unit).where(
        RateRow.base == base, RateRow.number == number, RateRow.currency == currency
    )
    other = (
        select(func.coalesce(func.max(each.number), 0))
        .join(stated, rate, isouter=True)
        .where(each.base == base, each.number < number)
        .where(stated.base_per_unit.is_distinct_from(of_sheet.scalar_subquery()))
    )
    came = _heads(base).where(RateSheetRow.number > other.scalar_subquery(), RateSheetRow.number <= number)
    return _only(session, came.order_by(RateSheetRow.number).limit(1))


def next_after(session: Session, base: str, *, at: datetime, below: int) -> SheetHead | None:
    """The sheet that takes the place of the one in force at an instant, of those below a number; None if none does."""
    order = (RateSheetRow.effective_at, RateSheetRow.number.desc())
    later = _heads(base).where(RateSheetRow.effective_at > at, RateSheetRow.number < below)
    return _only(session, later.order_by(*order).limit(1))


def bases(session: Session) -> Sequence[str]:
    """List the base currencies that have a sheet."""
    return session.scalars(select(RateSheetRow.base).distinct().order_by(RateSheetRow.base)).all()


def latest(session: Session, base: str, *, limit: int, before: int | None) -> Sequence[SheetHead]:
    """List the sheets of a base currency, the highest number first: those below a number."""
    return [SheetHead(*row) for row in session.execute(_below(_heads(base), limit=limit, before=before))]


def history(
    session: Session, base: str, currency: str, *, limit: int, before: int | None
) -> Sequence[tuple[SheetHead, Rate | None]]:
    """List the sheets of a base currency as `latest`, each with the rate of one currency, None where it has none."""
    rate = and_(RateRow.base == RateSheetRow.base, RateRow.number == RateSheetRow.number, RateRow.currency == currency)
    question = _heads(base).add_columns(RateRow.base_per_unit, RateRow.exponent).join(RateRow, rate, isouter=True)
    return [
        (SheetHead(*head), None if base_per_unit is None else Rate(currency, base_per_unit, exponent))
        for *head, base_per_unit, exponent in session.execute(_below(question, limit=limit, before=before))
    ]


def histories(
    session: Session, base: str, currencies: Collection[str], *, limit: int, before: int | None
) -> Sequence[tuple[SheetHead, Sequence[Rate]]]:
    """List the sheets of a base currency as `latest`, each with its rates of some currencies, or of all for none."""
    heads = latest(session, base, limit=limit, before=before)
    numbers = [head.number for head in heads]
    columns = (RateRow.number, RateRow.currency, RateRow.base_per_unit, RateRow.exponent)
    question = select(*columns).where(RateRow.base == base, RateRow.number.in_(numbers)).order_by(RateRow.currency)
    if currencies:
        question = question.where(RateRow.currency.in_(sorted(currencies)))
    rates: defaultdict[int, list[Rate]] = defaultdict(list)
    for number, currency, base_per_unit, exponent in session.execute(question):
        rates[number].append(Rate(currency, base_per_unit, exponent))
    return [(head, rates[head.number]) for head in heads]


def _heads(base: str) -> Select[*tuple[Any, ...]]:
    columns = (RateSheetRow.base, RateSheetRow.number, RateSheetRow.effective_at, RateSheetRow.source)
    return select(*columns).where(RateSheetRow.base == base)


def _below(question: Select[*tuple[Any, ...]], *, limit: int, before: int | None) -> Select[*tuple[Any, ...]]:
    if before is not None:
        question = question.where(RateSheetRow.number < literal(before, BigInteger))  # A cursor may be any number.
    return question.order_by(RateSheetRow.number.desc()).limit(limit)


def _only(session: Session, question: Select[*tuple[Any, ...]]) -> SheetHead | None:
    row = session.execute(question).one_or_none()
    return None if row is None else SheetHead(*row)
