"""
Figures of a part of a jackpot's book, in SQL: of its whole days, and of the entries beside them.

A key is the name of a column; `stated` are the keys of which one value is wanted. `parts.divided` tells the parameters.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from jackpot_service.domain.figures import FigureKind
from jackpot_service.ledger import cycles
from jackpot_service.reports.finance.parts import BETWEEN

SUMS_OF_STAKES: Final = ("bets", "stakes", "value", "meter", "reserve", "prize_fund", "house", "adjustments")
"""What relations of bets and refunds sum up."""

MOVED: Final = ("account", "currency", "movement")
"""What relations of postings keep apart besides the keys; they sum up `amount`."""

REFUNDS: Final = (FigureKind.REFUNDS, FigureKind.LATE_REFUNDS)
"""What is refunded, in time or late."""

OF_ENTRIES: Final = {
    FigureKind.BETS: "entry_kind = 'bets'",
    FigureKind.REFUNDS: "movements @> ARRAY['reversal'] OR entry_kind = 'round_corrected'",
    FigureKind.LATE_REFUNDS: "movements @> ARRAY['reversal'] OR entry_kind = 'round_corrected'",
    FigureKind.HANDS: "entry_kind IN ('result', 'round_corrected')",
    FigureKind.SQUARES: "entry_kind IN ('result', 'round_corrected')",
    FigureKind.AWARDS: "entry_kind = 'result' AND movements @> ARRAY['award'] OR entry_kind = 'round_corrected'",
    FigureKind.AWARD_STEPS: (
        "entry_kind IN ('round_corrected', 'awards_approved', 'awards_rejected', 'awards_reinstated')"
    ),
    FigureKind.PAYMENTS: "entry_kind = 'award_paid'",
    FigureKind.POSTINGS: "entry_kind <> 'bets'",
}
"""WHERE this: the entries that have figures of a kind, so that nobody takes those of all others apart."""

_IN_WHOLE_DAYS: Final = "day >= :first_day AND day < :end_day"


def figures(
    keys: Iterable[str],
    kinds: Sequence[FigureKind],
    *,
    stated: Iterable[str] = (),
    has_beside: bool = True,
    condition: str = "true",
) -> str:
    """
    The figures of some kinds by keys: `number`, `minor` and `value`.

    The condition tells what else is wanted, by columns of `days` but for the cycle.
    """
    named = list(dict.fromkeys(keys))
    listed = ", ".join(f"'{kind}'" for kind in kinds)
    wanted = " AND ".join([f"kind IN ({listed})", condition, *(f"{key} = :of_{key}" for key in stated)])
    columns = ", ".join(named)
    whole = f"days_with_recent(:jackpot_id, ARRAY[{listed}]) AS whole WHERE {wanted} AND {_IN_WHOLE_DAYS}"
    relations = [f"SELECT {columns}, number, minor, value FROM {whole}"]  # noqa: S608  the parts are ours
    if has_beside:
        having = " OR ".join(dict.fromkeys(OF_ENTRIES[kind] for kind in kinds))
        relations.append(_beside(named, f"{wanted} AND ({having})"))
    return f"""
        SELECT {columns}, sum(number) AS number, sum(minor) AS minor, sum(value) AS value
        FROM ({" UNION ALL ".join(relations)}) AS one
        GROUP BY {columns}
    """  # noqa: S608  as above


def _beside(keys: Sequence[str], wanted: str) -> str:
    columns = ", ".join(cycles.OF_ENTRY if key == "cycle" else f"e.{key}" for key in keys)
    cuts = cycles.joined_cuts(":jackpot_id") if "cycle" in keys else ""
    read = ", ".join(["stripe_no", "seq", *(key for key in keys if key != "cycle"), "number", "minor", "value"])
    entries = BETWEEN.format(columns=read, relation="figures", condition=wanted)
    return f"SELECT {columns}, e.number, e.minor, e.value FROM {entries} {cuts}"  # noqa: S608  as above


def stakes(
    keys: Sequence[str], kinds: Sequence[FigureKind], *, stated: Sequence[str] = (), has_beside: bool = True
) -> str:
    """
    Stakes of bets, or of refunds, by keys and currency: their value, and where the rules say that it goes.

    Of late refunds `adjustments` bears the parts of meter and reserve. A split is linear: values are summed before.
    """
    columns = list(dict.fromkeys([*keys, "currency"]))
    summed = figures([*columns, "rules_version", "kind"], kinds, stated=stated, has_beside=has_beside)
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
    """  # noqa: S608  as above


def postings(keys: Sequence[str], *, stated: Sequence[str] = (), has_beside: bool = True) -> str:
    """Postings but those of bets."""
    apart = [key for key in keys if key not in MOVED]
    summed = figures(
        [*apart, "account", "currency", "detail"], [FigureKind.POSTINGS], stated=stated, has_beside=has_beside
    )
    columns = "".join(f"{key}, " for key in apart)
    return f"SELECT {columns} account, currency, detail AS movement, value AS amount FROM ({summed}) AS posted"  # noqa: S608


def contributions(keys: Sequence[str], *, stated: Sequence[str] = (), has_beside: bool = True) -> str:
    """Postings of bets, made of what those of a casino in a currency come to."""
    apart = [key for key in keys if key not in MOVED]
    columns = "".join(f"one.{key}, " for key in apart)
    by_casino = stakes([*apart, "casino_id"], [FigureKind.BETS], stated=stated, has_beside=has_beside)
    return f"""
        SELECT {columns} p.account, p.currency, 'contribution' AS movement, p.amount
        FROM ({by_casino}) AS one
        CROSS JOIN LATERAL (VALUES
            ('casino:' || one.casino_id, one.currency, -stakes),
            ('fx:' || one.currency, one.currency, CASE WHEN one.currency <> :base THEN stakes ELSE 0 END),
            ('fx:' || CAST(:base AS text), :base, CASE WHEN one.currency <> :base THEN -value ELSE 0 END),
            ('pool:meter:players', :base, meter),
            ('pool:reserve', :base, reserve),
            ('pool:prize_fund', :base, prize_fund),
            ('house:margin', :base, house)
        ) AS p (account, currency, amount)
    """  # noqa: S608  as above


def united(keys: Sequence[str], sums: Sequence[str], relations: Sequence[str]) -> str:
    """The question that puts relations together, in the order of the keys."""
    columns = [*keys, *(f"sum({name}) AS {name}" for name in sums)]
    places = ", ".join(str(place) for place in range(1, len(keys) + 1))
    ordered = f"GROUP BY {places} ORDER BY {places}" if keys else ""
    among = " UNION ALL ".join(f"SELECT {', '.join([*keys, *sums])} FROM ({one}) AS one" for one in relations)  # noqa: S608
    return f"SELECT {', '.join(columns)} FROM ({among}) AS one {ordered}"  # noqa: S608  as above
