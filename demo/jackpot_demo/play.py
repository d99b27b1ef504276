"""Plays the whole scene against a running service: each table in a thread of its own, one of them with a partner."""

import itertools
import logging
import random
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

from jackpot_client import ClientError, JackpotClient, Refusal
from jackpot_demo import figures, plan
from jackpot_demo.errors import DemoBug, Stopped, TurnedAway
from jackpot_demo.figures import Figures
from jackpot_demo.partner import Partner
from jackpot_demo.plan import Plan
from jackpot_demo.scene import SCRIPTED_TABLE, TABLES, Table
from jackpot_demo.tables import TOP_TIER, PlayedRound, TableServer

_SCRIPTED_AT = 2
"""The third round of its table: early enough for a first look, and after something has been contributed."""


_TURNED_AWAY_S = 3.0
"""So long a table waits that was refused."""

_log = logging.getLogger(__name__)
"""Where nobody configured logging, warnings go to standard error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A round has ended: which, what all have come to so far, and a line that says it to people."""

    table_id: str
    round_id: str
    is_scripted: bool
    rounds_planned: int | None
    figures: Figures
    line: str


def run(
    base_url: str,
    keys: Mapping[str, str],
    *,
    rounds: int | None,
    seed: int,
    on_progress: Callable[[Progress], None],
    stop: threading.Event,
    seconds_between_rounds: float = 0.0,
    has_scripted_royal_flush: bool = True,
) -> Figures:
    """
    Play `rounds` rounds over all tables (None: until it is stopped) and return what they came to.

    The same seed and number of rounds give every table the same cards, players and stakes; only ids differ.
    `keys` are table keys by casino. `on_progress` is called from the tables' threads, one call at a time. Once `stop`
    is set a table ends the round it is in if the service answers, and leaves it otherwise.

    Without an end, a table that is refused leaves its round, and begins another a while later: somebody who looks round
    has suspended its jackpot, or limited its stakes. Each table logs the first refusal of each kind.

    Raises: DemoBug for an answer that must not be, or, of so many rounds, a refusal that was not provoked; ValueError
    without a key for each casino.
    """
    if missing := {table.casino_id for table in TABLES} - keys.keys():
        raise ValueError(f"no table key for {', '.join(sorted(missing))}")
    evening = _Evening(base_url, keys, rounds, on_progress, seconds_between_rounds, has_scripted_royal_flush)
    with ThreadPoolExecutor(max_workers=len(TABLES), thread_name_prefix="table") as threads:
        try:
            tables = [
                threads.submit(evening.play_table, table, _share(rounds, at), seed) for at, table in enumerate(TABLES)
            ]
            _wait(tables, stop)
        finally:
            evening.halt.set()
    for table in tables:
        if table.exception() is not None:
            table.result()
    return evening.figures


def _share(rounds: int | None, at: int) -> int | None:
    """Return how many of the rounds are the table's: fixed beforehand, so that a seed plays the same again."""
    return None if rounds is None else rounds // len(TABLES) + (at < rounds % len(TABLES))


def _wait(tables: list[Future[None]], stop: threading.Event) -> None:
    """Wait until all tables are done, one has failed, or the caller wants an end."""
    pending = set(tables)
    while pending and not stop.is_set():
        done, pending = wait(pending, timeout=0.1, return_when=FIRST_EXCEPTION)
        if any(table.exception() for table in done):
            return


def _played(server: TableServer, planned: Plan) -> PlayedRound:
    """Play a round; a table that is turned away cancels it, as far as it was begun. Raises: Stopped, DemoBug."""
    where = f"{server.table.table_id}, round {planned.round_id}"
    try:
        return server.play(planned)
    except (Refusal, TurnedAway) as error:
        with suppress(ClientError):
            server.client.cancel_round(
                table_id=server.table.table_id, round_id=planned.round_id, reason="the table was turned away"
            )
        raise TurnedAway(f"{where}: {error}", code=error.code) from error
    except (ClientError, DemoBug) as error:
        raise DemoBug(f"{where}: {error}") from error


