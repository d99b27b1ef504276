"""
Keeping the daily rollups: what entries add to their day's sums, in the transaction that books them.

Their rows are the stripe's, so whoever booked on it, and holds its lock to the commit, is alone with them: nobody waits
for a row, and no two can wait for each other.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeVar

from sqlalchemy import text

from jackpot_service.db import Pipeline, Session
from jackpot_service.domain.accounts import CASINO, HOUSE_MARGIN, METER_PLAYERS, PRIZE_FUND, RESERVE, Account
from jackpot_service.domain.entries import Entry
from jackpot_service.domain.errors import BooksBroken
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import EXACT, ZERO

# The stripe was updated by the statement before, in this transaction: its `booked_at` is that of the entries. Columns
# travel as texts joined by spaces, see `journal`; `?` stands for an empty one, because no id holds it. One row a key:
# ON CONFLICT takes none twice.
_PLACE = """
stripe.jackpot_id, stripe.stripe_no, (stripe.booked_at AT TIME ZONE 'UTC')::date,
       coalesce((stripe.booked_at AT TIME ZONE casino.zone) - casino.day_starts,
                stripe.booked_at AT TIME ZONE 'UTC')::date
"""

_OF_STRIPE = """
CROSS JOIN stripes AS stripe
LEFT JOIN casinos AS casino ON casino.casino_id = new.casino_id
WHERE stripe.jackpot_id = %(book)s AND stripe.stripe_no = %(stripe_no)s
"""

_ADD_BETS = f"""
INSERT INTO daily_bets AS kept (jackpot_id, stripe_no, day, gaming_day, casino_id, table_id, currency,
                                bets, stakes_minor, value, meter, reserve, prize_fund, house)
SELECT {_PLACE}, new.*
FROM unnest(string_to_array(%(casino_ids)s, ' '), string_to_array(%(table_ids)s, ' '),
            string_to_array(%(currencies)s, ' '), string_to_array(%(bets)s, ' ')::bigint[],
            string_to_array(%(stakes_minor)s, ' ')::numeric[], string_to_array(%(values)s, ' ')::numeric[],
            string_to_array(%(meters)s, ' ')::numeric[], string_to_array(%(reserves)s, ' ')::numeric[],
            string_to_array(%(prize_funds)s, ' ')::numeric[], string_to_array(%(houses)s, ' ')::numeric[])
     AS new (casino_id, table_id, currency, bets, stakes_minor, value, meter, reserve, prize_fund, house)
{_OF_STRIPE}
ON CONFLICT (jackpot_id, day, stripe_no, gaming_day, casino_id, table_id, currency) DO UPDATE
SET bets = kept.bets + EXCLUDED.bets,
    stakes_minor = kept.stakes_minor + EXCLUDED.stakes_minor,
    value = kept.value + EXCLUDED.value,
    meter = kept.meter + EXCLUDED.meter,
    reserve = kept.reserve + EXCLUDED.reserve,
    prize_fund = kept.prize_fund + EXCLUDED.prize_fund,
    house = kept.house + EXCLUDED.house
"""  # noqa: S608  constants

_BETS_COLUMNS = (
    "casino_ids",
    "table_ids",
    "currencies",
    "bets",
    "stakes_minor",
    "values",
    "meters",
    "reserves",
    "prize_funds",
    "houses",
)

_ADD_POSTINGS = f"""
INSERT INTO daily_postings AS kept (jackpot_id, stripe_no, day, gaming_day, casino_id, table_id,
                                    account, currency, movement, lines, amount)
SELECT {_PLACE}, coalesce(new.casino_id, ''), coalesce(new.table_id, ''), new.account, new.currency, new.movement,
       new.lines, new.amount
FROM unnest(string_to_array(%(casino_ids)s, ' ', '?'), string_to_array(%(table_ids)s, ' ', '?'),
            string_to_array(%(accounts)s, ' '), string_to_array(%(currencies)s, ' '),
            string_to_array(%(movements)s, ' '), string_to_array(%(lines)s, ' ')::bigint[],
            string_to_array(%(amounts)s, ' ')::numeric[])
     AS new (casino_id, table_id, account, currency, movement, lines, amount)
{_OF_STRIPE}
ON CONFLICT (jackpot_id, day, stripe_no, gaming_day, casino_id, table_id, account, currency, movement) DO UPDATE
SET lines = kept.lines + EXCLUDED.lines,
    amount = kept.amount + EXCLUDED.amount
