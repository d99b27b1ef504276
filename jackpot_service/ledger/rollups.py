"""
Keeping the daily rollups but those of bets: what entries add to their day's sums, in the transaction that books them.

Their rows are a stripe's, so whoever booked on it, and holds its lock to the commit, is alone with them: nobody waits
for a row, and no two can wait for each other. `recent_bets` keeps those of bets, `payments_by_day` those of payments.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import text

from jackpot_service.database.pipelines import Pipeline
from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import CASINO, HOUSE_MARGIN, METER_PLAYERS, PRIZE_FUND, RESERVE, Account
from jackpot_service.domain.entries import Entry, RoundStep
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import EXACT, ZERO
from jackpot_service.domain.tallies import AwardsMade, Refund
from jackpot_service.ledger.splits import split_of
from jackpot_service.ledger.tallied import round_of

K = TypeVar("K", bound=tuple[str | int, ...])
Figures = tuple[Any, ...]
"""Whole numbers and exact amounts, in the order of a table's columns."""


class _Rollup(NamedTuple):
    """A table of sums: the statement that adds rows to it, and how it takes each of their columns, keys first."""

    columns: Mapping[str, Callable[[Iterable[Any]], str]]
    statement: str


# The stripe was updated by the statement before, in this transaction: its `booked_at` is that of the entries, its seq
# that of the last of them. OFFSET has it looked up once, with what goes by it. One row a key: ON CONFLICT takes none
# twice. Columns of texts travel joined by spaces, see `journal`; `?` stands for an empty one, because no id holds one.
_ADD = """
INSERT INTO {table} AS kept (jackpot_id, stripe_no, day, {names})
SELECT stripe.jackpot_id, stripe.stripe_no, (stripe.booked_at AT TIME ZONE 'UTC')::date, {values}
FROM (SELECT last.jackpot_id, last.stripe_no, last.booked_at {and_cycle}
      FROM stripes AS last {cycles}
      WHERE last.jackpot_id = %(book)s AND last.stripe_no = %(stripe_no)s
      OFFSET 0) AS stripe
CROSS JOIN unnest({arrays}) AS new ({columns}) {casino}
ON CONFLICT (jackpot_id, day, stripe_no, {keys}) DO UPDATE
SET {sums}
"""

_GAMING_DAY = """coalesce((stripe.booked_at AT TIME ZONE casino.zone) - casino.day_starts,
                          stripe.booked_at AT TIME ZONE 'UTC')::date"""

_ITS_CASINO = "LEFT JOIN casinos AS casino ON casino.casino_id = new.casino_id"

# Whoever books holds a stripe's lock, and whoever opens a cycle those of all: so what was just booked stands after the
# last cut, or it is the entry that made it, alone, and ends the cycle before; the opening is of the first. A book that
# has no cycle makes none, and the row is refused.
_AND_CYCLE = """,
    CASE WHEN running.cycle IS NOT NULL
         THEN greatest(1, running.cycle - (coalesce(running.cut[last.stripe_no + 1], 0) >= last.seq)::int)
    END AS cycle"""

_CYCLES = """LEFT JOIN LATERAL (SELECT cycle, cut FROM cycles WHERE jackpot_id = last.jackpot_id
                                ORDER BY cycle DESC LIMIT 1) AS running ON true"""


def _rollup(
    table: str, keys: Mapping[str, str], figures: Mapping[str, str], *, found: Mapping[str, str] | None = None
) -> _Rollup:
    """
    A table of sums, given its columns and their types.

    `found` are keys that the database finds itself, and how; a gaming day is that of the row's casino.
    """
    told = found or {}
    types = {**keys, **figures}
    values = [f"coalesce(new.{key}, '')" if type_ == "text" else f"new.{key}" for key, type_ in types.items()]
    statement = _ADD.format(
        table=table,
        names=", ".join([*told, *types]),
        values=", ".join([*told.values(), *values]),
        arrays=", ".join(_array(key, type_) for key, type_ in types.items()),
        columns=", ".join(types),
        casino=_ITS_CASINO if "gaming_day" in told else "",
        and_cycle=_AND_CYCLE if "cycle" in told else "",
        cycles=_CYCLES if "cycle" in told else "",
        keys=", ".join([*told, *keys]),
        sums=", ".join(f"{name} = kept.{name} + EXCLUDED.{name}" for name in figures),
    )
    return _Rollup({key: " ".join if type_ == "text" else _in_braces for key, type_ in types.items()}, statement)


def _array(column: str, type_: str) -> str:
    return f"string_to_array(%({column})s, ' ', '?')" if type_ == "text" else f"%({column})s::{type_}[]"


def _in_braces(values: Iterable[Any]) -> str:
    return f"{{{','.join(map(str, values))}}}"


def _texts(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "text")


