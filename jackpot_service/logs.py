"""How the service logs: one line an event on standard error, JSON unless a person watches."""

import logging
import sys

import structlog


def configure(level: str) -> None:
    """Set up logging for this process. `level` is a configuration's: debug, info, warning, error or critical."""
    is_watched = sys.stderr.isatty()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.dev.ConsoleRenderer() if is_watched else structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    # A pipeline whose statement failed is ended by its error, which `db.transact` handles; psycopg also warns of it.
    logging.getLogger("psycopg").setLevel(logging.ERROR)
