"""
Shows, before every campaign, that the checker is not blind.

Where PostgreSQL does not flush what it commits and is then stopped as by a power cut, acknowledgements must be
reported as lost; where a bet is taken out of what the checker sees, or an amount in it is changed, that must be too.
And where nothing was done, nothing may be reported.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from tests.chaos import books, campaign, database, program, site
from tests.chaos.audit import audit
from tests.chaos.books import BookedRound, Books
from tests.chaos.calls import Call
from tests.chaos.checking import reader_of
from tests.chaos.database import SETTINGS, Embedded
from tests.chaos.site import Site
from tests.chaos.sums import sums
from tests.chaos.violations import LOSSES, Violation
from tests.chaos.world import World

UNSAFE = {**SETTINGS, "synchronous_commit": "off", "wal_writer_delay": "10000", "wal_writer_flush_after": "1GB"}
SERVERS = 4
PLAYED_S = 4.0
"""Counted from when every table server was acknowledged something."""


class Blind(Exception):
    """The checker does not see what is wrong, or sees what is not."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What the checker reported of each run that was wrong on purpose."""

    lost_without_flush: int
    tampered: Mapping[str, int]


def prove(directory: Path, home: Path, world: World) -> Sight:
    """Play where acknowledgements are lost, and where nothing is. Raises: Blind."""
    lost = _without_synchronous_commit(directory / "unsafe", home, world)
    calls, there = _played(directory / "safe", home, world)
    wrong = (*audit(calls, there), *sums(there))
    tampered = {name: len((*audit(calls, changed), *sums(changed))) for name, changed in tamperings(there).items()}
    sight = Sight(lost, tampered)
    require(sight, wrong)
    return sight


def require(sight: Sight, wrong: Sequence[Violation]) -> None:
    """Look whether what was wrong was reported, and nothing else: `wrong` is of the clean run. Raises: Blind."""
    if not sight.lost_without_flush:
        message = "nothing was reported as lost although PostgreSQL flushed nothing and was stopped at once"
        raise Blind(message)
    if wrong:
        message = f"something was reported although nothing was done: {wrong[0]}"
        raise Blind(message)
    for name, count in sight.tampered.items():
        if not count:
            message = f"nothing was reported of {name}"
            raise Blind(message)


def tamperings(there: Books) -> Mapping[str, Books]:
    """Return the books as they would look if somebody had changed them, by what was changed."""
    booked = _some_round(there)
    bet = booked.live[0]
    without = {bet_id: bet_ for bet_id, bet_ in booked.bets.items() if bet_id != bet.bet_id}
    dearer = {**booked.bets, bet.bet_id: bet._replace(stake_minor=bet.stake_minor + 1)}
    account = next(key for key in there.balances if key[1] == "pool:prize_fund")
    balances = {**there.balances, account: there.balances[account] + Decimal("0.0001")}
    closed = next((value for value in there.rounds.values() if value.closed_with is not None), None)
    of_closing = (
        {} if closed is None else {"a closing that is taken out": _with(there, replace(closed, closed_with=None))}
    )
    return {
        **of_closing,
        "a bet that is taken out": _with(there, replace(booked, bets=without)),
        "a stake that is changed": _with(there, replace(booked, bets=dearer)),
        "a round that is taken out": replace(
            there, rounds={key: round_ for key, round_ in there.rounds.items() if key != booked.name}
        ),
        "a pool that is changed": replace(there, balances=balances),
    }


def _some_round(there: Books) -> BookedRound:
    return next(booked for booked in there.rounds.values() if booked.live and booked.state == "settled")


def _with(there: Books, booked: BookedRound) -> Books:
    return replace(there, rounds={**there.rounds, booked.name: booked})


def _without_synchronous_commit(directory: Path, home: Path, world: World) -> int:
    """Crash a PostgreSQL that flushes nothing right after acknowledgements; returns how many were reported as lost."""
    with _played_on(directory, home, world, UNSAFE) as (played, attacked):
        time.sleep(PLAYED_S)
        attacked.stop("immediate")
        played.generators.kill_all()
        attacked.bring_back()
        calls = reader_of(played).calls()
        there = books.read_all(program.plain(attacked.owner_url))
    return sum(violation.fact in LOSSES for violation in audit(calls, there))


def _played(directory: Path, home: Path, world: World) -> tuple[tuple[Call, ...], Books]:
    with _played_on(directory, home, world, SETTINGS) as (played, attacked):
        time.sleep(PLAYED_S)
        played.generators.stop_all()
        return reader_of(played).calls(), books.read_all(program.plain(attacked.owner_url))


@contextmanager
def _played_on(
    directory: Path, home: Path, world: World, settings: Mapping[str, str]
) -> Iterator[tuple[Site, Embedded]]:
    """Play on a copy of a database that is set up, with settings of its own."""
    directory.mkdir()
    data = directory / "db"
    data.mkdir()
    database.copy(home, data)
    with (
        database.running(data, settings) as attacked,
        site.opened(directory, world, attacked, seed=0, servers=SERVERS) as played,
    ):
        played.start_playing()
        campaign.require_play(played)  # On a busy machine it takes some seconds until there is something to lose.
        yield played, attacked
