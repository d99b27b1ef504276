"""A decision on awards of a round that were held, rejected or stopped: whether they are payable after all."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from typing import Annotated, Any, ClassVar, Final

from marshmallow import fields

from jackpot_service.database.transactions import Session
from jackpot_service.domain import held_awards
from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.awards import AwardState, AwardStep
from jackpot_service.domain.change_policy import FINANCE_AND_OPERATOR
from jackpot_service.domain.entries import Attribution
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.figures import figures_of_decision
from jackpot_service.domain.held_awards import AwardKey, Decision, MadeAward
from jackpot_service.domain.journal import EntryKind, Postings
from jackpot_service.domain.money import RateSheet
from jackpot_service.domain.payout_tiers import Evidence, PayoutTier, met_requirement, requirement_of
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.ledger import replay
from jackpot_service.ledger.cycles import Cycle
from jackpot_service.records import acts, corrections, payout_tiers
from jackpot_service.records import awards as records
from jackpot_service.records.verdicts import BookedAward
from jackpot_service.usecases import jackpot_acts
from jackpot_service.usecases.acts import NO_POSTINGS, Act, Done
from jackpot_service.usecases.changes.kinds import RoundKind
from jackpot_service.usecases.fields import Identifier, ListOf
from jackpot_service.usecases.payloads import bad_field
from jackpot_service.usecases.round_terms import sheet_of

MOST_BETS = 100_000
"""Far more than a round has."""


TO_PAYABLE: Final = frozenset({AwardStep.APPROVED, AwardStep.REINSTATED})
"""The steps that make an award payable which was held by its payout tier."""

AwardInState = tuple[MadeAward, AwardState | None]
"""An award and its state; None where it has taken no step."""


class NothingHeld(Conflict, code="nothing-held", title="No held award there"):
    """The round, or one of the bets that were named, has no award that is held."""


class NothingRejected(Conflict, code="nothing-rejected", title="No award was rejected there"):
    """The round, or one of the bets that were named, has no award that was rejected."""


class NothingStopped(Conflict, code="nothing-stopped", title="No stopped award there"):
    """The round, or one of the bets that were named, has no award whose payment was stopped."""


_NONE_THERE: Final[Mapping[AwardState, type[Conflict]]] = {
    AwardState.HELD: NothingHeld,
    AwardState.REJECTED: NothingRejected,
    AwardState.STOPPED: NothingStopped,
}


class RoundCorrected(Conflict, code="round-corrected", title="The round was corrected since"):
    """The round was judged anew after its awards were rejected: another verdict is in force."""


@dataclass(frozen=True, slots=True)
class Running:
    """
    The jackpot as a reinstatement sees it: its pools at the stripes' positions, and the rules that run.

    `won_since` are the awards that were rejected before the running cycle began.
    """

    pools: Pools
    positions: Sequence[int]
    rules: JackpotRules
    won_since: Collection[AwardKey]
    is_corrected: bool


@dataclass(frozen=True, slots=True)
class RoundAwards:
    """
    The awards of a settled round, each with its state, and what its settlement booked.

    `made_on` is the UTC day on which each verdict on the round was booked, by its number. `tiers` are the payout tiers
    under which they were held, `evidence` the kinds that were recorded. `paid_minor` is what was paid of stopped ones.
    `running` is seen of reinstatements alone.
    """

    round: Round
    sheet: RateSheet
    awards: Sequence[AwardInState]
    settled: Postings
    made_on: Mapping[int, date]
    tiers: Sequence[PayoutTier]
    evidence: Collection[Evidence]
    paid_minor: Mapping[AwardKey, int] = field(default_factory=dict)
    running: Running | None = None


_Decided = tuple[EntryKind, Facts, Postings]


def _approved(state: RoundAwards, awards: Sequence[MadeAward]) -> _Decided:
    postings = held_awards.approval(awards, casino_id=state.round.casino_id, sheet=state.sheet)
    recorded = {**held_awards.facts_of_step(state.round, AwardStep.APPROVED, awards), **_met(state, awards)}
    return EntryKind.AWARDS_APPROVED, recorded, postings


def _rejected(state: RoundAwards, awards: Sequence[MadeAward]) -> _Decided:
    origin = _origin(state)
    recorded = held_awards.facts_of_step(state.round, AwardStep.REJECTED, awards, origin=origin)
    return EntryKind.AWARDS_REJECTED, recorded, held_awards.rejection(awards, origin, base=state.sheet.base)


def _reinstated(state: RoundAwards, awards: Sequence[MadeAward]) -> _Decided:
    running = _running(state)
    origin = held_awards.taken_again(_origin(state), won_since=running.won_since)
    postings = held_awards.reinstatement(
        awards, origin, running.pools, running=running.rules, casino_id=state.round.casino_id, sheet=state.sheet
    )
    recorded = held_awards.facts_of_reinstatement(state.round, awards, origin, positions=running.positions)
    return EntryKind.AWARDS_REINSTATED, {**recorded, **_met(state, awards)}, postings


def _released(state: RoundAwards, awards: Sequence[MadeAward]) -> _Decided:
    return EntryKind.AWARDS_RELEASED, held_awards.facts_of_step(state.round, AwardStep.RELEASED, awards), NO_POSTINGS


def _met(state: RoundAwards, awards: Sequence[MadeAward]) -> Facts:
    """Return the demands of the payout tiers that the awards reach. Raises: EvidenceMissing."""
    subject = f"round {state.round.table_id}/{state.round.round_id}"
    requirement = met_requirement(state.tiers, awards, state.evidence, subject=subject)
    return {"requirement": held_awards.facts_of_requirement(requirement)}


_DECIDED: Final[Mapping[Decision, Callable[[RoundAwards, Sequence[MadeAward]], _Decided]]] = {
    Decision.APPROVE: _approved,
    Decision.REJECT: _rejected,
    Decision.REINSTATE: _reinstated,
    Decision.RELEASE: _released,
}


def _origin(state: RoundAwards) -> dict[AwardKey, held_awards.Origin]:
    """Which account paid how much of each award."""
    return held_awards.origins([award for award, _ in state.awards if not award.correction], state.settled)


def _running(state: RoundAwards) -> Running:
    round_, running = state.round, state.running
    if running is None:
        message = "A reinstatement sees the running jackpot."
        raise LookupError(message)
    if running.is_corrected:
        message = f"Round {round_.round_id} of table {round_.table_id} was corrected: what it awards is in force there."
        raise RoundCorrected(message, table_id=round_.table_id, round_id=round_.round_id)
    return running


@dataclass(frozen=True, kw_only=True)
class DecideAwards(RoundKind[RoundAwards]):
    """Held awards are approved or rejected, rejected ones reinstated, stopped ones released: all, or of named bets."""

    name = "held-awards"
    acts: ClassVar = {
        EntryKind.AWARDS_APPROVED: "jackpot.award.approved",
        EntryKind.AWARDS_REJECTED: "jackpot.award.rejected",
        EntryKind.AWARDS_REINSTATED: "jackpot.award.reinstated",
        EntryKind.AWARDS_RELEASED: "jackpot.award.released",
    }
    policy = FINANCE_AND_OPERATOR
    after_retirement: ClassVar = frozenset({EntryKind.AWARDS_RELEASED})

    bet_ids: Annotated[Collection[str], ListOf(Identifier(), most=MOST_BETS, data_key="bets")] = ()
    decision: Annotated[Decision, fields.Enum(Decision, by_value=True)]

    def require_sense(self) -> None:
        """Raises: BadPayload."""
        if len(set(self.bet_ids)) != len(self.bet_ids):
            raise bad_field("bets", "names a bet twice")

    @classmethod
    def stated(cls, payload: object) -> Mapping[str, Any]:
        """Return the round and the step. Which awards are decided, `decide` finds again."""
        request = cls.read(payload)
        return {**request.round_ids, "step": request.decision.step.value}

    def version(self, session: Session) -> str:
        """
        Name the awards that are to be decided, and the states of all of them; a decision on one makes it another.

        The payer of a reinstatement depends on the cycle, so that names its cycle too, and keeps it running.
        """
        awards = self._awards(session, self.find_round(session))
        keys = {award.key for award in self.decided(_with_states(awards))}
        ids = [award.award_id for award in awards if records.made(award).key in keys]
        named = f"{self.decision.state}-{len(ids)}-{sha256(' '.join(ids).encode()).hexdigest()[:16]}"
        if self.decision is Decision.REINSTATE:
            return f"{named}-{jackpot_acts.hold(session, self.jackpot_id).books.cycle.cycle}"
        return named

    def releases(self, session: Session) -> Round | None:
        """Return the round, unless its awards are to be rejected."""
        return None if self.decision is Decision.REJECT else super().releases(session)

    def state(self, session: Session, _act: Act) -> RoundAwards:
        """Read the round and its awards. Raises: UnknownJackpot, UnknownRound, JackpotRetired, and as `decided`."""
        round_ = self.find_round(session)
        booked = self._awards(session, round_)
        awards = _with_states(booked)
        decided = self.decided(awards)
        running = _read_running(session, round_) if self.decision is Decision.REINSTATE else None
        settled, made_on = _settled(session, round_), records.made_on(session, round_.jackpot_id, round_.round_key)
        return RoundAwards(
            round_,
            sheet_of(session, round_),
            awards,
            settled,
            made_on,
            tiers=payout_tiers.tiers_of_round(session, round_),
            evidence=self._evidence(session, round_, decided),
            paid_minor={records.made(award).key: award.paid_minor for award in booked},
            running=running,
        )

    def _evidence(self, session: Session, round_: Round, awards: Sequence[MadeAward]) -> set[Evidence]:
        """The kinds of evidence that count: of rejected awards those that were recorded after their rejection."""
        rejections = records.acts_of_step(session, round_, AwardStep.REJECTED)
        after = max((rejections.get(award.key, 0) for award in awards), default=0)
        return {recorded.kind for recorded in payout_tiers.evidence_of(session, round_) if recorded.act_seq > after}

    def approvals_due(self, session: Session) -> int:
        """Say how many people the payout tiers ask for; one releases or rejects, besides the one who requests it."""
        if self.decision.step not in TO_PAYABLE:
            return 1
        round_ = self.find_round(session)
        awards = self.decided(_with_states(self._awards(session, round_)))
        return requirement_of(payout_tiers.tiers_of_round(session, round_), awards).approvals

    def decided(self, awards: Sequence[AwardInState]) -> list[MadeAward]:
        """Find the awards that the decision is about. Raises: NothingHeld, NothingRejected, NothingStopped."""
        state, bet_ids = self.decision.state, set(self.bet_ids)
        chosen = [award for award, is_in in awards if is_in is state and (not bet_ids or award.bet_id in bet_ids)]
        missing = sorted(bet_ids - {award.bet_id for award in chosen})
        if missing or not chosen:
            named = f"bet {', '.join(missing)}" if missing else self.subject
            message = f"No award of {named} is {state}."
            raise _NONE_THERE[state](message, table_id=self.table_id, round_id=self.round_id, bet_ids=missing)
        return chosen

    def decide(self, state: RoundAwards) -> Done:
        """
        Decide awards of a round.

        Held ones that are approved become payable; the money of rejected ones returns to the accounts that paid it;
        reinstated ones become payable from there. Released ones are payable again, which moves nothing.

        Raises: NothingHeld, NothingRejected, NothingStopped, RoundCorrected, EvidenceMissing.
        """
        awards = self.decided(state.awards)
        kind, recorded, postings = _DECIDED[self.decision](state, awards)
        before = {"state": self.decision.state.value}
        moved = [
            held_awards.rest_of(award, paid_minor=state.paid_minor.get(award.key, 0), sheet=state.sheet)
            for award in awards
        ]
        figures = figures_of_decision(self.decision.step, moved, made_on=state.made_on)
        return Done(
            kind,
            before,
            recorded,
            postings,
            figures=figures,
            attributed_to=Attribution.of(state.round),
            document=awards,
        )

    def _awards(self, session: Session, round_: Round) -> tuple[BookedAward, ...]:
        """Those of the settlement are held or rejected; stopped may be also those that corrections made."""
        if round_.state is not RoundState.SETTLED:
            return ()
        if self.decision is Decision.RELEASE:
            return records.awards_of_verdicts(session, round_, corrections=corrections.count(session, round_))
        return records.awards_of_round(session, round_)

    def write(self, session: Session, act: Act, act_seq: int, state: RoundAwards, done: Done) -> None:
        """Write the step that the awards take."""
        records.take_step(
            session,
            self.decision.step,
            [award.key for award in done.document],
            jackpot_id=self.jackpot_id,
            round_key=state.round.round_key,
            taken_at=act.now,
            act_seq=act_seq,
        )


def _with_states(awards: Sequence[BookedAward]) -> list[AwardInState]:
    return [(records.made(award), award.state) for award in awards]


def _settled(session: Session, round_: Round) -> Postings:
    key = round_.round_key
    entries = replay.entries_of_rounds(session, round_.jackpot_id, after=key - 1, upto=key)
    return next(entry for entry in entries if entry.kind == EntryKind.RESULT).postings()


def _read_running(session: Session, round_: Round) -> Running:
    """Lock all stripes of the jackpot and look at it. Raises: JackpotRetired."""
    jackpot = jackpot_acts.hold_unretired(session, round_.jackpot_id)
    held = jackpot.books
    won_since = _returned_to_a_meter_won_since(session, round_, held.cycle)
    return Running(held.pools, held.positions, jackpot.rules, won_since, corrections.count(session, round_) > 0)


def _returned_to_a_meter_won_since(session: Session, round_: Round, running: Cycle) -> frozenset[AwardKey]:
    rejections = records.acts_of_step(session, round_, AwardStep.REJECTED)
    seqs = {act_seq: acts.by_seq(session, act_seq).effects[0]["seq"] for act_seq in set(rejections.values())}
    return frozenset(key for key, act_seq in rejections.items() if running.began_after(stripe_no=0, seq=seqs[act_seq]))
