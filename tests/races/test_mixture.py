"""
Everything at once: eight processes bet, void, close, cancel and settle, several of them on each round, with hits.

`make soak` lets them do so for ten minutes.
"""

import random
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from itertools import count

import pytest
import sqlalchemy

from jackpot_service.api.bet_groups import BetGroups
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.errors import Conflict, LedgerError
from jackpot_service.usecases.settle_round import BetCountMismatch, RoundSettledNow
from tests.races import books, scene
from tests.races.processes import LONGEST_RACE_S, Racer, in_threads, race
from tests.support.loop import accepted
from tests.support.owing import owed_minor

pytestmark = pytest.mark.long

PROCESSES = 8
PLAYERS_OF_A_PROCESS = 2
ROUNDS_OF_A_PLAYER = 20
MOST_ATTEMPTS = 50

LIVE_STAKES = {"EUR": 100, "GBP": 250, "SEK": 1000, "JPY": 300}
DEALS: tuple[Mapping[str, str], ...] = (
    {"1": scene.ROYAL, "2": scene.STRAIGHT_FLUSH, "3": scene.NOTHING},
    {"1": "2c 3d 5c 7s 9c", "2": scene.STRAIGHT_FLUSH, "3": "4s 4h 4d 4c Td"},
    {"1": scene.STRAIGHT_FLUSH, "2": "dead", "3": scene.NOTHING},
    {"1": "Kd Kh 3c 3h 3s", "2": scene.NOTHING, "3": "forfeited"},
    {"1": scene.NOTHING, "2": "3c 5d 7c Js Kd", "3": "Qs Jd 8s 5c 2h"},
    {"1": "dead", "2": "Ah Jh 8h 6h 3h", "3": scene.NOTHING},
)

Key = tuple[str, str, str]
"""Table, round and bet."""


@dataclass
class Acknowledged:
    """What a process was told to be booked: money by what it was for, so that what two were told counts once."""

    stakes: dict[Key, tuple[str, int]] = field(default_factory=dict)
    refunded: set[Key] = field(default_factory=set)
    awards: dict[tuple[Key, str], tuple[str, int]] = field(default_factory=dict)
    hits: set[tuple[str, str]] = field(default_factory=set)
    settled: set[tuple[str, str]] = field(default_factory=set)
    cancelled: set[tuple[str, str]] = field(default_factory=set)

    def add(self, other: "Acknowledged") -> None:
        self.stakes |= other.stakes
        self.refunded |= other.refunded
        self.awards |= other.awards
        self.hits |= other.hits
        self.settled |= other.settled
        self.cancelled |= other.cancelled

    def owed_minor(self) -> dict[str, int]:
        """What the casino is owed in each currency, in minor units; negative, it owes."""
        return owed_minor(self.stakes, self.refunded, self.awards)


@dataclass
class Player:
    """One thread's way through its rounds; it shares commits of bets with its process, and rounds with its group."""

    engine: sqlalchemy.Engine
    groups: BetGroups
    number: int
    chance: random.Random
    acknowledged: Acknowledged = field(default_factory=Acknowledged)

    def play(self, table_id: str, round_id: str) -> None:
        bets = self._bets(table_id)
        never_sent = f"{self.number}-never"
        if self.chance.random() < 0.2:
            self._void(table_id, round_id, bets[0].bet_id, never_sent)
        self._bet(table_id, round_id, bets)
        if self.chance.random() < 0.3:
            self._bet(table_id, round_id, bets)
        if self.chance.random() < 0.3:
            self._void(table_id, round_id, bets[-1].bet_id)
        if self.chance.random() < 0.2:
            self._close(table_id, round_id)
        if self.chance.random() < 0.2:
            self._void(table_id, round_id, bets[0].bet_id, reason="the wrong seat")
        if self.chance.random() < 0.2:
            self._cancel(table_id, round_id)
        else:
            self._settle(table_id, round_id, self.chance.choice(DEALS))

    def _bets(self, table_id: str) -> tuple[Bet, ...]:
        count = self.chance.randint(1, 3)
        if table_id.startswith("cyber"):
            return tuple(self._bet_on(str(hand), "EUR", 100, "p") for hand in range(1, count + 1))
        currencies = self.chance.choices(list(LIVE_STAKES), k=count)
        return tuple(
            self._bet_on(str(self.chance.randint(1, 3)), currency, LIVE_STAKES[currency], f"p{index}")
            for index, currency in enumerate(currencies)
        )

    def _bet_on(self, hand: str, currency: str, stake_minor: int, player: str) -> Bet:
        return Bet(f"{self.number}-{player}-{hand}", f"{self.number}-{player}", hand, currency, stake_minor)

    def _bet(self, table_id: str, round_id: str, bets: tuple[Bet, ...]) -> None:
        answer = scene.attempted(lambda: accepted(self.groups, scene.batch(table_id, round_id, *bets)))
        if isinstance(answer, LedgerError):
            assert isinstance(answer, Conflict), answer.detail
        elif answer.accepted:
            booked = [bet for bet in bets if bet.bet_id not in answer.void]
            assert len(booked) == answer.accepted
            self.acknowledged.stakes |= {
                (table_id, round_id, bet.bet_id): (bet.currency, bet.stake_minor) for bet in booked
            }

    def _void(self, table_id: str, round_id: str, *bet_ids: str, reason: str | None = None) -> None:
        answer = scene.attempted(partial(scene.void, self.engine, table_id, round_id, *bet_ids, reason=reason))
        if isinstance(answer, LedgerError):
            assert isinstance(answer, Conflict), answer.detail
        else:
            self.acknowledged.refunded |= {(table_id, round_id, bet_id) for bet_id in answer.voided}

    def _close(self, table_id: str, round_id: str) -> None:
        """Close the round's betting, unless somebody bets or ends the round meanwhile; later bets are refused."""
        answer = scene.attempted(partial(scene.close, self.engine, table_id, round_id, 0))
        if isinstance(answer, BetCountMismatch):
            bet_count = int(str(answer.facts["bet_count"]))
            answer = scene.attempted(partial(scene.close, self.engine, table_id, round_id, bet_count))
        if isinstance(answer, LedgerError):
            assert isinstance(answer, Conflict), answer.detail

    def _cancel(self, table_id: str, round_id: str) -> None:
        answer = scene.attempted(partial(scene.cancel, self.engine, table_id, round_id))
        if isinstance(answer, LedgerError):
            assert isinstance(answer, Conflict), answer.detail
        else:
            self.acknowledged.refunded |= {(table_id, round_id, bet.bet_id) for bet in answer.refunds}
            self.acknowledged.cancelled.add((table_id, round_id))

    def _settle(self, table_id: str, round_id: str, deal: Mapping[str, str]) -> None:
        count = 0
        for _ in range(MOST_ATTEMPTS):
            answer = scene.attempted(partial(scene.settle, self.engine, table_id, round_id, count, deal))
            if isinstance(answer, RoundSettledNow):
                return self._note(table_id, round_id, answer)
            assert isinstance(answer, Conflict), answer.detail
            if not isinstance(answer, BetCountMismatch):
                return None
            count = int(str(answer.facts["bet_count"]))
        raise AssertionError("the bets of a round never stopped changing")

    def _note(self, table_id: str, round_id: str, answer: RoundSettledNow) -> None:
        self.acknowledged.settled.add((table_id, round_id))
        self.acknowledged.refunded |= {(table_id, round_id, bet.bet_id) for bet in answer.refunds}
        for award in answer.awards:
            key = (table_id, round_id, award.bet_id)
            self.acknowledged.awards[key, award.tier] = (award.currency, award.amount_minor)
        if answer.settlement["cycle_after"] > answer.settlement["cycle"]:
            self.acknowledged.hits.add((table_id, round_id))


