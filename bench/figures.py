"""What a measurement found: one number each, with what it was measured at and what it should be."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from bench.targets import Target

_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Figure:
    """
    One number.

    `measurement` is what `python -m bench` calls it, `name` is what was measured, `at` under which circumstances.
    """

    measurement: str
    name: str
    value: float
    unit: str
    at: Mapping[str, int] = field(default_factory=dict)
    target: Target | None = None

    @property
    def is_missed(self) -> bool:
        """Whether there is a floor and it was not reached."""
        return self.target is not None and not self.target.is_reached_by(self.value)

    def as_document(self) -> dict[str, object]:
        """Write it for JSON."""
        return {
            "measurement": self.measurement,
            "name": self.name,
            "at": dict(self.at),
            "value": rounded(self.value),
            "unit": self.unit,
            "floor": None if self.target is None else self.target.floor,
            "goal": None if self.target is None else self.target.goal,
            "missed": self.is_missed,
        }


def medians(rounds: Sequence[Sequence[Figure]]) -> tuple[Figure, ...]:
    """Take the median of each figure over several rounds of one measurement; of a ratio, that of each round's ratio."""
    return tuple(
        replace(same[0], value=statistics.median(figure.value for figure in same)) for same in zip(*rounds, strict=True)
    )


def pick(figures: Sequence[Figure], measurement: str, name: str, **at: int) -> tuple[Figure, ...]:
    """Find the figures of a name whose circumstances are, among others, these."""
    return tuple(
        figure
        for figure in figures
        if (figure.measurement, figure.name) == (measurement, name) and at.items() <= figure.at.items()
    )


def rounded(value: float) -> float:
    """Leave out the digits that are noise."""
    return float(f"{value:.{_DIGITS}g}")
