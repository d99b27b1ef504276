"""How a demo ends before its last round."""


class DemoBug(Exception):
    """The service answered what it must not, or refused what the demo did not provoke: one of the two is wrong."""


class Stopped(Exception):
    """The demo was asked to stop while it waited; nothing is wrong."""
