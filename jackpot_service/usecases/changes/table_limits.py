"""Limits of one table: a token or bounds of stakes of its own, in force for the next bet."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, ClassVar

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import currencies
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.table_limits import BadLimits, SetLimits, TableLimits, as_document
from jackpot_service.ledger import stripes
from jackpot_service.records import immutable, table_limits
from jackpot_service.records.immutable import UnknownTable
from jackpot_service.usecases.acts import Act, Done
from jackpot_service.usecases.changes.jackpots import JackpotKind, JackpotState
from jackpot_service.usecases.fields import Amount, Identifier


@dataclass(frozen=True, kw_only=True)
class LimitTable(JackpotKind):
    """A table gets a token or bounds of stakes of its own; one that states none has those of its jackpot."""

    name = "table-limits"
    about = "limits of table {0.table_id}"
    acts: ClassVar = {EntryKind.TABLE_LIMITS_CHANGED: "jackpot.table-limits.changed"}
    is_of_casinos = True

    table_id: Annotated[str, Identifier()]
    token: Annotated[Decimal | None, Amount()] = None
    least_stake: Annotated[Decimal | None, Amount()] = None
    largest_stake: Annotated[Decimal | None, Amount()] = None

    @property
    def limits(self) -> TableLimits:
        """The limits that it asks for. Raises: BadLimits."""
        return TableLimits(self.token, self.least_stake, self.largest_stake)

    def require_sense(self) -> None:
        """Raises: BadLimits for what no stake can keep."""
        _ = self.limits

    def state(self, session: Session, act: Act) -> JackpotState:
        """Lock all stripes and read the jackpot. Raises: UnknownJackpot, JackpotRetired, UnknownTable."""
        if immutable.table(session, self.table_id).jackpot_id != self.jackpot_id:
            message = f"Jackpot {self.jackpot_id} has no table {self.table_id}."
            raise UnknownTable(message, table_id=self.table_id)
        return super().state(session, act)

    def decide(self, state: JackpotState) -> Done:
        """
        Limit a table. No bet is booked under the limits before, once this is: every stripe names the version in force.

        Raises: BadLimits if these are the table's already; LooserLimits than the rules of the running cycle.
        """
        before = state.limits.get(self.table_id, SetLimits(0, TableLimits())).limits
        if self.limits == before:
            message = f"These are the limits of table {self.table_id} already."
            raise BadLimits(message, table_id=self.table_id)
        self.limits.require_within(state.rules)
        recorded = {**self._facts(state.limits_version + 1, self.limits), "positions": list(state.positions)}
        return Done(EntryKind.TABLE_LIMITS_CHANGED, self._facts(state.limits_version, before), recorded)

    def require_payable(self, act: Act, state: JackpotState, _done: Done) -> None:
        """Raises: UnknownCurrency, BadLimits for a token."""
        exponent = currencies.tender(state.base, on=act.now.date()).exponent
        self.limits.require_payable(state.base, exponent=exponent)

    def write(self, session: Session, _act: Act, _act_seq: int, state: JackpotState, _done: Done) -> None:
        """Write the new version, and name it on every stripe."""
        version = state.limits_version + 1
        table_limits.add(
            session, self.jackpot_id, version, self.table_id, self.limits, entry_seq=state.positions[0] + 1
        )
        with pipelined(session) as pipe:
            stripes.set_limits(pipe, self.jackpot_id, version=version)

    def _facts(self, version: int, limits: TableLimits) -> Facts:
        return {"table_id": self.table_id, "limits": {"version": version, "document": as_document(limits)}}
