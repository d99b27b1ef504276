"""Which faults are drawn, and in which order: by a seeded chance, each once before any comes again."""

import random
from collections.abc import Iterator, Sequence

from tests.chaos.faults import backends, clocks, freezes, full_disk, overload, patroni, service_processes
from tests.chaos.faults.fault import Drawn, Fault
from tests.chaos.site import Site

FAMILIES: tuple[tuple[Drawn, ...], ...] = (
    service_processes.FAULTS,
    backends.FAULTS,
    freezes.FAULTS,
    full_disk.FAULTS,
    clocks.FAULTS,
    overload.FAULTS,
    patroni.FAULTS,
)
ALL: tuple[Drawn, ...] = tuple(fault for family in FAMILIES for fault in family)


def possible(site: Site, among: Sequence[Drawn] = ALL) -> tuple[tuple[Drawn, ...], dict[str, str]]:
    """Return the faults that this site allows, and of the others, by name, why not."""
    allowed, reasons = list[Drawn](), dict[str, str]()
    for drawn in among:
        fault = drawn()
        reason = fault.impossible(site)
        if reason:
            reasons[fault.name] = reason
        else:
            allowed.append(drawn)
    return tuple(allowed), reasons


def draws(faults: Sequence[Drawn], *, seed: int) -> Iterator[Fault]:
    """Draw faults without an end; the same seed draws the same."""
    chance = random.Random(seed)
    while faults:
        shuffled = list(faults)
        chance.shuffle(shuffled)
        for drawn in shuffled:
            yield drawn()
