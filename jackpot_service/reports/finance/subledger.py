"""
The sub-ledger: the amounts of accounts that documents determine; none of it is read from the postings of entries.

Here are bets and their refunds, statements, and the balances of retired jackpots; `award_subledger` has the rest.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain import accounts
from jackpot_service.domain.accounts import Account
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import ZERO
from jackpot_service.reports.finance.period import BookPeriod


@dataclass(frozen=True, slots=True)
class Line:
    """
    The amount that documents of one kind put into an account (negative: take from it), for a movement.

    `value` is the worth of a casino's amount at the rates of its rounds; 0 for all other accounts.
    """

    account: Account
    currency: str
    movement: Movement
    amount: Decimal
    value: Decimal = ZERO


@dataclass(frozen=True, slots=True)
class Stakes:
    """Stakes that were accepted under one rules version at one casino, in units of one currency, and their value."""

    version: int
    casino_id: str
    currency: str
    stakes: Decimal
    value: Decimal


@dataclass(frozen=True, slots=True)
class Refunds:
    """
    Stakes of one rules version, casino and currency that went back, or (`is_again`) were booked again by a correction.

    `is_over`: the cycle of the bets had been won by then.
    """

    version: int
    casino_id: str
    currency: str
    is_again: bool
    is_over: bool
    stakes: Decimal
    value: Decimal

    @property
    def movement(self) -> Movement:
        """The movement of their postings."""
        return Movement.CONTRIBUTION if self.is_again else Movement.REVERSAL


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
            JOIN rounds r ON r.jackpot_id = :jackpot_id AND r.round_key = e.round_key
            CROSS JOIN LATERAL (
                SELECT b.currency, sum(b.stake_minor) AS stakes_minor
                FROM bets b
                WHERE b.jackpot_id = :jackpot_id AND b.round_key = e.round_key AND b.step = e.step
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

# The refunds of each entry are looked up by its round, in one of three places. A bet's cycle had been won when it was
# refunded if it books at or before the cut of the cycle that then ran. That is the last cycle that the refund books
# after. Each bet is looked up with all that belongs to it (LIMIT): few are refunded. Results are asked for dead hands
# before their rules are: few have one, and to read rules for each result took longer than all else of the question.
_REFUNDS = text(
    """
    WITH refunded_bets AS (
        SELECT e.stripe_no, e.seq, e.round_key, refunded.bet_id, 1 AS times
        FROM entries_between(
            :jackpot_id, CAST(:stripe_nos AS int[]), CAST(:starts AS bigint[]), CAST(:ends AS bigint[])
        ) AS e
        CROSS JOIN LATERAL (
            SELECT v.bet_id
            FROM voids v
            WHERE e.kind = 'voids'
              AND v.jackpot_id = :jackpot_id AND v.round_key = e.round_key AND v.step = e.step AND NOT v.is_tombstone
            UNION ALL
            SELECT b.bet_id
            FROM live_bets(:jackpot_id, e.round_key) AS b
            WHERE e.kind = 'cancellation'
            UNION ALL
            SELECT b.bet_id
            FROM jsonb_array_elements(e.facts #> '{result,hands}') AS h (fact)
            JOIN live_bets(:jackpot_id, e.round_key) AS b ON b.hand = h.fact ->> 0
            WHERE e.kind = 'result' AND h.fact ->> 1 = 'dead'
              AND e.facts @? 'strict $.result.hands[*] ? (@[1] == "dead")'
              AND refunds_dead_hands(:jackpot_id, e.rules_version)
        ) AS refunded
        WHERE e.kind IN ('voids', 'cancellation', 'result')
        UNION ALL
        SELECT 0, f.seq, b.round_key, b.bet_id, CASE WHEN dead.now THEN 1 ELSE -1 END
        FROM effects_of_acts(:jackpot_id, (CAST(:starts AS bigint[]))[1], (CAST(:ends AS bigint[]))[1]) AS f
        CROSS JOIN LATERAL live_bets(:jackpot_id, f.round_key) AS b
        CROSS JOIN LATERAL (
            SELECT f.after -> 'refunds' ? b.bet_id,
                   refunds_dead_hands(
                       :jackpot_id, (SELECT r.rules_version FROM round_of_key(:jackpot_id, f.round_key) AS r)
                   ) AND EXISTS (SELECT
                           FROM jsonb_array_elements(f.before -> 'result' -> 'hands') AS one (hand)
                           WHERE one.hand ->> 0 = b.hand AND one.hand ->> 1 = 'dead')
        ) AS dead (now, before)
        WHERE f.kind = 'round_corrected' AND dead.now <> dead.before
    )
    SELECT one.rules_version, one.casino_id, one.currency, refunded.times < 0, one.is_over,
           abs(sum(refunded.times * one.stake)), abs(sum(refunded.times * one.stake * one.rate))
    FROM refunded_bets AS refunded
    CROSS JOIN LATERAL (
        SELECT r.casino_id, b.currency, r.rules_version,
               o.seq <= coalesce(running.cut[o.stripe_no + 1], 0) AS is_over,
               b.stake_minor * CAST('1e-' || s.exponent AS numeric) AS stake, s.base_per_unit AS rate
        FROM bets b
        JOIN entries o ON o.jackpot_id = :jackpot_id AND o.round_key = b.round_key AND o.step = b.step
        JOIN rounds r ON r.jackpot_id = :jackpot_id AND r.round_key = b.round_key
        JOIN rates s ON s.base = :base AND s.number = r.rate_sheet AND s.currency = b.currency
        LEFT JOIN LATERAL (
            SELECT y.cut
            FROM cycles y
            WHERE y.jackpot_id = :jackpot_id AND coalesce(y.cut[refunded.stripe_no + 1], 0) < refunded.seq
            ORDER BY y.cycle DESC
            LIMIT 1
        ) AS running ON true
        WHERE b.jackpot_id = :jackpot_id AND b.round_key = refunded.round_key AND b.bet_id = refunded.bet_id
        LIMIT 1
    ) AS one
    GROUP BY 1, 2, 3, 4, 5
    ORDER BY 1, 2, 3, 4, 5
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


def stakes(session: Session, book: BookPeriod) -> list[Stakes]:
    """Sum the bets of a period, one by one: it reads them all."""
    return [Stakes(*row) for row in session.execute(_STAKES, book.bounds)]


def refunds(session: Session, book: BookPeriod) -> list[Refunds]:
    """Sum the refunds of a period, and what was booked again, whatever its entries booked for it."""
    return [Refunds(*row) for row in session.execute(_REFUNDS, book.bounds)]


def sums_of_stakes(accepted: Iterable[Stakes], refunded: Iterable[Refunds], *, base: str) -> Iterator[Line]:
    """Return the lines of stakes and their refunds on casinos' accounts."""
    for sums in accepted:
        amounts = -sums.stakes, -sums.value
        yield from casino_lines(sums.casino_id, sums.currency, Movement.CONTRIBUTION, *amounts, base=base)
    for back in refunded:
        amounts = (-back.stakes, -back.value) if back.is_again else (back.stakes, back.value)
        yield from casino_lines(back.casino_id, back.currency, back.movement, *amounts, base=base)


def sums_of_statements(session: Session, book: BookPeriod) -> Iterator[Line]:
    """Return the lines of statements settled in a period, on casinos' accounts and on the bank's."""
    for casino_id, currency, amount in session.execute(_SETTLED, book.bounds):
        yield Line(accounts.casino(casino_id), currency, Movement.PAYMENT, amount)
        yield Line(accounts.bank(currency), currency, Movement.PAYMENT, -amount)


def sums_of_transfers(session: Session, book: BookPeriod) -> Iterator[Line]:
    """Return the lines of the transferred balances of retired jackpots, handed on or received."""
    for request_id, amount in session.execute(_TRANSFERRED, book.bounds):
        yield Line(accounts.transfer(request_id), book.base, Movement.TRANSFER, amount)


def casino_lines(
    casino_id: str, currency: str, movement: Movement, amount: Decimal, value: Decimal, *, base: str
) -> Iterator[Line]:
    """Return the lines of a casino's amount, with its change of currency if it is not of the base."""
    yield Line(accounts.casino(casino_id), currency, movement, amount, value)
    if currency != base:
        yield Line(accounts.exchange(currency), currency, movement, -amount)
        yield Line(accounts.exchange(base), base, movement, value)
