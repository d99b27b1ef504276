"""Table servers at work: threads that play rounds through the client and note whatever is acknowledged to them."""

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypedDict, TypeVar

from jackpot_client import (
    Bet,
    CancelledRound,
    Hand,
    HandStatus,
    JackpotClient,
    PlacedBets,
    Retry,
    SettledRound,
    VoidedBets,
)
from tests.support.owing import owed_minor

LONGEST_WAIT_S = 60
MOST_ROUNDS = 2000
CURRENCIES = {"EUR": 100, "GBP": 250, "SEK": 1000, "JPY": 300}
DEALS = (
    (Hand(hand="1", cards=("As", "Ks", "Qs", "Js", "Ts")), Hand(hand="2", cards=("9h", "8h", "7h", "6h", "5h"))),
    (Hand(hand="1", cards=("9h", "8h", "7h", "6h", "5h")), Hand(hand="2", status=HandStatus.DEAD)),
    (Hand(hand="1", cards=("2c", "3d", "4h", "7s", "9c")), Hand(hand="2", cards=("Kd", "Kh", "3c", "3h", "3s"))),
    (Hand(hand="1", status=HandStatus.FORFEITED), Hand(hand="2", cards=("4s", "4h", "4d", "4c", "Td"))),
)

Answer = PlacedBets | VoidedBets | SettledRound | CancelledRound
AnswerT = TypeVar("AnswerT", PlacedBets, VoidedBets, SettledRound, CancelledRound)
Key = tuple[str, str, str]


class Place(TypedDict):
    """Names a round."""

    table_id: str
    round_id: str


@dataclass(frozen=True)
class Told:
    """A call that was answered, and its answer; `again` makes the very same call."""

    again: Callable[[JackpotClient], Answer]
    answer: Answer


@dataclass
class Ledger:
    """What has been acknowledged, by the table servers' own count."""

    calls: list[Told] = field(default_factory=list)
    stakes: dict[Key, tuple[str, int]] = field(default_factory=dict)
    refunded: set[Key] = field(default_factory=set)
    awards: dict[tuple[Key, str], tuple[str, int]] = field(default_factory=dict)
    retries: Counter[str] = field(default_factory=Counter)
    grown: threading.Condition = field(default_factory=threading.Condition)
    failure: BaseException | None = None

    def note(self, call: Told) -> None:
        with self.grown:
            self.calls.append(call)
            self.grown.notify_all()

    def note_retry(self, retry: Retry) -> None:
        with self.grown:
            self.retries[retry.reason.partition(":")[0]] += 1

    def wait_for_more(self, calls: int) -> None:
        """Wait until so many more calls have been answered."""
        with self.grown:
            expected = len(self.calls) + calls
            came = self.grown.wait_for(lambda: self.failure or len(self.calls) >= expected, LONGEST_WAIT_S)
            assert came, f"only {len(self.calls)} of {expected} calls were answered; retries: {self.retries}"

    def owed_minor(self) -> dict[str, int]:
        """What the casino is owed in each currency, in minor units; negative, it owes."""
        return owed_minor(self.stakes, self.refunded, self.awards)


@dataclass
class TableServer:
    """One table's program: its rounds one after another, each call made until it is answered."""

    client: JackpotClient
    table_id: str
    ledger: Ledger
    stop: threading.Event
    chance: random.Random

    def work(self) -> None:
        try:
            for number in range(MOST_ROUNDS):
                if self.stop.is_set():
                    return
                self._play(f"r{number}")
        except BaseException as error:  # noqa: BLE001  the test tells it
            with self.ledger.grown:
                self.ledger.failure = error
                self.ledger.grown.notify_all()

    def _play(self, round_id: str) -> None:
        place: Place = {"table_id": self.table_id, "round_id": round_id}
        bets = self._bets()
        live = len(bets)
        self._call(lambda client: client.place_bets(bets=bets, **place))
        self.ledger.stakes |= {self._key(round_id, bet.bet_id): (bet.currency, bet.stake_minor) for bet in bets}
        if self.chance.random() < 0.3:
            voided = self._call(lambda client: client.void_bets(bet_ids=[bets[0].bet_id, "never"], **place))
            self._refund(round_id, *voided.voided)
            live -= 1
        if self.chance.random() < 0.2:
            cancelled = self._call(lambda client: client.cancel_round(reason="misdeal", **place))
            self._refund(round_id, *(refund.bet_id for refund in cancelled.refunds))
        else:
            hands = self.chance.choice(DEALS)
            settled = self._call(lambda client: client.put_result(bet_count=live, hands=hands, **place))
            self._refund(round_id, *(refund.bet_id for refund in settled.settlement.refunds))
            for award in settled.settlement.awards:
                key = self._key(round_id, award.bet_id)
                self.ledger.awards[key, award.tier] = (award.currency, award.amount_minor)

    def _key(self, round_id: str, bet_id: str) -> Key:
        return self.table_id, round_id, bet_id

    def _bets(self) -> tuple[Bet, ...]:
        if self.table_id.startswith("cyber"):
            return tuple(Bet(player_id="p", hand=hand, currency="EUR", stake_minor=100) for hand in ("1", "2"))
        currencies = self.chance.choices(list(CURRENCIES), k=self.chance.randint(1, 3))
        return tuple(
            Bet(player_id=f"p{n}", hand=self.chance.choice("12"), currency=currency, stake_minor=CURRENCIES[currency])
            for n, currency in enumerate(currencies)
        )

    def _refund(self, round_id: str, *bet_ids: str) -> None:
        self.ledger.refunded |= {self._key(round_id, bet_id) for bet_id in bet_ids}

    def _call(self, call: Callable[[JackpotClient], AnswerT]) -> AnswerT:
        answer = call(self.client)
        self.ledger.note(Told(call, answer))
        return answer


@contextmanager
def load(base_url: str, key: str, tables: list[str], **options: Any) -> Iterator[Ledger]:
    """Keep table servers at work; at the end of the block each ends its round, every call answered."""
    ledger, stop = Ledger(), threading.Event()
    with client_for(base_url, key, on_retry=ledger.note_retry, **options) as client:
        servers = [
            TableServer(client, table_id, ledger, stop, random.Random(number)) for number, table_id in enumerate(tables)
        ]
        threads = [threading.Thread(target=server.work, daemon=True) for server in servers]
        for thread in threads:
            thread.start()
        try:
            yield ledger
        finally:
            stop.set()
            for thread in threads:
                thread.join(LONGEST_WAIT_S)
        assert not any(thread.is_alive() for thread in threads), "a table server waits for ever"
        if ledger.failure is not None:
            raise ledger.failure


def client_for(base_url: str, key: str, **options: Any) -> JackpotClient:
    """Make a client that is patient, and quick to ask again."""
    return JackpotClient(base_url, key, deadline=LONGEST_WAIT_S, first_backoff=0.02, largest_backoff=0.2, **options)
