"""No instant tears what belongs together, amid writers whose clocks differ: it is looked for in every vector given."""

import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial

import pytest
import sqlalchemy

from jackpot_service.database.transactions import read, transact
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.principals import SYSTEM_OPERATOR
from jackpot_service.ledger import instants
from jackpot_service.ledger.instants import Positions
from jackpot_service.records import references
from jackpot_service.records.rounds import RoundName
from jackpot_service.reports.making import resolve
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.jackpots import AddStripes, add_stripes
from tests.races import books, scene
from tests.races.processes import Racer, in_threads, race
from tests.support import two_people

pytestmark = pytest.mark.long

SKEWS_S = (-0.3, 0.0, 0.3)
"""How far the clock of each writing process is off."""

THREADS = 3
FEWEST_ROUNDS = 8
ENDING = 2
"""Jackpots that are retired meanwhile, each into another: one act, two books beside its own."""

INSTANTS = 12
DEALS = (scene.ROYAL, scene.ROYAL, scene.FLUSH, scene.NOTHING)

Vectors = Mapping[str, Positions]


@contextmanager
def clock_off_by(seconds: float) -> Iterator[None]:
    """Let the table servers of this process have a clock that is ahead or behind."""
    right = scene.now
    scene.now = lambda: datetime.now(UTC) + timedelta(seconds=seconds)
    try:
        yield
    finally:
        scene.now = right


def write(racer: Racer, *, name: str, other_racers: int, off_by: float) -> int:
    racer.meet()
    with clock_off_by(off_by):
        acts = [partial(_write, racer, f"{name}-{number}", other_racers=other_racers) for number in range(THREADS)]
        rounds = sum(in_threads(acts, threads=THREADS))
    racer.meet()
    return rounds


def _write(racer: Racer, name: str, *, other_racers: int) -> int:
    chance, rounds = random.Random(name), 0
    while rounds < FEWEST_ROUNDS or racer.is_to_go_on_until(other_racers):
        _play(racer.engine, chance, f"{name}-{rounds}")
        rounds += 1
        if rounds >= FEWEST_ROUNDS:
            time.sleep(0.1)
    return rounds


def _play(engine: sqlalchemy.Engine, chance: random.Random, round_id: str) -> None:
    """Play a round of two bets, which are booked one after the other."""
    table = chance.choice(["T1", "T2"])
    for bet_id in ("a", "b"):
        scene.bet(engine, table, round_id, scene.euro(bet_id, hand=bet_id))
    match chance.randrange(6):
        case 0:
            scene.void(engine, table, round_id, "a")
        case 1:
            scene.cancel(engine, table, round_id)
        case _:
            scene.settle(engine, table, round_id, 2, {"a": chance.choice(DEALS), "b": "dead"})
            if chance.random() < 0.2:
                name = RoundName(table, round_id)
                scene.attempted(lambda: scene.correct(engine, "live", name, 2, {"a": scene.NOTHING, "b": "dead"}))


def end(racer: Racer, *, off_by: float) -> None:
    """Retire jackpots, each into `live`, which gets more stripes meanwhile."""
    racer.meet()
    with clock_off_by(off_by):
        for number in range(ENDING):
            ending = f"ending-{number}"
            scene.open_live(racer.engine, ending, tables=[f"E{number}"], stripes=3, base_amount="10")
            for round_id in ("r1", "r2"):
                scene.bet(racer.engine, f"E{number}", round_id, scene.euro("a"))
                scene.settle(racer.engine, f"E{number}", round_id, 1, {"1": scene.NOTHING})
            payload = {"jackpot_id": ending, "to": "live"}
            retiring = partial(two_people.change, kind="retirement", payload=payload, now=scene.now())
            transact(racer.engine, retiring)
            more = AddStripes(Act(SYSTEM_OPERATOR, scene.now()), "live", 3 + number)
            transact(racer.engine, partial(add_stripes, command=more))
    racer.meet()


def ask(racer: Racer, *, seed: int) -> list[tuple[datetime, Vectors]]:
    """Ask of instants that have just gone by, each in all books that there are."""
    chance = random.Random(seed)
    racer.meet()
    seen = []
    for _ in range(INSTANTS):
        at = datetime.now(UTC) - timedelta(seconds=chance.choice([0, 0, 0.05, 0.2, 0.6]))
        resolve(racer.engine, REFERENCE_BOOK, at, now=datetime.now(UTC))
        jackpots = read(racer.engine, references.jackpot_ids)
        for jackpot_id in jackpots:
            resolve(racer.engine, jackpot_id, at, now=datetime.now(UTC))
        seen.append((at, _vectors_at(racer.engine, [REFERENCE_BOOK, *jackpots], at)))
        time.sleep(chance.random() * 0.05)
    racer.meet()
    return seen


def _vectors_at(engine: sqlalchemy.Engine, of_books: Sequence[str], at: datetime) -> Vectors:
    by_book = {book: read(engine, partial(instants.at, book=book, instant=at)) for book in of_books}
    return {book: positions for book, positions in by_book.items() if positions}


