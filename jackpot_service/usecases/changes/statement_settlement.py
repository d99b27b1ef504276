"""A casino's statement settled: it paid what it owed, or was paid what it was owed, in one currency of one jackpot."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar, NamedTuple

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import accounts, currencies, posting_rules
from jackpot_service.domain.change_policy import FINANCE_ALONE
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.facts import Facts, instant
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import ZERO, has_decimals, plain
from jackpot_service.domain.rules import LARGEST_AMOUNT
from jackpot_service.ledger import books
from jackpot_service.records import manual_payments, references
from jackpot_service.records.manual_payments import Account, SettledStatement
from jackpot_service.usecases.acts import Act, Done
from jackpot_service.usecases.changes.kinds import BookedKind
from jackpot_service.usecases.fields import Amount, CurrencyCode, Identifier, Instant, Text
from jackpot_service.usecases.payloads import bad_field


class StatementSettled(Conflict, code="statement-settled", title="The statement was settled before"):
    """A statement of this reference was settled before, for the casino in this currency and jackpot."""


class AccountBalance(NamedTuple):
    """The amount that a casino was owed, with the jackpot's stripes at these positions."""

    amount: Decimal
    positions: tuple[int, ...]


@dataclass(frozen=True)
class SettleStatement(BookedKind[AccountBalance]):
    """A casino's payment (negative: to the casino) for a period is booked against the bank, under a reference."""

    name = "statement-settlement"
    about = "statement of casino {0.casino_id} in {0.currency}"
    acts: ClassVar = {EntryKind.STATEMENT_SETTLED: "jackpot.statement.settled"}
    policy = FINANCE_ALONE
    is_of_casinos = True
    needs_unretired = False

    jackpot_id: Annotated[str, Identifier()]
    casino_id: Annotated[str, Identifier()]
    currency: Annotated[str, CurrencyCode()]
    period_from: Annotated[datetime, Instant(data_key="from")]
    period_to: Annotated[datetime, Instant(data_key="to")]
    amount: Annotated[
        Decimal, Amount(metadata={"description": "In units of the currency, positive where the casino paid."})
    ]
    reference: Annotated[str, Text()]

    @property
    def account(self) -> Account:
        """The account that is settled."""
        return Account(self.jackpot_id, self.casino_id, self.currency)

    def require_sense(self) -> None:
        """Raises: BadPayload, UnknownCurrency."""
        if self.period_from >= self.period_to:
            raise bad_field("to", "must lie after from")
        decimals = currencies.known(self.currency).exponent
        if self.amount == ZERO or not has_decimals(self.amount, decimals) or abs(self.amount) >= LARGEST_AMOUNT:
            message = f"must be a payable amount of {self.currency}: not 0, with at most {decimals} decimals"
            raise bad_field("amount", message)

    @classmethod
    def stated(cls, payload: object) -> Mapping[str, Any]:
        """Return all that is requested."""
        return cls.read(payload)._facts()  # noqa: SLF001  its own

    def currency_of_amounts(self, _session: Session) -> str:
        """Return that of the statement."""
        return self.currency

    def version(self, session: Session) -> str:
        """Name the act by which a statement of the account was settled last."""
        return str(manual_payments.last_act_on(session, self.account))

    def state(self, session: Session, act: Act) -> AccountBalance:
        """Raises: UnknownJackpot, UnknownCasino, StatementSettled, BadPayload for a period in the future."""
        references.require_base(session, self.jackpot_id)
        references.require_casino(session, self.casino_id)
        if self.period_to > act.now:
            raise bad_field("to", "must not lie in the future")
        if manual_payments.is_settled(session, self.account, self.reference):
            message = f"Statement {self.reference} of casino {self.casino_id} in {self.currency} was settled."
            raise StatementSettled(message, casino_id=self.casino_id, reference=self.reference)
        return _balance(session, self.account)

    def decide(self, state: AccountBalance) -> Done:
        """Settle a statement against what the casino is owed."""
        recorded = {
            **self._facts(),
            "positions": list(state.positions),
            "balance_before": plain(state.amount),
            "balance_after": plain(state.amount + self.amount),
        }
        postings = posting_rules.for_statement(self.amount, casino_id=self.casino_id, currency=self.currency)
        return Done(EntryKind.STATEMENT_SETTLED, {"balance": plain(state.amount)}, recorded, postings)

    def write(self, session: Session, _act: Act, act_seq: int, state: AccountBalance, _done: Done) -> None:
        """Write the settled statement."""
        period = self.period_from, self.period_to
        settled = SettledStatement(self.account, self.reference, *period, self.amount, state.positions, state.amount)
        manual_payments.add_statement(session, settled, act_seq=act_seq)

    def _facts(self) -> Facts:
        return {
            "jackpot_id": self.jackpot_id,
            "casino_id": self.casino_id,
            "currency": self.currency,
            "reference": self.reference,
            "from": instant(self.period_from),
            "to": instant(self.period_to),
            "amount": plain(self.amount),
        }


def _balance(session: Session, account: Account) -> AccountBalance:
    """Sum what the casino is owed, from where the statement before was settled; bets that go on come after it."""
    with pipelined(session) as pipe:
        cursor = books.send_read(pipe, account.jackpot_id)
    positions = books.books_of(cursor).positions
    since, balance = manual_payments.last_statement(session, account) or ((), ZERO)
    moved = books.moved_between(
        session,
        account.jackpot_id,
        accounts.casino(account.casino_id),
        account.currency,
        since=since,
        positions=positions,
    )
    return AccountBalance(balance + moved, positions)
