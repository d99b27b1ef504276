"""Which version of the service this is."""

from functools import cache
from importlib.metadata import version


@cache
def service_version() -> str:
    """The version that is installed, as reports, seals and verifications state it. It is read from a file, once."""
    return version("jackpot-service")
