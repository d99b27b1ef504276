"""
The entries that touch an account, the latest first, from a vector of positions down.

An account may be in every entry or in three of two million. So a look reads a bounded number of entries, and says down
to which positions it has read: the next one goes on there. Each stripe is read in proportion to its length, so that a
look covers about the same time of all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain.journal import Movement
from jackpot_service.ledger.instants import Positions

MOST_READ: Final = 60_000
"""Entries that one look reads."""

_FIRST_READ: Final = 1_000

_ENTRIES: Final = text("""
SELECT e.stripe_no, e.seq, e.kind, e.booked_at, e.principal, r.table_id, r.round_id, e.accounts, e.currencies,
       e.amounts, e.movements
FROM unnest(CAST(:stripe_nos AS int[]), CAST(:starts AS bigint[]), CAST(:ends AS bigint[]))
    AS part (stripe_no, start, upto)
CROSS JOIN LATERAL (
    SELECT *
    FROM entries
    WHERE jackpot_id = :jackpot_id AND entries.stripe_no = part.stripe_no AND seq > part.start AND seq <= part.upto
      AND EXISTS (
        SELECT
        FROM unnest(accounts, currencies, movements) AS p (account, currency, movement)
        WHERE p.account = ANY (CAST(:accounts AS text[]))
          AND (CAST(:currency AS text) IS NULL OR p.currency = :currency)
          AND (CAST(:movement AS text) IS NULL OR p.movement = :movement)
      )
    ORDER BY seq DESC
    LIMIT :most
) AS e
LEFT JOIN LATERAL round_of_key(:jackpot_id, e.round_key) AS r ON true
ORDER BY e.booked_at DESC, e.stripe_no, e.seq DESC
LIMIT :most
""")


@dataclass(frozen=True, slots=True)
class AccountFilter:
    """The accounts of a jackpot that are looked for, and the currency and movement, None for all of them."""

    jackpot_id: str
    accounts: Sequence[str]
    currency: str | None = None
    movement: Movement | None = None

    def has(self, account: str, currency: str, _amount: Decimal, movement: str) -> bool:
        """Whether a posting is one that is looked for."""
        is_of_account = account in self.accounts and self.currency in {None, currency}
        return is_of_account and (self.movement is None or self.movement.value == movement)


@dataclass(frozen=True, slots=True)
class AccountEntry:
    """An entry that touches an account: its place, its round if it is of one, and what it put into the account."""

    stripe_no: int
    seq: int
    kind: str
    booked_at: datetime
    principal: str
    table_id: str | None
    round_id: str | None
    lines: Sequence[tuple[str, str, Decimal, str]]


@dataclass(frozen=True, slots=True)
class AccountLook:
    """Some entries, the latest first; `down_to` is where the next look goes on, None if there is nothing more."""

    entries: Sequence[AccountEntry]
    down_to: Positions | None


def latest_entries(
    session: Session, sought: AccountFilter, *, start: Positions, end: Positions, limit: int
) -> AccountLook:
    """Look for entries after `start` up to `end`: until `limit` are there, or as many were read as a look reads."""
    start = (*start, *(0 for _ in end[len(start) :]))
    rows: list[AccountEntry] = []
    most, upto = _FIRST_READ, end
    while True:
        low = _low(start, upto, most)
        rows += _between(session, sought, low, upto, limit=limit + 1 - len(rows))
        if len(rows) > limit:
            return AccountLook(rows[:limit], _below(rows[:limit], upto))
        upto, most = low, min(most * 4, MOST_READ - (sum(end) - sum(low)))
        if upto == start:
            return AccountLook(rows, None)
        if sum(end) - sum(upto) >= MOST_READ:
            return AccountLook(rows, upto)


def _below(shown: Sequence[AccountEntry], upto: Positions) -> Positions:
    """Return the positions below the entries that are shown, of those that stand up to others: the rest is older."""
    lowest = list(upto)
    for entry in shown:
        lowest[entry.stripe_no] = min(lowest[entry.stripe_no], entry.seq - 1)
    return tuple(lowest)


def _low(start: Positions, upto: Positions, most: int) -> Positions:
    """Return positions about so many entries before others, of each stripe its share."""
    lengths = [last - first for first, last in zip(start, upto, strict=True)]
    total = sum(lengths)
    if total <= most:
        return start
    return tuple(last - -(-length * most // total) for last, length in zip(upto, lengths, strict=True))


def _between(
    session: Session, sought: AccountFilter, low: Positions, upto: Positions, *, limit: int
) -> list[AccountEntry]:
    query = {
        "jackpot_id": sought.jackpot_id,
        "accounts": list(sought.accounts),
        "currency": sought.currency,
        "movement": None if sought.movement is None else sought.movement.value,
        "stripe_nos": list(range(len(upto))),
        "starts": list(low),
        "ends": list(upto),
        "most": limit,
    }
    return [
        AccountEntry(
            row.stripe_no,
            row.seq,
            row.kind,
            row.booked_at,
            row.principal,
            row.table_id,
            row.round_id,
            [line for line in zip(*row[-4:], strict=True) if sought.has(*line)],
        )
        for row in session.execute(_ENTRIES, query)
    ]