def _numbers(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "numeric")


_REFUNDS = _rollup(
    "daily_refunds",
    _texts("casino_id", "table_id", "currency"),
    {"bets": "bigint", **_numbers("stakes_minor", "value", "meter", "reserve", "prize_fund", "house", "adjustments")},
    found={"gaming_day": _GAMING_DAY},
)

_POSTINGS = _rollup(
    "daily_postings",
    _texts("casino_id", "table_id", "account", "currency", "movement"),
    {"lines": "bigint", **_numbers("amount")},
    found={"cycle": "stripe.cycle", "gaming_day": _GAMING_DAY},
)

_AWARDS = _rollup(
    "daily_awards",
    _texts("casino_id", "table_id", "tier", "funded_by", "currency", "state"),
    {"awards": "bigint", **_numbers("amount_minor", "cost")},
)

_HANDS = _rollup(
    "daily_hands",
    {"rules_version": "int"},
    {"hands": "bigint", **_numbers("value", "squares")},
)

_NONE = "?"

_SPLIT_ACCOUNTS = {
    METER_PLAYERS: "to_meter",
    RESERVE: "to_reserve",
    PRIZE_FUND: "to_prize_fund",
    HOUSE_MARGIN: "to_house",
}
"""The accounts that a bet is split among, and what of its value goes there."""

_SPLIT_SUMS = text(
    f"""
    SELECT account, sum(amount)
    FROM (SELECT account, amount FROM daily_postings WHERE jackpot_id = :book AND account = ANY(:accounts)
          UNION ALL
          SELECT one.account, staked.value * one.part
          FROM (SELECT rules_version, sum(value) AS value
                FROM bets_by_day
                WHERE jackpot_id = :book
                GROUP BY rules_version) AS staked
          CROSS JOIN LATERAL {split_of("staked.rules_version", jackpot_id=":book")} AS split
          CROSS JOIN LATERAL unnest(CAST(:accounts AS text[]), ARRAY[{", ".join(_SPLIT_ACCOUNTS.values())}])
               AS one (account, part)
    ) AS moved
    GROUP BY account
    """  # noqa: S608  the parts are ours
)


def add(pipe: Pipeline, entries: Sequence[Entry], *, stripe_no: int) -> None:
    """
    Add to the days' sums what entries of one book have just booked on a stripe, whose lock is held to the commit.

    What bets come to is not added here, see `recent_bets`.

    Raises: TallyMissing.
    """
    others = [entry for entry in entries if entry.kind is not EntryKind.BETS]
    ended = [(round_of(entry), entry.tally) for entry in others if entry.round_step is not None]
    added = (
        (_POSTINGS, _summed(row for entry in others for row in _of_postings(entry))),
        (_REFUNDS, _summed(_of_refunds(step, one) for step, tally in ended for one in tally.refunds)),
        (_AWARDS, _summed(_of_awards(step, one) for step, tally in ended for one in tally.awards)),
        (_HANDS, _summed(((step.rules_version,), one) for step, tally in ended for one in tally.hands)),
    )
    for rollup, rows in added:
        if rows:
            asked = {"book": entries[0].book, "stripe_no": stripe_no}
            columns = (*zip(*rows, strict=True), *zip(*rows.values(), strict=True))
            for (name, written), column in zip(rollup.columns.items(), columns, strict=True):
                asked[name] = written(column)
            pipe.send(rollup.statement, asked)


def _of_refunds(step: RoundStep, one: Refund) -> tuple[tuple[str, str, str], Figures]:
    return (step.casino_id, step.table_id, one.currency), one[1:]


def _of_awards(step: RoundStep, one: AwardsMade) -> tuple[tuple[str, ...], Figures]:
    return (step.casino_id, step.table_id, *one[:4]), one[4:]


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


def _summed(rows: Iterable[tuple[K, Figures]]) -> Mapping[K, Figures]:
    """Sum the rows of each key."""
    sums: dict[K, Figures] = {}
    for key, figures in rows:
        before = sums.get(key)
        sums[key] = figures if before is None else tuple(map(_add, before, figures))
    return sums


def _add(one: int | Decimal, other: int | Decimal) -> int | Decimal:
    return one + other if isinstance(one, int) else EXACT.add(one, other)


def split_sums(session: Session, book: str) -> Mapping[Account, Decimal]:
    """
    Sum what all days put into the accounts that a bet is split among; each of them has one currency.

    Bets are split as the documents of their rules versions say; the sums are NaN if one does not.
    """
    rows = session.execute(_SPLIT_SUMS, {"book": book, "accounts": list(_SPLIT_ACCOUNTS)})
    sums: dict[str, Decimal] = dict(map(tuple, rows))
    return {account: sums.get(account, ZERO) for account in _SPLIT_ACCOUNTS}
