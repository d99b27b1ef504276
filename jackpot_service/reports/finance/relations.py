"""
What figures are summed from, in SQL: the sums that days keep, and the entries beside the whole days.

Each relation is summed by the keys already, so that little is left to put together. A key is the name of a column; the
currency is always one, of bets as of postings. `stated` are the keys of which one value is wanted.
"""

from collections.abc import Sequence
from typing import Final

from jackpot_service.ledger import cycles
from jackpot_service.ledger.splits import split_of
from jackpot_service.reports.finance.parts import ENTRIES, WHOLE_DAYS

_OF_BETS: Final = ("bets", "stakes", "value")
"""What is summed up of bets by rules versions, which tell the rest."""

SUMS_OF_BETS: Final = (*_OF_BETS, "meter", "reserve", "prize_fund", "house")
"""What relations of bets sum up."""

SUMS_OF_REFUNDS: Final = (*SUMS_OF_BETS, "adjustments")
"""What relations of refunds sum up."""

MOVED: Final = ("account", "currency", "movement")
"""What relations of postings keep apart besides the keys; they sum up `amount`."""

_CASINO = "casino_id"
_CURRENCY = "currency"
_CYCLE = "cycle"
_VERSION = "rules_version"

# An entry of no round is of the casino whose account it moves.
_OF_WHOM = """
    LEFT JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
    LEFT JOIN LATERAL (
        SELECT coalesce(r.casino_id, (SELECT substr(account, length('casino:') + 1) FROM unnest(e.accounts) AS account
                                      WHERE account LIKE 'casino:%' LIMIT 1), '') AS casino_id
    ) AS whose ON true
    LEFT JOIN casinos c ON c.casino_id = whose.casino_id
"""

_OF_WHICH_CYCLE = cycles.joined_cuts(":jackpot_id")

_TOLD = {
    _CYCLE: cycles.OF_ENTRY,
    "day": "(e.booked_at AT TIME ZONE 'UTC')::date",
    "gaming_day": """coalesce((e.booked_at AT TIME ZONE c.zone) - c.day_starts,
                              e.booked_at AT TIME ZONE 'UTC')::date""",
    _CASINO: "whose.casino_id",
    "table_id": "coalesce(r.table_id, '')",
}
"""How an entry tells the keys that its bets or postings do not tell themselves."""


UNITS: Final = """
    (SELECT DISTINCT currency, CAST('1e-' || exponent AS numeric) AS one FROM rates WHERE base = :base) AS unit
"""
"""FROM this: what one minor unit of a currency is in its units."""


def kept_bets(keys: Sequence[str], stated: Sequence[str]) -> str:
    """The bets of whole days."""
    kept = [*_entries(keys), _CURRENCY, _VERSION]
    return _split(keys, _kept_stakes("bets_by_day", _OF_BETS, kept, stated))


def kept_refunds(keys: Sequence[str], stated: Sequence[str]) -> str:
    """The refunds of whole days, but those of corrections."""
    return _kept_stakes("daily_refunds", SUMS_OF_REFUNDS, [*_entries(keys), _CURRENCY], stated)


def _kept_stakes(table: str, sums: Sequence[str], keys: Sequence[str], stated: Sequence[str]) -> str:
    columns = ", ".join(f"kept.{key}" for key in keys)
    summed = {name: f"sum(kept.{name})" for name in sums} | {"stakes": "sum(kept.stakes_minor) * unit.one"}
    return f"""
        SELECT {columns}, {", ".join(f"{sum_} AS {name}" for name, sum_ in summed.items())}
        FROM {table} kept
        JOIN {UNITS} ON unit.currency = kept.currency
        WHERE {WHOLE_DAYS} {_only(stated)}
        GROUP BY {columns}, unit.one
    """  # noqa: S608  the parts are ours


def _split(keys: Sequence[str], valued: str) -> str:
    """The parts of a value that is summed up by rules versions."""
    columns = ", ".join(f"valued.{key}" for key in [*_entries(keys), _CURRENCY, *_OF_BETS])
    return f"""
        SELECT {columns}, value * to_meter AS meter, value * to_reserve AS reserve, value * to_prize_fund AS prize_fund,
               value * to_house AS house
        FROM ({valued}) AS valued
        CROSS JOIN LATERAL {split_of(f"valued.{_VERSION}", jackpot_id=":jackpot_id")} AS split
    """  # noqa: S608  as above


def kept_postings(keys: Sequence[str], stated: Sequence[str]) -> str:
    """The postings of whole days, but those of bets."""
    columns = ", ".join(f"kept.{key}" for key in [*_entries(keys), *MOVED])
    return f"""
        SELECT {columns}, sum(kept.amount) AS amount
        FROM daily_postings kept
        WHERE {WHOLE_DAYS} {_only(stated)}
        GROUP BY {columns}
    """  # noqa: S608  as above


