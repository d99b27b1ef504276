"""
Postings: what moved each account, entry by entry, and the balances between which it did.

Of one account, of one currency or of one movement if they are named. `pool:meter` names both parts of the meter.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from jackpot_service.database.transactions import Session
from jackpot_service.domain import accounts
from jackpot_service.domain.money import ZERO
from jackpot_service.reports.documents import Row, Section
from jackpot_service.reports.finance import figures
from jackpot_service.reports.finance.columns import amounts, columns, texts
from jackpot_service.reports.finance.figures import Moved
from jackpot_service.reports.finance.frame import LongList, Report, Scope
from jackpot_service.reports.finance.period import BookPeriod
from jackpot_service.reports.questions import Filters, Parameter

METER: Final = "pool:meter"
"""Both parts of the meter, by the beginning of their names."""

# Acts book on stripe 0; some are about a round.
_LIST: Final = """
SELECT nullif(e.casino_id, '') AS casino_id, nullif(e.table_id, '') AS table_id, r.round_id,
       e.stripe_no || '.' || e.seq AS entry, e.booked_at, e.kind, f.act_seq AS act,
       p.account, p.currency, p.movement, p.amount
FROM entries_between(
    :jackpot_id, CAST(:stripe_nos AS int[]), CAST(:starts AS bigint[]), CAST(:ends AS bigint[])
) AS e
CROSS JOIN LATERAL unnest(e.accounts, e.currencies, e.amounts, e.movements)
    WITH ORDINALITY AS p (account, currency, amount, movement, line)
LEFT JOIN effects_of_acts(:jackpot_id, :start, :upto) AS f
       ON e.stripe_no = 0 AND e.round_key IS NULL AND f.seq = e.seq
LEFT JOIN LATERAL round_of_key(:jackpot_id, coalesce(e.round_key, f.round_key)) AS r ON true
WHERE (CAST(:accounts AS text[]) IS NULL OR p.account = ANY (CAST(:accounts AS text[])))
  AND (CAST(:currency AS text) IS NULL OR p.currency = :currency)
  AND (CAST(:movement AS text) IS NULL OR p.movement = :movement)
ORDER BY e.booked_at, e.stripe_no, e.seq, p.line
"""

ACCOUNTS: Final = columns(
    "jackpot_id account currency", amounts(opening="Opening balance", net="Net", closing="Closing balance")
)

MOVEMENTS: Final = columns("jackpot_id account currency movement", amounts(amount="Net"))

POSTINGS: Final = columns(
    "jackpot_id base casino_id table_id round_id",
    texts(entry="Entry"),
    "booked_at kind act account currency movement",
    amounts(amount="Amount"),
)

_Account = tuple[str, str]
"""An account, and one of its currencies."""


def accounts_named(account: str | None) -> tuple[str, ...] | None:
    """Return the accounts that a name stands for; None for all of them."""
    if account is None:
        return None
    return (accounts.METER_PLAYERS, accounts.METER_HOUSE) if account == METER else (account,)


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """Show the balances of accounts, the movements between them, and each posting."""
    filters = scope.parameters
    balances, moved = list[Row](), list[Row]()
    for book in scope.books:
        of_period = _within(filters, figures.movements(session, book))
        balances += _balances(session, book, filters, of_period)
        moved += [
            (book.jackpot_id, line.account, line.currency, line.movement.value, line.amount)
            for line in of_period
            if filters.movement in {None, line.movement}
        ]
    named = accounts_named(filters.account)
    more = {
        "accounts": None if named is None else list(named),
        "currency": filters.currency,
        "movement": None if filters.movement is None else filters.movement.value,
    }
    return (
        Section("accounts", "Accounts", ACCOUNTS, balances),
        Section("movements", "What moved them, by movement", MOVEMENTS, moved),
        LongList(session, _LIST, scope, POSTINGS, more).section("postings", "Postings, in the order of their booking"),
    )


def _within(filters: Filters, moved: Sequence[Moved]) -> Sequence[Moved]:
    named = accounts_named(filters.account)
    return [
        line for line in moved if (named is None or line.account in named) and filters.currency in {None, line.currency}
    ]


def _balances(session: Session, book: BookPeriod, filters: Filters, moved: Sequence[Moved]) -> Iterator[Row]:
    """Balances are those of the whole account, whatever movement is asked about."""
    opening = _summed(_within(filters, figures.movements(session, book.until_start(session))))
    net = _summed(moved)
    for key in sorted({*opening, *net}):
        yield (book.jackpot_id, *key, opening[key], net[key], opening[key] + net[key])


def _summed(moved: Sequence[Moved]) -> defaultdict[_Account, Decimal]:
    summed = defaultdict[_Account, Decimal](lambda: ZERO)
    for line in moved:
        summed[line.account, line.currency] += line.amount
    return summed


REPORT = Report(
    "postings",
    "Postings of accounts",
    make,
    frozenset({Parameter.ACCOUNT, Parameter.CURRENCY, Parameter.MOVEMENT}),
    sections=("accounts", "movements", "postings"),
    is_kept=False,
    signs="A balance is what the ledger owes to the account's owner: negative where the owner owes it.",
)
