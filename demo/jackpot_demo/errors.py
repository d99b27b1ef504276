"""How a demo ends before its last round."""


class DemoBug(Exception):
    """The service answered what it must not, or refused what the demo did not provoke: one of the two is wrong."""


class TurnedAway(DemoBug):
    """The service refused what the demo did not provoke. Somebody who looks round may have suspended the jackpot."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class Stopped(Exception):
    """The demo was asked to stop while it waited; nothing is wrong."""
