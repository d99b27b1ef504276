"""Notes of a verification under way: how far it has come, so that a later one can go on from there."""

import time
from datetime import UTC, datetime
from functools import partial

import sqlalchemy

from jackpot_service.database.transactions import transact
from jackpot_service.ledger.verification import Reached
from jackpot_service.records import checkpoints
from jackpot_service.version import service_version


class Notes:
    """
    Notes now and then, and at the end, how far a verification has come.

    `engine` is another than that of the verification, or has connections for both: a snapshot writes nothing.
    `continues` is the number of the note from which the verification goes on; None for one from zero.
    """

    def __init__(self, engine: sqlalchemy.Engine, *, every_s: float, continues: int | None) -> None:
        self._engine = engine
        self._every_s = every_s
        self._continues = continues
        self._begun_at = datetime.now(UTC)
        self._last = time.monotonic()

    def take(self, reached: Reached) -> int | None:
        """Note it, if it is time; returns the number of the note, if it was taken. Raises: Unavailable."""
        if time.monotonic() - self._last < self._every_s and not reached.is_whole:
            return None
        noting = partial(
            checkpoints.add_verification,
            reached=reached,
            begun_at=self._begun_at,
            noted_at=datetime.now(UTC),
            service_version=service_version(),
            continues=self._continues,
        )
        try:
            return transact(self._engine, noting)
        finally:
            self._last = time.monotonic()
