"""How the service logs: one line an event on standard error, JSON unless a person watches."""

import logging
import logging.config
import sys
from typing import Any

import structlog

_SHARED = (
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
)


def configure(level: str) -> None:
    """Set up logging for this process. `level` is a configuration's: debug, info, warning, error or critical."""
    structlog.configure(
        processors=[*_SHARED, _renderer()],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    # A pipeline whose statement failed is ended by its error, which `db.transact` handles; psycopg also warns of it.
    logging.getLogger("psycopg").setLevel(logging.ERROR)


def configure_libraries(level: str) -> None:
    """
    Write what libraries log as the service's own lines, and the server's from `info` on.

    No debugging of theirs is written, for in it are calls with their paths, which may hold what clients keep secret.
    """
    least = max(logging.INFO, logging.getLevelNamesMapping()[level.upper()])
    lines = {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": _SHARED,
        "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, _renderer()],
    }
    settings: dict[str, Any] = {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": lines},
        "handlers": {"lines": {"class": "logging.StreamHandler", "formatter": "lines", "stream": "ext://sys.stderr"}},
        "root": {"level": max(logging.WARNING, least), "handlers": ["lines"]},
        "loggers": {"uvicorn.error": {"level": least, "handlers": ["lines"], "propagate": False}},
    }
    logging.config.dictConfig(settings)


def _renderer() -> structlog.typing.Processor:
    return structlog.dev.ConsoleRenderer() if sys.stderr.isatty() else structlog.processors.JSONRenderer()
