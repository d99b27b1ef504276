"""
How the service logs: one line an event on standard error, JSON unless a person watches.

A line that repeats is written once a minute, with how often it was passed over before.
"""

import logging
import logging.config
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

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
    # A pipeline whose statement failed is ended by its error, which `transact` handles; psycopg also warns of it.
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


SECONDS_APART: Final = 60.0
MOST_KNOWN: Final = 1_000

log = structlog.get_logger()


@dataclass(slots=True)
class _Line:
    written_at: float
    passed_over: int = 0


@dataclass
class Seldom:
    """
    Writes of the lines about one subject one a minute; the next says how many were passed over (`not_logged`).

    Subjects are forgotten, the longest unseen first, when there are a thousand: callers may name many.
    """

    seconds_apart: float = SECONDS_APART
    most_known: int = MOST_KNOWN
    monotonic: Callable[[], float] = time.monotonic
    _lines: "OrderedDict[object, _Line]" = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def warning(self, event: str, *, about: object = None, **facts: object) -> None:
        """Log a warning, unless one of the same event about the same subject was written in the last minute."""
        passed_over = self._turn((event, about))
        if passed_over is None:
            return
        log.warning(event, **facts, **({"not_logged": passed_over} if passed_over else {}))

    def _turn(self, subject: object) -> int | None:
        """Return how many lines were passed over since the last; None if this one is passed over too."""
        now = self.monotonic()
        with self._lock:
            line = self._lines.get(subject)
            if line is not None and now - line.written_at < self.seconds_apart:
                line.passed_over += 1
                self._lines.move_to_end(subject)
                return None
            self._lines[subject] = _Line(now)
            self._lines.move_to_end(subject)
            if len(self._lines) > self.most_known:
                self._lines.popitem(last=False)
            return 0 if line is None else line.passed_over
