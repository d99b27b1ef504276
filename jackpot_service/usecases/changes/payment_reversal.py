"""The reversal of a payment that was recorded wrongly: the award, or that part of it, is to be paid again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from jackpot_service.database.transactions import Session
from jackpot_service.domain.awards import AwardState, AwardStateConflict
from jackpot_service.domain.change_policy import FINANCE_AND_OPERATOR
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.payments import PaymentReversed, UnknownPayment
from jackpot_service.domain.rounds import Round
from jackpot_service.records import awards as records
from jackpot_service.records import corrections, rounds
from jackpot_service.records.awards import AwardRecord
from jackpot_service.records.payments import RecordedPayment
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases import payment_acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.held_awards import RoundCorrected
from jackpot_service.usecases.changes.kinds import Applied, Kind, Plan
from jackpot_service.usecases.fields import Identifier, Text

POSSIBLE_IN = frozenset({AwardState.PART_PAID, AwardState.PAID})
"""The states of an award whose payments are reversed. A stopped one is released first."""


@dataclass(frozen=True, slots=True)
class PaidAward:
    """
    An award as the reversal of a payment sees it.

    `correction` is that of the verdict which made it, and `corrections` how many its round has. `state` is None where
    the award had taken no step, which only a proof of changed books meets.
    """

    round: Round
    correction: int
    corrections: int
    state: AwardState | None
    payments: Sequence[RecordedPayment]


@dataclass(frozen=True, kw_only=True)
class ReversePayment(Kind):
    """A payment is reversed, which its award and its reference name; why, the request and its approval say."""

    name = "payment-reversal"
    about = "award {0.award_id}"
    acts: ClassVar = {EntryKind.PAYMENT_REVERSED: "jackpot.award.payment-reversed"}
    policy = FINANCE_AND_OPERATOR
    needs_unretired = False
    is_of_casinos = True

    jackpot_id: Annotated[str, Identifier()]
    award_id: Annotated[str, Identifier()]
    reference: Annotated[str, Text()]

    @classmethod
    def stated(cls, _payload: object) -> Mapping[str, Any]:
        """Return nothing: which payment it was, the proof finds again."""
        return {}

    def version(self, session: Session) -> str:
        """Name the payment, the award's last act, and the round's corrections. Raises: as `apply`."""
        record = self._award_record(session)
        state = self._state_of(session, record)
        return f"{self.decide(state).act_seq}.{record.last_act}.{state.corrections}"

    def releases(self, session: Session) -> Round | None:
        """Return the round: what is reversed is to be paid again. Raises: as `apply`."""
        state = self._state_of(session, self._award_record(session))
        self.decide(state)
        return state.round

    def plan(self, session: Session, _act: Act) -> Plan:
        """Decide the reversal. Raises: as `apply`."""
        record, state, payment = self._decided(session)
        shown = payment_acts.shown_reversal(record, payment)
        back = payment_acts.withheld(session, record, payment.payment.reversal, round_=state.round)
        return Plan({"state": record.award.state.value}, shown, () if back is None else ((self.jackpot_id, back),))

    def apply(self, session: Session, act: Act) -> Applied:
        """Reverse the payment. Raises: UnknownAward, and as `decide`."""
        record, state, payment = self._decided(session)
        effects = payment_acts.reverse(session, act, record, payment, round_=state.round)
        return Applied({"state": record.award.state.value}, payment_acts.shown_reversal(record, payment), effects)

    def _decided(self, session: Session) -> tuple[AwardRecord, PaidAward, RecordedPayment]:
        record = self._award_record(session)
        state = self._state_of(session, record)
        return record, state, self.decide(state)

    def decide(self, state: PaidAward) -> RecordedPayment:
        """
        Return the payment that is reversed.

        Raises: UnknownPayment, PaymentReversed, AwardStateConflict; RoundCorrected where a later verdict counted the
        payment.
        """
        reversed_payment = next(
            (payment for payment in state.payments if payment.payment.reference == self.reference), None
        )
        if reversed_payment is None:
            message = f"Award {self.award_id} has no payment under the reference {self.reference}."
            raise UnknownPayment(message, award_id=self.award_id, reference=self.reference)
        if reversed_payment.reversed_by is not None:
            message = f"Payment {self.reference} of award {self.award_id} was reversed before."
            raise PaymentReversed(message, award_id=self.award_id, reference=self.reference)
        if state.state not in POSSIBLE_IN:
            advice = "release it first" if state.state is AwardState.STOPPED else "no payment of it is reversed"
            message = f"Award {self.award_id} is {state.state}: {advice}."
            raise AwardStateConflict(message, award_id=self.award_id, state=str(state.state))
        if state.corrections > state.correction:
            message = (
                f"Round {state.round.table_id}/{state.round.round_id} was corrected since, and counted what was paid."
            )
            raise RoundCorrected(message, award_id=self.award_id)
        return reversed_payment

    def _award_record(self, session: Session) -> AwardRecord:
        return records.award_of_jackpot(session, self.jackpot_id, self.award_id)

    def _state_of(self, session: Session, record: AwardRecord) -> PaidAward:
        round_ = rounds.require(session, record.jackpot_id, RoundName(record.table_id, record.round_id))
        award, corrected = record.award, corrections.count(session, round_)
        return PaidAward(round_, award.correction, corrected, award.state, record.payments)
