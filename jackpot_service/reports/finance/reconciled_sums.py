"""
The sums of both sides of a reconciliation: the amounts that documents make due, and those that entries booked.

Each is read from its own source, one document and one entry at a time. Three hours that are over never change, so their
sums are kept by the first to read them. The rest, at the edges of a period, is read for each report.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.domain import accounts
from jackpot_service.domain.accounts import Account
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import ZERO, plain
from jackpot_service.records import checkpoints
from jackpot_service.records.checkpoints import DayPart
from jackpot_service.reports.finance import award_subledger, period, subledger
from jackpot_service.reports.finance.period import DAY, BookPeriod, Part, is_within
from jackpot_service.reports.finance.subledger import Refunds, Stakes

REPORT_VERSION: Final = 1
"""
To be raised, as that of the report is, whenever the same books are to come to other sums: days are then read again.
"""

WON: Final = (accounts.METER_PLAYERS, accounts.RESERVE)
"""The accounts that give nothing back of a cycle that was won."""

SPLIT: Final = (*WON, accounts.PRIZE_FUND, accounts.HOUSE_MARGIN)
"""The accounts that stakes are split among."""


class Side(StrEnum):
    """
    The source of a sum.

    The turnover is the value of stakes of which an account gets a part under a rules version (negative: gives it back).
    The documents are amounts, and so is the journal.
    """

    TURNOVER = "turnover"
    DOCUMENTS = "documents"
    JOURNAL = "journal"


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of one side for an account, currency and movement; `version` is of the rounds' rules, if any."""

    side: Side
    version: int | None
    account: Account
    currency: str
    movement: Movement
    amount: Decimal

    def as_json(self) -> dict[str, Any]:
        """Return the sum as it is stored."""
        return {**asdict(self), "amount": plain(self.amount)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Sum":
        """Read a sum that was stored. Raises: LookupError, ValueError, ArithmeticError for anything else."""
        account, movement = Account(stored["account"]), Movement(stored["movement"])
        amount = Decimal(stored["amount"])
        return cls(Side(stored["side"]), stored["version"], account, stored["currency"], movement, amount)


def added_up(sums: Iterable[Sum]) -> list[Sum]:
    """Sum the amounts of each key, in the order of the keys."""
    amounts = defaultdict[tuple[Side, int | None, Account, str, Movement], list[Decimal]](list)
    for sum_ in sums:
        amounts[sum_.side, sum_.version, sum_.account, sum_.currency, sum_.movement].append(sum_.amount)
    in_order = sorted(amounts, key=lambda key: (key[0], key[1] or 0, *key[2:]))
    return [Sum(*key, sum(amounts[key], ZERO)) for key in in_order]


def sums_of(session: Session, book: BookPeriod) -> list[Sum]:
    """Sum both sides of a period: eighths that were read before from their stored sums, everything else one by one."""
    stored = _stored(session, book)
    starts, ends = [book.start, *(part.ends for part in stored)], [*(part.starts for part in stored), book.end]
    rest = [part for part in map(Part, starts, ends) if not part.is_empty]
    sums = [sum_ for part in rest for sum_ in read_sums(session, book.jackpot_id, book.base, part)]
    if stored:
        parts = {"days": [part.day for part in stored], "eighths": [part.eighth for part in stored]}
        query = {"jackpot_id": book.jackpot_id, "report_version": REPORT_VERSION, **parts}
        sums += [Sum.from_json(dict(row)) for row in session.execute(_STORED, query).mappings()]
    return added_up(sums)


def read_sums(session: Session, jackpot_id: str, base: str, part: Part) -> list[Sum]:
    """Sum both sides of a part, one document and one entry at a time: it reads them all, and no stored sum."""
    book = period.one_by_one(jackpot_id, base, part)
    stakes = subledger.stakes(session, book)
    refunded = subledger.refunds(session, book)
    lines = [
        *subledger.sums_of_stakes(stakes, refunded, base=base),
        *award_subledger.sums_of_awards(session, book),
        *award_subledger.sums_of_withheld(session, book),
        *subledger.sums_of_statements(session, book),
        *subledger.sums_of_transfers(session, book),
    ]
    documents = (Sum(Side.DOCUMENTS, None, line.account, line.currency, line.movement, line.amount) for line in lines)
    journal = (
        Sum(Side.JOURNAL, version, Account(account), currency, Movement(movement), amount)
        for version, account, currency, movement, amount in session.execute(_BOOKED, book.bounds)
    )
    return added_up([*_turnover(stakes, refunded, base=base), *documents, *journal])


_STORED = text(
    """
    SELECT side, version, account, currency, movement, sum(CAST(amount AS numeric)) AS amount
    FROM unnest(CAST(:days AS date[]), CAST(:eighths AS int[])) AS part (day, eighth)
    JOIN reconciled_days AS d ON d.jackpot_id = :jackpot_id AND d.report_version = :report_version
                             AND d.day = part.day AND d.eighth = part.eighth
    CROSS JOIN LATERAL jsonb_to_recordset(d.sums)
        AS one (side text, version int, account text, currency text, movement text, amount text)
    GROUP BY side, version, account, currency, movement
    """
)


_BOOKED = text(
    """
    WITH corrected AS (
        SELECT f.seq, r.rules_version
        FROM effects_of_acts(:jackpot_id, (CAST(:starts AS bigint[]))[1], (CAST(:ends AS bigint[]))[1]) AS f
        JOIN rounds r ON r.jackpot_id = :jackpot_id AND r.round_key = f.round_key
        WHERE f.kind = 'round_corrected'
    )
    SELECT coalesce(r.rules_version, c.rules_version), p.account, p.currency, p.movement, sum(p.amount)
    FROM entries_between(
        :jackpot_id, CAST(:stripe_nos AS int[]), CAST(:starts AS bigint[]), CAST(:ends AS bigint[])
    ) AS e
    LEFT JOIN rounds r ON r.jackpot_id = :jackpot_id AND r.round_key = e.round_key
    LEFT JOIN corrected c ON e.stripe_no = 0 AND c.seq = e.seq
    CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements)
        AS p (account, currency, amount, movement)
    GROUP BY 1, 2, 3, 4
    ORDER BY 1, 2, 3, 4
    """
)


def _stored(session: Session, book: BookPeriod) -> list[DayPart]:
    """Return the eighths of days that the period has as wholes, as far as they were read before."""
    first = max(book.first_day, date.min + DAY) - DAY
    end = min(book.end_day or date.max, date.max - DAY) + DAY
    parts = checkpoints.reconciled_days(session, book.jackpot_id, report_version=REPORT_VERSION, first=first, end=end)
    return [part for part in parts if is_within(book.start, part.starts) and is_within(part.ends, book.end)]


def _turnover(stakes: Iterable[Stakes], refunded: Iterable[Refunds], *, base: str) -> Iterator[Sum]:
    """
    Return the values of stakes, for each account that gets, or got, a part of them.

    Of stakes whose cycle had been won `house:adjustments` bears the meter's and the reserve's parts.
    """

    def of(version: int, account: Account, movement: Movement, value: Decimal) -> Sum:
        return Sum(Side.TURNOVER, version, account, base, movement, value)

    for sum_ in stakes:
        for account in SPLIT:
            yield of(sum_.version, account, Movement.CONTRIBUTION, sum_.value)
    for back in refunded:
        value = back.value if back.is_again else -back.value
        for account in SPLIT:
            is_charged_to_house = back.is_over and account in WON
            yield of(back.version, account, back.movement, ZERO if is_charged_to_house else value)
        if back.is_over:
            yield of(back.version, accounts.HOUSE_ADJUSTMENTS, back.movement, value)
