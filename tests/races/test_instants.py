"""Instants resolved, and reports asked, while sixteen writers commit: each report adds up, and is the same again."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from itertools import pairwise
from typing import Any

import sqlalchemy

from jackpot_service.db import transact
from jackpot_service.domain.bets import Bets
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.money import total
from jackpot_service.domain.principals import SYSTEM_OPERATOR
from jackpot_service.ledger.instants import Positions
from jackpot_service.reporting.making import made
from jackpot_service.reports.files.cells import as_text
from jackpot_service.reports.finance.frame import Asked
from jackpot_service.reports.finance.registry import report_of
from jackpot_service.usecases.accept_bets import AcceptBets
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.add_stripes import AddStripes, add_stripes
from jackpot_service.usecases.resolve_instant import resolve_instant
from tests.races import books, scene
from tests.races.processes import Racer, in_threads, race
from tests.support.accepting import accept_bets

WRITERS = 4
THREADS = 4
ROUNDS_OF_A_THREAD = 15
QUESTIONS = 10
STRIPES = (3, 5, 8)
BEHIND = timedelta(seconds=0.2)
REPORTS = ("trial-balance", "awards", "rounds")
DEALS = (scene.ROYAL, scene.FLUSH, scene.STRAIGHT_FLUSH, scene.NOTHING, "dead")


@dataclass(frozen=True)
class Told:
    """A report as somebody got it: what was asked, where the books stood, and the texts of all its rows."""

    name: str
    asked: Asked
    positions: dict[str, Positions]
    rows: dict[str, list[list[str]]]


def ask(engine: sqlalchemy.Engine, name: str, asked: Asked) -> Told:
    with made(engine, report_of(name), asked, now=scene.now()) as document:
        rows = {
            section.name: [[as_text(value) for value in row] for row in section.rows] for section in document.sections
        }
        return Told(name, asked, dict(document.positions), rows)


def write(racer: Racer, *, name: str) -> None:
    racer.meet()
    in_threads([partial(_write, racer.engine, f"{name}-{number}") for number in range(THREADS)], threads=THREADS)


def _write(engine: sqlalchemy.Engine, name: str) -> None:
    """Play rounds, one in three by a clock that is behind."""
    chance = random.Random(name)
    for number in range(ROUNDS_OF_A_THREAD):
        table, round_id = chance.choice(["T1", "T2"]), f"{name}-{number}"
        _bet(engine, table, round_id, behind=BEHIND * (number % 3 == 0))
        match chance.randrange(6):
            case 0:
                scene.void(engine, table, round_id, "b")
            case 1:
                scene.cancel(engine, table, round_id)
            case 2:
                pass
            case _:
                scene.settle(engine, table, round_id, 2, {"1": chance.choice(DEALS)})


def _bet(engine: sqlalchemy.Engine, table: str, round_id: str, *, behind: timedelta) -> None:
    bets = Bets.of([scene.euro("a"), scene.euro("b", stake_minor=250)])
    command = AcceptBets(scene.SERVER, table, round_id, bets, scene.now() - behind)
    transact(engine, lambda session: accept_bets(session, command))


def report(racer: Racer, *, seed: int) -> list[Told]:
    """Ask of instants that have just gone by: some that others ask about as well, some of a clock behind."""
    chance = random.Random(seed)
    racer.meet()
    told = []
    for _ in range(QUESTIONS):
        end = scene.now().replace(microsecond=0) if chance.random() < 0.5 else scene.now()
        start = chance.choice([None, end - timedelta(seconds=1)])
        name = chance.choice(REPORTS)
        told += [ask(racer.engine, name, Asked(start=start, end=end)) for _ in range(2)]
    return told


def spread(racer: Racer) -> None:
    racer.meet()
    for stripes in STRIPES:
        command = AddStripes(Act(SYSTEM_OPERATOR, scene.now()), "live", stripes)
        transact(racer.engine, partial(add_stripes, command=command))


def open_more(racer: Racer) -> None:
    """Open jackpots, by a clock that is behind, and bet for them at once."""
    racer.meet()
    for number in range(len(STRIPES)):
        scene.open_live(racer.engine, f"more-{number}", tables=[f"M{number}"], stripes=2)
        _bet(racer.engine, f"M{number}", "r1", behind=BEHIND)


def test_reports_asked_amid_writers_add_up_and_stay_the_same(engine: sqlalchemy.Engine, database_url: str) -> None:
    scene.open_live(engine, "live", tables=["T1", "T2"], stripes=2, base_amount="100")

    *_, first, second = race(
        database_url,
        *(partial(write, name=f"p{number}") for number in range(WRITERS)),
        spread,
        open_more,
        *(partial(report, seed=seed) for seed in (1, 2)),
    )

    told: list[Told] = [*first, *second]
    assert len(told) == 4 * QUESTIONS
    assert any(one.positions.keys() > {"-", "live"} for one in told)
    require_one_story(told)
    for one in told:
        assert ask(engine, one.name, one.asked) == one
        require_balanced(one)
    whole = [ask(engine, name, Asked()) for name in REPORTS]
    for one in whole:
        require_balanced(one)
    assert len(whole[2].rows["rounds"]) == WRITERS * THREADS * ROUNDS_OF_A_THREAD + len(STRIPES)
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def require_one_story(told: Sequence[Told]) -> None:
    """Whoever asks of an instant gets the same positions; of a later one, none that lie before."""
    by_end: dict[datetime, dict[str, Positions]] = {}
    for one in told:
        assert one.asked.end is not None
        assert by_end.setdefault(one.asked.end, one.positions) == one.positions
    ends = [positions for _, positions in sorted(by_end.items())]
    for earlier, later in pairwise(ends):
        for book, positions in earlier.items():
            padded = (*positions, *(0 for _ in later[book][len(positions) :]))
            assert all(before <= after for before, after in zip(padded, later[book], strict=False))


def require_balanced(one: Told) -> None:
    """A report's own equation: accounts are zero together, totals those of the list, rounds those of their bets."""
    if one.name == "trial-balance":
        assert all((opening, closing) == ("0", "0") for *_, opening, _, _, closing in one.rows["totals"])
        assert all(Decimal(taken) == Decimal(put) for *_, taken, put, _ in one.rows["totals"])
        return
    summed, listed, columns = EQUATIONS[one.name]
    for in_summed, in_listed in columns.items():
        assert of_column(one.rows[summed], in_summed) == of_column(one.rows[listed], in_listed)


