"""Log lines that do not flood the log: of what repeats, one a minute, with how often it was passed over before."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import structlog

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