def kept_contributions(keys: Sequence[str], stated: Sequence[str]) -> str:
    """The postings of the bets of whole days, made of what those of a casino in a currency come to."""
    columns = "".join(f"one.{key}, " for key in _entries(keys))
    by_casino = kept_bets([*keys, *({_CASINO} - {*keys})], stated)
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


def bets_beside(keys: Sequence[str], stated: Sequence[str]) -> str:
    """
    The bets of the entries beside the whole days.

    The round's own version and sheet tell what they are worth, and where that goes. The bets are looked up, and summed,
    entry by entry: joined as a whole, all that there are might be read for those of a few hours; as rows of their own
    they would be remembered, and nothing asks for them again. Versions and sheets are joined to the sums, of which
    there are few.
    """
    columns = "".join(f"{key}, " for key in _entries(keys))
    valued = f"""
        SELECT {columns} summed.currency, rules_version, bets, stakes_minor * unit.one AS stakes,
               stakes_minor * unit.one * s.base_per_unit AS value
        FROM (
            SELECT {_telling(keys)} r.rules_version, r.rate_sheet, b.currency, sum(b.bets) AS bets,
                   sum(b.stakes_minor) AS stakes_minor
            FROM {ENTRIES} {_OF_WHOM} {_of_which_cycle(keys)}
            CROSS JOIN LATERAL (
                SELECT b.currency, count(*) AS bets, sum(b.stake_minor) AS stakes_minor
                FROM bets b
                WHERE b.jackpot_id = e.jackpot_id AND b.round_key = e.round_key AND b.step = e.step
                GROUP BY b.currency
                OFFSET 0
            ) AS b
            WHERE e.kind = 'bets' {_only_told(stated)}
            GROUP BY {_grouped(keys)} r.rules_version, r.rate_sheet, b.currency
        ) AS summed
        JOIN rates s ON s.base = :base AND s.number = summed.rate_sheet AND s.currency = summed.currency
        CROSS JOIN LATERAL (SELECT CAST('1e-' || s.exponent AS numeric) AS one) AS unit
    """  # noqa: S608  as above
    return _split(keys, valued)


def postings_beside(keys: Sequence[str], stated: Sequence[str], *, without_bets: bool = False) -> str:
    """
    The postings of the entries beside the whole days; those of bets too, unless they are to be left out.

    An entry's arrays are of one length, and taken apart side by side.
    """
    of_whom = _OF_WHOM if {*_entries(keys), *stated} - {"day", _CYCLE} else ""
    columns = ", ".join([*_entries(keys), *MOVED])
    return f"""
        SELECT {columns}, sum(amount) AS amount
        FROM (
            SELECT {_telling(keys)} unnest(e.accounts) AS account, unnest(e.currencies) AS currency,
                   unnest(e.movements) AS movement, unnest(e.amounts) AS amount
            FROM {ENTRIES} {of_whom} {_of_which_cycle(keys)}
            WHERE (e.kind <> 'bets' OR NOT {without_bets}) {_only_told(stated)}
        ) AS p
        GROUP BY {columns}
    """  # noqa: S608  as above


def united(keys: Sequence[str], sums: Sequence[str], relations: Sequence[str]) -> str:
    """The question that puts relations together, in the order of the keys."""
    columns = [*keys, *(f"sum({name}) AS {name}" for name in sums)]
    places = ", ".join(str(place) for place in range(1, len(keys) + 1))
    ordered = f"GROUP BY {places} ORDER BY {places}" if keys else ""
    return f"SELECT {', '.join(columns)} FROM ({' UNION ALL '.join(relations)}) AS one {ordered}"  # noqa: S608  as above


def _entries(keys: Sequence[str]) -> list[str]:
    """The keys that an entry tells."""
    return [key for key in keys if key != _CURRENCY]


def _of_which_cycle(keys: Sequence[str]) -> str:
    return _OF_WHICH_CYCLE if _CYCLE in keys else ""


def _telling(keys: Sequence[str]) -> str:
    return "".join(f"{_TOLD[key]} AS {key}, " for key in _entries(keys))


def _grouped(keys: Sequence[str]) -> str:
    return "".join(f"{_TOLD[key]}, " for key in _entries(keys))


def _only(stated: Sequence[str]) -> str:
    return "".join(f"AND kept.{key} = :of_{key} " for key in stated)


def _only_told(stated: Sequence[str]) -> str:
    return "".join(f"AND {_TOLD[key]} = :of_{key} " for key in stated)
