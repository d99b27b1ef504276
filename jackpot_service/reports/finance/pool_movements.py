"""Pool movements: what each pool opened with, what each movement put into it or took out, and what it closed with."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import METER_HOUSE, METER_PLAYERS, PRIZE_FUND, RESERVE, Account
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import EXACT, total
from jackpot_service.domain.pools import Pools
from jackpot_service.reports.documents import Column, Row, Section, Sort, Value
from jackpot_service.reports.finance import cycles, figures, pool_sums
from jackpot_service.reports.finance.figures import Key, Moved
from jackpot_service.reports.finance.frame import BadQuestion, By, Report, Scope, Stand, Takes
from jackpot_service.reports.finance.pool_sums import Movements

POOLS: Final[Mapping[str, tuple[Account, ...]]] = {
    "meter players": (METER_PLAYERS,),
    "meter house": (METER_HOUSE,),
    "meter": (METER_PLAYERS, METER_HOUSE),
    "reserve": (RESERVE,),
    "prize fund": (PRIZE_FUND,),
}
"""What a row is about. Of the meter there are three rows: its two parts, then both together."""

_KEYS: Final = {
    By.DAY: Column("day", "Day", Sort.DAY),
    By.MONTH: Column("month", "Month"),
    By.CYCLE: Column("cycle", "Cycle", Sort.COUNT),
}

_FIGURES = (
    Column("pool", "Pool"),
    Column("currency", "Currency"),
    Column("opening", "Opening", Sort.AMOUNT, currency_in="currency"),
    *(
        Column(one.value, one.value.replace("_", " ").capitalize(), Sort.AMOUNT, currency_in="currency")
        for one in Movement
    ),
    Column("closing", "Closing", Sort.AMOUNT, currency_in="currency"),
)


@dataclass(frozen=True, slots=True)
class _Period:
    """A day, a month or a cycle, and what moved in it."""

    key: tuple[Value, ...]
    moved: Movements


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """Show the movements of each pool by day, month or cycle, and over the whole period."""
    by = _by(scope)
    rows: list[Row] = []
    totals: list[Row] = []
    for stand in scope.stands:
        opening = pool_sums.before(session, stand)
        rows += _rows(stand, opening, _periods(session, stand, by))
        totals += _rows(stand, opening, [_Period((), pool_sums.movements(session, stand))])
    jackpot = Column("jackpot_id", "Jackpot")
    return (
        Section("movements", f"Movements by {by}", (jackpot, _KEYS[by], *_FIGURES), rows),
        Section("totals", "Movements of the whole period", (jackpot, *_FIGURES), totals),
    )


def _by(scope: Scope) -> By:
    """Raises: BadQuestion."""
    if len(scope.asked.by) > 1:
        message = f"The report {REPORT.name} sums by one of {', '.join(REPORT.by)} at a time."
        raise BadQuestion(message)
    return next(iter(scope.asked.by), By.DAY)


def _periods(session: Session, stand: Stand, by: By) -> Iterator[_Period]:
    """The days and months in which anything moved, or the cycles in which anything was booked, in their order."""
    key = Key.CYCLE if by is By.CYCLE else Key.DAY
    booked = cycles.with_entries(session, stand) if by is By.CYCLE else ()
    together: dict[Value, list[Moved]] = {cycle: [] for cycle in booked}
    for line in figures.movements(session, stand, by=(key,)):
        together.setdefault(_named(line.key[key], by), []).append(line)
    for name, lines in together.items():
        yield _Period((name,), pool_sums.summed(stand, lines))


def _named(key: Value, by: By) -> Value:
    return f"{key:%Y-%m}" if by is By.MONTH else key


def _rows(stand: Stand, opening: Pools, periods: Iterable[_Period]) -> Iterator[Row]:
    """Each pool of each period opens with what it closed with before."""
    held = {name: pool_sums.held_in(opening, *pool) for name, pool in POOLS.items()}
    for period in periods:
        for name, pool in POOLS.items():
            amounts = [pool_sums.put_into(period.moved, *pool, by=movement) for movement in Movement]
            before, held[name] = held[name], EXACT.add(held[name], total(amounts))
            yield (stand.jackpot_id, *period.key, name, stand.base, before, *amounts, held[name])


REPORT = Report(
    "pool-movements",
    "Pool movements",
    make,
    frozenset({Takes.BY}),
    (By.DAY, By.MONTH, By.CYCLE),
    sections=("movements", "totals"),
)