@dataclass(slots=True)
class _Evening:
    """The things that the tables of one run have in common."""

    base_url: str
    keys: Mapping[str, str]
    rounds_planned: int | None
    on_progress: Callable[[Progress], None]
    seconds_between_rounds: float
    has_scripted_royal_flush: bool
    figures: Figures = field(default_factory=Figures)
    halt: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def play_table(self, table: Table, rounds: int | None, seed: int) -> None:
        """Play one table's rounds until they are all played or the evening is over."""
        plans = self._plans(table, rounds, seed)
        logged: set[str] = set()
        while not self.halt.is_set():
            try:
                self._serve(table, plans)
            except Stopped:
                return
            except TurnedAway as error:
                if rounds is not None:
                    raise
                if error.code not in logged:
                    logged.add(error.code)
                    _log.warning("%s; the table tries again every %g s", error, _TURNED_AWAY_S)
                self.halt.wait(_TURNED_AWAY_S)
            else:
                return

    def _serve(self, table: Table, plans: Iterator[Plan]) -> None:
        """Play plans with a table server of their own. Raises: Stopped, DemoBug."""
        retries: list[object] = []
        with ExitStack() as stack:
            key = self.keys[table.casino_id]
            client = stack.enter_context(JackpotClient(self.base_url, key, sleep=self._pause, on_retry=retries.append))
            partner = stack.enter_context(Partner(self.base_url, key, halt=self.halt)) if table.has_partner else None
            server = TableServer(table=table, client=client, partner=partner)
            for planned in plans:
                self._count(_played(server, planned), Figures(retries=len(retries)))
                retries.clear()
                if self.halt.wait(self.seconds_between_rounds):
                    return

    def _plans(self, table: Table, rounds: int | None, seed: int) -> Iterator[Plan]:
        """Draw the rounds of a table, one after the other."""
        rng = random.Random(f"{seed}:{table.table_id}")
        scripted_at = _SCRIPTED_AT if rounds is None else min(_SCRIPTED_AT, rounds - 1)
        has_script = self.has_scripted_royal_flush and table is SCRIPTED_TABLE
        for number in itertools.count() if rounds is None else range(rounds):
            is_scripted = has_script and number == scripted_at
            yield (plan.script_royal_flush if is_scripted else plan.draw)(rng, table)

    def _pause(self, seconds: float) -> None:
        """Wait before a retry, unless the evening is over: then there is none."""
        if self.halt.wait(seconds):
            raise Stopped("asked to stop while waiting to retry")

    def _count(self, played: PlayedRound, further: Figures) -> None:
        with self._lock:
            self.figures = self.figures + played.figures + further
            self.on_progress(
                Progress(
                    table_id=played.table.table_id,
                    round_id=played.plan.round_id,
                    is_scripted=played.plan.is_scripted,
                    rounds_planned=self.rounds_planned,
                    figures=self.figures,
                    line=self._line(played),
                )
            )

    def _line(self, played: PlayedRound) -> str:
        of = "" if self.rounds_planned is None else f" of {self.rounds_planned:,}"
        return f"round {self.figures.rounds:,}{of} · {played.table.table_id} · {_outcome(played)}"


def _outcome(played: PlayedRound) -> str:
    """Say what a round came to; a scripted one says so first."""
    top = [award for award in played.awards if award.tier == TOP_TIER]
    bets = f"{played.figures.bets} bet{'s' * (played.figures.bets != 1)}"
    if played.plan.cancellation:
        return f"{bets} · cancelled ({played.plan.cancellation})"
    if top:
        label = "SCRIPTED royal flush" if played.plan.is_scripted else "ROYAL FLUSH"
        return f"{label}: {len(top)} bets share {figures.in_words(figures.amounts_by_currency(top))}"
    if played.awards:
        return f"{bets} · won {figures.in_words(played.figures.awarded_minor)}"
    return bets
