"""
Several processes that prove the rounds of a jackpot side by side, all over the same instant of the database.

A process reads everything by itself, and proves every n-th share of the rounds. Results are taken in the order of the
rounds. So it means the same how far a verification has come, by whatever number of processes.
"""

import contextlib
import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from operator import attrgetter
from queue import SimpleQueue
from typing import Final

import sqlalchemy

from jackpot_service.database.failures import HeldUp
from jackpot_service.database.snapshots import exported_snapshot, snapshot
from jackpot_service.database.transactions import Session
from jackpot_service.domain.errors import Unavailable
from jackpot_service.ledger import replay
from jackpot_service.ledger.verification import NOTHING, Verified
from jackpot_service.proof import decoding, jackpots, references
from jackpot_service.proof.decoding import Decoder
from jackpot_service.proof.references import Index
from jackpot_service.proof.round_proof import ProvedRounds, RoundProof, few_collections, merged

ROUNDS_OF_A_SHARE: Final = 2000
"""So many that what stands near them in the books is not read by each process again."""

LEAST_SHARES: Final = 3
"""With fewer, a process alone has proved them before others have begun."""

LONGEST_END_S: Final = 10.0
"""For so long a process that is to end is waited for; a signal ends it, whatever it does."""

_CONTEXT: Final = multiprocessing.get_context("forkserver")

MakeEngine = Callable[[], sqlalchemy.Engine]
"""Makes the engine of a process, in it: a partial of a function at the top level of a module."""


@dataclass(frozen=True, slots=True)
class Processes:
    """
    How many processes prove rounds side by side, and what each makes its engine by.

    They begin where all jackpots together have that many full shares, and count one more for the rest. They do not see
    what a session has changed itself.
    """

    number: int
    make_engine: MakeEngine
    rounds_of_a_share: int = ROUNDS_OF_A_SHARE
    least_shares: int = LEAST_SHARES


@dataclass(frozen=True, slots=True)
class Share:
    """The rounds of a jackpot whose keys lie after one and up to another."""

    jackpot_id: str
    after: int
    upto: int


@dataclass(frozen=True, slots=True)
class Work:
    """
    The rounds that are to be proved, in shares: those of one jackpot after those of another.

    `since` is how far each jackpot was verified before. Each process is given the `index` of acts: to read them all for
    it takes as long as to prove many rounds.
    """

    shares: Sequence[Share]
    since: Mapping[str, Verified]
    index: Index


@dataclass(slots=True)
class Answers:
    """The answers of a process, added by a thread as they come; a text is its last, and says why it ended."""

    queue: "SimpleQueue[ProvedRounds | str]" = field(default_factory=SimpleQueue)
    entries: int = 0

    def add(self, answer: ProvedRounds | str) -> None:
        """Add the next answer."""
        self.entries += 0 if isinstance(answer, str) else answer.entries
        self.queue.put(answer)


@dataclass(slots=True)
class SideBySide:
    """The results of rounds that several processes prove, in the order of the rounds."""

    answers: Sequence[Answers]
    shares: int
    taken: int = 0

    def __iter__(self) -> Iterator[ProvedRounds]:
        """Take the results. Raises: HeldUp if a process has ended by itself."""
        for number in range(self.shares):
            answer = self.answers[number % len(self.answers)].queue.get()
            if isinstance(answer, str):
                raise HeldUp(answer)
            self.taken += answer.entries
            yield answer

    @property
    def entries_waiting(self) -> int:
        """How many entries' rounds are proved, and not taken yet."""
        return sum(answers.entries for answers in self.answers) - self.taken


@contextmanager
def proving(session: Session, processes: Processes, work: Work) -> Iterator[SideBySide]:
    """
    Have processes prove the shares of some rounds.

    They work meanwhile, whatever the block does. At its end they are gone.

    Raises, while they are read: HeldUp if one of them ends by itself.
    """
    instant = exported_snapshot(session)
    with ExitStack() as stack:
        answers = [
            stack.enter_context(_answers(processes, work, instant, number)) for number in range(processes.number)
        ]
        yield SideBySide(answers, len(work.shares))


@contextmanager
def _answers(processes: Processes, work: Work, instant: str, number: int) -> Iterator[Answers]:
    """Start a process; yields its answers, as they come."""
    here, there = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_prove, args=(there, processes, instant, work, number), daemon=True)
    process.start()
    there.close()  # Then it is the process's alone: its end is seen here.
    answers = Answers()
    taking = threading.Thread(target=_take, args=(here, process, answers), daemon=True)
    taking.start()
    try:
        yield answers
    finally:
        process.terminate()
        process.join(LONGEST_END_S)
        taking.join(LONGEST_END_S)


def _take(here: Connection, process: BaseProcess, answers: Answers) -> None:
    """Take answers off the pipe, which holds few of them: the process need not wait until somebody reads them."""
    with here:
        while True:
            try:
                answers.add(here.recv())
            except (EOFError, OSError):
                process.join(LONGEST_END_S)
                answers.add(f"A process that proved rounds has ended, with {process.exitcode}.")
                return


def _prove(there: Connection, processes: Processes, instant: str, work: Work, number: int) -> None:
    """Prove the shares of a process, in it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all of them; the one that started this ends it.
    engine = processes.make_engine()
    with contextlib.suppress(BrokenPipeError):  # Nobody wants to know any more.
        try:
            with snapshot(engine, of=instant) as session, decoding.strictly(session), few_collections():
                for proved in _proved(session, work, work.shares[number :: processes.number]):
                    there.send(proved)
        except Unavailable as error:
            there.send(f"A process that proved rounds has ended: {error.detail}")
        finally:
            engine.dispose()


def _proved(session: Session, work: Work, shares: Iterable[Share]) -> Iterator[ProvedRounds]:
    decoder = Decoder()
    known = references.read(session, decoder, index=work.index)
    for jackpot_id, of_jackpot in groupby(shares, key=attrgetter("jackpot_id")):
        since = work.since.get(jackpot_id, NOTHING)
        fresh = list(replay.entries_of_no_round(session, jackpot_id, since=since))
        jackpot = jackpots.read(session, jackpot_id, known, since, fresh)
        decoder.take()  # The first process finds it too.
        proof = RoundProof.of(session, decoder, jackpot, since)
        for share in of_jackpot:
            yield merged(proof.between(share.after, share.upto))
