"""
Figures of a period of a jackpot's book, in SQL: of its whole days, and of the entries of its partial days.

A key is the name of a column. `BookPeriod.divided` and `Filters.in_sql` are the parameters.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from jackpot_service.domain.figures import FigureKind
from jackpot_service.ledger import cycles
from jackpot_service.reports.finance.period import BETWEEN, BookPeriod
from jackpot_service.reports.questions import Filters

SUMS_OF_STAKES: Final = ("bets", "stakes", "value", "meter", "reserve", "prize_fund", "house", "adjustments")
"""The sums of relations of bets and refunds."""

MOVED: Final = ("account", "currency", "movement")
"""The keys that relations of postings always have; they sum up `amount`."""

REFUNDS: Final = (FigureKind.REFUNDS, FigureKind.LATE_REFUNDS)
"""Refunds, in time or late."""

EVERYWHERE: Final = Filters()

_REFUNDING: Final = "movements @> ARRAY['reversal'] OR entry_kind = 'round_corrected'"
_JUDGING: Final = "entry_kind IN ('result', 'round_corrected')"

OF_ENTRIES: Final = {
    FigureKind.BETS: "entry_kind = 'bets'",
    FigureKind.REFUNDS: _REFUNDING,
    FigureKind.LATE_REFUNDS: _REFUNDING,
    FigureKind.HANDS: _JUDGING,
    FigureKind.SQUARES: _JUDGING,
    FigureKind.AWARDS: "entry_kind = 'result' AND movements @> ARRAY['award'] OR entry_kind = 'round_corrected'",
    FigureKind.AWARD_STEPS: (
        "entry_kind IN ('round_corrected', 'awards_approved', 'awards_rejected', 'awards_reinstated', 'award_stopped', "
        "'awards_released', 'award_forfeited')"
    ),
    FigureKind.PAYMENTS: "entry_kind IN ('award_paid', 'payment_reversed')",
    FigureKind.POSTINGS: "entry_kind <> 'bets'",
}
"""WHERE this: the entries that have figures of a kind, so that the figures of all others are not taken apart."""


def figures(
    keys: Iterable[str],
    kinds: Sequence[FigureKind],
    book: BookPeriod,
    *,
    filters: Filters = EVERYWHERE,
    condition: str = "true",
) -> str:
    """
    Return the figures of some kinds by keys: `number`, `minor` and `value`.

    The condition is about columns of `days` but the cycle.
    """
    named = list(dict.fromkeys(keys))
    listed = ", ".join(f"'{kind}'" for kind in kinds)
    stated = [f"{key} = :{key}" for key, value in filters.in_sql.items() if value is not None]
    conditions = " AND ".join([f"kind IN ({listed})", condition, *stated])
    columns = ", ".join(named)
    relations = [
        f"""
        SELECT {columns}, number, minor, value
        FROM days_with_recent(:jackpot_id, ARRAY[{listed}]) AS whole
        WHERE {conditions} AND day >= :first_day AND day < :end_day
        """  # noqa: S608  columns, kinds and conditions are named in code
    ]
    if book.partial_days:
        having = " OR ".join(dict.fromkeys(OF_ENTRIES[kind] for kind in kinds))
        relations.append(_figures_of_partial_days(named, kinds, f"{conditions} AND ({having})"))
    return f"""
        SELECT {columns}, sum(number) AS number, sum(minor) AS minor, sum(value) AS value
        FROM ({" UNION ALL ".join(relations)}) AS one
        GROUP BY {columns}
    """  # noqa: S608  it adds up the relations made here


def _figures_of_partial_days(keys: Sequence[str], kinds: Sequence[FigureKind], condition: str) -> str:
    if FigureKind.POSTINGS not in kinds:
        relation = "carried_figures"
    else:
        relation = "posted_figures" if set(kinds) == {FigureKind.POSTINGS} else "figures"
    columns = ", ".join(cycles.OF_ENTRY if key == "cycle" else f"e.{key}" for key in keys)
    cuts = cycles.joined_cuts(":jackpot_id") if "cycle" in keys else ""
    read = ", ".join(["stripe_no", "seq", *(key for key in keys if key != "cycle"), "number", "minor", "value"])
    entries = BETWEEN.format(columns=read, relation=relation, condition=condition)
    return f"SELECT {columns}, e.number, e.minor, e.value FROM {entries} {cuts}"  # noqa: S608  columns of figures, named in code


def stakes(keys: Sequence[str], kinds: Sequence[FigureKind], book: BookPeriod, *, filters: Filters = EVERYWHERE) -> str:
    """
    Return stakes of bets, or of refunds, by keys and currency: their value, and its parts by the rules.

    Late refunds take the parts of meter and reserve from `adjustments`. A split is linear: values are summed before.
    """
    columns = list(dict.fromkeys([*keys, "currency"]))
    summed = figures([*columns, "rules_version", "kind"], kinds, book, filters=filters)
    named = ", ".join(f"of.{column}" for column in columns)
    is_late = f"of.kind = '{FigureKind.LATE_REFUNDS}'"
    return f"""
        SELECT {named}, of.number AS bets, of.minor * unit.one AS stakes, of.value,
               CASE WHEN {is_late} THEN 0 ELSE of.value * to_meter END AS meter,
               CASE WHEN {is_late} THEN 0 ELSE of.value * to_reserve END AS reserve,
               of.value * to_prize_fund AS prize_fund, of.value * to_house AS house,
               CASE WHEN {is_late} THEN of.value * (to_meter + to_reserve) ELSE 0 END AS adjustments
        FROM ({summed}) AS of
        JOIN currency_units(:base) AS unit ON unit.currency = of.currency
        CROSS JOIN LATERAL rules_split(:jackpot_id, of.rules_version) AS split
    """  # noqa: S608  it surrounds a relation of figures


def postings(keys: Sequence[str], book: BookPeriod, *, filters: Filters = EVERYWHERE) -> str:
    """Return postings but those of bets."""
    apart = [key for key in keys if key not in MOVED]
    posted = figures([*apart, "account", "currency", "detail"], [FigureKind.POSTINGS], book, filters=filters)
    columns = "".join(f"{key}, " for key in apart)
    moved = f"{columns} account, currency, detail AS movement, value AS amount"
    return f"SELECT {moved} FROM ({posted}) AS posted"  # noqa: S608  it renames columns of postings


def summed(keys: Sequence[str], sums: Sequence[str], relation: str) -> str:
    """Return the statement that adds up the sums of a relation, in the order of the keys."""
    columns = ", ".join([*keys, *(f"sum({name}) AS {name}" for name in sums)])
    places = ", ".join(str(place) for place in range(1, len(keys) + 1))
    ordered = f"GROUP BY {places} ORDER BY {places}" if keys else ""
    return f"SELECT {columns} FROM ({relation}) AS one {ordered}"  # noqa: S608  columns and places, named in code
