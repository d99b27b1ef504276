"""
What documents make of the accounts that they determine, none of it read from what entries posted.

They are bets and their refunds, awards and their steps, compensations, statements, and the estates of retired jackpots.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from sqlalchemy import text

from jackpot_service.db import Session
from jackpot_service.domain import accounts
from jackpot_service.domain.accounts import Account
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import ZERO, negated
from jackpot_service.domain.rules import FundedBy
from jackpot_service.reports.finance import parts
from jackpot_service.reports.finance.effects import EFFECTS
from jackpot_service.reports.finance.frame import Stand
from jackpot_service.reports.finance.refunds import RefundOf

METER = Account("pool:meter")
"""Both parts of the meter: documents do not say whose money an award from it was."""


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


_STAKES = text(
    f"""
    SELECT rules_version, casino_id, currency, sum(stakes), sum(stakes * rate)
    FROM (
        SELECT r.rules_version, r.casino_id, b.currency, s.base_per_unit AS rate,
               sum(b.stake_minor) * CAST('1e-' || s.exponent AS numeric) AS stakes
        FROM {parts.ENTRIES}
        JOIN bets b ON b.jackpot_id = e.jackpot_id AND b.round_key = e.round_key AND b.step = e.step
        JOIN rounds r ON r.jackpot_id = e.jackpot_id AND r.round_key = e.round_key
        JOIN rates s ON s.base = :base AND s.number = r.rate_sheet AND s.currency = b.currency
        GROUP BY r.rules_version, r.casino_id, b.currency, r.rate_sheet, s.base_per_unit, s.exponent
    ) AS by_sheet
    GROUP BY 1, 2, 3
    ORDER BY 1, 2, 3
    """  # noqa: S608  the parts are ours
)

_IN_UNITS = "a.amount_minor * CAST('1e-' || s.exponent AS numeric)"

_OF_AWARD = """
    JOIN rounds r ON r.jackpot_id = a.jackpot_id AND r.round_key = a.round_key
    JOIN rates s ON s.base = :base AND s.number = r.rate_sheet AND s.currency = a.currency
"""

_SAME_AWARD = """t.jackpot_id = a.jackpot_id AND t.round_key = a.round_key AND t.bet_id = a.bet_id
         AND t.tier = a.tier AND t.correction = a.correction"""

_MADE = text(
    f"""
    SELECT r.casino_id, a.currency, a.funded_by, t.step, sum({_IN_UNITS}), sum(a.cost)
    FROM {parts.ENTRIES}
    JOIN settlements d ON d.jackpot_id = e.jackpot_id AND d.round_key = e.round_key AND d.step = e.step
    JOIN awards a ON a.jackpot_id = d.jackpot_id AND a.round_key = d.round_key AND a.correction = 0
    JOIN award_steps t ON {_SAME_AWARD} AND t.act_seq IS NULL
    {_OF_AWARD}
    GROUP BY 1, 2, 3, 4
    ORDER BY 1, 2, 3, 4
    """  # noqa: S608  the parts are ours
)

# An award that was reversed had been held to the end, or had become what the casino owed its player.
_DECIDED = text(
    f"""
    WITH {EFFECTS}
    SELECT r.casino_id, a.currency, CASE WHEN t.step = 'reversed' AND EXISTS (
               SELECT FROM award_steps t WHERE {_SAME_AWARD} AND t.step = 'held'
           ) AND NOT EXISTS (
               SELECT FROM award_steps t WHERE {_SAME_AWARD} AND t.step IN ('approved', 'reinstated')
           ) THEN 'reversed while held' ELSE t.step END,
           sum({_IN_UNITS}), sum(a.cost)
    FROM effects f
    JOIN award_steps t ON t.jackpot_id = :jackpot_id AND t.round_key = f.round_key AND t.act_seq = f.act_seq
    JOIN awards a ON {_SAME_AWARD}
    {_OF_AWARD}
    GROUP BY 1, 2, 3
    ORDER BY 1, 2, 3
    """  # noqa: S608  the parts are ours
)

_COMPENSATED = text(
    f"""
    WITH {EFFECTS}
    SELECT r.casino_id, a.currency, sum({_IN_UNITS}), sum(a.cost)
    FROM effects f
    JOIN compensations a ON a.jackpot_id = :jackpot_id AND a.round_key = f.round_key AND a.act_seq = f.act_seq
    {_OF_AWARD}
    GROUP BY 1, 2
    ORDER BY 1, 2
    """  # noqa: S608  the parts are ours
)

_SETTLED = text(
    f"""
    WITH {EFFECTS}
    SELECT s.casino_id, s.currency, sum(s.amount)
    FROM effects f
    JOIN statement_settlements s ON s.jackpot_id = :jackpot_id AND s.act_seq = f.act_seq
    GROUP BY 1, 2
    ORDER BY 1, 2
    """  # noqa: S608  the parts are ours
)

_TRANSFERRED = text(
    f"""
    WITH {EFFECTS}
    SELECT f.decides,
           sum(CASE f.kind WHEN 'jackpot_retired' THEN 1 ELSE -1 END * CAST(estate.amount AS numeric))
    FROM effects f
    CROSS JOIN LATERAL jsonb_each_text(f.recorded -> 'estate') AS estate (pool, amount)
    WHERE f.kind IN ('jackpot_retired', 'transfer_received')
    GROUP BY 1
    ORDER BY 1
    """  # noqa: S608  the parts are ours
)


def accepted(session: Session, stand: Stand) -> list[StakesOf]:
    """Sum the bets of a part, one by one: it reads them all."""
    return [StakesOf(*row) for row in session.execute(_STAKES, parts.bounds(stand))]


def of_stakes(stakes: Iterable[StakesOf], refunded: Iterable[RefundOf], *, base: str) -> Iterator[Line]:
    """What stakes and their refunds make of casinos' accounts."""
    for one in stakes:
        amounts = negated(one.stakes), negated(one.value)
        yield from _casino(one.casino_id, one.currency, Movement.CONTRIBUTION, *amounts, base=base)
    yield from of_refunds(refunded, base=base)


