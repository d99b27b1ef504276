"""
Sums of what was booked in a part of a jackpot's book: whole days from the rollups, the rest from the entries.

Every posting is counted once: those of bets by `bets`, all others by `postings`; `movements` puts both together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from itertools import zip_longest
from typing import Any

from sqlalchemy import Row, text

from jackpot_service.db import Session
from jackpot_service.domain.accounts import Account
from jackpot_service.domain.journal import Movement
from jackpot_service.reports.finance.frame import Stand


class Key(StrEnum):
    """
    What sums are kept apart by. A day is of UTC, a gaming day the casino's.

    Where an entry is of no round, its table is '', and its casino whose account it moves, or ''.
    """

    DAY = "day"
    GAMING_DAY = "gaming_day"
    CASINO = "casino_id"
    TABLE = "table_id"
    CURRENCY = "currency"


@dataclass(frozen=True, slots=True)
class Of:
    """Whose figures: of all casinos and tables, or of one."""

    casino_id: str | None = None
    table_id: str | None = None


@dataclass(frozen=True, slots=True)
class BetSums:
    """Bets accepted: how many, their stakes in units of their currency, their base value, and where its parts went."""

    key: Mapping[Key, Any]
    bets: int
    stakes: Decimal
    value: Decimal
    meter: Decimal
    reserve: Decimal
    prize_fund: Decimal
    house: Decimal


@dataclass(frozen=True, slots=True)
class Moved:
    """What postings of a movement put into an account, in one currency, and how many they were."""

    key: Mapping[Key, Any]
    account: Account
    currency: str
    movement: Movement
    amount: Decimal


_WHOLE_DAYS = "kept.jackpot_id = :jackpot_id AND kept.day >= :first_day AND kept.day < :end_day"

_BESIDE = """
    FROM unnest(CAST(:stripe_nos AS int[]), CAST(:starts AS bigint[]), CAST(:ends AS bigint[]))
         AS part (stripe_no, start, upto)
    JOIN entries e ON e.jackpot_id = :jackpot_id AND e.stripe_no = part.stripe_no
                  AND e.seq > part.start AND e.seq <= part.upto
    LEFT JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
    LEFT JOIN LATERAL (
        SELECT coalesce(r.casino_id, (SELECT substr(account, length('casino:') + 1) FROM unnest(e.accounts) AS account
                                      WHERE account LIKE 'casino:%' LIMIT 1), '') AS casino_id
    ) AS whose ON true
    LEFT JOIN casinos c ON c.casino_id = whose.casino_id
"""
"""The entries beside the whole days, with their rounds, and the casinos whose they are."""

_DAYS = """
    (e.booked_at AT TIME ZONE 'UTC')::date AS day,
    coalesce((e.booked_at AT TIME ZONE c.zone) - c.day_starts, e.booked_at AT TIME ZONE 'UTC')::date AS gaming_day,
    whose.casino_id
