"""The cycles of a jackpot as a report sees them: which ran at its end, which were won in it, and which it touches."""

from dataclasses import dataclass
from itertools import zip_longest

from jackpot_service.database.transactions import Session
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.ledger import replay
from jackpot_service.ledger.instants import Positions
from jackpot_service.ledger.replay import BookedCycle
from jackpot_service.records import pinned
from jackpot_service.reports.finance.frame import Stand


@dataclass(frozen=True, slots=True)
class Running:
    """The cycle that runs at some positions, and the rules that it was opened under."""

    cycle: int
    rules: JackpotRules


def running_at_end(session: Session, stand: Stand) -> Running:
    """The cycle that runs where the part ends; a jackpot that a report covers was opened by then."""
    *_, last = (cycle for cycle in replay.cycles(session, stand.jackpot_id) if _is_upto(cycle, stand.end))
    return Running(last.cycle, pinned.rules(session, stand.jackpot_id, last.rules_version))


def opened_by_hits(session: Session, stand: Stand) -> tuple[BookedCycle, ...]:
    """The cycles that hits in the part opened, in the ledger's order; a jackpot's opening is no hit."""
    return tuple(
        cycle
        for cycle in replay.cycles(session, stand.jackpot_id)
        if cycle.cycle > 1 and _is_upto(cycle, stand.end) and not _is_upto(cycle, stand.start)
    )


def with_entries(session: Session, stand: Stand) -> tuple[int, ...]:
    """
    The cycles that the part has an entry of, in their order, also where it moved nothing.

    A cycle holds what stands after its cut, the hit that ends it included; the first also the jackpot's opening. Where
    clocks differ, an instant may lie before some entry of a cycle and after the hit that ended it, on another stripe:
    the entry is in that cycle all the same, and in the period that begins at the instant.
    """
    cycles = replay.cycles(session, stand.jackpot_id)
    cuts: list[Positions] = [(), *(cycle.cut for cycle in cycles[1:]), stand.end]
    return tuple(
        cycle.cycle
        for cycle, began, ended in zip(cycles, cuts, cuts[1:], strict=False)
        if _has_entries(_later(stand.start, began), _earlier(stand.end, ended))
    )


def _has_entries(start: Positions, end: Positions) -> bool:
    return any(last > first for first, last in zip_longest(start, end, fillvalue=0))


def _is_upto(cycle: BookedCycle, positions: Positions) -> bool:
    """Whether the entry that opened a cycle stands at or before positions."""
    return cycle.stripe_no < len(positions) and cycle.seq <= positions[cycle.stripe_no]


def _later(one: Positions, other: Positions) -> Positions:
    return tuple(max(pair) for pair in zip_longest(one, other, fillvalue=0))


def _earlier(one: Positions, other: Positions) -> Positions:
    """What both reach; a stripe that one of them lacks had no entry there."""
    return tuple(min(pair) for pair in zip_longest(one, other, fillvalue=0))
