"""
Awards of which something is still to be paid or decided: which they are, how many, and what they come to.

The database keeps their table by steps and payments. So these questions cost what there is to do, however many awards
were ever made.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    CTE,
    ColumnElement,
    DateTime,
    Select,
    and_,
    case,
    cast,
    false,
    func,
    literal,
    not_,
    or_,
    select,
    tuple_,
)
from sqlalchemy.dialects.postgresql import distinct_on

from jackpot_service.database.models import CasinoClaimsRow, OpenAwardRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.awards import TO_PAY, AwardState
from jackpot_service.domain.claims import HOURS_OF_DAY
from jackpot_service.domain.principals import Principal
from jackpot_service.records.award_filters import AwardFilters, Position

STATES: Final = frozenset(
    {AwardState.HELD, AwardState.PAYABLE, AwardState.STOPPED, AwardState.PART_PAID, AwardState.UNCLAIMED}
)
"""The states of an award of which something is still to be paid or decided."""

WAITING: Final = (AwardState.HELD.value, AwardState.STOPPED.value)
"""The states in which an award waits for people."""

MOST_COUNTED: Final = 999
"""No badge counts more."""

AGES: Final = ("0-30", "31-60", "61-90", "over 90")
"""Ages of awards since their last step, in whole days of 24 hours, as the report of payables has them."""

_BOUNDS: Final = (30, 60, 90)

_SECONDS_OF_DAY: Final = 86_400

_TABLE: Final = OpenAwardRow.__table__
_O: Final = _TABLE.c

_CLAIMS: Final = (
    select(CasinoClaimsRow.casino_id, CasinoClaimsRow.claim_days)
    .ext(distinct_on(CasinoClaimsRow.casino_id))
    .order_by(CasinoClaimsRow.casino_id, CasinoClaimsRow.version.desc())
    .subquery("claims")
)
"""The claim period in force at each casino that ever set one."""

_WITH_CLAIMS: Final = _TABLE.outerjoin(_CLAIMS, _CLAIMS.c.casino_id == _O.casino_id)


class OpenTotal(NamedTuple):
    """How many open awards there are in a state, a currency and an age, and what is unpaid of them, in minor units."""

    state: AwardState
    currency: str
    age: str
    awards: int
    unpaid_minor: int


def is_asked_for(filters: AwardFilters) -> bool:
    """Whether filters leave open awards alone."""
    return filters.is_open or filters.claimable_before is not None or filters.state in STATES


def keys(principal: Principal, filters: AwardFilters, *, now: datetime) -> CTE:
    """Find the keys of the open awards that filters leave."""
    names = ("jackpot_id", "round_key", "bet_id", "tier", "correction")
    question = _filtered(select(*(_O[name] for name in names)), principal, filters, now=now)
    return question.cte("open").prefix_with("MATERIALIZED")


def positions(
    session: Session, principal: Principal, filters: AwardFilters, *, now: datetime, limit: int
) -> Sequence[Position]:
    """List where the open awards that filters leave stand, in the order of the list, and so many of them at most."""
    return [Position(*row) for row in session.execute(_page(principal, filters, now=now, limit=limit))]


def _page(principal: Principal, filters: AwardFilters, *, now: datetime, limit: int) -> Select[Any]:
    places = (_O.round_key, _O.award_id)
    in_order = places if filters.is_oldest_first else tuple(place.desc() for place in places)
    return _filtered(select(*places), principal, filters, now=now).order_by(*in_order).limit(limit)


def totals(session: Session, principal: Principal, filters: AwardFilters, *, now: datetime) -> Sequence[OpenTotal]:
    """Sum up the open awards that filters leave, by state, currency and age; the oldest age comes last."""
    days = func.floor(func.extract("epoch", literal(now) - _O.since) / _SECONDS_OF_DAY)
    age = case(*((days <= bound, place) for place, bound in enumerate(_BOUNDS)), else_=len(_BOUNDS))
    state = _state_at(now)
    unpaid = func.sum(_O.amount_minor - _O.paid_minor)
    question = _filtered(select(state, _O.currency, age, func.count(), unpaid), principal, filters, now=now)
    rows = session.execute(question.group_by(state, _O.currency, age).order_by(state, _O.currency, age))
    return [
        OpenTotal(AwardState(word), currency, AGES[place], count, int(unpaid_minor))
        for word, currency, place, count, unpaid_minor in rows
    ]


def count_waiting(session: Session) -> int:
    """Count the awards that wait for people of the house: held or stopped; `MOST_COUNTED` at most."""
    return session.scalar(_waiting()) or 0


def count_unclaimed(session: Session, casino_id: str | None, *, now: datetime) -> int:
    """Count the unclaimed awards of a casino, or of all; `MOST_COUNTED` at most."""
    return session.scalar(_unclaimed(casino_id, now=now)) or 0


def _waiting() -> Select[Any]:
    one_of_them = or_(*(_O.state == literal(word, literal_execute=True) for word in WAITING))
    rows = select(literal(1)).select_from(_TABLE).where(one_of_them).limit(MOST_COUNTED).subquery()
    return select(func.count()).select_from(rows)


def _unclaimed(casino_id: str | None, *, now: datetime) -> Select[Any]:
    """Count those of casinos with a claim period, by the index of when their awards took their last steps."""
    hours = func.make_interval(0, 0, 0, 0, _CLAIMS.c.claim_days * HOURS_OF_DAY)
    rows = (
        select(literal(1).label("row"))
        .select_from(_TABLE.join(_CLAIMS, _CLAIMS.c.casino_id == _O.casino_id))
        .where(
            _CLAIMS.c.claim_days.is_not(None),
            _O.state == literal(AwardState.PAYABLE.value, literal_execute=True),
            _O.since < cast(now, DateTime(timezone=True)) - hours,
        )
        .limit(MOST_COUNTED)
    )
    if casino_id is not None:
        rows = rows.where(_O.casino_id == casino_id)
    return select(func.count()).select_from(rows.subquery("rows"))


def _filtered(question: Select[Any], principal: Principal, filters: AwardFilters, *, now: datetime) -> Select[Any]:
    question = question.select_from(_WITH_CLAIMS).where(*_state_conditions(filters, now=now))
    if filters.jackpot_id is not None:
        question = question.where(_O.jackpot_id == filters.jackpot_id)
    for casino_id in (filters.casino_id, principal.casino_id):
        if casino_id is not None:
            question = question.where(_O.casino_id == casino_id)
    if filters.after is not None:
        here, after = tuple_(_O.round_key, _O.award_id), tuple_(*filters.after)
        question = question.where(here > after if filters.is_oldest_first else here < after)
    return question


def _state_conditions(filters: AwardFilters, *, now: datetime) -> Sequence[ColumnElement[bool]]:
    state, before = filters.state, filters.claimable_before
    conditions = []
    if before is not None:
        conditions += [_O.state == AwardState.PAYABLE.value, _is_claim_period_over(before)]
    if state in {AwardState.HELD, AwardState.STOPPED}:
        # Written out, as the index of those that wait is.
        conditions += [or_(*(_O.state == literal(word, literal_execute=True) for word in WAITING)), _O.state == state]
    elif state is AwardState.UNCLAIMED:
        conditions += [_O.state == AwardState.PAYABLE.value, _is_claim_period_over(now)]
    elif state in TO_PAY:
        is_part = _O.paid_minor > 0
        conditions += [_O.state == AwardState.PAYABLE.value, not_(_is_claim_period_over(now))]
        conditions.append(is_part if state is AwardState.PART_PAID else not_(is_part))
    elif state is not None:
        conditions.append(false())
    return conditions


def _state_at(now: datetime) -> ColumnElement[str]:
    """Say in SQL what `AwardRecord.state_at` says."""
    is_to_be_paid = _O.state == AwardState.PAYABLE.value
    return case(
        (and_(is_to_be_paid, _is_claim_period_over(now)), literal(AwardState.UNCLAIMED.value)),
        (and_(is_to_be_paid, _O.paid_minor > 0), literal(AwardState.PART_PAID.value)),
        else_=_O.state,
    )


def _is_claim_period_over(at: datetime) -> ColumnElement[bool]:
    """Whether `is_unclaimed` says so of an award that is to be paid. Never null."""
    hours = func.make_interval(0, 0, 0, 0, _CLAIMS.c.claim_days * HOURS_OF_DAY)
    return func.coalesce(literal(at) > _O.since + hours, literal(value=False))
