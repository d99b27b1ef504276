"""Which batches of bets may be committed together: of one jackpot, each of another round, up to a number of bets."""

from collections.abc import Sequence

import sqlalchemy

from jackpot_service.db import transact
from jackpot_service.domain.errors import LedgerError
from jackpot_service.group_commit import GroupCommit
from jackpot_service.usecases.accept_bets import AcceptBets, BetsAccepted, accept_group

MOST_BETS = 8000
"""Bets of a group: a worker's threads full of large batches share one commit; it takes some 30 ms."""

MOST_WAITING = 256

MOST_REMEMBERED = 100_000
"""Tables whose jackpot is remembered; it never changes."""


class BetGroups:
    """The batches of bets of one process, on their way to a commit."""

    def __init__(self, engine: sqlalchemy.Engine) -> None:
        self._engine = engine
        self._jackpot_of: dict[str, str] = {}
        self._groups = GroupCommit(self._run, may_join=self._may_join, most_waiting=MOST_WAITING)

    def accept(self, command: AcceptBets) -> BetsAccepted:
        """Book a batch, perhaps together with others; see `accept_bets` for what it raises."""
        accepted: BetsAccepted = self._groups.submit(command)
        if len(self._jackpot_of) < MOST_REMEMBERED:
            self._jackpot_of[command.table_id] = accepted.round.round.jackpot_id
        return accepted

    def _run(self, commands: Sequence[AcceptBets]) -> tuple[BetsAccepted | LedgerError, ...]:
        return transact(self._engine, lambda session: accept_group(session, commands))

    def _may_join(self, chosen: Sequence[AcceptBets], command: AcceptBets) -> bool:
        """A table of which no batch was accepted yet goes alone: its jackpot is not known here."""
        jackpot_id = self._jackpot_of.get(command.table_id)
        return (
            jackpot_id is not None
            and self._jackpot_of.get(chosen[0].table_id) == jackpot_id
            and all(other.name != command.name for other in chosen)
            and sum(len(other.bets) for other in chosen) + len(command.bets) <= MOST_BETS
        )