def play(racer: Racer, *, process: int, seconds: float) -> Acknowledged:
    groups = BetGroups(racer.engine, threads=ThreadPoolExecutor(2), longest_wait_s=LONGEST_RACE_S, most_on_loop=1)
    numbers = [process * PLAYERS_OF_A_PROCESS + index for index in range(PLAYERS_OF_A_PROCESS)]
    players = [Player(racer.engine, groups, number, random.Random(number)) for number in numbers]
    until = time.monotonic() + seconds
    in_threads([partial(_play, player, group=process // 2, until=until) for player in players], threads=len(players))
    acknowledged = Acknowledged()
    for player in players:
        acknowledged.add(player.acknowledged)
    return acknowledged


def _play(player: Player, *, group: int, until: float) -> None:
    for index in count():
        if index >= ROUNDS_OF_A_PLAYER and time.monotonic() > until:
            return
        jackpot = ("live", "cyber")[(index + group) % 2]
        player.play(f"{jackpot}-{group}", f"r{index}")


def test_eight_processes_at_everything_meet_no_deadlock_and_book_what_they_acknowledge(
    engine: sqlalchemy.Engine, database_url: str, soak_seconds: float
) -> None:
    groups = range(PROCESSES // 2)
    scene.open_live(engine, "live", tables=[f"live-{group}" for group in groups], base_amount="1000", stripes=3)
    scene.open_cyber(engine, "cyber", tables=[f"cyber-{group}" for group in groups], stripes=4)

    acknowledged = Acknowledged()
    acts = [partial(play, process=process, seconds=soak_seconds) for process in range(PROCESSES)]
    for player_acknowledged in race(database_url, *acts, longest_s=LONGEST_RACE_S + soak_seconds):
        acknowledged.add(player_acknowledged)

    states = dict(books.ask(engine, "SELECT state, count(*) FROM rounds GROUP BY state"))
    assert states.get("settled", 0) == len(acknowledged.settled) > 0
    assert states.get("cancelled", 0) == len(acknowledged.cancelled) > 0
    assert states.get("open", 0) == 0
    assert books.ask(engine, "SELECT count(*) > 2 FROM entries WHERE kind = 'closing'") == [(True,)]
    assert books.ask(engine, "SELECT count(*) - 2 FROM cycles") == [(len(acknowledged.hits),)]
    assert len(acknowledged.hits) > 2
    assert books.ask(engine, "SELECT count(*) FROM bets") == [(len(acknowledged.stakes),)]
    assert books.ask(engine, "SELECT count(*) FROM awards") == [(len(acknowledged.awards),)]
    for currency, amount_minor in acknowledged.owed_minor().items():
        owed = Decimal(amount_minor) if currency == "JPY" else Decimal(amount_minor) / 100
        assert books.balance(engine, "casino:c1", currency) == owed
    books.require_clean(engine)
    assert books.deadlocks(engine) == 0
