"""The campaign's table: on the terminal, as Markdown, and as JSON."""

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from tests.chaos.blindness import Sight
from tests.chaos.campaign import Phase
from tests.chaos.timing import LONGEST_ANSWER_S
from tests.chaos.violations import ANSWERS, LOSSES, Fact, Violation

COLUMNS: Final = (
    "fault",
    "times",
    "calls",
    "acknowledged",
    "lost",
    "unknown",
    "refused",
    "503 and 429",
    "broken",
    "hung",
    "longest answer",
    "recovery",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a campaign came to; `left_out` says of each fault that was not drawn why not."""

    commit: str
    """The checkout's, as the campaign began."""
    seed: int
    seconds: float
    sight: Sight
    phases: Sequence[Phase]
    left_out: Mapping[str, str]

    @property
    def violations(self) -> tuple[Violation, ...]:
        """Return all that was found wrong."""
        return tuple(violation for phase in self.phases for violation in phase.violations)

    @property
    def exit_code(self) -> int:
        """Return 1 if the books are wrong, 2 if only answers are, 0 if nothing is."""
        facts = {violation.fact for violation in self.violations}
        return 1 if facts - ANSWERS else 2 if facts else 0


def rows(outcome: Outcome) -> list[tuple[str, ...]]:
    """Return the table: a row for each fault, in the order in which they first came, then the whole campaign."""
    by_name: dict[str, list[Phase]] = {}
    for phase in outcome.phases:
        by_name.setdefault(phase.name, []).append(phase)
    return [_row(name, phases) for name, phases in by_name.items()]


def _row(name: str, phases: Sequence[Phase]) -> tuple[str, ...]:
    figures = [phase.figures for phase in phases if phase.figures is not None]
    recoveries = [phase.recovery_s for phase in phases if phase.recovery_s is not None]
    return (
        name,
        str(len(phases)),
        str(sum(figure.calls for figure in figures)),
        str(sum(figure.acknowledged for figure in figures)),
        str(sum(violation.fact in LOSSES for phase in phases for violation in phase.violations)),
        str(sum(figure.unknown for figure in figures)),
        str(sum(figure.refused for figure in figures)),
        str(sum(figure.refused_for_now for figure in figures)),
        str(sum(figure.broken for figure in figures)),
        str(sum(figure.hung for figure in figures)),
        f"{max(figure.longest_s for figure in figures):.1f} s",
        f"{max(recoveries):.1f} s" if recoveries else "-",
    )


def print_to(console: Console, outcome: Outcome) -> None:
    """Print the table, and below it what was found wrong."""
    table = Table(*COLUMNS, title=f"make chaos, seed {outcome.seed}, {outcome.seconds / 60:.1f} minutes")
    for row in rows(outcome):
        table.add_row(*row)
    console.print(table)
    for line in notes(outcome):
        console.print(line, markup=False, highlight=False)


def as_markdown(outcome: Outcome) -> str:
    """Write the table as a page quotes it."""
    head = f"Commit {outcome.commit}, seed {outcome.seed}, {outcome.seconds / 60:.1f} minutes."
    lines = [
        f"| {' | '.join(COLUMNS)} |",
        f"|{'---|' * len(COLUMNS)}",
        *(f"| {' | '.join(row)} |" for row in rows(outcome)),
    ]
    return "\n\n".join((head, "\n".join(lines), *notes(outcome))) + "\n"


def notes(outcome: Outcome) -> list[str]:
    """Say what stands beneath the table: the checker's sight, what was left out, and what was found wrong."""
    sight = outcome.sight
    tampered = ", ".join(f"{name}: {count}" for name, count in sight.tampered.items())
    lines = [
        f"Without synchronous commit {sight.lost_without_flush} acknowledgements were reported as lost ({tampered}).",
        f"A call hung if it had neither an answer nor a broken connection within {LONGEST_ANSWER_S:g} s.",
    ]
    lines += [f"Left out: {name}, since {reason}." for name, reason in outcome.left_out.items()]
    for fact, violations in by_fact(outcome.violations).items():
        lines.append(f"{len(violations)} times: {fact}; first: {violations[0].place} {violations[0].detail}".rstrip())
    if not outcome.violations:
        lines.append("No violation was found.")
    return lines


def as_document(outcome: Outcome) -> dict[str, Any]:
    """Write everything as JSON."""
    return {
        "commit": outcome.commit,
        "seed": outcome.seed,
        "seconds": outcome.seconds,
        "lost_without_synchronous_commit": outcome.sight.lost_without_flush,
        "tampered": dict(outcome.sight.tampered),
        "left_out": dict(outcome.left_out),
        "columns": COLUMNS,
        "rows": rows(outcome),
        "violations": [[violation.fact, violation.place, violation.detail] for violation in outcome.violations],
    }


def by_fact(violations: Iterable[Violation]) -> dict[Fact, list[Violation]]:
    """Group violations by their kind."""
    grouped: dict[Fact, list[Violation]] = {}
    for violation in violations:
        grouped.setdefault(violation.fact, []).append(violation)
    return grouped


def current_commit() -> str:
    """Return the checkout's commit, marked if there are changes since; `unknown` outside of a repository."""
    command = ["git", "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
