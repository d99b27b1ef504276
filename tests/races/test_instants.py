"""Instants resolved, and reports asked, while sixteen writers commit: each report adds up, and is the same again."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from itertools import pairwise

import pytest
import sqlalchemy

from jackpot_service.app import create_app
from jackpot_service.database.transactions import read, transact
from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.payout_tiers import PayoutTier
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.settings import Setting
from jackpot_service.ledger import instants
from jackpot_service.ledger.instants import Positions
from jackpot_service.reports.finance import registry
from jackpot_service.reports.making import resolve as resolve_in
from jackpot_service.usecases.accept_bets import AcceptBets
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.effects import ChangeEffect
from jackpot_service.usecases.jackpots import AddStripes, add_stripes
from jackpot_service.usecases.keys import create_key
from tests.races import books, scene
from tests.races.processes import CONFIG, Racer, in_threads, race
from tests.support import equations, two_people
from tests.support.accepting import accept_bets
from tests.support.shown_reports import ShownReports, by_books, over_http

pytestmark = pytest.mark.long

WRITERS = 4
THREADS = 4
FEWEST_ROUNDS = 6
PAUSE_S = 0.2
"""Between the rounds of a thread once it has played those: on few processors, who asks would wait for who plays."""
STRIPES = (3, 5, 8)
BEHIND = timedelta(seconds=0.2)
REPORTS = [name for name in registry.REPORTS if name != "exceptions"]
"""Refused calls are no part of the books, and none are made here."""
ROYALS_HELD = (PayoutTier(Decimal(0), prizes=(Tier.ROYAL_FLUSH,)),)
SETTINGS: dict[str, Setting] = {"reset_amount": "50", "payout_tiers": ROYALS_HELD}
"""Every royal flush is held, so that some are rejected; other prizes are awarded at once."""
ABROAD = {"GBP": 250, "SEK": 1000, "JPY": 300}
DEALS = (scene.ROYAL, scene.FLUSH, scene.STRAIGHT_FLUSH, scene.NOTHING, "dead")


def write(racer: Racer, *, name: str, other_racers: int) -> int:
    """Play until so many others are done, so that whatever they ask is asked amid writers; returns how many rounds."""
    racer.meet()
    acts = [partial(_write, racer, f"{name}-{number}", other_racers=other_racers) for number in range(THREADS)]
    rounds = sum(in_threads(acts, threads=THREADS))
    racer.meet()
    return rounds


def _write(racer: Racer, name: str, *, other_racers: int) -> int:
    chance, rounds = random.Random(name), 0
    while rounds < FEWEST_ROUNDS or racer.is_to_go_on_until(other_racers):
        _play(racer.engine, chance, f"{name}-{rounds}", behind=BEHIND * (rounds % 3 == 0))
        rounds += 1
        if rounds >= FEWEST_ROUNDS:
            time.sleep(PAUSE_S)
    return rounds


def _play(engine: sqlalchemy.Engine, chance: random.Random, round_id: str, *, behind: timedelta) -> None:
    """Play a round, its bets by a clock that is behind."""
    table = chance.choice(["T1", "T2"])
    _bet(engine, table, round_id, behind=behind, abroad=chance.choice([*ABROAD]))
    match chance.randrange(6):
        case 0:
            scene.void(engine, table, round_id, "b")
        case 1:
            scene.cancel(engine, table, round_id)
        case 2:
            _pay_statement(engine, round_id)
        case _:
            deal = chance.choice(DEALS)
            scene.settle(engine, table, round_id, 2, {"1": deal})
            if deal == scene.ROYAL:
                _decide(engine, table, round_id, chance.choice(["approve", "reject"]))


def _bet(engine: sqlalchemy.Engine, table: str, round_id: str, *, behind: timedelta, abroad: str = "GBP") -> None:
    bets = Bets.of([scene.euro("a"), Bet("b", "player-of-b", "1", abroad, ABROAD[abroad])])
    command = AcceptBets(scene.SERVER, table, round_id, bets, scene.now() - behind)
    transact(engine, lambda session: accept_bets(session, command))


def _change(engine: sqlalchemy.Engine, kind: str, payload: Mapping[str, str]) -> ChangeEffect:
    return transact(engine, lambda session: two_people.change(session, kind, payload, now=scene.now()))


def _decide(engine: sqlalchemy.Engine, table: str, round_id: str, decision: str) -> None:
    """Decide about what a round left to be held; a round without such awards is refused."""
    payload = {"jackpot_id": "live", "table_id": table, "round_id": round_id, "decision": decision}
    scene.attempted(partial(_change, engine, "held-awards", payload))


def _pay_statement(engine: sqlalchemy.Engine, reference: str) -> None:
    now = scene.now()
    payload = {"jackpot_id": "live", "casino_id": scene.CASINO, "reference": reference, "currency": "GBP"}
    payload |= {"from": (now - timedelta(days=1)).isoformat(), "to": now.isoformat(), "amount": "0.75"}
    _change(engine, "statement-settlement", payload)


def report(racer: Racer, *, seed: int, key: str) -> list[ShownReports]:
    """
    Ask for every report from the books, and for one in three over HTTP as well, in an order of its own.

    It asks of instants that have just gone by: some that others ask about as well, some of a clock behind.
    """
    chance = random.Random(seed)
    client = create_app(CONFIG, racer.engine).test_client()
    racer.meet()
    shown = []
    for number, name in enumerate(chance.sample(REPORTS, len(REPORTS))):
        end = scene.now().replace(microsecond=0) if chance.random() < 0.5 else scene.now()
        start = chance.choice([None, end - timedelta(seconds=1)])
        shown.append(by_books(racer.engine, name, start=start, end=end, now=scene.now()))
        if number % 3 == 0:
            assert over_http(client, key, name, start=start, end=end) == shown[-1]
    racer.meet()
    return shown


def spread(racer: Racer) -> None:
    racer.meet()
    for stripes in STRIPES:
        command = AddStripes(Act(SYSTEM_OPERATOR, scene.now()), "live", stripes)
        transact(racer.engine, partial(add_stripes, command=command))
    racer.meet()


def open_more(racer: Racer) -> None:
    """Open jackpots, by a clock that is behind, and bet for them at once."""
    racer.meet()
    for number in range(len(STRIPES)):
        scene.open_live(racer.engine, f"more-{number}", tables=[f"M{number}"], stripes=2)
        _bet(racer.engine, f"M{number}", "r1", behind=BEHIND)
    racer.meet()


def test_reports_asked_amid_writers_add_up_and_stay_the_same(engine: sqlalchemy.Engine, database_url: str) -> None:
    scene.open_live(engine, "live", tables=["T1", "T2"], stripes=2, base_amount="100", settings=SETTINGS)
    act = Act(SYSTEM_OPERATOR, scene.now())
    key = transact(engine, lambda session: create_key(session, act, Principal("Fay", Role.FINANCE))).whole

    asking = [partial(report, seed=seed, key=key) for seed in (1, 2)]
    other_acts: list[Callable[[Racer], object]] = [spread, open_more, *asking]
    *rounds, _, _, first, second = race(
        database_url,
        *(partial(write, name=f"p{number}", other_racers=len(other_acts)) for number in range(WRITERS)),
        *other_acts,
    )

    reports: list[ShownReports] = [*first, *second]
    assert Counter(report.name for report in reports) == dict.fromkeys(REPORTS, 2)
    assert any(report.positions.keys() > {"-", "live"} for report in reports)
    require_one_story(reports)
    for shown in reports:
        shown.require_equations()
        assert by_books(engine, shown.name, start=shown.start, end=shown.end, now=scene.now()) == shown
    amid = sorted(report.end for report in reports if report.end is not None)[len(REPORTS)]
    equations.require_one_balance(
        {name: by_books(engine, name, end=amid, now=scene.now()).rows for name in equations.OF_BALANCES}
    )
    whole = {name: by_books(engine, name, now=scene.now()) for name in REPORTS}
    for shown in whole.values():
        shown.require_equations()
    assert len({row["round_key"] for row in whole["rounds"].rows["rounds"]}) == sum(rounds) + len(STRIPES)
    for column in ("awards", "releases", "settled"):
        assert any(row[column] != "0" for row in whole["casino-statement"].rows["accounts"])
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def require_one_story(reports: Sequence[ShownReports]) -> None:
    """Whoever asks of an instant gets the same positions; of a later one, none that lie before."""
    by_end: dict[datetime, Mapping[str, Positions]] = {}
    for shown in reports:
        assert shown.end is not None
        assert by_end.setdefault(shown.end, shown.positions) == shown.positions
    ends = [positions for _, positions in sorted(by_end.items())]
    for earlier, later in pairwise(ends):
        for book, positions in earlier.items():
            padded = (*positions, *(0 for _ in later[book][len(positions) :]))
            assert all(before <= after for before, after in zip(padded, later[book], strict=False))


def resolve(racer: Racer, *, ends: Sequence[datetime]) -> list[Positions]:
    racer.meet()
    resolved = list(_resolved(racer, ends))
    racer.meet()
    return resolved


def _resolved(racer: Racer, ends: Sequence[datetime]) -> Iterator[Positions]:
    for end in ends:
        for book in (REFERENCE_BOOK, "live"):
            resolve_in(racer.engine, book, end, now=scene.now())
            yield read(racer.engine, partial(instants.at, book=book, instant=end))


def test_all_who_resolve_one_instant_at_once_get_the_same(engine: sqlalchemy.Engine, database_url: str) -> None:
    scene.open_live(engine, "live", tables=["T1", "T2"], stripes=4)
    now = scene.now()
    ends = [now - timedelta(microseconds=number) for number in (0, 5, 1, 3)]

    resolving = [partial(resolve, ends=ends) for _ in range(4)]
    answers = race(database_url, partial(write, name="p0", other_racers=len(resolving)), *resolving)

    _, first, *rest = answers
    assert rest == [first] * 3
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0
