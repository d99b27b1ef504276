"""A casino's statement settled: it paid what it owed, or was paid what it was owed, in one currency of one jackpot."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import accounts, award_facts, currencies, posting_rules
from jackpot_service.domain.changes import ChangeKind
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import EXACT, ZERO, has_decimals, plain
from jackpot_service.domain.rules import LARGEST_AMOUNT
from jackpot_service.ledger import balances, books
from jackpot_service.records import references, statements
from jackpot_service.records.statements import Account, SettledStatement
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.kinds import Applied, Kind, Subject
from jackpot_service.usecases.changes.payloads import Payload, flawed


class StatementSettled(Conflict):
    """A statement of this reference was settled before, for the casino in this currency and jackpot."""

    code = "statement-settled"
    title = "The statement was settled before"


@dataclass(frozen=True, slots=True)
class StatementPaid:
    """What a casino paid (negative: was paid) for a period, and the reference under which."""

    account: Account
    period_from: datetime
    period_to: datetime
    amount: Decimal
    reference: str


def read(values: Mapping[str, Any]) -> StatementPaid:
    """
    Read what was paid; `amount` is in units of the currency, positive where the casino paid.

    `{"jackpot_id", "casino_id", "currency", "from", "to", "amount", "reference"}`

    Raises: BadPayload, UnknownCurrency.
    """
    payload = Payload(values)
    account = Account(payload.identifier("jackpot_id"), payload.identifier("casino_id"), payload.currency("currency"))
    change = StatementPaid(
        account, payload.instant("from"), payload.instant("to"), payload.amount("amount"), payload.text("reference")
    )
    payload.end()
    if change.period_from >= change.period_to:
        raise flawed("to", "must lie after from")
    _require_payable(change.amount, account.currency)
    return change


def _require_payable(amount: Decimal, currency: str) -> None:
    decimals = currencies.known(currency).exponent
    if amount == ZERO or not has_decimals(amount, decimals) or abs(amount) >= LARGEST_AMOUNT:
        raise flawed("amount", f"must be a payable amount of {currency}: not 0, with at most {decimals} decimals")


def apply(session: Session, act: Act, change: StatementPaid) -> Applied:
    """Book it. Raises: UnknownJackpot, UnknownCasino, StatementSettled, BadPayload for a period that is not over."""
    account = change.account
    references.require_base(session, account.jackpot_id)
    references.require_casino(session, account.casino_id)
    if change.period_to > act.now:
        raise flawed("to", "must not lie in the future")
    if statements.is_settled(session, account, change.reference):
        message = (
            f"Statement {change.reference} of casino {account.casino_id} in {account.currency} was settled before."
        )
        raise StatementSettled(message, casino_id=account.casino_id, reference=change.reference)
    positions, balance = _balance(session, account)
    settled = SettledStatement(
        account, change.reference, change.period_from, change.period_to, change.amount, positions, balance
    )
    recorded = award_facts.of_statement(
        jackpot_id=account.jackpot_id,
        casino_id=account.casino_id,
        currency=account.currency,
        reference=change.reference,
        period_from=change.period_from,
        period_to=change.period_to,
        amount=change.amount,
        positions=positions,
        balance_before=balance,
        balance_after=EXACT.add(balance, change.amount),
    )
    before = {"balance": plain(balance)}
    act_seq, effect = acts.do(
        session,
        act,
        EntryKind.STATEMENT_SETTLED,
        book=account.jackpot_id,
        subject=_subject(change).name,
        before=before,
        recorded=recorded,
        postings=posting_rules.for_statement(change.amount, casino_id=account.casino_id, currency=account.currency),
    )
    statements.add(session, settled, act_seq=act_seq)
    return Applied(before, recorded, (effect,))


def _balance(session: Session, account: Account) -> tuple[tuple[int, ...], Decimal]:
    """Sum what the casino is owed, from where the statement before was settled; bets that go on come after it."""
    with pipelined(session) as pipe:
        cursor = books.send_read(pipe, account.jackpot_id)
    positions = books.books_of(cursor).positions
    since, balance = statements.last(session, account) or ((), ZERO)
    moved = balances.moved_between(
        session,
        account.jackpot_id,
        accounts.casino(account.casino_id),
        account.currency,
        since=since,
        positions=positions,
    )
    return positions, EXACT.add(balance, moved)


def _subject(change: StatementPaid) -> Subject:
    account = change.account
    return Subject(f"statement of casino {account.casino_id} in {account.currency}", account.jackpot_id)


KIND = Kind(
    name=ChangeKind.STATEMENT_SETTLEMENT,
    read=read,
    subject=_subject,
    version=lambda session, change: str(statements.last_act(session, change.account)),
    apply=apply,
)
