"""
The sub-ledger of awards: made, held, decided about, forfeited, corrected; of compensations, and of what was withheld.

None of it is read from the postings of entries.
"""

from collections.abc import Iterator
from decimal import Decimal

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain import accounts, posting_rules
from jackpot_service.domain.accounts import Account
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.rules import FundedBy
from jackpot_service.reports.finance.period import BookPeriod
from jackpot_service.reports.finance.subledger import Line, casino_lines

METER = Account("pool:meter")
"""Both parts of the meter: documents do not say whose money an award from it was."""

_MADE = text(
    """
    WITH settled AS MATERIALIZED (
        SELECT round_key
        FROM award_entries_between(
            :jackpot_id, CAST(:stripe_nos AS int[]), CAST(:starts AS bigint[]), CAST(:ends AS bigint[])
        )
    )
    SELECT r.casino_id, a.currency, a.funded_by, t.step,
           sum(a.amount_minor * CAST('1e-' || s.exponent AS numeric)), sum(a.cost)
    FROM settled
    JOIN awards a ON a.jackpot_id = :jackpot_id AND a.round_key = settled.round_key AND a.correction = 0
    CROSS JOIN LATERAL (
        SELECT o.step
        FROM award_steps o
        WHERE o.jackpot_id = :jackpot_id AND o.round_key = a.round_key AND o.bet_id = a.bet_id AND o.tier = a.tier
          AND o.correction = a.correction AND o.act_seq IS NULL
        LIMIT 9  -- All of them, since each step is taken once; with a limit they are looked up for each award.
    ) AS t
    JOIN rounds r ON r.jackpot_id = :jackpot_id AND r.round_key = a.round_key
    JOIN rates s ON s.base = :base AND s.number = r.rate_sheet AND s.currency = a.currency
    GROUP BY 1, 2, 3, 4
    ORDER BY 1, 2, 3, 4
    """
)

# A forfeiture is of what was unpaid. An award that was reversed had been held to the end, or had become what the casino
# owed its player.
_DECIDED = text(
    """
    SELECT r.casino_id, a.currency, a.funded_by,
           CASE WHEN t.step = 'forfeited' AND act.after #>> '{forfeiture,to}' = 'meter' THEN 'forfeited_to_meter'
                WHEN t.step = 'reversed' AND EXISTS (
               SELECT
               FROM award_steps o
               WHERE o.jackpot_id = :jackpot_id AND o.round_key = a.round_key AND o.bet_id = a.bet_id
                 AND o.tier = a.tier AND o.correction = a.correction AND o.step = 'held'
           ) AND NOT EXISTS (
               SELECT
               FROM award_steps o
               WHERE o.jackpot_id = :jackpot_id AND o.round_key = a.round_key AND o.bet_id = a.bet_id
                 AND o.tier = a.tier AND o.correction = a.correction AND o.step IN ('approved', 'reinstated')
           ) THEN 'reversed_while_held' ELSE t.step END,
           sum((a.amount_minor - paid.minor) * CAST('1e-' || s.exponent AS numeric)), sum(a.cost - paid.cost)
    FROM effects_of_acts(:jackpot_id, (CAST(:starts AS bigint[]))[1], (CAST(:ends AS bigint[]))[1]) AS f
    JOIN acts act ON act.seq = f.act_seq
    JOIN award_steps t ON t.jackpot_id = :jackpot_id AND t.round_key = f.round_key AND t.act_seq = f.act_seq
    CROSS JOIN LATERAL (
        SELECT *
        FROM awards o
        WHERE o.jackpot_id = :jackpot_id AND o.round_key = t.round_key AND o.bet_id = t.bet_id
          AND o.tier = t.tier AND o.correction = t.correction
        LIMIT 1
    ) AS a
    JOIN rounds r ON r.jackpot_id = :jackpot_id AND r.round_key = a.round_key
    JOIN rates s ON s.base = :base AND s.number = r.rate_sheet AND s.currency = a.currency
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(p.amount_minor), 0) AS minor, coalesce(sum(p.cost), 0) AS cost
        FROM payments p
        WHERE t.step = 'forfeited' AND p.jackpot_id = :jackpot_id AND p.round_key = a.round_key
          AND p.bet_id = a.bet_id AND p.tier = a.tier AND p.correction = a.correction AND p.act_seq < f.act_seq
    ) AS paid
    GROUP BY 1, 2, 3, 4
    ORDER BY 1, 2, 3, 4
    """
)

_COMPENSATED = text(
    """
    SELECT r.casino_id, a.currency, sum(a.amount_minor * CAST('1e-' || s.exponent AS numeric)), sum(a.cost)
    FROM effects_of_acts(:jackpot_id, (CAST(:starts AS bigint[]))[1], (CAST(:ends AS bigint[]))[1]) AS f
    JOIN compensations a ON a.jackpot_id = :jackpot_id AND a.round_key = f.round_key AND a.act_seq = f.act_seq
    JOIN rounds r ON r.jackpot_id = :jackpot_id AND r.round_key = a.round_key
    JOIN rates s ON s.base = :base AND s.number = r.rate_sheet AND s.currency = a.currency
    GROUP BY 1, 2
    ORDER BY 1, 2
    """
)


