"""One run: some measurements on one site, one after another, and at the end what the books say."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench import figures, servers, site
from bench.figures import Figure
from bench.site import Site

Measurement = Callable[[Site], Sequence[Figure]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """All figures, what they were measured on, and what the books said at the end."""

    machine: dict[str, object]
    database: dict[str, str]
    figures: tuple[Figure, ...]
    books_clean: bool
    verdict: str

    @property
    def missed(self) -> tuple[Figure, ...]:
        """The figures short of their floors."""
        return tuple(figure for figure in self.figures if figure.is_missed)

    def as_document(self) -> dict[str, object]:
        """Write everything for JSON."""
        return {
            "machine": self.machine,
            "database": self.database,
            "figures": [figure.as_document() for figure in self.figures],
            "missed": len(self.missed),
            "books_clean": self.books_clean,
            "verdict": self.verdict,
        }


def run(measurements: Sequence[Measurement], *, log: Callable[[str], None]) -> Outcome:
    """
    Measure everything, and verify the books of what was measured.

    Raises: ServerFailed, LoadFailed, RuntimeError when something cannot be measured.
    """
    with site.opened(log) as opened:
        measured = tuple(figure for measure in measurements for figure in measure(opened))
        log("verifying the books")
        books_clean, verdict = servers.verify(opened.service.database)
        return Outcome(opened.machine, opened.database, measured, books_clean, verdict)


def repeated(measure: Measurement, *, repeats: int) -> Measurement:
    """Make a measurement that takes the medians of several rounds."""

    def rounds(site: Site) -> Sequence[Figure]:
        return figures.medians([measure(site) for _ in range(repeats)])

    return rounds
