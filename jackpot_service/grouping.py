"""
Calls that arrive while others run share the next run: a commit (group commit), or a reading.

There is no timer. The first call to come runs at once, by itself; those that come meanwhile wait, and the next of them
runs for all that may go together. So an idle service answers as fast as ever, and a busy one commits and reads fewer
times. What a group shares is its round trips and its flush; each member has its own outcome.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from jackpot_service.db import Busy, HeldUp, OutcomeUnknown
from jackpot_service.domain.errors import LedgerError, Unavailable

Command = TypeVar("Command")
Outcome = TypeVar("Outcome")


@dataclass(slots=True, eq=False)
class _Member(Generic[Command, Outcome]):
    """A call that waits: for its outcome, or to lead the next group."""

    command: Command
    woken: threading.Event = field(default_factory=threading.Event)
    outcome: Outcome | Exception | None = None


class Grouping(Generic[Command, Outcome]):
    """
    Runs commands in groups, one group at a time.

    `run` takes the commands of a group and returns their outcomes in order: an answer, or the error that refuses one.
    `may_join` tells whether a command may go with those already chosen. None waits longer than `longest_wait_s` for its
    group to begin.
    """

    def __init__(
        self,
        run: Callable[[Sequence[Command]], Sequence[Outcome | LedgerError]],
        *,
        may_join: Callable[[Sequence[Command], Command], bool],
        longest_wait_s: float,
    ) -> None:
        self._run = run
        self._may_join = may_join
        self._longest_wait_s = longest_wait_s
        self._lock = threading.Lock()
        self._waiting: deque[_Member[Command, Outcome]] = deque()
        self._is_running = False

    def submit(self, command: Command) -> Outcome:
        """
        Run a command, perhaps with others, and return its own outcome.

        Raises: the error that refuses it; Busy if its turn did not come; whatever `run` raised when it ran this
        command alone.
        """
        member: _Member[Command, Outcome] = _Member(command)
        with self._lock:
            leads = not self._is_running
            self._is_running = True
            if not leads:
                self._waiting.append(member)
        if not leads:
            self._wait(member)
        if member.outcome is None:
            self._lead(member)
        outcome, member.outcome = member.outcome, None
        assert outcome is not None  # noqa: S101  narrows a type: whoever led has set it
        if not isinstance(outcome, Exception):
            return outcome
        try:
            raise outcome
        finally:
            del outcome  # An error that its own traceback holds would keep the request alive until the next collection.

    def _wait(self, member: _Member[Command, Outcome]) -> None:
        """Wait for the outcome or for the lead. Raises: Busy if neither came, and its group has not begun."""
        if member.woken.wait(self._longest_wait_s):
            return
        with self._lock:
            if member in self._waiting:
                self._waiting.remove(member)
                message = "Others hold the ledger for too long; nothing was written."
                raise Busy(message)
        member.woken.wait()

    def _lead(self, leader: _Member[Command, Outcome]) -> None:
        """Run a group that begins with the leader, wake its members, and then whoever leads next."""
        with self._lock:
            group = [leader, *self._joining(leader)]
        try:
            self._settle(group)
        finally:
            for member in group:
                if member.outcome is None:
                    member.outcome = OutcomeUnknown("Whoever led the group was stopped.")
            with self._lock:
                following = self._waiting.popleft() if self._waiting else None
                self._is_running = following is not None
            for member in (*group[1:], *([following] if following else [])):
                member.woken.set()

    def _joining(self, leader: _Member[Command, Outcome]) -> list[_Member[Command, Outcome]]:
        """Take from the queue, in its order, what may go with the leader."""
        chosen = [leader.command]
        joining = []
        staying: deque[_Member[Command, Outcome]] = deque()
        for member in self._waiting:
            if self._may_join(chosen, member.command):
                chosen.append(member.command)
                joining.append(member)
            else:
                staying.append(member)
        self._waiting = staying
        return joining

    def _settle(self, group: Sequence[_Member[Command, Outcome]]) -> None:
        """Give every member its outcome. If the group as a whole fails, each runs alone, so that none harms another."""
        try:
            outcomes = self._run([member.command for member in group])
        except HeldUp as error:
            self._settle_alone(group, error)
        except Unavailable as error:
            for member in group:
                member.outcome = type(error)(error.detail)
        except Exception as error:  # noqa: BLE001  it belongs to whoever caused it, and is raised there
            self._settle_alone(group, error)
        else:
            for member, outcome in zip(group, outcomes, strict=True):
                member.outcome = outcome

    def _settle_alone(self, group: Sequence[_Member[Command, Outcome]], error: Exception) -> None:
        """Run each member by itself; a group of one keeps its error."""
        if len(group) == 1:
            group[0].outcome = error
            return
        for member in group:
            self._settle([member])
