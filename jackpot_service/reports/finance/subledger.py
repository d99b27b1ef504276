"""
What documents make of the accounts that they determine, none of it read from what entries posted.

Here are bets and their refunds, statements, and the estates of retired jackpots; see `award_lines` for the rest.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain import accounts
from jackpot_service.domain.accounts import Account
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import ZERO, negated
from jackpot_service.reports.finance import parts
from jackpot_service.reports.finance.frame import Stand
from jackpot_service.reports.finance.refunds import RefundOf


@dataclass(frozen=True, slots=True)
class Line:
    """
    What documents of one sort put into an account (negative: take from it), in one currency, for a movement.

    `value` is what an amount of a casino was worth at the rates of its rounds; 0 for all other accounts.
    """

    account: Account
    currency: str
    movement: Movement
    amount: Decimal
    value: Decimal = ZERO


@dataclass(frozen=True, slots=True)
class StakesOf:
    """Stakes that were accepted under one rules version at one casino, in units of one currency, and their value."""

    version: int
    casino_id: str
    currency: str
    stakes: Decimal
    value: Decimal


# Sheets are joined to sums of stakes, of which there are few. Each entry's bets are summed where they are looked up: as
# rows of their own they would be remembered, and nothing asks for them again.
_STAKES = text(
    """
    SELECT rules_version, casino_id, currency, sum(stakes), sum(stakes * rate)
    FROM (
        SELECT summed.rules_version, summed.casino_id, summed.currency, s.base_per_unit AS rate,
               summed.stakes_minor * CAST('1e-' || s.exponent AS numeric) AS stakes
        FROM (
            SELECT r.rules_version, r.casino_id, r.rate_sheet, b.currency, sum(b.stakes_minor) AS stakes_minor
            FROM entries_between(
                :jackpot_id, CAST(:stripe_nos AS int[]), CAST(:starts AS bigint[]), CAST(:ends AS bigint[])
            ) AS e
            JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
            CROSS JOIN LATERAL (
                SELECT b.currency, sum(b.stake_minor) AS stakes_minor
                FROM bets b
                WHERE b.jackpot_id = e.jackpot_id AND b.round_key = e.round_key AND b.step = e.step
                GROUP BY b.currency
            ) AS b
            WHERE e.kind = 'bets'
            GROUP BY r.rules_version, r.casino_id, r.rate_sheet, b.currency
        ) AS summed
        JOIN rates s ON s.base = :base AND s.number = summed.rate_sheet AND s.currency = summed.currency
    ) AS by_sheet
    GROUP BY 1, 2, 3
    ORDER BY 1, 2, 3
    """
)

_SETTLED = text(
    """
    SELECT s.casino_id, s.currency, sum(s.amount)
    FROM effects_of_acts(:jackpot_id, (CAST(:starts AS bigint[]))[1], (CAST(:ends AS bigint[]))[1]) AS f
    JOIN statement_settlements s ON s.jackpot_id = :jackpot_id AND s.act_seq = f.act_seq
    GROUP BY 1, 2
    ORDER BY 1, 2
    """
)

_TRANSFERRED = text(
    """
    SELECT f.decides,
           sum(CASE f.kind WHEN 'jackpot_retired' THEN 1 ELSE -1 END * CAST(transferred.amount AS numeric))
    FROM effects_of_acts(:jackpot_id, (CAST(:starts AS bigint[]))[1], (CAST(:ends AS bigint[]))[1]) AS f
    CROSS JOIN LATERAL jsonb_each_text(f.recorded -> 'transferred') AS transferred (pool, amount)
    WHERE f.kind IN ('jackpot_retired', 'transfer_received')
    GROUP BY 1
    ORDER BY 1
    """
)


def accepted(session: Session, stand: Stand) -> list[StakesOf]:
    """Sum the bets of a part, one by one: it reads them all."""
    return [StakesOf(*row) for row in session.execute(_STAKES, parts.bounds(stand))]


def of_stakes(stakes: Iterable[StakesOf], refunded: Iterable[RefundOf], *, base: str) -> Iterator[Line]:
    """What stakes and their refunds make of casinos' accounts."""
    for one in stakes:
        amounts = negated(one.stakes), negated(one.value)
        yield from casino_lines(one.casino_id, one.currency, Movement.CONTRIBUTION, *amounts, base=base)
    yield from of_refunds(refunded, base=base)


def of_refunds(refunded: Iterable[RefundOf], *, base: str) -> Iterator[Line]:
    """What refunds, and what was booked again after one, make of casinos' accounts."""
    for back in refunded:
        movement = Movement.CONTRIBUTION if back.is_again else Movement.REVERSAL
        amounts = (negated(back.stakes), negated(back.value)) if back.is_again else (back.stakes, back.value)
        yield from casino_lines(back.casino_id, back.currency, movement, *amounts, base=base)


def of_statements(session: Session, stand: Stand) -> Iterator[Line]:
    """What statements settled in a part make of casinos' accounts and of the bank's."""
    for casino_id, currency, amount in session.execute(_SETTLED, parts.bounds(stand)):
        yield Line(accounts.casino(casino_id), currency, Movement.PAYMENT, amount)
        yield Line(accounts.bank(currency), currency, Movement.PAYMENT, negated(amount))


def of_transfers(session: Session, stand: Stand) -> Iterator[Line]:
    """What the estates of retired jackpots make of the transfers' accounts: what is handed on, or received."""
    for request_id, amount in session.execute(_TRANSFERRED, parts.bounds(stand)):
        yield Line(accounts.transfer(request_id), stand.base, Movement.TRANSFER, amount)


def casino_lines(
    casino_id: str, currency: str, movement: Movement, amount: Decimal, value: Decimal, *, base: str
) -> Iterator[Line]:
    """A casino's amount, and where it changes currency if it is not of the base."""
    yield Line(accounts.casino(casino_id), currency, movement, amount, value)
    if currency != base:
        yield Line(accounts.exchange(currency), currency, movement, negated(amount))
        yield Line(accounts.exchange(base), base, movement, value)
