"""Payables: the awards that casinos still have to pay at the end, and how long they have had to."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, cast

from jackpot_service.database.transactions import Session
from jackpot_service.reports.documents import Row, Section
from jackpot_service.reports.finance.award_figures import Amounts, added_up
from jackpot_service.reports.finance.awards import LIST
from jackpot_service.reports.finance.columns import amounts, base_amounts, columns, counts, instants, texts
from jackpot_service.reports.finance.frame import LongList, Report, Scope
from jackpot_service.reports.questions import Parameter

_REST = (*amounts(unpaid_amount="Unpaid"), *base_amounts(unpaid_cost_base="Unpaid, cost"))

# A stopped award is owed all the same. Its days count from when it was first payable, whole days of 24 hours.
PAYABLES: Final = columns(
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

AGEING: Final = columns("jackpot_id base casino_id currency", texts(age="Age"), "awards", _REST)

_AGED: Final = columns("jackpot_id base casino_id currency", texts(age="Age"), _REST)


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """List the awards of the period that are not paid as a whole at the end, and sum up the rest by its age."""
    unpaid = {"only_unpaid": True}
    return (
        LongList(session, LIST, scope, PAYABLES, unpaid, joins_by_hash=True).section("payables", "Payables"),
        Section(
            "ageing",
            "Payables by casino, currency and age in days",
            AGEING,
            _ageing(LongList(session, LIST, scope, _AGED, unpaid, joins_by_hash=True)),
        ),
    )


def _ageing(unpaid: LongList) -> Iterator[Row]:
    rows = cast("Iterable[tuple[Any, ...]]", unpaid)
    for key, of in added_up((tuple(keys), Amounts(1, amount, cost)) for *keys, amount, cost in rows):
        yield (*key, of.awards, of.amount, of.cost)


REPORT = Report(
    "payables",
    "Payables",
    make,
    frozenset({Parameter.CASINO, Parameter.TABLE}),
    sections=("payables", "ageing"),
    is_for_casinos=True,
    is_kept=False,
)
