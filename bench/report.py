"""What a benchmark found, for a reader and for a program."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from bench.ingest import Outcome, Plan, Sample
from bench.targets import OF_RAW, TIMES_NAIVE, Target

_COLUMNS = (
    ("N", 5),
    ("raw bets/s", 11),
    ("ours bets/s", 12),
    ("p50 ms", 10),
    ("p99 ms", 10),
    ("of raw", 8),
    ("floor", 6),
    ("goal", 6),
    ("naive bets/s", 13),
    ("p50 ms", 10),
    ("x naive", 8),
    ("floor", 6),
    ("goal", 6),
)


@dataclass(frozen=True, slots=True)
class Line:
    """One batch size: the medians of its samples. The ratios are medians of ratios, each within one round."""

    bets: int
    raw_bets_per_second: float
    bets_per_second: float
    p50_ms: float
    p99_ms: float
    generator_us_per_request: float
    of_raw: float
    of_raw_target: Target | None
    naive_bets_per_second: float | None
    naive_p50_ms: float | None
    naive_p99_ms: float | None
    times_naive: float | None
    times_naive_target: Target | None

    def missed(self) -> tuple[str, ...]:
        """Say which floors were missed."""
        found = (("of raw", self.of_raw, self.of_raw_target), ("x naive", self.times_naive, self.times_naive_target))
        return tuple(
            f"MISSED N={self.bets}: {ratio:.3f} {name}, floor {target.floor:g}"
            for name, ratio, target in found
            if ratio is not None and target is not None and ratio < target.floor
        )


def lines(outcome: Outcome) -> tuple[Line, ...]:
    """Sum up the samples, one line per batch size."""
    sizes = dict.fromkeys(sample.bets for sample in outcome.samples)
    return tuple(_line(bets, [sample for sample in outcome.samples if sample.bets == bets]) for bets in sizes)


def missed(outcome: Outcome) -> tuple[str, ...]:
    """Say which floors were missed."""
    return tuple(message for line in lines(outcome) for message in line.missed())


def as_text(outcome: Outcome) -> str:
    """Write the table, the floors that were missed and the verdict on the books."""
    return "\n".join(
        (
            _where(outcome),
            _how(outcome.plan),
            "",
            "".join(name.rjust(width) for name, width in _COLUMNS),
            *(_row(line) for line in lines(outcome)),
            "",
            *(missed(outcome) or ("every floor is reached",)),
            f"verify: {'clean' if outcome.books_clean else 'NOT CLEAN'}",
            outcome.verdict,
        )
    )


def as_document(outcome: Outcome) -> dict[str, object]:
    """Write everything found, for JSON."""
    return {
        "benchmark": "ingest",
        "machine": outcome.machine,
        "database": outcome.database,
        "plan": asdict(outcome.plan),
        "lines": [asdict(line) for line in lines(outcome)],
        "samples": [asdict(sample) for sample in outcome.samples],
        "missed": list(missed(outcome)),
        "books_clean": outcome.books_clean,
        "verdict": outcome.verdict,
    }


def _where(outcome: Outcome) -> str:
    machine = outcome.machine
    return (
        f"{machine['processor']}, {machine['processors']} processors shared by generator, service and database; "
        f"PostgreSQL {outcome.database['server_version']}, fsync on, {machine['flush_ms']} ms a flush"
    )


def _how(plan: Plan) -> str:
    return (
        f"N bets a request, {plan.connections} connections, {plan.seconds:g} s a measurement, {plan.repeats} of each; "
        "raw is the better of its client counts"
    )


def _line(bets: int, samples: Sequence[Sample]) -> Line:
    naive = [sample.naive for sample in samples if sample.naive is not None]
    return Line(
        bets=bets,
        raw_bets_per_second=statistics.median(sample.raw.bets_per_second for sample in samples),
        bets_per_second=statistics.median(sample.ours.bets_per_second for sample in samples),
        p50_ms=statistics.median(sample.ours.p50_ms for sample in samples),
        p99_ms=statistics.median(sample.ours.p99_ms for sample in samples),
        generator_us_per_request=statistics.median(sample.ours.generator_us_per_request for sample in samples),
        of_raw=statistics.median(sample.of_raw for sample in samples),
        of_raw_target=OF_RAW.get(bets),
        naive_bets_per_second=_median([load.bets_per_second for load in naive]),
        naive_p50_ms=_median([load.p50_ms for load in naive]),
        naive_p99_ms=_median([load.p99_ms for load in naive]),
        times_naive=_median([sample.times_naive for sample in samples if sample.times_naive is not None]),
        times_naive_target=TIMES_NAIVE.get(bets),
    )


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _row(line: Line) -> str:
    cells = (
        f"{line.bets}",
        f"{line.raw_bets_per_second:,.0f}",
        f"{line.bets_per_second:,.0f}",
        f"{line.p50_ms:,.2f}",
        f"{line.p99_ms:,.2f}",
        f"{line.of_raw:.2f}",
        *_target_cells(line.of_raw_target, ".2f"),
        _cell(line.naive_bets_per_second, ",.0f"),
        _cell(line.naive_p50_ms, ",.1f"),
        _cell(line.times_naive, ".1f"),
        *_target_cells(line.times_naive_target, ".0f"),
    )
    return "".join(cell.rjust(width) for cell, (_, width) in zip(cells, _COLUMNS, strict=True))


def _target_cells(target: Target | None, form: str) -> tuple[str, str]:
    return (_cell(target.floor, form), _cell(target.goal, form)) if target is not None else ("-", "-")


def _cell(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
