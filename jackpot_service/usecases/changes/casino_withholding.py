"""A casino's withholding rule in a currency: what is reported of its awards, and what is kept for the authority."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, ClassVar

from jackpot_service.database.transactions import Session
from jackpot_service.domain import currencies
from jackpot_service.domain.change_policy import FINANCE_ALONE
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.shapes import LARGEST_MINOR
from jackpot_service.domain.withholding import LARGEST_MULTIPLE, VersionedRule, WithholdingRule, facts_of
from jackpot_service.records import references, withholding_rules
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.kinds import Applied, Conditions, Kind, Plan
from jackpot_service.usecases.fields import Amount, CurrencyCode, Identifier, Instant, Whole
from jackpot_service.usecases.payloads import bad_field

EVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class SetWithholding(Kind):
    """
    A casino gets a withholding rule in a currency, for the awards of rounds that are opened once it is in force.

    It takes the place of the version before. If the payload leaves to its booking when it comes into force,
    `in_force_from` is None until `completed`.
    """

    name = "casino-withholding"
    about = "withholding of casino {0.casino_id} in {0.currency}"
    acts: ClassVar = {EntryKind.WITHHOLDING_CHANGED: "jackpot.withholding.changed"}
    policy = FINANCE_ALONE
    needs_unretired = False
    is_of_casinos = True

    casino_id: Annotated[str, Identifier()]
    currency: Annotated[str, CurrencyCode()]
    report_at_minor: Annotated[
        int, Whole(least=1, most=LARGEST_MINOR, metadata={"description": "From here on an award is reportable."})
    ]
    withhold_at_minor: Annotated[
        int | None,
        Whole(least=1, most=LARGEST_MINOR, metadata={"description": "From here on a part of an award is withheld."}),
    ] = None
    percent: Annotated[
        Decimal | None, Amount(metadata={"description": "Of all of such an award: above 0, below 100, 4 decimals."})
    ] = None
    least_multiple: Annotated[
        int | None,
        Whole(
            least=1,
            most=LARGEST_MULTIPLE,
            metadata={"description": "Only awards count that are at least so many times their bet's stake."},
        ),
    ] = None
    in_force_from: Annotated[
        datetime | None, Instant(data_key="from", metadata={"description": "Without it: from the approval on."})
    ] = None

    def require_sense(self) -> None:
        """Raises: BadWithholding, UnknownCurrency."""
        currencies.known(self.currency)
        self._rule_from(EVER)

    def completed(self, conditions: Conditions) -> "SetWithholding":
        """Fill in when it comes into force: without it, when booked. Raises: BadPayload for a time in the past."""
        in_force_from = self.in_force_from or conditions.booked_at
        if in_force_from < conditions.booked_at:
            raise bad_field("from", "lies in the past")
        return replace(self, in_force_from=in_force_from)

    @property
    def left_to_booking(self) -> Facts:
        """When it comes into force, unless that was stated."""
        return {"from": None} if self.in_force_from is None else {}

    def version(self, session: Session) -> str:
        """Name the version before; 0 if there is none. Raises: UnknownCasino."""
        references.require_casino(session, self.casino_id)
        before = withholding_rules.last(session, self.casino_id, self.currency)
        return "0" if before is None else str(before.version)

    def decide(self, before: VersionedRule | None) -> VersionedRule:
        """Make the version that follows. Raises: LookupError before it was completed."""
        if self.in_force_from is None:
            message = "A change of a withholding rule is completed before it is decided."
            raise LookupError(message)
        return VersionedRule(1 if before is None else before.version + 1, self._rule_from(self.in_force_from))

    def facts_before(self, before: VersionedRule | None) -> Facts | None:
        """Write the version before as the act shows it."""
        return None if before is None else facts_of(self.casino_id, *before)

    def plan(self, session: Session, _act: Act) -> Plan:
        """Decide the next version. Raises: UnknownCasino."""
        return self._decided(session)[0]

    def apply(self, session: Session, act: Act) -> Applied:
        """Write the next version. Raises: UnknownCasino."""
        plan, (version, rule) = self._decided(session)
        kind, before, after = EntryKind.WITHHOLDING_CHANGED, plan.before, plan.after
        seq = acts.record(session, act, kind, subject=self.subject, before=before, after=after)
        withholding_rules.add(session, self.casino_id, version, rule, entry_seq=seq)
        return Applied(before, after)

    def _decided(self, session: Session) -> tuple[Plan, VersionedRule]:
        references.require_casino(session, self.casino_id)
        last = withholding_rules.last(session, self.casino_id, self.currency)
        made = self.decide(last)
        return Plan(self.facts_before(last), facts_of(self.casino_id, *made)), made

    def _rule_from(self, in_force_from: datetime) -> WithholdingRule:
        return WithholdingRule(
            currency=self.currency,
            in_force_from=in_force_from,
            report_at_minor=self.report_at_minor,
            withhold_at_minor=self.withhold_at_minor,
            percent=self.percent,
            least_multiple=self.least_multiple,
        )
