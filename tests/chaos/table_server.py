"""A table server: it plays the rounds of one table, one after another, and makes each call until it is answered."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final

from tests.chaos.caller import Caller, GaveUp
from tests.chaos.calls import Bet, Content, Kind, RoundName
from tests.chaos.dealing import HANDS, deal
from tests.chaos.paytable import LIVE, RATES

BATCHES: Final = {1: 50, 7: 42, 100: 8}
"""Bets of a batch, and how often."""

CYBER_STAKE: Final = ("EUR", 100)
LIVE_STAKES: Final = {"EUR": 100, "GBP": 250, "SEK": 1000, "JPY": 300}

_SPLIT, _TOMBSTONE, _CONFLICT, _VOID, _CANCEL = 0.15, 0.05, 0.03, 0.15, 0.1
_AGAIN, _LATE = 0.05, 0.05
_CLOSE = 0.3


@dataclass(frozen=True, slots=True)
class Table:
    """A table, the rulebook of its jackpot, and the key of its casino's table servers."""

    table_id: str
    rulebook: str
    key: str = field(repr=False)


@dataclass
class Pace:
    """How hard a table server works: pauses between rounds, and the batches that it sends."""

    pause_s: float
    bets_only: bool = False


@dataclass
class TableServer:
    """One table server; the caller's name is part of the ids of its rounds, which nobody else uses."""

    table: Table
    caller: Caller
    pace: Pace
    stop: threading.Event

    def work(self) -> None:
        """Play round after round until it is stopped."""
        for number in count(1):
            if self.stop.is_set():
                return
            try:
                self._play(RoundName(self.table.table_id, f"{self.caller.name}.{number}"))
            except GaveUp:
                self.caller.hang_up()
            self.stop.wait(self.pace.pause_s * self.caller.chance.uniform(0.5, 1.5))

    def _play(self, name: RoundName) -> None:
        bets = self._bets()
        live = {bet.bet_id: bet for bet in bets}
        if self._happens(_TOMBSTONE):
            self._void(name, [bets[0].bet_id], live)
        batches = self._batches(bets)
        for batch in batches:
            self._bet(name, batch)
            if self._happens(_AGAIN):
                self._bet(name, batch)
        if self.pace.bets_only:
            return
        if self._happens(_CONFLICT) and bets[-1].bet_id in live:
            other = bets[-1]._replace(player_id="somebody-else")
            self._call(Content(Kind.BETS, name, bets=(other,)), must_refuse="bet-conflict")
        if self._happens(_VOID) and bets[-1].bet_id in live:
            self._void(name, [bets[-1].bet_id, "never-sent"], live)
        if self._happens(_CLOSE):
            self._close(name, batches[0], live)
        ending = self._ending(name, len(live))
        self._call(ending)
        if self._happens(_AGAIN):
            self._call(ending)
        if self._happens(_LATE):
            self._bet(name, batches[0])
            late = Content(Kind.BETS, name, bets=(bets[0]._replace(bet_id="late"),))
            self._call(late, must_refuse="round-settled" if ending.kind is Kind.RESULT else "round-cancelled")

    def _bets(self) -> tuple[Bet, ...]:
        """Place one bet for each player: that is allowed by every rulebook."""
        [size] = self.caller.chance.choices(list(BATCHES), list(BATCHES.values()))
        return tuple(
            Bet(f"b{n}", f"p{n}", str(self.caller.chance.randint(1, HANDS)), *self._stake()) for n in range(size)
        )

    def _stake(self) -> tuple[str, int]:
        if self.table.rulebook != LIVE.name:
            return CYBER_STAKE
        currency = self.caller.chance.choice(list(RATES))
        return currency, LIVE_STAKES[currency] * self.caller.chance.randint(1, 4)

    def _batches(self, bets: tuple[Bet, ...]) -> tuple[tuple[Bet, ...], ...]:
        if len(bets) > 1 and self._happens(_SPLIT):
            return bets[:1], bets[1:]
        return (bets,)

    def _bet(self, name: RoundName, bets: tuple[Bet, ...]) -> None:
        self._call(Content(Kind.BETS, name, bets=bets))

    def _close(self, name: RoundName, batch: tuple[Bet, ...], live: dict[str, Bet]) -> None:
        """Close betting, and try what is refused then. A bet that is there may be sent again; a void needs a reason."""
        closing = Content(Kind.CLOSING, name, bet_count=len(live))
        self._call(closing)
        if self._happens(_LATE):
            late = Content(Kind.BETS, name, bets=(batch[0]._replace(bet_id="after-the-closing"),))
            self._call(late, must_refuse="betting-closed")
            self._bet(name, batch)
        if self._happens(_CONFLICT):
            self._call(Content(Kind.CLOSING, name, bet_count=len(live) + 1), must_refuse="closing-conflict")
        if self._happens(_VOID) and live:
            void = Content(Kind.VOIDS, name, bet_ids=(min(live),))
            self._call(void, must_refuse="reason-required")
            self._call(replace(void, reason="the player was disconnected before"))
            live.pop(min(live))
        if self._happens(_AGAIN):
            self._call(closing)

    def _void(self, name: RoundName, bet_ids: Sequence[str], live: dict[str, Bet]) -> None:
        self._call(Content(Kind.VOIDS, name, bet_ids=tuple(bet_ids)))
        for bet_id in bet_ids:
            live.pop(bet_id, None)

    def _ending(self, name: RoundName, live: int) -> Content:
        if self._happens(_CANCEL):
            return Content(Kind.CANCELLATION, name, reason="misdeal")
        return Content(Kind.RESULT, name, bet_count=live, hands=deal(self.caller.chance))

    def _happens(self, part: float) -> bool:
        return self.caller.chance.random() < part

    def _call(self, content: Content, *, must_refuse: str = "") -> None:
        self.caller.call(content, self.table.key, must_refuse=must_refuse)