_WITHHELD = text(
    """
    SELECT r.casino_id, a.currency, sum(p.withheld_minor * CAST('1e-' || s.exponent AS numeric))
    FROM effects_of_acts(:jackpot_id, (CAST(:starts AS bigint[]))[1], (CAST(:ends AS bigint[]))[1]) AS f
    JOIN payments p ON p.jackpot_id = :jackpot_id AND p.round_key = f.round_key AND p.act_seq = f.act_seq
    CROSS JOIN LATERAL (
        SELECT *
        FROM awards o
        WHERE o.jackpot_id = :jackpot_id AND o.round_key = p.round_key AND o.bet_id = p.bet_id
          AND o.tier = p.tier AND o.correction = p.correction
        LIMIT 1
    ) AS a
    JOIN rounds r ON r.jackpot_id = :jackpot_id AND r.round_key = a.round_key
    JOIN rates s ON s.base = :base AND s.number = r.rate_sheet AND s.currency = a.currency
    GROUP BY 1, 2
    ORDER BY 1, 2
    """
)


def sums_of_withheld(session: Session, book: BookPeriod) -> Iterator[Line]:
    """Return the lines of what payments of a period withheld, and their reversals gave back."""
    for casino_id, currency, amount in session.execute(_WITHHELD, book.bounds):
        yield Line(accounts.casino(casino_id), currency, Movement.WITHHOLDING, -amount)
        yield Line(accounts.withheld(casino_id), currency, Movement.WITHHOLDING, amount)


def sums_of_awards(session: Session, book: BookPeriod) -> Iterator[Line]:
    """Return the lines of awards, decisions on them, corrections and compensations of a period."""
    base = book.base
    for casino_id, currency, funded_by, step, amount, cost in session.execute(_MADE, book.bounds):
        source = accounts.PRIZE_FUND if funded_by == FundedBy.PRIZE_FUND else METER
        yield Line(source, base, Movement.AWARD, -cost)
        if step == "held":
            yield Line(accounts.AWARDS_HELD, base, Movement.AWARD, cost)
        else:
            yield from casino_lines(casino_id, currency, Movement.AWARD, amount, cost, base=base)
    for casino_id, currency, funded_by, step, amount, cost in session.execute(_DECIDED, book.bounds):
        yield from _steps_of(step, casino_id, currency, amount, cost, base=base)
        if step == "forfeited":
            yield Line(accounts.casino(casino_id), currency, Movement.FORFEITURE, -amount)
            yield Line(accounts.statutory(casino_id), currency, Movement.FORFEITURE, amount)
        elif step == "forfeited_to_meter":
            yield Line(posting_rules.returned_to(funded_by), base, Movement.FORFEITURE, cost)
            yield from casino_lines(casino_id, currency, Movement.FORFEITURE, -amount, -cost, base=base)
    yield from sums_of_compensations(session, book)


def sums_of_compensations(session: Session, book: BookPeriod) -> Iterator[Line]:
    """Return the lines of compensations of a period."""
    for casino_id, currency, amount, cost in session.execute(_COMPENSATED, book.bounds):
        yield from casino_lines(casino_id, currency, Movement.COMPENSATION, amount, cost, base=book.base)
        yield Line(accounts.HOUSE_ADJUSTMENTS, book.base, Movement.COMPENSATION, -cost)


def _steps_of(step: str, casino_id: str, currency: str, amount: Decimal, cost: Decimal, *, base: str) -> Iterator[Line]:
    """
    Return the lines of awards of a casino and currency that an act had take a step.

    An award that an act made is a correction's, and payable; what else acts do, they do to those of before. A step that
    no act takes moves nothing, and so shows as a variance.
    """

    def held(movement: Movement, value: Decimal) -> Line:
        return Line(accounts.AWARDS_HELD, base, movement, value)

    def paid(movement: Movement, amount: Decimal, value: Decimal) -> Iterator[Line]:
        return casino_lines(casino_id, currency, movement, amount, value, base=base)

    match step:
        case "approved" | "reinstated":
            if step == "reinstated":
                yield held(Movement.RETURN, cost)
            yield held(Movement.RELEASE, -cost)
            yield from paid(Movement.RELEASE, amount, cost)
        case "rejected":
            yield held(Movement.RETURN, -cost)
        case "reversed_while_held":
            yield held(Movement.CORRECTION, -cost)
        case "reversed":
            yield from paid(Movement.CORRECTION, -amount, -cost)
        case "payable":
            yield from paid(Movement.CORRECTION, amount, cost)
