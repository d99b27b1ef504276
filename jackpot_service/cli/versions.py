"""Which services a command may act at: a ledger, and of a version that both sides know."""

from typing import Final

LEDGER: Final = "jackpot-ledger"
"""The name that the service has for itself."""

KNOWN_PARTS: Final = 2


def can_act(own: str, its: str) -> bool:
    """Whether a command may act at a service: both are of the same major and minor version."""
    return _series(own) == _series(its)


def _series(version: str) -> list[str]:
    return version.split(".")[:KNOWN_PARTS]
