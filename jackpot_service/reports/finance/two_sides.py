"""
The two sides of a reconciliation, in sums: what documents make due, and what entries booked.

Each is read from its own source, one document and one entry at a time. A day that is over never changes, so the sums of
such days are kept, by whoever read them first; what was booked beside those days is read for each report.
"""

from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from typing import Final

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain import accounts
from jackpot_service.domain.accounts import Account
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import ZERO, negated
from jackpot_service.records import reconciled_days
from jackpot_service.reports.finance import award_lines, booked, frame, refunds, subledger
from jackpot_service.reports.finance.frame import Stand
from jackpot_service.reports.finance.refunds import RefundOf
from jackpot_service.reports.finance.side_sums import Side, Sum, added_up, of_json
from jackpot_service.reports.finance.spans import Part
from jackpot_service.reports.finance.subledger import StakesOf

REPORT_VERSION: Final = 1
"""
To be raised, as that of the report is, whenever the same books are to come to other sums: days are then read again.
"""

WON: Final = (accounts.METER_PLAYERS, accounts.RESERVE)
"""The accounts that give nothing back of a cycle that was won."""

SPLIT: Final = (*WON, accounts.PRIZE_FUND, accounts.HOUSE_MARGIN)
"""The accounts that stakes are split among."""


def sums(session: Session, stand: Stand) -> list[Sum]:
    """Sum both sides of a part: days that were read before as they were found, everything else one by one."""
    days, rest = _days_and_rest(session, stand)
    found = [one for part in rest for one in read(session, stand.jackpot_id, stand.base, part)]
    if days:
        asked = {"jackpot_id": stand.jackpot_id, "report_version": REPORT_VERSION, "days": days}
        found += [of_json(dict(one)) for one in session.execute(_KEPT, asked).mappings()]
    return added_up(found)


def read(session: Session, jackpot_id: str, base: str, part: Part) -> list[Sum]:
    """Sum both sides of a part, one document and one entry at a time: it reads them all, and no sum that was kept."""
    stand = frame.one_by_one(jackpot_id, base, part)
    stakes = subledger.accepted(session, stand)
    refunded = refunds.by_version(session, stand)
    lines = [
        *subledger.of_stakes(stakes, refunded, base=stand.base),
        *award_lines.of_awards(session, stand),
        *subledger.of_statements(session, stand),
        *subledger.of_transfers(session, stand),
    ]
    documents = (Sum(Side.DOCUMENTS, None, one.account, one.currency, one.movement, one.amount) for one in lines)
    turnover = _turnover(stakes, refunded, base=stand.base)
    return added_up([*turnover, *documents, *booked.sums(session, stand)])


# Whoever is asked of years adds up hundreds of days: in the database, which hands over one row a key.
_KEPT = text(
    """
    SELECT side, version, account, currency, movement, sum(CAST(amount AS numeric)) AS amount
    FROM reconciled_days
    CROSS JOIN LATERAL jsonb_to_recordset(sums)
        AS one (side text, version int, account text, currency text, movement text, amount text)
    WHERE jackpot_id = :jackpot_id AND report_version = :report_version AND day = ANY(CAST(:days AS date[]))
    GROUP BY side, version, account, currency, movement
    """
)


def _days_and_rest(session: Session, stand: Stand) -> tuple[list[date], list[Part]]:
    """The whole days of a part that were read before, and the parts between and beside them."""
    first, end = stand.span.first_day, stand.span.end_day or date.max
    days = reconciled_days.days(session, stand.jackpot_id, report_version=REPORT_VERSION, first=first, end=end)
    starts = [stand.start, *(day.ends for day in days)]
    ends = [*(day.starts for day in days), stand.end]
    return [day.day for day in days], [part for part in map(Part, starts, ends) if not part.is_empty]


def _turnover(stakes: Iterable[StakesOf], refunded: Iterable[RefundOf], *, base: str) -> Iterator[Sum]:
    """
    The values of stakes, for each account that gets, or got, a part of them.

    Of stakes whose cycle had been won `house:adjustments` bears the meter's and the reserve's parts.
    """

    def of(version: int, account: Account, movement: Movement, value: Decimal) -> Sum:
        return Sum(Side.TURNOVER, version, account, base, movement, value)

    for one in stakes:
        for account in SPLIT:
            yield of(one.version, account, Movement.CONTRIBUTION, one.value)
    for back in refunded:
        movement = Movement.CONTRIBUTION if back.is_again else Movement.REVERSAL
        value = back.value if back.is_again else negated(back.value)
        for account in SPLIT:
            is_borne = back.is_over and account in WON
            yield of(back.version, account, movement, ZERO if is_borne else value)
        if back.is_over:
            yield of(back.version, accounts.HOUSE_ADJUSTMENTS, movement, value)