def holds(vectors: Vectors, book: str, stripe_no: int, seq: int) -> bool:
    positions = vectors.get(book, ())
    return stripe_no < len(positions) and seq <= positions[stripe_no]


def is_within(inner: Sequence[int], other: Sequence[int]) -> bool:
    padded = (*other, *(0 for _ in inner[len(other) :]))
    return all(seq <= last for seq, last in zip(inner, padded, strict=False))


class Whole:
    """What was booked, when all is over: what must stand on one side of every instant."""

    def __init__(self, engine: sqlalchemy.Engine) -> None:
        self.cycles = books.ask(engine, "SELECT jackpot_id, stripe_no, seq, cut FROM cycles WHERE cycle > 1")
        self.acts = books.ask(engine, "SELECT seq, effects FROM acts WHERE effects <> '[]'")
        self.transfers = books.ask(
            engine,
            "SELECT account, jackpot_id, stripe_no, seq, amount FROM postings WHERE account LIKE 'transfer:%'",
        )
        self.ends: list[tuple[tuple[str, int, int], tuple[str, int, int]]] = []
        rounds: dict[tuple[str, int], list[tuple[str, int, int]]] = defaultdict(list)
        steps = (
            "SELECT jackpot_id, round_key, kind, stripe_no, seq FROM entries WHERE round_key > 0 ORDER BY 1, 2, step"
        )
        for book, key, kind, stripe_no, seq in books.ask(engine, steps):
            if kind != "bets":
                self.ends += [((book, stripe_no, seq), earlier) for earlier in rounds[book, key]]
            rounds[book, key].append((book, stripe_no, seq))

    def torn(self, vectors: Vectors) -> Iterator[str]:
        """Name what an instant separates."""
        for book, stripe_no, seq, cut in self.cycles:
            positions = vectors.get(book, ())
            if holds(vectors, book, stripe_no, seq):
                if not is_within(cut, positions):
                    yield f"a hit of {book} at {stripe_no}.{seq} from what it was paid from: {cut}, {positions}"
            elif not is_within(positions, cut):
                yield f"what came after a hit of {book} at {stripe_no}.{seq} from it: {cut}, {positions}"
        for seq, effects in self.acts:
            is_in = holds(vectors, REFERENCE_BOOK, 0, seq)
            if any(holds(vectors, effect["book"], 0, effect["seq"]) is not is_in for effect in effects):
                yield f"act {seq} from what it did: {effects}"
        for later, earlier in self.ends:
            if holds(vectors, *later) and not holds(vectors, *earlier):
                yield f"{later} from what it ends or takes back: {earlier}"
        left: dict[str, Decimal] = defaultdict(Decimal)
        for account, book, stripe_no, seq, amount in self.transfers:
            left[account] += amount if holds(vectors, book, stripe_no, seq) else 0
        yield from (f"{account} is left with {amount}" for account, amount in left.items() if amount)


def test_an_instant_separates_nothing_that_belongs_together(engine: sqlalchemy.Engine, database_url: str) -> None:
    scene.open_live(engine, "live", tables=["T1", "T2"], stripes=2, base_amount="100", settings={"reset_amount": "50"})
    asking: list[Callable[[Racer], object]] = [partial(ask, seed=seed) for seed in (1, 2)]
    other_acts: list[Callable[[Racer], object]] = [*asking, partial(end, off_by=SKEWS_S[-1])]
    writing: list[Callable[[Racer], object]] = [
        partial(write, name=f"p{number}", other_racers=len(other_acts), off_by=off_by)
        for number, off_by in enumerate(SKEWS_S)
    ]

    *_, first, second, _ = race(database_url, *writing, *other_acts)

    whole = Whole(engine)
    assert len(whole.cycles) > len(SKEWS_S)
    assert len(whole.transfers) >= 2 * ENDING
    seen: list[tuple[datetime, Vectors]] = [*first, *second]
    for at, vectors in seen:
        assert [*whole.torn(vectors)] == []
        assert _vectors_at(engine, [*vectors], at) == vectors
    for at in _times(engine):
        vectors = _vectors_at(engine, [REFERENCE_BOOK, *read(engine, references.jackpot_ids)], at)
        assert [*whole.torn(vectors)] == []
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def _times(engine: sqlalchemy.Engine) -> list[datetime]:
    """Right after what acts did, and some of what hits and ends of rounds booked: where an instant would tear most."""
    of_acts = "SELECT DISTINCT booked_at FROM entries WHERE round_key IS NULL ORDER BY 1"
    of_rounds = "SELECT DISTINCT booked_at FROM entries WHERE round_key IS NOT NULL AND kind <> 'bets' ORDER BY 1"
    acted, ended = ([row[0] for row in books.ask(engine, question)] for question in (of_acts, of_rounds))
    some = random.Random(1).sample(ended, min(len(ended), 100))
    return [at + timedelta(microseconds=1) for at in (*acted, *some)]