"""  # noqa: S608  constants

_POSTINGS_COLUMNS = ("casino_ids", "table_ids", "accounts", "currencies", "movements", "lines", "amounts")

_NONE = "?"

SPLIT_ACCOUNTS = (METER_PLAYERS, RESERVE, PRIZE_FUND, HOUSE_MARGIN)
"""The accounts that a bet is split among, in the order of the columns of `daily_bets`."""

_SPLIT_SUMS = text(
    """
    SELECT account, sum(amount)
    FROM (SELECT account, amount FROM daily_postings WHERE jackpot_id = :book AND account = ANY(:accounts)
          UNION ALL
          SELECT part.account, part.amount
          FROM daily_bets
          CROSS JOIN LATERAL unnest(CAST(:accounts AS text[]), ARRAY[meter, reserve, prize_fund, house])
               AS part (account, amount)
          WHERE jackpot_id = :book) AS moved
    GROUP BY account
    """
)

K = TypeVar("K", bound=tuple[str, ...])
Figures = tuple[Any, ...]
"""Whole numbers and exact amounts, in the order of a table's columns."""


class TurnoverMissing(BooksBroken):
    """Bets were about to be booked without what they come to by currency."""

    code = "turnover-missing"


def add(pipe: Pipeline, entries: Sequence[Entry], *, stripe_no: int) -> None:
    """
    Add to the days' sums what entries of one book have just booked on a stripe, whose lock is held to the commit.

    Raises: TurnoverMissing.
    """
    place = {"book": entries[0].book, "stripe_no": stripe_no}
    bets = _summed(row for entry in entries if entry.kind is EntryKind.BETS for row in _of_bets(entry))
    if bets:
        pipe.send(_ADD_BETS, {**place, **_columns(_BETS_COLUMNS, bets)})
    postings = _summed(row for entry in entries if entry.kind is not EntryKind.BETS for row in _of_postings(entry))
    if postings:
        pipe.send(_ADD_POSTINGS, {**place, **_columns(_POSTINGS_COLUMNS, postings)})


def _of_bets(entry: Entry) -> Sequence[tuple[tuple[str, str, str], Figures]]:
    step = entry.round_step
    if step is None or not entry.turnover:
        message = "An entry of bets tells its round, and its turnover by currency."
        raise TurnoverMissing(message)
    return [((step.casino_id, step.table_id, one.currency), one[1:]) for one in entry.turnover]


def _of_postings(entry: Entry) -> Sequence[tuple[tuple[str, str, str, str, str], Figures]]:
    lines = entry.postings.lines
    if entry.round_step is not None:
        casino_id, table_id = entry.round_step.casino_id, entry.round_step.table_id
    else:
        named = (line.account.removeprefix(CASINO) for line in lines if line.account.startswith(CASINO))
        casino_id, table_id = next(named, _NONE), _NONE
    return [
        ((casino_id, table_id, line.account, line.currency, line.movement.value), (1, line.amount)) for line in lines
    ]


def _summed(rows: Iterable[tuple[K, Figures]]) -> list[tuple[K, Figures]]:
    """Sum the rows of each key, in the order of the keys."""
    sums: dict[K, Figures] = {}
    for key, figures in rows:
        before = sums.get(key)
        sums[key] = figures if before is None else tuple(map(_add, before, figures))
    return sorted(sums.items())


def _add(one: int | Decimal, other: int | Decimal) -> int | Decimal:
    return one + other if isinstance(one, int) else EXACT.add(one, other)


def _columns(names: Sequence[str], rows: Sequence[tuple[K, Figures]]) -> dict[str, str]:
    columns = zip(*[(*key, *map(str, figures)) for key, figures in rows], strict=True)
    return dict(zip(names, map(" ".join, columns), strict=True))


def split_sums(session: Session, book: str) -> Mapping[Account, Decimal]:
    """Sum what all days put into the accounts that a bet is split among; each of them has one currency."""
    rows = session.execute(_SPLIT_SUMS, {"book": book, "accounts": list(SPLIT_ACCOUNTS)})
    sums: dict[str, Decimal] = dict(map(tuple, rows))
    return {account: sums.get(account, ZERO) for account in SPLIT_ACCOUNTS}
