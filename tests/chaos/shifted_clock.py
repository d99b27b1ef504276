"""The service's application with a clock that is wrong by as many seconds as a file says, from one call to the next."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from jackpot_service.app import create_app
from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine

VARIABLE = "CHAOS_CLOCK_SHIFT"
"""Names the file."""


class ShiftedClock:
    """A clock that jumps whenever its file is written anew; it is right while there is none."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self) -> datetime:
        """Return the time that it shows."""
        return datetime.now(UTC) + timedelta(seconds=self._shift_s())

    def jump(self, shift_s: float) -> None:
        """Let it be wrong by so many seconds from now on, in every process that has it."""
        new = self._path.with_suffix(".new")
        new.write_text(f"{shift_s}")
        new.replace(self._path)  # At once: nobody reads half of it.

    def _shift_s(self) -> float:
        try:
            return float(self._path.read_text())
        except FileNotFoundError:
            return 0.0


def application() -> Any:
    """Make the application, as an ASGI server calls it."""
    clock = ShiftedClock(Path(os.environ[VARIABLE]))
    config = Config.from_environment(os.environ)
    engine = create_engine(config, os.environ["JACKPOT_DATABASE_URL"])
    return create_app(config, engine, clock=clock).asgi
