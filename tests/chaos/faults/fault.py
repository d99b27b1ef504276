"""What a fault is: a name, something that it does to the site, and how that is undone."""

from collections.abc import Callable
from typing import ClassVar

from tests.chaos.database import Database, Embedded
from tests.chaos.site import Site


class Fault:
    """
    One fault, made anew each time that it is drawn; what it did it remembers until it is undone.

    After `undo` whatever does not run is started again, as an operator or a service manager would.
    """

    name: ClassVar[str]
    seconds: ClassVar[float] = 0.0
    """How long it lasts; 0 for what is over at once."""
    heals: ClassVar[bool] = False
    """Whether bets must flow again while it lasts: then its recovery counts from its beginning, not from its end."""

    def impossible(self, _site: Site) -> str:
        """Return why this machine or this site does not allow it; nothing if it does."""
        return ""

    def do(self, site: Site) -> None:
        """Do it. Raises: what the machine says where it cannot."""
        raise NotImplementedError

    def undo(self, site: Site) -> None:
        """Undo what does not end by itself."""


class EmbeddedFault(Fault):
    """A fault of the PostgreSQL that the campaign started itself, and may kill."""

    def impossible(self, site: Site) -> str:
        """Return why another PostgreSQL is left alone."""
        return "" if isinstance(site.database, Embedded) else "it needs the embedded PostgreSQL"


def embedded_in(site: Site) -> Embedded:
    """Return the PostgreSQL that may be killed. Raises: TypeError."""
    database: Database = site.database
    if not isinstance(database, Embedded):
        message = "this fault needs the embedded PostgreSQL"
        raise TypeError(message)
    return database


Drawn = Callable[[], Fault]
