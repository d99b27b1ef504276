"""A casino's statement settled: it paid what it owed, or was paid what it was owed, in one currency of one jackpot."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from marshmallow import validates_schema

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import accounts, currencies, posting_rules
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.facts import instant
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import EXACT, ZERO, has_decimals, plain
from jackpot_service.domain.rules import LARGEST_AMOUNT
from jackpot_service.ledger import balances, books
from jackpot_service.records import references, statements
from jackpot_service.records.statements import Account, SettledStatement
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.jackpots import book
from jackpot_service.usecases.changes.kinds import Applied, Done, Kind, Subject
from jackpot_service.usecases.fields import Amount, CurrencyCode, Identifier, Instant, Text
from jackpot_service.usecases.payloads import Payload, bad_field


class StatementSettled(Conflict):
    """A statement of this reference was settled before, for the casino in this currency and jackpot."""

    code = "statement-settled"
    title = "The statement was settled before"


@dataclass(frozen=True, slots=True)
class SettleStatement:
    """What a casino paid (negative: was paid) for a period, and the reference under which."""

    jackpot_id: str
    casino_id: str
    currency: str
    period_from: datetime
    period_to: datetime
    amount: Decimal
    reference: str

    @property
    def account(self) -> Account:
        """The account that is settled."""
        return Account(self.jackpot_id, self.casino_id, self.currency)


class StatementPayload(Payload):
    """What a casino paid is booked against the bank."""

    makes = SettleStatement

    jackpot_id = Identifier(required=True)
    casino_id = Identifier(required=True)
    currency = CurrencyCode(required=True)
    period_from = Instant(required=True, data_key="from")
    period_to = Instant(required=True, data_key="to")
    amount = Amount(
        required=True, metadata={"description": "In units of the currency, positive where the casino paid."}
    )
    reference = Text(required=True)

    @validates_schema
    def _sense(self, data: Mapping[str, Any], **_: object) -> None:
        """Raises: BadPayload, UnknownCurrency."""
        if data["period_from"] >= data["period_to"]:
            raise bad_field("to", "must lie after from")
        amount, currency = data["amount"], data["currency"]
        decimals = currencies.known(currency).exponent
        if amount == ZERO or not has_decimals(amount, decimals) or abs(amount) >= LARGEST_AMOUNT:
            raise bad_field(
                "amount", f"must be a payable amount of {currency}: not 0, with at most {decimals} decimals"
            )


def decide(balance: Decimal, positions: tuple[int, ...], request: SettleStatement) -> Done:
    """Settle a statement against what the casino is owed with the jackpot's stripes at these positions."""
    recorded = {
        "jackpot_id": request.jackpot_id,
        "casino_id": request.casino_id,
        "currency": request.currency,
        "reference": request.reference,
        "from": instant(request.period_from),
        "to": instant(request.period_to),
        "amount": plain(request.amount),
        "positions": list(positions),
        "balance_before": plain(balance),
        "balance_after": plain(EXACT.add(balance, request.amount)),
    }
    postings = posting_rules.for_statement(request.amount, casino_id=request.casino_id, currency=request.currency)
    return Done(EntryKind.STATEMENT_SETTLED, {"balance": plain(balance)}, recorded, postings)


class StatementSettlement(Kind[SettleStatement]):
    """Settle a casino's statement."""

    name = "statement-settlement"
    payload = StatementPayload
    acts = {EntryKind.STATEMENT_SETTLED: "jackpot.statement.settled"}  # noqa: RUF012  declared in `Kind`
    is_of_casinos = True
    needs_unretired = False

    def subject(self, request: SettleStatement) -> Subject:
        """Name the casino's account."""
        return Subject(f"statement of casino {request.casino_id} in {request.currency}", request.jackpot_id)

    def version(self, session: Session, request: SettleStatement) -> str:
        """Name the act by which a statement of the account was settled last."""
        return str(statements.last_act(session, request.account))

    def stated(self, payload: object) -> Mapping[str, Any]:
        """Return all that is asked for."""
        recorded = decide(ZERO, (), self.read(payload)).recorded
        return {name: recorded[name] for name in recorded.keys() - {"positions", "balance_before", "balance_after"}}

    def apply(self, session: Session, act: Act, request: SettleStatement) -> Applied:
        """Book it. Raises: UnknownJackpot, UnknownCasino, StatementSettled, BadPayload for a period in the future."""
        account = request.account
        references.require_base(session, account.jackpot_id)
        references.require_casino(session, account.casino_id)
        if request.period_to > act.now:
            raise bad_field("to", "must not lie in the future")
        if statements.is_settled(session, account, request.reference):
            message = f"Statement {request.reference} of casino {account.casino_id} in {account.currency} was settled."
            raise StatementSettled(message, casino_id=account.casino_id, reference=request.reference)
        positions, balance = _balance(session, account)
        done = decide(balance, positions, request)
        subject = self.subject(request).name
        act_seq, applied = book(session, act, done, jackpot_id=account.jackpot_id, subject=subject)
        settled = SettledStatement(
            account,
            request.reference,
            request.period_from,
            request.period_to,
            request.amount,
            positions,
            balance,
        )
        statements.add(session, settled, act_seq=act_seq)
        return applied


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
