"""The forfeiture of an award that nobody claimed: its unpaid rest goes where its casino's setting says."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, ClassVar

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import claims, held_awards
from jackpot_service.domain.awards import AwardState, AwardStep, require_to_pay
from jackpot_service.domain.change_policy import FINANCE_AND_OPERATOR
from jackpot_service.domain.claims import CasinoClaims, ForfeitedTo
from jackpot_service.domain.entries import Attribution
from jackpot_service.domain.figures import FORFEITED_TO_METER, figures_of_decision
from jackpot_service.domain.held_awards import MadeAward
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.lives import Life, require_not_retired
from jackpot_service.domain.money import RateSheet
from jackpot_service.domain.rounds import Round
from jackpot_service.ledger import books
from jackpot_service.records import awards as records
from jackpot_service.records import claims as claim_records
from jackpot_service.records import lives, rounds
from jackpot_service.records.awards import AwardRecord
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases.acts import Act, Done
from jackpot_service.usecases.changes.kinds import BookedKind
from jackpot_service.usecases.fields import Identifier
from jackpot_service.usecases.round_terms import sheet_of

STEPS: Mapping[ForfeitedTo, str] = {
    ForfeitedTo.METER: FORFEITED_TO_METER,
    ForfeitedTo.STATUTORY: AwardStep.FORFEITED,
}
"""The step that the figures name, by where the money goes."""


@dataclass(frozen=True, slots=True)
class ClaimedAward:
    """
    An award as a forfeiture sees it at `now`: its state by steps and payments, and when it took its last step.

    `claims` are in force at its casino. `made_on` is the UTC day on which each verdict on its round was booked.
    """

    round: Round
    sheet: RateSheet
    award: MadeAward
    state: AwardState
    paid_minor: int
    last_step_at: datetime
    made_on: Mapping[int, date]
    claims: CasinoClaims
    life: Life
    now: datetime


@dataclass(frozen=True, kw_only=True)
class ForfeitAward(BookedKind[ClaimedAward]):
    """An award that is unclaimed is forfeited, or the rest of it that is unpaid; nothing of it is paid any more."""

    name = "award-forfeiture"
    about = "award {0.award_id}"
    acts: ClassVar = {EntryKind.AWARD_FORFEITED: "jackpot.award.forfeited"}
    policy = FINANCE_AND_OPERATOR
    needs_unretired = False
    is_of_casinos = True

    jackpot_id: Annotated[str, Identifier()]
    award_id: Annotated[str, Identifier()]

    @classmethod
    def stated(cls, _payload: object) -> Mapping[str, Any]:
        """Return nothing: which award it was, the proof finds again."""
        return {}

    def version(self, session: Session) -> str:
        """Name the award's last act, and the version of its casino's claims. Raises: UnknownAward."""
        record = self._award_record(session)
        return f"{record.last_act}.{claim_records.in_force(session, record.casino_id).version}"

    def state(self, session: Session, act: Act) -> ClaimedAward:
        """Read the award, its casino's claims, and whether its jackpot lives. Raises: UnknownAward."""
        record = self._award_record(session)
        round_ = rounds.require(session, record.jackpot_id, RoundName(record.table_id, record.round_id))
        with pipelined(session) as pipe:
            cursor = books.send_read(pipe, self.jackpot_id)
        is_accepting = books.books_of(cursor).is_accepting
        return ClaimedAward(
            round=round_,
            sheet=sheet_of(session, round_),
            award=records.made(record.award),
            state=record.award.state,
            paid_minor=record.award.paid_minor,
            last_step_at=record.last_step_at,
            made_on=records.made_on(session, record.jackpot_id, record.round_key),
            claims=claim_records.in_force(session, record.casino_id),
            life=lives.life_of(session, self.jackpot_id, is_accepting=is_accepting),
            now=act.now,
        )

    def decide(self, state: ClaimedAward) -> Done:
        """
        Forfeit the rest of an award.

        Raises: AwardStateConflict unless something of it is to be paid; AwardClaimable; JackpotRetired where the rest
        would go back to a jackpot that is over.
        """
        require_to_pay(state.state, award_id=self.award_id)
        until = claims.claimable_until(state.state, last_step_at=state.last_step_at, claim_days=state.claims.claim_days)
        claims.require_unclaimed(until, now=state.now, award_id=self.award_id)
        to = state.claims.forfeited_to
        if to is ForfeitedTo.METER:
            require_not_retired(self.jackpot_id, state.life)
        rest = held_awards.rest_of(state.award, paid_minor=state.paid_minor, sheet=state.sheet)
        recorded = {
            **held_awards.facts_of_step(state.round, AwardStep.FORFEITED, [state.award]),
            "forfeiture": claims.facts_of_forfeiture(rest, state.claims, until=until),
        }
        return Done(
            EntryKind.AWARD_FORFEITED,
            {"state": state.state.value},
            recorded,
            claims.forfeiture(rest, to, casino_id=state.round.casino_id, sheet=state.sheet),
            figures=figures_of_decision(STEPS[to], [rest], made_on=state.made_on),
            attributed_to=Attribution.of(state.round),
        )

    def write(self, session: Session, act: Act, act_seq: int, state: ClaimedAward, _done: Done) -> None:
        """Write the step that the award takes."""
        records.take_step(
            session,
            AwardStep.FORFEITED,
            [state.award.key],
            jackpot_id=self.jackpot_id,
            round_key=state.round.round_key,
            taken_at=act.now,
            act_seq=act_seq,
        )

    def _award_record(self, session: Session) -> AwardRecord:
        return records.award_of_jackpot(session, self.jackpot_id, self.award_id)
