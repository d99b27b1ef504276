"""Health: what readiness, gauges and checkpoints say of the service, in words, with what somebody should look into."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import flask

from jackpot_service.api.readiness import Ready
from jackpot_service.api.request_context import context, look, now
from jackpot_service.database.replica import Look, ReplicaState
from jackpot_service.domain.counting import counted
from jackpot_service.domain.jobs import JobState
from jackpot_service.domain.principals import Role
from jackpot_service.pages import chips, figures
from jackpot_service.pages.access import people
from jackpot_service.pages.blueprint import blueprint
from jackpot_service.records.checkpoints import last_reading
from jackpot_service.reports.checkpoints import DUE_EVERY, Checkpoints, last_checkpoints
from jackpot_service.reports.gauges import Gauges, gauges
from jackpot_service.reports.reconciling import AFTER as RECONCILED_AFTER
from jackpot_service.telemetry import counters
from jackpot_service.version import service_version

READERS: Final = (Role.OPERATOR, Role.AUDITOR)

LONGEST_WAIT: Final = timedelta(minutes=5)
"""So long a job waits while others are done; without any under way, no worker seems to be there."""


@dataclass(frozen=True, slots=True)
class State:
    """A part of the service: its name, whether it is well, and a sentence."""

    name: str
    kind: str
    word: str
    sentence: str


@blueprint.route("/health", methods=["GET"])
@people(*READERS)
def show_health() -> str:
    """Show how the service is."""
    at = now()
    ready = context().readiness.look()
    values, checkpoints = look(lambda session: gauges(session, at=at)), look(last_checkpoints)
    return flask.render_template(
        "health.html",
        at=at,
        ready=ready,
        service=list(_service_states(ready)),
        work=list(_work_states(values, at)),
        checks=list(_checkpoint_states(checkpoints, values, at)),
        counted=list(_counted()),
    )


def _lamp(name: str, *, is_well: bool, well: tuple[str, str], unwell: tuple[str, str]) -> State:
    return State(name, chips.GOOD, *well) if is_well else State(name, chips.WRONG, *unwell)


def _service_states(ready: Ready) -> Iterator[State]:
    yield State("Version", chips.QUIET, service_version(), "The version that answers here.")
    yield _lamp(
        "Database",
        is_well=ready.database_writable,
        well=("primary", "It accepts entries."),
        unwell=("read only", "It accepts no entries: it is a replica, is set to read only, or does not answer."),
    )
    yield _lamp(
        "Schema",
        is_well=ready.migrations_current,
        well=("current", "It is the schema of this version, or a later one that this version can use."),
        unwell=("not current", "This version may not work with it: see jackpot db upgrade."),
    )
    yield _lamp(
        "Clock",
        is_well=ready.clock_right,
        well=("right", "It differs from the database's clock by two seconds at most."),
        unwell=("wrong", "It may be wrong. Nothing is booked while the clock is wrong."),
    )
    yield _lamp(
        "Bets",
        is_well=ready.bets_accepted,
        well=("accepted", "No bet has failed lately because of the database."),
        unwell=("failing", "Some bets failed a moment ago because of the database."),
    )
    if ready.replica is not None:
        yield _replica(ready.replica)


def _replica(last: Look) -> State:
    lag = "It is not known how far it is behind." if last.lag_s is None else f"It is {last.lag_s} s behind at most."
    if last.state is ReplicaState.IN_USE:
        return State("Replica", chips.GOOD, "in use", f"Lists, reports and feeds are read there. {lag}")
    return State("Replica", chips.GOLD, last.state.value, f"Lists, reports and feeds are read at the primary. {lag}")


def _work_states(values: Gauges, at: datetime) -> Iterator[State]:
    yield _jobs(values, at)
    yield _reconciliation(values.days_behind, at)
    pending = sum(values.pending_changes.values())
    yield State("Changes", chips.QUIET, figures.number(pending), "Change requests that wait for another person.")
    months = values.months_ahead
    sentence = f"Partitions are ready for the bets of {counted(months, 'month')} to come."
    yield State("Partitions", chips.GOOD if months else chips.GOLD, "ready" if months else "missing", sentence)
    stale_after = timedelta(seconds=context().config.rates_stale_after_s)
    for sheet in values.sheets:
        warning, age = sheet.warning(at=at, stale_after=stale_after), sheet.age(at=at)
        well = (
            "" if age is None or sheet.head is None else f"Sheet {sheet.head.number}, for {figures.age(age)} in force."
        )
        kind, word = (chips.GOOD, "in force") if warning is None else (chips.GOLD, "look into it")
        yield State(f"Rates of {sheet.base}", kind, word, warning or well)


def _reconciliation(behind: int, at: datetime) -> State:
    """
    Say how far days are reconciled.

    A demo, or books that were restored, may begin with many days that wait. They are read one after another. They are
    late if the service has been up for as long as a day may wait, and has read none in that time.
    """
    began = counted(behind, "day")
    sentence = f"The first day that waits began {began} ago." if behind else "No day waits to be reconciled."
    if behind <= 1:  # Yesterday is read an hour after midnight.
        return State("Reconciliation", chips.GOOD, "up to date", sentence)
    last = look(last_reading)
    unread_for = context().up_for() if last is None else min(at - last, context().up_for())
    if unread_for <= RECONCILED_AFTER:
        progress = "None was read yet." if last is None else f"A part was read {figures.age(at - last)} ago."
        return State("Reconciliation", chips.QUIET, "catching up", f"{sentence} {progress}")
    return State("Reconciliation", chips.GOLD, "late", sentence)


def _jobs(values: Gauges, at: datetime) -> State:
    waiting, running = (values.jobs[state.value] for state in (JobState.QUEUED, JobState.RUNNING))
    sentence = f"{waiting} wait, {running} under way."
    since = values.waits_since
    if since is not None and not running and at - since > LONGEST_WAIT:
        wait = figures.age(at - since)
        return State(
            "Jobs", chips.WRONG, "not done", f"{sentence} One has waited for {wait}: no job worker seems to run."
        )
    return State("Jobs", chips.GOOD, "busy" if waiting or running else "idle", sentence)


def _checkpoint_states(checkpoints: Checkpoints, values: Gauges, at: datetime) -> Iterator[State]:
    whole, seal, period = checkpoints.whole_verification, checkpoints.seal, checkpoints.closed_period
    begun = "" if whole is None else "from zero" if whole.continues is None else f"from note {whole.continues}"
    noted_at = None if whole is None else whole.noted_at
    sealed_at = None if seal is None else seal.booked_at
    if values.mismatches:
        sentence = f"The last found {figures.number(values.mismatches)} mismatches: see Proof."
        yield State("Verification", chips.WRONG, "wrong", sentence)
    else:
        yield _daily("Verification", noted_at, at, f"The last verification that ended found nothing wrong, {begun}.")
    yield _daily("Seal", sealed_at, at, "" if seal is None else f"The last is number {seal.number}.")
    closed = "None is closed yet." if period is None else f"The last ends {figures.moment(period.period.end)}."
    yield State("Closed periods", chips.QUIET, "closed" if period else "none", closed)


def _daily(name: str, last: datetime | None, at: datetime, sentence: str) -> State:
    if last is None:
        return State(name, chips.GOLD, "none yet", "There should be one every day.")
    is_late = at - last > DUE_EVERY
    when = f"{figures.moment(last)}, {figures.age(at - last)} ago."
    return State(name, chips.GOLD if is_late else chips.GOOD, "late" if is_late else "of late", f"{sentence} {when}")


def _counted() -> Iterator[tuple[str, str, str]]:
    """Yield each counter that is not 0: its meaning, its labels, and its number since the service was started."""
    for family in counters.collector().collect():
        counted = counters.COUNTED.get(family.name)
        for sample in family.samples if counted else ():
            if counted and sample.value:
                yield counted.says, ", ".join(sample.labels.values()), figures.number(int(sample.value))
