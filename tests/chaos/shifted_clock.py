"""The service's application with a clock that is wrong by as many seconds as the environment says."""

import os
from datetime import UTC, datetime, timedelta
from typing import Any

from jackpot_service.app import create_app
from jackpot_service.config.settings import Config
from jackpot_service.database.connections import create_engine

VARIABLE = "CHAOS_CLOCK_SHIFT_S"


def application() -> Any:
    """Make the application, as an ASGI server calls it."""
    shift = timedelta(seconds=float(os.environ[VARIABLE]))
    config = Config.from_environment(os.environ)
    engine = create_engine(config, os.environ["JACKPOT_DATABASE_URL"])
    return create_app(config, engine, clock=lambda: datetime.now(UTC) + shift).asgi
