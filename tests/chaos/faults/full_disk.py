"""The data directory's disk is full, for some seconds."""

from typing import ClassVar

from tests.chaos.faults.fault import EmbeddedFault
from tests.chaos.site import Site


class DiskFull(EmbeddedFault):
    """No byte can be added to the data directory; PostgreSQL may end over it, and is started again."""

    name: ClassVar = "the disk full"
    seconds: ClassVar = 6.0

    def impossible(self, site: Site) -> str:
        """Return why not: a disk of its own must be mounted for it."""
        return super().impossible(site) or ("" if site.disk else "no disk can be mounted here")

    def do(self, site: Site) -> None:
        """Take the room away."""
        if site.disk is not None:
            site.disk.fill()

    def undo(self, site: Site) -> None:
        """Give it back."""
        if site.disk is not None:
            site.disk.empty()


FAULTS = (DiskFull,)