EQUATIONS: Mapping[str, tuple[str, str, Mapping[int, int | None]]] = {
    "awards": ("totals", "awards", {5: None, 7: 12}),
    "rounds": ("rounds", "bets", {10: None, 12: 11}),
}
"""Of a report, two sections and the columns of the one that sum up to columns of the other, or count its rows."""


def of_column(rows: Sequence[Sequence[str]], place: int | None) -> Decimal:
    return total(Decimal(1) if place is None else Decimal(row[place] or 0) for row in rows)


def resolve(racer: Racer, *, ends: Sequence[datetime]) -> list[Positions]:
    racer.meet()
    return list(_resolved(racer, ends))


def _resolved(racer: Racer, ends: Sequence[datetime]) -> Iterator[Positions]:
    for end in ends:
        for book in (REFERENCE_BOOK, "live"):
            now = scene.now()
            resolving: Any = partial(resolve_instant, book=book, instant=end, now=now)
            yield transact(racer.engine, resolving)


def test_all_who_resolve_one_instant_at_once_get_the_same(engine: sqlalchemy.Engine, database_url: str) -> None:
    scene.open_live(engine, "live", tables=["T1", "T2"], stripes=4)
    now = scene.now()
    ends = [now - timedelta(microseconds=number) for number in (0, 5, 1, 3)]

    answers = race(
        database_url,
        partial(write, name="p0"),
        *(partial(resolve, ends=ends) for _ in range(4)),
    )

    _, first, *others = answers
    assert others == [first] * 3
    assert books.ask(engine, "SELECT count(*) FROM instants") == [(2 * len(ends),)]
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0
