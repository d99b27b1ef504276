"""Rate sheets: the one in force, any other, and how a currency's rate came to be what it is."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeVar

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain.changes import Change
from jackpot_service.domain.currencies import CURRENCIES
from jackpot_service.domain.errors import NotFound
from jackpot_service.domain.money import ONE, NoRate, Rate, RateSheet
from jackpot_service.domain.principals import Principal
from jackpot_service.records import acts, changes, immutable, rate_sheets, references
from jackpot_service.records.rate_sheets import SheetHead

T = TypeVar("T")

# Asked of each jackpot by itself. An index holds just the rounds that have not ended. DISTINCT keeps the planner from a
# join, which could read all bets, so that the bets are found by each round's own key.
_IN_USE: Final = """
SELECT o.rate_sheet, played.currency, count(*)
FROM rounds o
CROSS JOIN LATERAL (
    SELECT DISTINCT b.currency
    FROM bets b
    WHERE b.jackpot_id = %(jackpot_id)s::text AND b.round_key = o.round_key
) AS played
WHERE o.jackpot_id = %(jackpot_id)s::text AND o.state IN ('open', 'closed')
  AND (CAST(%(casino_id)s AS text) IS NULL OR o.casino_id = %(casino_id)s)
GROUP BY o.rate_sheet, played.currency
"""


class UnknownSheet(NotFound, code="rate-sheet-unknown", title="Unknown rate sheet"):
    """No sheet of this number."""


@dataclass(frozen=True, slots=True)
class SheetShown:
    """A rate sheet: since when, or from when, it is in force, where its rates come from, and the rates."""

    head: SheetHead
    sheet: RateSheet


@dataclass(frozen=True, slots=True)
class RatesThen:
    """The rates of some currencies in a sheet; a currency that it does not have is left out."""

    head: SheetHead
    rates: tuple[Rate, ...]


@dataclass(frozen=True, slots=True)
class RateInUse:
    """How many rounds that have not ended were opened by a sheet and have a bet in a currency."""

    currency: str
    rate_sheet: int
    open_rounds: int


@dataclass(frozen=True, slots=True)
class Publication:
    """
    How a sheet came: who put it in force, why and when, and the change request that was approved for it.

    `change` is None for the first sheet of a base currency, which one operator publishes.
    """

    principal: str
    reason: str | None
    booked_at: datetime
    change: Change | None


@dataclass(frozen=True, slots=True)
class RateThen:
    """The rate of a currency in a sheet; None where the sheet has none."""

    head: SheetHead
    rate: Rate | None


def sheet_in_force(session: Session, base: str, *, at: datetime) -> SheetShown:
    """
    Read the sheet of a base currency in force at an instant: latest effective time, then highest number.

    Raises: NoRate if there is none.
    """
    head = rate_sheets.in_force(session, base, at=at)
    if head is None:
        message = f"No rate sheet of {base} is in force."
        raise NoRate(message, currency=base)
    return SheetShown(head, immutable.sheet(session, base, head.number))


def sheet_of_number(session: Session, base: str, number: int) -> SheetShown:
    """Read a sheet by its number, whether it is in force or not. Raises: UnknownSheet."""
    head = rate_sheets.find(session, base, number)
    if head is None:
        message = f"{base} has no rate sheet {number}."
        raise UnknownSheet(message, base=base, number=number)
    return SheetShown(head, immutable.sheet(session, base, number))


def sheet_to_show(session: Session, base: str, number: int | None) -> RateSheet:
    """A sheet by its number; for None, number 0 with the base currency alone, in which amounts can be shown."""
    if number is None:
        return RateSheet(base, 0, {base: Rate(base, ONE, CURRENCIES[base].exponent)})
    return immutable.sheet(session, base, number)


def latest_sheets(session: Session, base: str, *, limit: int, before: int | None) -> Sequence[SheetHead]:
    """List the sheets of a base currency, the latest first: those below a number."""
    return rate_sheets.latest(session, base, limit=limit, before=before)


def sheets_in_force(session: Session, *, at: datetime) -> Sequence[SheetHead]:
    """List the sheets in force at an instant, by base currency; a base currency without one is left out."""
    heads = (rate_sheets.in_force(session, base, at=at) for base in rate_sheets.bases(session))
    return [head for head in heads if head is not None]


def sheet_before(session: Session, head: SheetHead) -> SheetShown | None:
    """Read the sheet that another took the place of; None if it was the first."""
    just_before = head.effective_at - timedelta(microseconds=1)
    before = rate_sheets.in_force(session, head.base, at=just_before)
    return None if before is None else SheetShown(before, immutable.sheet(session, head.base, before.number))


def publication(session: Session, head: SheetHead) -> Publication:
    """Return who put a sheet in force. Raises: LookupError for a sheet that is not in the books."""
    act = acts.by_seq(session, rate_sheets.entry_seq(session, head.base, head.number))
    change = None if act.decides is None else changes.find(session, act.decides)
    return Publication(act.principal, act.reason, act.booked_at, change)


def histories(
    session: Session, base: str, currencies: Collection[str], *, limit: int, before: int | None
) -> Sequence[RatesThen]:
    """List the sheets of a base currency as `latest_sheets`, each with its rates of some currencies, or of all."""
    heads = rate_sheets.histories(session, base, currencies, limit=limit, before=before)
    return [RatesThen(head, tuple(rates)) for head, rates in heads]


def rates_in_use(session: Session, principal: Principal, base: str) -> Sequence[RateInUse]:
    """
    Count the rounds that have not ended by the sheet of their opening and by the currencies of their bets, void or not.

    A round with bets in two currencies counts for both. A casino's people see rounds of their casino.
    """
    jackpot_ids = references.jackpot_ids(session, casino_id=principal.casino_id)
    bases = references.bases_of(session, jackpot_ids)
    with pipelined(session) as pipe:
        cursors = [
            pipe.send(_IN_USE, {"jackpot_id": jackpot_id, "casino_id": principal.casino_id})
            for jackpot_id in jackpot_ids
            if bases[jackpot_id] == base
        ]
    counts: Counter[tuple[str, int]] = Counter()
    for rate_sheet, currency, open_rounds in (row for cursor in cursors for row in cursor):
        counts[currency, rate_sheet] += open_rounds
    return [RateInUse(*rate, open_rounds) for rate, open_rounds in sorted(counts.items())]


def history(session: Session, base: str, currency: str, *, limit: int, before: int | None) -> Sequence[RateThen]:
    """List the sheets of a base currency as `latest_sheets`, each with its rate of one currency."""
    heads = rate_sheets.history(session, base, currency, limit=limit, before=before)
    return [RateThen(head, rate) for head, rate in heads]
