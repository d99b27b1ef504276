"""
The reconciliation: turnover times rate against what the pools got, and every sub-ledger against the journal.

What is expected is figured from documents (bets, rules, rates, voids, cards, awards and their steps, acts), what is
booked from the entries' postings, each read one by one: so a variance shows what differs, and is never zero by itself.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TypeVar

from jackpot_service.database.transactions import Session
from jackpot_service.domain import accounts
from jackpot_service.domain.accounts import Account
from jackpot_service.domain.journal import Movement
from jackpot_service.domain.money import ZERO, product, total
from jackpot_service.domain.rules import Split
from jackpot_service.records import pinned
from jackpot_service.reports.documents import Column, Row, Section, Sort
from jackpot_service.reports.finance import figures, frame, held, two_sides, variances
from jackpot_service.reports.finance.award_lines import METER
from jackpot_service.reports.finance.frame import Report, Scope, Stand
from jackpot_service.reports.finance.side_sums import Side, Sum

K = TypeVar("K")

_RATES: Mapping[Account, Callable[[Split], Decimal]] = {
    accounts.METER_PLAYERS: lambda split: split.meter,
    accounts.RESERVE: lambda split: split.reserve,
    accounts.PRIZE_FUND: lambda split: split.prize_fund,
    accounts.HOUSE_MARGIN: lambda split: split.house,
    accounts.HOUSE_ADJUSTMENTS: lambda split: total((split.meter, split.reserve)),
}
"""What of stakes an account gets; the house's adjustments, what it bears of those whose cycle had been won."""

_TWO = variances.columns(("expected", "Expected"), ("booked", "Booked"), currency_in="currency")

SUMMARY = (
    Column("jackpot_id", "Jackpot"),
    Column("compared", "Figures compared", Sort.COUNT),
    Column("differing", "Figures that differ", Sort.COUNT),
)

BY_RATE = (
    Column("jackpot_id", "Jackpot"),
    Column("rules_version", "Rules version", Sort.COUNT),
    Column("account", "Account"),
    Column("currency", "Currency"),
    Column("value", "Base value of the stakes", Sort.AMOUNT, currency_in="currency"),
    Column("rate", "Rate", Sort.NUMBER),
    *_TWO,
)

ACCOUNTS = (
    Column("jackpot_id", "Jackpot"),
    Column("account", "Account"),
    Column("currency", "Currency"),
    Column("movement", "Movement"),
    *_TWO,
)

HELD = (
    Column("jackpot_id", "Jackpot"),
    Column("account", "Account"),
    Column("currency", "Currency"),
    Column("awards", "Held awards", Sort.COUNT),
    *_TWO,
)


def make(session: Session, scope: Scope) -> Sequence[Section]:
    """Compare, jackpot by jackpot; what differs is counted first."""
    contributions, reversals, ledgers, holding, summary = (list[Row]() for _ in range(5))
    for stand in scope.stands:
        two = _TwoSides(session, stand)
        found = (
            list(two.by_rate(Movement.CONTRIBUTION)),
            list(two.by_rate(Movement.REVERSAL)),
            list(two.by_account()),
            [_held(session, stand)],
        )
        for kept, rows in zip((contributions, reversals, ledgers, holding), found, strict=True):
            kept.extend(rows)
        differences = [row[-2] for rows in found for row in rows]
        summary.append((stand.jackpot_id, len(differences), sum(bool(one) for one in differences)))
    return (
        Section("summary", "What was compared", SUMMARY, summary),
        Section("contributions", "Turnover times rate, against what was contributed", BY_RATE, contributions),
        Section("reversals", "Refunded stakes times rate, against what was reversed", BY_RATE, reversals),
        Section("accounts", "Documents, against what was put into their accounts", ACCOUNTS, ledgers),
        Section("held", "Held awards at the end, against their account", HELD, holding),
    )


class _TwoSides:
    """What documents and entries of a part come to."""

    def __init__(self, session: Session, stand: Stand) -> None:
        self.jackpot_id, self.base = stand.jackpot_id, stand.base
        sums = two_sides.sums(session, stand)
        self.turnover, self.documents, self.journal = (
            [one for one in sums if one.side is side] for side in (Side.TURNOVER, Side.DOCUMENTS, Side.JOURNAL)
        )
        versions = sorted({one.version for one in self.turnover if one.version is not None})
        self.splits = {version: pinned.rules(session, stand.jackpot_id, version).split for version in versions}

    def by_rate(self, movement: Movement) -> Iterator[Row]:
        """By rules version and account: the stakes' value times the version's rate, against the postings."""
        values = {(one.version, one.account): one.amount for one in self.turnover if one.movement is movement}
        got = _summed(
            ((one.version, one.account), one.amount)
            for one in self.journal
            if one.movement is movement and one.account in _RATES
        )
        for version, account in sorted({*values, *got}, key=lambda key: (key[0] or 0, key[1])):
            value, rate = values.get((version, account), ZERO), None
            if version is not None and (version, account) in values:
                rate = _RATES[account](self.splits[version])
            due = ZERO if rate is None else product(value, rate)
            two = variances.compared(due, got.get((version, account), ZERO))
            yield (self.jackpot_id, version, account, self.base, value, rate, *two)

    def by_account(self) -> Iterator[Row]:
        """By account, currency and movement: what documents make, against the postings."""
        expected = {(one.account, one.currency, one.movement): one.amount for one in self.documents}
        got = _summed(
            ((account, one.currency, one.movement), one.amount)
            for one in self.journal
            for account in [_as_documents_say(one)]
            if account is not None
        )
        for key in sorted({*expected, *got}):
            two = variances.compared(expected.get(key, ZERO), got.get(key, ZERO))
            yield (self.jackpot_id, *key[:2], key[2].value, *two)


def _as_documents_say(one: Sum) -> Account | None:
    """The account by which documents name what a posting moved; None for what they do not determine."""
    is_award = one.movement is Movement.AWARD
    if is_award and one.account in {accounts.METER_PLAYERS, accounts.METER_HOUSE}:
        return METER
    if is_award and one.account == accounts.PRIZE_FUND:
        return one.account
    if one.account == accounts.HOUSE_ADJUSTMENTS and one.movement is Movement.COMPENSATION:
        return one.account
    determined = one.account.startswith((accounts.CASINO, "bank:", "transfer:", "fx:"))
    return one.account if determined or one.account == accounts.AWARDS_HELD else None


def _held(session: Session, stand: Stand) -> Row:
    """The cost of the awards that are held at the end, against the balance of their account."""
    found = held.at_end(session, stand)
    balance = total(
        moved.amount
        for moved in figures.postings(session, frame.until_end(session, stand))
        if moved.account == accounts.AWARDS_HELD
    )
    two = variances.compared(total(one.cost for one in found), balance)
    return (stand.jackpot_id, accounts.AWARDS_HELD, stand.base, sum(one.awards for one in found), *two)


def _summed(amounts: Iterable[tuple[K, Decimal]]) -> dict[K, Decimal]:
    """Sum amounts by what they are of."""
    lists = defaultdict[K, list[Decimal]](list)
    for key, amount in amounts:
        lists[key].append(amount)
    return {key: total(of_key) for key, of_key in lists.items()}


REPORT = Report(
    "reconciliation", "Reconciliation", make, sections=("summary", "contributions", "reversals", "accounts", "held")
)
