"""For how long awards can be claimed at a casino, and where forfeited ones go: two people set it."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from marshmallow import fields

from jackpot_service.database.transactions import Session
from jackpot_service.domain.change_policy import MONEY_BY_HAND
from jackpot_service.domain.claims import MOST_DAYS, CasinoClaims, ForfeitedTo
from jackpot_service.domain.journal import EntryKind
from jackpot_service.records import claims, references
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.kinds import Applied, Kind, Plan
from jackpot_service.usecases.fields import Identifier, Whole
from jackpot_service.usecases.payloads import bad_field


@dataclass(frozen=True, kw_only=True)
class SetCasinoClaims(Kind):
    """A casino gets a claim period, or none, and a place where forfeited awards go, from the approval on."""

    name = "casino-claims"
    about = "claims at casino {0.casino_id}"
    acts: ClassVar = {EntryKind.CASINO_CLAIMS_CHANGED: "jackpot.casino-claims.changed"}
    policy = MONEY_BY_HAND
    needs_unretired = False
    is_of_casinos = True

    casino_id: Annotated[str, Identifier()]
    claim_days: Annotated[
        int | None,
        Whole(
            least=1,
            most=MOST_DAYS,
            load_default=None,
            metadata={"description": "Of 24 hours, since the award's last step. Null: no award becomes unclaimed."},
        ),
    ] = None
    forfeited_to: Annotated[ForfeitedTo, fields.Enum(ForfeitedTo, by_value=True)] = ForfeitedTo.STATUTORY

    def version(self, session: Session) -> str:
        """Name the version in force at the casino. Raises: UnknownCasino."""
        references.require_casino(session, self.casino_id)
        return str(claims.in_force(session, self.casino_id).version)

    def decide(self, before: CasinoClaims) -> CasinoClaims:
        """Put the request in the place of the version before. Raises: BadPayload where nothing changes."""
        if (self.claim_days, self.forfeited_to) == (before.claim_days, before.forfeited_to):
            raise bad_field("claim_days", "is in force at the casino already, and so is where forfeited awards go")
        return CasinoClaims(before.version + 1, self.claim_days, self.forfeited_to)

    def plan(self, session: Session, _act: Act) -> Plan:
        """Decide the next version. Raises: UnknownCasino, and as `decide`."""
        return self._plan(*self._decided(session))

    def apply(self, session: Session, act: Act) -> Applied:
        """Put the next version in force. Raises: as `plan`."""
        before, after = self._decided(session)
        plan = self._plan(before, after)
        seq = acts.record(
            session,
            act,
            EntryKind.CASINO_CLAIMS_CHANGED,
            subject=self.subject,
            before=plan.before,
            after=plan.after,
        )
        claims.add(session, self.casino_id, after, entry_seq=seq)
        return Applied(plan.before, plan.after)

    def _decided(self, session: Session) -> tuple[CasinoClaims, CasinoClaims]:
        references.require_casino(session, self.casino_id)
        before = claims.in_force(session, self.casino_id)
        return before, self.decide(before)

    def _plan(self, before: CasinoClaims, after: CasinoClaims) -> Plan:
        return Plan(before.facts_of(self.casino_id), after.facts_of(self.casino_id))
