"""The campaign: faults under load, one after another, each with its time, its recovery and its check."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tests.chaos import timing
from tests.chaos.call_log import now_s
from tests.chaos.checking import AUDITOR, Checker
from tests.chaos.faults.fault import Fault
from tests.chaos.site import Site
from tests.chaos.timing import Figures
from tests.chaos.violations import Fact, Violation

QUIET_S = 1.5
"""Of usual load before each fault."""

LONGEST_RECOVERY_S = 60.0
WHOLE = "the whole campaign"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Phase:
    """One fault, from its beginning until every table server was acknowledged again; what was found wrong after it."""

    name: str
    began_s: float
    ended_s: float
    recovery_s: float | None
    violations: tuple[Violation, ...]
    figures: Figures | None = None
    """Known when the campaign is over, and with it what became of each call."""


def run(site: Site, faults: Iterator[Fault], *, seconds: float, say: Say) -> tuple[Phase, ...]:
    """
    Attack a site that is played on, for some time; the last of the phases is the campaign as a whole.

    Raises: NotServing, EmbeddedError if the service cannot be brought back.
    """
    checker = Checker(site)
    site.start_playing()
    require_play(site)
    began_s, phases = now_s(), list[Phase]()
    for fault in faults:
        time.sleep(QUIET_S)
        site.bring_back()  # What the last fault hurt may have ended since.
        phases.append(_phase(site, checker, fault))
        say(_line(phases[-1]))
        if now_s() > began_s + seconds:
            break
    site.generators.stop_all()
    say("checking every call and every sum")
    phases.append(Phase(WHOLE, began_s, now_s(), None, checker.check_all()))
    calls = [call for call in site.reader.calls() if call.server != AUDITOR]
    killed_s = site.generators.killed_s
    return tuple(
        replace(phase, figures=timing.figures(calls, since_s=phase.began_s, until_s=phase.ended_s, killed_s=killed_s))
        for phase in phases
    )


def _phase(site: Site, checker: Checker, fault: Fault) -> Phase:
    began_s = now_s()
    try:
        fault.do(site)
        done_s = now_s()
        time.sleep(fault.seconds)
    finally:
        fault.undo(site)
    over_s = done_s if fault.heals else now_s()
    site.bring_back()
    recovered_s = _wait_recovered(site, since_s=over_s)
    ended_s = now_s()
    violations = list(checker.check_since(began_s))
    if recovered_s is None:
        violations.append(Violation(Fact.NOT_RECOVERED, fault.name, f"within {LONGEST_RECOVERY_S:g} s"))
    recovery_s = None if recovered_s is None else recovered_s - over_s
    return Phase(fault.name, began_s, ended_s, recovery_s, tuple(violations))


def _wait_recovered(site: Site, *, since_s: float) -> float | None:
    """
    Wait until every table server was acknowledged something again; returns when, None if that takes too long.

    A service may end some time after it was hurt, and is then started again.
    """
    until_s = now_s() + LONGEST_RECOVERY_S
    while now_s() < until_s:
        site.reader.update()
        recovered_s = timing.recovered_s(site.reader.calls(since_s=since_s), site.generators.names(), since_s=since_s)
        if recovered_s is not None:
            return recovered_s
        site.service.keep_running()
        time.sleep(0.1)
    return None


def require_play(site: Site) -> None:
    """Wait until everybody plays. Raises: TimeoutError."""
    if _wait_recovered(site, since_s=now_s()) is None:
        message = f"the table servers are not answered; see {site.directory}"
        raise TimeoutError(message)


def _line(phase: Phase) -> str:
    recovery = "not recovered" if phase.recovery_s is None else f"recovered in {phase.recovery_s:.1f} s"
    wrong = f", {len(phase.violations)} violations" if phase.violations else ""
    return f"{phase.name}: {recovery}{wrong}"
