"""Sums of a part of a book, whatever its edges: each posting once, from days and from entries."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import text

from jackpot_service.database.snapshots import snapshot
from jackpot_service.database.transactions import Session
from jackpot_service.domain.money import ZERO
from jackpot_service.ledger import instants
from jackpot_service.ledger.instants import Positions
from jackpot_service.reports.finance import figures, period
from jackpot_service.reports.finance.figures import Key
from jackpot_service.reports.finance.period import BookPeriod
from jackpot_service.reports.questions import Filters
from tests.support import rolling
from tests.support.bets import bet
from tests.support.hands import FLUSH, FOUR_OF_A_KIND, NOTHING, ROYAL_FLUSH, dead, hand
from tests.support.world import World

pytestmark = pytest.mark.slow

HOURS = 9
ROUNDS = 40
QUESTIONS = 25
RATES = {"EUR": Decimal(1), "GBP": Decimal("1.17"), "SEK": Decimal("0.0873")}


@pytest.fixture
def session(world: World) -> Iterator[Session]:
    """
    A fortnight of rounds at three tables of two casinos, with refunds, hits, an adjustment; seen at one instant.

    Half of the bets are rolled up.
    """
    _live(world, random.Random(7))
    with snapshot(world.engine) as session:
        yield session


def _live(world: World, chance: random.Random) -> None:
    world.add_casino("c2")
    world.open(base_amount="1000", stripes=3)
    world.add_table("T2", jackpot_id="j1", casino_id="c2")
    world.add_table("T3", jackpot_id="j1", casino_id="c2")
    for number in range(ROUNDS):
        if number == ROUNDS // 2:
            rolling.roll_up(world.engine)
        world.clock.advance(timedelta(hours=HOURS, minutes=chance.randrange(60)))
        table_id, name = chance.choice(("T1", "T2", "T3")), f"r{number}"
        bets = [bet(bet_id, hand="1", currency=chance.choice(("EUR", "GBP", "SEK"))) for bet_id in ("a", "b", "c")]
        world.bet(*bets, round_id=name, table_id=table_id)
        match chance.randrange(6):
            case 0:
                world.cancel(round_id=name, table_id=table_id)
            case 1:
                world.settle(dead("1"), round_id=name, table_id=table_id)
            case 2:
                world.void("a", round_id=name, table_id=table_id)
            case _:
                cards = chance.choice((NOTHING, FLUSH, FOUR_OF_A_KIND, ROYAL_FLUSH))
                world.settle(hand("1", cards), round_id=name, table_id=table_id)
    payload = {"jackpot_id": "j1", "account": "meter", "amount": "5", "document": "d", "cause": "count-error"}
    world.change("adjustment", payload)


def book_between(session: Session, start: Positions, end: Positions) -> BookPeriod:
    return period.between(session, "j1", "EUR", start, end)


def some_books(session: Session) -> Iterator[BookPeriod]:
    """Parts between instants of all sorts: midnights, hours inside days, the beginning, and now."""
    chance = random.Random(11)
    first, last = session.execute(text("SELECT min(booked_at), max(booked_at) FROM entries")).one()
    midnights = [period.midnight(first.date() + timedelta(days=number)) for number in range(20)]
    moments = [first + (last - first) * chance.random() for _ in range(20)]
    edges = sorted([first - timedelta(days=3), *midnights, *moments, last + timedelta(microseconds=1)])
    for _ in range(QUESTIONS):
        start, end = sorted(chance.sample(edges, 2))
        yield book_between(session, instants.before(session, "j1", start), instants.before(session, "j1", end))
    yield book_between(session, (0, 0, 0), instants.now(session, "j1"))


BRUTE = text(
    """
    SELECT (e.booked_at AT TIME ZONE 'UTC')::date AS day, coalesce(r.casino_id, '') AS casino_id,
           coalesce(r.table_id, '') AS table_id, p.account, p.currency, p.movement, p.amount, e.stripe_no, e.seq,
           (SELECT max(c.cycle) FROM cycles c
            WHERE c.jackpot_id = 'j1' AND (c.cycle = 1 OR coalesce(c.cut[e.stripe_no + 1], 0) < e.seq)) AS cycle
    FROM entries e
    LEFT JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
    CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements)
        AS p (account, currency, amount, movement)
    WHERE e.jackpot_id = 'j1'
    """
)


def brute(session: Session, book: BookPeriod, names: Sequence[str]) -> Counter[tuple[Any, ...]]:
    """Every posting of the part added up by itself."""
    sums: dict[tuple[Any, ...], Decimal] = {}
    for row in session.execute(BRUTE):
        if book.start[row.stripe_no] < row.seq <= book.end[row.stripe_no]:
            key = (*(getattr(row, name) for name in names), row.account, row.currency, row.movement)
            sums[key] = sums.get(key, ZERO) + row.amount
    return Counter((*key, amount.normalize()) for key, amount in sums.items() if amount)


BETS = text(
    """
    SELECT e.stripe_no, e.seq,
           (SELECT count(*) FROM bets b WHERE b.round_key = e.round_key AND b.step = e.step) AS bets,
           (SELECT max(c.cycle) FROM cycles c
            WHERE c.jackpot_id = 'j1' AND coalesce(c.cut[e.stripe_no + 1], 0) < e.seq) AS cycle
    FROM entries e
    WHERE e.jackpot_id = 'j1' AND e.kind = 'bets'
    """
)


def bets_counted_by_cycle(session: Session, book: BookPeriod) -> Counter[int]:
    """Count the bets of the part entry by entry."""
    counted: Counter[int] = Counter()
    for row in session.execute(BETS):
        if book.start[row.stripe_no] < row.seq <= book.end[row.stripe_no]:
            counted[row.cycle] += row.bets
    return counted


BY = [
    (),
    (Key.DAY,),
    (Key.CYCLE,),
    (Key.CASINO, Key.TABLE),
    (Key.DAY, Key.CASINO, Key.TABLE),
    (Key.CYCLE, Key.DAY, Key.TABLE),
]


@pytest.mark.long
def test_all_movements_are_those_of_the_postings(session: Session, subtests: pytest.Subtests) -> None:
    for by in BY:
        with subtests.test(by=by):
            parts = 0
            for book in some_books(session):
                counted = Counter(
                    (
                        *movement.key.values(),
                        movement.account,
                        movement.currency,
                        movement.movement,
                        movement.amount.normalize(),
                    )
                    for movement in figures.movements(session, book, by=by)
                )
                assert counted == brute(session, book, by)
                parts += len(book.partial_days) + (book.end_day != book.first_day)
            assert parts > QUESTIONS  # Days and entries both had their part.


def test_bets_by_cycle_are_those_that_stand_after_its_cut(session: Session) -> None:
    counted: set[int] = set()
    for book in some_books(session):
        by_cycle = {bet.key[Key.CYCLE]: bet.bets for bet in figures.bets(session, book, by=(Key.CYCLE,))}
        assert by_cycle == bets_counted_by_cycle(session, book)
        counted |= by_cycle.keys()
    assert len(counted) >= 3


def test_of_one_casino_or_table_all_else_is_left_out(session: Session) -> None:
    book = book_between(session, (0, 0, 0), instants.now(session, "j1"))
    for of in (
        Filters(casino_id="c1"),
        Filters(casino_id="c2"),
        Filters(table_id="T3"),
        Filters(casino_id="c1", table_id="T3"),
    ):
        whole = figures.bets(session, book, by=(Key.CASINO, Key.TABLE))
        expected = [
            part
            for part in whole
            if of.casino_id in {None, part.key[Key.CASINO]} and of.table_id in {None, part.key[Key.TABLE]}
        ]
        assert figures.bets(session, book, by=(Key.CASINO, Key.TABLE), filters=of) == expected


def test_bets_come_to_their_stakes_at_their_rates(session: Session) -> None:
    book = book_between(session, (0, 0, 0), instants.now(session, "j1"))
    by_currency = {bet.key[Key.CURRENCY]: bet for bet in figures.bets(session, book, by=(Key.CURRENCY,))}
    counted = session.execute(text("SELECT currency, count(*), sum(stake_minor) FROM bets GROUP BY currency"))
    for currency, bets, minor in counted:
        part = by_currency[currency]
        assert (part.bets, part.stakes * 100) == (bets, minor)
        assert part.value == part.meter + part.reserve + part.prize_fund + part.house
        assert part.value == part.stakes * RATES[currency]


def test_a_period_has_whole_days_wherever_it_covers_them(session: Session) -> None:
    first = date(2026, 11, 22)
    start, end = (instants.before(session, "j1", period.midnight(first + timedelta(days=days))) for days in (0, 5))

    covered = period.between(session, "j1", "EUR", start, end)

    assert covered.end_day is not None
    assert covered.first_day <= first
    assert covered.end_day >= first + timedelta(days=4)
    inside = instants.before(session, "j1", datetime(2026, 11, 22, 12, tzinfo=UTC))
    assert len(period.between(session, "j1", "EUR", inside, end).partial_days) <= 2
