"""
What the processes of the service count, for `/metrics`.

Each process counts in its own memory. Where `together` names a directory, each counts in a file of it instead, and any
of them shows the sum: a Prometheus that asks is answered by one worker, which knows nothing of the others.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from prometheus_client import CollectorRegistry, Counter, disable_created_metrics, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

_DIRECTORY: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The library reads it when it is first imported; so it is set in the environment of the processes to come."""

disable_created_metrics()  # type: ignore[no-untyped-call]  # They are not there where processes count together.

LIMITED = Counter("jackpot_calls_limited", "Calls answered 429, by the limit: of a key, or of an address.", ["limit"])
TURNED_AWAY = Counter("jackpot_calls_turned_away", "Calls answered 503, by what had no place left for them.", ["what"])


@contextmanager
def together() -> Iterator[None]:
    """Have the processes that are started within the block count together, from zero."""
    with tempfile.TemporaryDirectory(prefix="jackpot-counters-") as directory:
        os.environ[_DIRECTORY] = directory
        try:
            yield
        finally:
            del os.environ[_DIRECTORY]


def shown() -> bytes:
    """Write the counters of all processes that count together, in the text format of Prometheus."""
    registry = CollectorRegistry()
    if os.environ.get(_DIRECTORY):
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        for counter in (LIMITED, TURNED_AWAY):
            registry.register(counter)
    return generate_latest(registry)
