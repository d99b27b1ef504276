"""Which version of the service this is."""

from importlib.metadata import version


def service_version() -> str:
    """The version that is installed, as reports, seals and verifications state it."""
    return version("jackpot-service")