def of_refunds(refunded: Iterable[RefundOf], *, base: str) -> Iterator[Line]:
    """What refunds, and what was booked again after one, make of casinos' accounts."""
    for back in refunded:
        movement = Movement.CONTRIBUTION if back.is_again else Movement.REVERSAL
        amounts = (negated(back.stakes), negated(back.value)) if back.is_again else (back.stakes, back.value)
        yield from _casino(back.casino_id, back.currency, movement, *amounts, base=base)


def of_awards(session: Session, stand: Stand) -> Iterator[Line]:
    """What awards, decisions on them, corrections and compensations of a part make of the accounts they move."""
    base = stand.base
    for casino_id, currency, funded_by, step, amount, cost in session.execute(_MADE, parts.bounds(stand)):
        source = accounts.PRIZE_FUND if funded_by == FundedBy.PRIZE_FUND else METER
        yield Line(source, base, Movement.AWARD, negated(cost))
        if step == "held":
            yield Line(accounts.AWARDS_HELD, base, Movement.AWARD, cost)
        else:
            yield from _casino(casino_id, currency, Movement.AWARD, amount, cost, base=base)
    for casino_id, currency, step, amount, cost in session.execute(_DECIDED, parts.bounds(stand)):
        yield from _OF_STEP[step](casino_id, currency, amount, cost, base)
    for casino_id, currency, amount, cost in session.execute(_COMPENSATED, parts.bounds(stand)):
        yield from _casino(casino_id, currency, Movement.COMPENSATION, amount, cost, base=base)
        yield Line(accounts.HOUSE_ADJUSTMENTS, base, Movement.COMPENSATION, negated(cost))


def of_statements(session: Session, stand: Stand) -> Iterator[Line]:
    """What statements settled in a part make of casinos' accounts and of the bank's."""
    for casino_id, currency, amount in session.execute(_SETTLED, parts.bounds(stand)):
        yield Line(accounts.casino(casino_id), currency, Movement.PAYMENT, amount)
        yield Line(accounts.bank(currency), currency, Movement.PAYMENT, negated(amount))


def of_transfers(session: Session, stand: Stand) -> Iterator[Line]:
    """What the estates of retired jackpots make of the transfers' accounts: what is handed on, or received."""
    for request_id, amount in session.execute(_TRANSFERRED, parts.bounds(stand)):
        yield Line(accounts.transfer(request_id), stand.base, Movement.TRANSFER, amount)


def _casino(
    casino_id: str, currency: str, movement: Movement, amount: Decimal, value: Decimal, *, base: str
) -> Iterator[Line]:
    """A casino's amount, and where it changes currency if it is not of the base."""
    yield Line(accounts.casino(casino_id), currency, movement, amount, value)
    if currency != base:
        yield Line(accounts.exchange(currency), currency, movement, negated(amount))
        yield Line(accounts.exchange(base), base, movement, value)


def _held(movement: Movement, sign: Callable[[Decimal], Decimal]) -> "_OfStep":
    return lambda _casino_id, _currency, _amount, cost, base: [
        Line(accounts.AWARDS_HELD, base, movement, sign(cost)),
    ]


def _paid(movement: Movement, sign: Callable[[Decimal], Decimal]) -> "_OfStep":
    return lambda casino_id, currency, amount, cost, base: [
        *_casino(casino_id, currency, movement, sign(amount), sign(cost), base=base)
    ]


def _as_it_is(amount: Decimal) -> Decimal:
    return amount


def _together(*parts: "_OfStep") -> "_OfStep":
    return lambda *facts: [line for part in parts for line in part(*facts)]


_OfStep = Callable[[str, str, Decimal, Decimal, str], Sequence[Line]]
"""What a step of awards moves, of a casino and currency, by their amount, their cost and the base currency."""

_RELEASED = _together(_held(Movement.RELEASE, negated), _paid(Movement.RELEASE, _as_it_is))

_OF_STEP: Final = {
    "approved": _RELEASED,
    "rejected": _held(Movement.RETURN, negated),
    "reinstated": _together(_held(Movement.RETURN, _as_it_is), _RELEASED),
    "payable": _paid(Movement.CORRECTION, _as_it_is),
    "reversed": _paid(Movement.CORRECTION, negated),
    "reversed while held": _held(Movement.CORRECTION, negated),
}
"""An award that an act made is a correction's, and payable; what else acts do to awards they do to those of before."""
