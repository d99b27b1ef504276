"""What a run found, for a reader."""

from collections.abc import Sequence

from bench.figures import Figure
from bench.run import Outcome

_COLUMNS = ("measurement", "at", "figure", "value", "unit", "floor", "goal", "")
_RIGHT_ALIGNED = {"value", "floor", "goal"}


def as_text(outcome: Outcome) -> str:
    """Write the one table, the floors that were missed and the verdict on the books."""
    missed = outcome.missed
    return "\n".join(
        (
            _where(outcome),
            "",
            *_table([_COLUMNS, *(_cells(figure) for figure in outcome.figures)]),
            "",
            *(_complaint(figure) for figure in missed),
            *([] if missed else ["every floor is reached"]),
            f"verify: {'clean' if outcome.books_clean else 'NOT CLEAN'}",
            outcome.verdict,
        )
    )


def _where(outcome: Outcome) -> str:
    machine = outcome.machine
    return (
        f"{machine['processor']}, {machine['processors']} processors shared by generator, service and database; "
        f"PostgreSQL {outcome.database['server_version']}, fsync on, {machine['flush_ms']} ms a flush"
    )


def _complaint(figure: Figure) -> str:
    measurement, at, name, value, unit, floor, *_ = _cells(figure)
    return f"MISSED {' '.join(filter(None, (measurement, at, name)))}: {value} {unit}, floor {floor}"


def _cells(figure: Figure) -> tuple[str, ...]:
    target = figure.target
    return (
        figure.measurement,
        " ".join(f"{name}={value}" for name, value in figure.at.items()),
        figure.name,
        _number(figure.value),
        figure.unit,
        "-" if target is None else _number(target.floor),
        "-" if target is None else _number(target.goal),
        "" if target is None else "MISSED" if figure.is_missed else "ok",
    )


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return ["  ".join(_aligned(*column) for column in zip(_COLUMNS, row, widths, strict=True)).rstrip() for row in rows]


def _aligned(name: str, cell: str, width: int) -> str:
    return cell.rjust(width) if name in _RIGHT_ALIGNED else cell.ljust(width)


def _number(value: float) -> str:
    """Write three or four digits of it, or all that stand before the point."""
    if value >= 1000:  # noqa: PLR2004 -- four digits before the point
        return f"{value:,.0f}"
    return f"{value:.4g}" if value == round(value) else f"{value:.3g}"
