"""The errors that end a command which works with the database, each in a line."""

from typing import Final

from sqlalchemy.exc import OperationalError

from jackpot_service.config.settings import ConfigError
from jackpot_service.database.embedded import EmbeddedError
from jackpot_service.database.login import LoginTooStrong
from jackpot_service.domain.errors import LedgerError

WRONG_CONFIGURATION: Final = 2
REFUSED: Final = 1


def explained(error: Exception) -> tuple[str, int] | None:
    """Return what to say about an error, and the status to end with; None for one that nobody foresaw."""
    if isinstance(error, ConfigError | LoginTooStrong):
        return str(error), WRONG_CONFIGURATION
    if isinstance(error, LedgerError):
        return f"{error.code}: {error.detail}", REFUSED
    if isinstance(error, EmbeddedError):
        return f"embedded PostgreSQL: {error}", REFUSED
    if isinstance(error, OperationalError):
        return f"the database cannot be reached: {str(error.orig).splitlines()[0]}", REFUSED
    return None