"""

# The round's own version and sheet split its bets; a sum of stakes is split like each of them, exactly. The bets are
# looked up entry by entry: joined as a whole, all that there are might be read for those of a few hours.
_BETS = f"""
    SELECT kept.day, kept.gaming_day, kept.casino_id, kept.table_id, kept.currency, kept.bets,
           kept.stakes_minor * CAST('1e-' || unit.exponent AS numeric) AS stakes,
           kept.value, kept.meter, kept.reserve, kept.prize_fund, kept.house
    FROM daily_bets kept
    JOIN (SELECT DISTINCT currency, exponent FROM rates WHERE base = :base) AS unit ON unit.currency = kept.currency
    WHERE {_WHOLE_DAYS}
    UNION ALL
    SELECT day, gaming_day, casino_id, table_id, currency, bets, stakes, stakes * rate,
           stakes * rate * of_meter, stakes * rate * of_reserve, stakes * rate * of_prize_fund,
           stakes * rate * (1 - of_meter - of_reserve - of_prize_fund)
    FROM (
        SELECT {_DAYS}, r.table_id, b.currency, sum(b.bets) AS bets,
               sum(b.stakes_minor) * CAST('1e-' || s.exponent AS numeric) AS stakes, s.base_per_unit AS rate,
               CAST(v.document #>> '{{split,meter}}' AS numeric) AS of_meter,
               CAST(v.document #>> '{{split,reserve}}' AS numeric) AS of_reserve,
               CAST(v.document #>> '{{split,prize_fund}}' AS numeric) AS of_prize_fund
        {_BESIDE}
        CROSS JOIN LATERAL (
            SELECT b.currency, count(*) AS bets, sum(b.stake_minor) AS stakes_minor
            FROM bets b
            WHERE b.jackpot_id = e.jackpot_id AND b.round_key = e.round_key AND b.step = e.step
            GROUP BY b.currency
        ) AS b
        JOIN rules_versions v ON v.jackpot_id = r.jackpot_id AND v.version = r.rules_version
        JOIN rates s ON s.base = :base AND s.number = r.rate_sheet AND s.currency = b.currency
        WHERE e.kind = 'bets'
        GROUP BY 1, 2, 3, 4, 5, s.exponent, s.base_per_unit, v.document
    ) AS split
"""  # noqa: S608  the parts are ours

_POSTINGS = f"""
    SELECT kept.day, kept.gaming_day, kept.casino_id, kept.table_id, kept.account, kept.currency, kept.movement,
           kept.amount
    FROM daily_postings kept
    WHERE {_WHOLE_DAYS}
    UNION ALL
    SELECT {_DAYS}, coalesce(r.table_id, ''), p.account, p.currency, p.movement, p.amount
    {_BESIDE}
    CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements)
        AS p (account, currency, amount, movement)
    WHERE e.kind <> 'bets'
"""  # noqa: S608  the parts are ours

_CONTRIBUTED = f"""
    SELECT day, gaming_day, casino_id, table_id, p.account, p.currency, 'contribution' AS movement, p.amount
    FROM ({_BETS}) AS bets
    CROSS JOIN LATERAL (VALUES
        ('casino:' || bets.casino_id, bets.currency, -stakes),
        ('fx:' || bets.currency, bets.currency, CASE WHEN bets.currency <> :base THEN stakes ELSE 0 END),
        ('fx:' || CAST(:base AS text), :base, CASE WHEN bets.currency <> :base THEN -value ELSE 0 END),
        ('pool:meter:players', :base, meter),
        ('pool:reserve', :base, reserve),
        ('pool:prize_fund', :base, prize_fund),
        ('house:margin', :base, house)
    ) AS p (account, currency, amount)
    WHERE p.amount <> 0
"""  # noqa: S608  the parts are ours

_SUMMED = "bets", "stakes", "value", "meter", "reserve", "prize_fund", "house"


def bets(session: Session, stand: Stand, *, by: Sequence[Key] = (), of: Of = Of()) -> list[BetSums]:
    """Sum what the bets of a part contributed, in the order of the key."""
    sums = ", ".join(f"sum({name})" for name in _SUMMED)
    question = f"SELECT {_listed(by)}{sums} FROM ({_BETS}) AS one WHERE {_whose(of)} {_grouped(len(by))}"  # noqa: S608
    found = session.execute(text(question), _parameters(stand, of))
    return [BetSums(_key(by, row), *row[len(by) :]) for row in found if row[len(by)] is not None]


def postings(session: Session, stand: Stand, *, by: Sequence[Key] = (), of: Of = Of()) -> list[Moved]:
    """Sum the postings of a part but those of bets, by account, currency and movement, in the order of the key."""
    return _moved(session, stand, _POSTINGS, by, of)


def movements(session: Session, stand: Stand, *, by: Sequence[Key] = (), of: Of = Of()) -> list[Moved]:
    """Sum all postings of a part by account, currency and movement, in the order of the key."""
    return _moved(session, stand, f"{_POSTINGS} UNION ALL {_CONTRIBUTED}", by, of)


def _moved(session: Session, stand: Stand, relation: str, by: Sequence[Key], of: Of) -> list[Moved]:
    question = (
        f"SELECT {_listed(by)}account, one.currency, movement, sum(amount) FROM ({relation}) AS one "  # noqa: S608
        f"WHERE {_whose(of)} {_grouped(len(by) + 3)}"
    )
    found = session.execute(text(question), _parameters(stand, of))
    return [
        Moved(_key(by, row), Account(account), currency, Movement(movement), amount)
        for row in found
        for account, currency, movement, amount in [row[len(by) :]]
        if amount
    ]


def _listed(by: Sequence[Key]) -> str:
    return "".join(f"one.{key.value}, " for key in by)


def _grouped(columns: int) -> str:
    places = ", ".join(map(str, range(1, columns + 1)))
    return f"GROUP BY {places} ORDER BY {places}" if columns else ""


def _whose(of: Of) -> str:
    stated = {"casino_id": of.casino_id, "table_id": of.table_id}
    return " AND ".join(["true", *(f"one.{name} = :of_{name}" for name, value in stated.items() if value is not None)])


def _parameters(stand: Stand, of: Of) -> dict[str, Any]:
    ranges = [
        (stripe_no, start, upto)
        for part in stand.span.beside
        for stripe_no, (start, upto) in enumerate(zip_longest(part.start, part.end, fillvalue=0))
        if start < upto
    ]
    return {
        "jackpot_id": stand.jackpot_id,
        "base": stand.base,
        "first_day": stand.span.first_day,
        "end_day": stand.span.end_day or date.max,
        "stripe_nos": [stripe_no for stripe_no, _, _ in ranges],
        "starts": [start for _, start, _ in ranges],
        "ends": [upto for _, _, upto in ranges],
        "of_casino_id": of.casino_id,
        "of_table_id": of.table_id,
    }


def _key(by: Sequence[Key], row: Row[Any]) -> dict[Key, str | date]:
    return dict(zip(by, row, strict=False))
