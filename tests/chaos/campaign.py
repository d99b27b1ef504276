"""The campaign: faults under load, one after another, each with its time, its recovery and its check."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.chaos import timing
from tests.chaos.call_log import now_s
from tests.chaos.checking import Checker
from tests.chaos.faults.fault import Fault
from tests.chaos.site import Site
from tests.chaos.timing import Figures
from tests.chaos.violations import Fact, Violation

QUIET_S = 1.5
"""Of usual load before each fault."""

LONGEST_RECOVERY_S = 60.0

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Phase:
    """One fault, from its beginning until every table server was acknowledged again; what was found wrong after it."""

    name: str
    began_s: float
    figures: Figures
    recovery_s: float | None
    violations: tuple[Violation, ...]


def run(site: Site, faults: Iterator[Fault], *, seconds: float, say: Say) -> Iterator[Phase]:
    """
    Attack a site that is played on, for some time; the last fault is ended in order.

    Raises: NotServing, EmbeddedError if the service cannot be brought back.
    """
    checker = Checker(site)
    site.start_playing()
    _require_play(site)
    until_s = now_s() + seconds
    for fault in faults:
        time.sleep(QUIET_S)
        phase = _phase(site, checker, fault)
        say(_line(phase))
        yield phase
        if now_s() > until_s:
            break
    yield _final(site, checker, say)


def _phase(site: Site, checker: Checker, fault: Fault) -> Phase:
    began_s = now_s()
    try:
        fault.do(site)
        time.sleep(fault.seconds)
    finally:
        fault.undo(site)
    ended_s = now_s()
    site.bring_back()
    recovered_s = _wait_recovered(site, since_s=ended_s)
    site.reader.update()
    figures = timing.figures(site.reader.calls(since_s=began_s), since_s=began_s, until_s=now_s())
    violations = list(checker.check_since(began_s))
    if recovered_s is None:
        violations.append(Violation(Fact.NOT_RECOVERED, fault.name, f"within {LONGEST_RECOVERY_S:g} s"))
    recovery_s = None if recovered_s is None else recovered_s - ended_s
    return Phase(fault.name, began_s, figures, recovery_s, tuple(violations))


def _final(site: Site, checker: Checker, say: Say) -> Phase:
    """Let everybody end, and check all that ever was."""
    began_s = now_s()
    site.generators.stop_all()
    say("checking every call and every sum")
    violations = checker.check_all()
    figures = timing.figures(site.reader.calls(), since_s=0.0, until_s=now_s())
    return Phase("the whole campaign", began_s, figures, None, violations)


def _wait_recovered(site: Site, *, since_s: float) -> float | None:
    """
    Wait until every table server was acknowledged something again; returns when, None if that takes too long.

    A service may end some time after it was hurt, and is then started again.
    """
    until_s = now_s() + LONGEST_RECOVERY_S
    while now_s() < until_s:
        site.reader.update()
        found = timing.recovered_s(site.reader.calls(since_s=since_s), site.generators.names(), since_s=since_s)
        if found is not None:
            return found
        site.service.keep_running()
        time.sleep(0.1)
    return None


def _require_play(site: Site) -> None:
    """Wait until everybody plays. Raises: TimeoutError."""
    if _wait_recovered(site, since_s=now_s()) is None:
        message = f"the table servers are not answered; see {site.directory}"
        raise TimeoutError(message)


def _line(phase: Phase) -> str:
    recovery = "not recovered" if phase.recovery_s is None else f"recovered in {phase.recovery_s:.1f} s"
    wrong = f", {len(phase.violations)} violations" if phase.violations else ""
    figures = phase.figures
    return f"{phase.name}: {figures.acknowledged} of {figures.calls} calls, {recovery}{wrong}"
