"""Events read while others commit late and out of order: each is told, and told once."""

import random
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise

import pytest
import sqlalchemy

from jackpot_service.api.asgi import Presence
from jackpot_service.api.event_stream import EventStream
from jackpot_service.database.reads import Reads
from jackpot_service.database.transactions import Session, transact
from jackpot_service.domain.outcomes import Cancellation
from jackpot_service.domain.principals import SYSTEM_OPERATOR
from jackpot_service.events.cursor import decode, encode
from jackpot_service.usecases.cancel_round import CancelRound, cancel_round
from jackpot_service.usecases.jackpots import OpenJackpot, open_jackpot
from tests.races import books, scene
from tests.races.processes import Racer, race
from tests.support import publishing
from tests.support.loop import on_loop

pytestmark = pytest.mark.long

WRITERS = 5
ROUNDS_EACH = 40
HITS = 15
SHEETS = 10
LONGEST_HOLD_S = 0.08
LONGEST_READING_S = 40

Told = list[tuple[str, str, str]]
"""Id, type and time of events, in the order in which they were told."""


def cancel_late(racer: Racer, *, name: str) -> int:
    """Cancel rounds, holding each one's stripe for a while before its commit: others commit meanwhile."""
    chance = random.Random(name)
    for number in range(ROUNDS_EACH):
        command = CancelRound(scene.SERVER, "T1", f"{name}-{number}", Cancellation("misdeal"), scene.now())
        transact(racer.engine, partial(_cancel_and_hold, command=command, hold_s=chance.uniform(0, LONGEST_HOLD_S)))
    return ROUNDS_EACH


def _cancel_and_hold(session: Session, *, command: CancelRound, hold_s: float) -> None:
    cancel_round(session, command)
    time.sleep(hold_s)


def hit_on(racer: Racer) -> int:
    """Win the jackpot again and again: what locks all stripes waits for those who hold one."""
    for number in range(HITS):
        scene.bet(racer.engine, "T2", f"hit-{number}", scene.euro("a"), scene.euro("b"))
        scene.settle(racer.engine, "T2", f"hit-{number}", 2, {"1": scene.ROYAL})
    return HITS


def act_late(racer: Racer) -> int:
    """Publish rates and open a jackpot, whose stripes no reader knows yet, holding the book of acts for a while."""
    chance = random.Random("acts")
    for number in range(SHEETS):
        transact(racer.engine, partial(_publish_and_hold, hold_s=chance.uniform(0, LONGEST_HOLD_S)))
        if number == SHEETS // 2:
            command = OpenJackpot(scene._act(), "new", "live-caribbean-stud", "EUR", None, {}, 4)
            transact(racer.engine, partial(_open_and_hold, command=command))
    return SHEETS


def _publish_and_hold(session: Session, *, hold_s: float) -> None:
    publishing.publish(session, "EUR", scene.RATES, now=scene.now())
    time.sleep(hold_s)


def _open_and_hold(session: Session, *, command: OpenJackpot) -> None:
    open_jackpot(session, command)
    time.sleep(LONGEST_HOLD_S)


def read_on(racer: Racer, *, limit: int, after: str) -> Told:
    return read_all(racer.engine, limit=limit, after=after)


def read_all(engine: sqlalchemy.Engine, *, limit: int, after: str) -> Told:
    """Read page by page, with nothing in mind but the cursor, until all that will happen has been told."""
    stream, read_events = EventStream(Reads(engine), threads=ThreadPoolExecutor(2)), Told()
    until = time.monotonic() + LONGEST_READING_S
    while len(read_events) < EXPECTED and time.monotonic() < until:
        page = on_loop(stream.wait(SYSTEM_OPERATOR, decode(after), Presence(), limit=limit, wait_s=1))
        read_events += [(event.id, event.payload.type.value, event.place.booked_at.isoformat()) for event in page.items]
        after = encode(page.next)
    return read_events


EXPECTED = WRITERS * ROUNDS_EACH + HITS * len(("settled", "award", "award", "hit", "reset")) + SHEETS + len(("opened",))


def test_nothing_is_passed_over_and_nothing_told_twice_while_others_commit_late(
    engine: sqlalchemy.Engine, database_url: str
) -> None:
    scene.open_live(engine, "live", tables=["T1", "T2"], stripes=8)
    start = encode(EventStream(Reads(engine), threads=ThreadPoolExecutor(2)).page(SYSTEM_OPERATOR, None, limit=1).next)

    read_events, slowly_told, *_ = race(
        database_url,
        partial(read_on, limit=100, after=start),
        partial(read_on, limit=3, after=start),
        hit_on,
        act_late,
        *(partial(cancel_late, name=f"w{number}") for number in range(WRITERS)),
    )

    afterwards = read_all(engine, limit=1000, after=start)
    assert len(afterwards) == EXPECTED
    for reader in (read_events, slowly_told):
        assert len({event_id for event_id, _, _ in reader}) == len(reader)
        assert sorted(reader) == sorted(afterwards)
        # Some of what it was told had been committed after what it had been told before, with an earlier time.
        assert any(after < before for (_, _, before), (_, _, after) in pairwise(reader))
        require_order_of_each_stripe(reader)
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0


def require_order_of_each_stripe(read_events: Told) -> None:
    places: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for event_id, _, _ in read_events:
        book, stripe_no, seq, number = event_id.rsplit("/", 3)
        places.setdefault((book, stripe_no), []).append((int(seq), int(number)))
    for seqs in places.values():
        assert seqs == sorted(seqs)
