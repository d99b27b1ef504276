"""Payables: the awards that casinos still have to pay at the end, and how long they have had to."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from sqlalchemy import text

from jackpot_service.database.transactions import Session
from jackpot_service.reports.documents import Row, Section
from jackpot_service.reports.finance.awards import LIST
from jackpot_service.reports.finance.columns import amounts, base_amounts, columns, counts, instants, texts
from jackpot_service.reports.finance.frame import LongList, Report, Scope, list_parameters
from jackpot_service.reports.questions import Parameter

AGES: Final[Mapping[str, int]] = MappingProxyType({"0-30": 30, "31-60": 60, "61-90": 90})
OLDER: Final = "over 90"
"""How many days an award has been payable: whole days of 24 hours, up to the end. Each age has its last day."""

_AGE: Final = " ".join(f"WHEN age_days <= {last} THEN '{age}'" for age, last in AGES.items())

# A stopped award is owed all the same, and its days count from when it was first payable.
_UNPAID: Final = f"""
WITH listed AS ({LIST}),
aged AS (
    SELECT *, floor(extract(epoch FROM CAST(:as_of AS timestamptz) - payable_at) / 86400)::int AS age_days
    FROM (
        SELECT *, coalesce(reinstated_at, approved_at, made_at) AS payable_at
        FROM listed
        WHERE state IN ('payable', 'part-paid', 'stopped')
    ) AS owed
)
SELECT *, CASE {_AGE} ELSE '{OLDER}' END AS age
FROM aged
"""  # noqa: S608  the statements are ours

_AGEING: Final = text(f"""
SELECT casino_id, currency, age, count(*), sum(unpaid_amount), sum(unpaid_cost_base)
FROM ({_UNPAID}) AS unpaid
GROUP BY casino_id, currency, age
ORDER BY casino_id COLLATE "C", currency COLLATE "C", age COLLATE "C"
""")  # noqa: S608  as above

_REST = (*amounts(unpaid_amount="Unpaid"), *base_amounts(unpaid_cost_base="Unpaid, cost"))

PAYABLES = columns(
    "jackpot_id base",
    texts(award_id="Award"),
    "casino_id table_id round_id bet_id hand player_id tier",
    amounts(amount="Amount", paid_amount="Paid amount"),
    _REST[:1],
    "currency",
    _REST[1:],
    "state",
    instants(made_at="Made", payable_at="Payable since"),
    counts(age_days="Days"),
    texts(age="Age", payment_reference="Payment"),
)

AGEING = columns("jackpot_id base casino_id currency", texts(age="Age"), "awards", _REST)


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """List the awards of the period that are not paid as a whole at the end, and sum up the rest by its age."""
    return (
        LongList(session, _UNPAID, scope, PAYABLES).section("payables", "Payables"),
        Section("ageing", "Payables by casino, currency and age in days", AGEING, _ageing(session, scope)),
    )


def _ageing(session: Session, scope: Scope) -> Iterator[Row]:
    for book in scope.books:
        for row in session.execute(_AGEING, list_parameters(scope, book)):
            yield (book.jackpot_id, book.base, *row)


REPORT = Report(
    "payables",
    "Payables",
    make,
    frozenset({Parameter.CASINO, Parameter.TABLE}),
    sections=("payables", "ageing"),
    is_for_casinos=True,
    is_kept=False,
)
