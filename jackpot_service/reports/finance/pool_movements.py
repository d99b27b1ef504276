"""Pool movements: the opening balance of each pool, each movement of it, and its closing balance."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import METER_HOUSE, METER_PLAYERS, PRIZE_FUND, RESERVE, Account, Pools
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import ZERO
from jackpot_service.reports.documents import Row, Section, Value
from jackpot_service.reports.finance import figures, pools
from jackpot_service.reports.finance.columns import amounts, columns, days, texts
from jackpot_service.reports.finance.figures import Key, Moved
from jackpot_service.reports.finance.frame import Report, Scope
from jackpot_service.reports.finance.period import BookPeriod
from jackpot_service.reports.finance.pools import Movements
from jackpot_service.reports.questions import BadQuestion, By, Parameter

POOLS: Final[Mapping[str, tuple[Account, ...]]] = {
    "meter players": (METER_PLAYERS,),
    "meter house": (METER_HOUSE,),
    "meter": (METER_PLAYERS, METER_HOUSE),
    "reserve": (RESERVE,),
    "prize fund": (PRIZE_FUND,),
}
"""The pool of each row. Of the meter there are three rows: its two parts, then both together."""

_KEYS: Final = {By.DAY: days(day="Day"), By.MONTH: texts(month="Month"), By.CYCLE: columns("cycle")}

_FIGURES = columns(
    texts(pool="Pool"),
    "currency",
    amounts(opening="Opening"),
    amounts(**{movement.value: movement.value.replace("_", " ").capitalize() for movement in Movement}),
    amounts(closing="Closing"),
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
    for book in scope.books:
        opening, periods = pools.opening_pools(session, book), list(_periods(session, book, by))
        rows += _rows(book, opening, periods)
        totals += _rows(book, opening, [_Period((), pools.together(period.moved for period in periods))])
    return (
        Section("movements", f"Movements by {by}", columns("jackpot_id", _KEYS[by], _FIGURES), rows),
        Section("totals", "Movements of the whole period", columns("jackpot_id", _FIGURES), totals),
    )


def _by(scope: Scope) -> By:
    """Raises: BadQuestion."""
    if len(scope.parameters.by) > 1:
        message = f"The report {REPORT.name} sums by one of {', '.join(REPORT.by)} at a time."
        raise BadQuestion(message)
    return next(iter(scope.parameters.by), By.DAY)


def _periods(session: Session, book: BookPeriod, by: By) -> Iterator[_Period]:
    """The days and months in which anything moved, or the cycles in which anything was booked, in their order."""
    key = Key.CYCLE if by is By.CYCLE else Key.DAY
    booked = pools.cycles_with_entries(session, book) if by is By.CYCLE else ()
    together: dict[Value, list[Moved]] = {cycle: [] for cycle in booked}
    for line in figures.movements(session, book, by=(key,)):
        together.setdefault(_named(line.key[key], by), []).append(line)
    for name, lines in together.items():
        yield _Period((name,), pools.in_base(book, lines))


def _named(key: Value, by: By) -> Value:
    return f"{key:%Y-%m}" if by is By.MONTH else key


def _rows(book: BookPeriod, opening: Pools, periods: Iterable[_Period]) -> Iterator[Row]:
    """Each pool of each period opens with what it closed with before."""
    held = {name: pools.balance(opening, *pool) for name, pool in POOLS.items()}
    for period in periods:
        for name, pool in POOLS.items():
            amounts = [pools.put_into(period.moved, *pool, by=movement) for movement in Movement]
            before, held[name] = held[name], held[name] + sum(amounts, ZERO)
            yield (book.jackpot_id, *period.key, name, book.base, before, *amounts, held[name])


REPORT = Report(
    "pool-movements",
    "Pool movements",
    make,
    frozenset({Parameter.BY}),
    (By.DAY, By.MONTH, By.CYCLE),
    sections=("movements", "totals"),
)
