"""A decision on held awards of a round: payable after all, or not; what was rejected can be reinstated."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from typing import Any, Final

from marshmallow import ValidationError, fields, validates_schema

from jackpot_service.database.transactions import Session
from jackpot_service.domain import held_awards
from jackpot_service.domain.awards import AwardState, AwardStep
from jackpot_service.domain.entries import Whose
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.figures import of_decision
from jackpot_service.domain.held_awards import AwardKey, Decision, MadeAward
from jackpot_service.domain.journal import EntryKind, Postings
from jackpot_service.domain.money import RateSheet
from jackpot_service.domain.pools import Pools
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.ledger import replay
from jackpot_service.ledger.cycles import Cycle
from jackpot_service.records import acts, corrections
from jackpot_service.records import awards as records
from jackpot_service.records.verdicts import BookedAward
from jackpot_service.usecases import jackpot_acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes import kinds
from jackpot_service.usecases.changes.jackpots import book
from jackpot_service.usecases.changes.kinds import Applied, Done, OfRound, OfRoundPayload, RoundKind
from jackpot_service.usecases.fields import Identifier, ListOf

MOST_BETS = 100_000
"""Far more than a round has."""


Standing = tuple[MadeAward, AwardState | None]
"""An award, and where it stands; None where it has taken no step."""


class NothingHeld(Conflict):
    """The round, or one of the bets that were named, has no award that is held."""

    code = "nothing-held"
    title = "No held award there"


class NothingRejected(Conflict):
    """The round, or one of the bets that were named, has no award that was rejected."""

    code = "nothing-rejected"
    title = "No award was rejected there"


class RoundCorrected(Conflict):
    """The round was judged anew since its awards were rejected: another verdict is in force."""

    code = "round-corrected"
    title = "The round was corrected since"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideAwards(OfRound):
    """Which awards of a round to decide, all that the decision could be about unless bets are named, and how."""

    decision: Decision
    bet_ids: Collection[str] = ()


class HeldAwardsPayload(OfRoundPayload):
    """Held awards of a round are approved or rejected, rejected ones reinstated."""

    makes = DecideAwards

    bet_ids = ListOf(Identifier(), most=MOST_BETS, data_key="bets")
    decision = fields.Enum(Decision, by_value=True, required=True)

    @validates_schema
    def _bets_once(self, data: Mapping[str, Any], **_: object) -> None:
        bet_ids = data.get("bet_ids", ())
        if len(set(bet_ids)) != len(bet_ids):
            message = "names a bet twice"
            raise ValidationError(message, "bets")


@dataclass(frozen=True, slots=True)
class Running:
    """
    What a reinstatement sees of the jackpot, besides: its pools at the stripes' positions, and the rules that run.

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
    The awards of a settled round, each with where it stands, and what its settlement booked, on which UTC day.

    `running` is seen of reinstatements alone.
    """

    round: Round
    sheet: RateSheet
    awards: Sequence[Standing]
    settled: Postings
    made_on: date
    running: Running | None = None


def decide(state: RoundAwards, request: DecideAwards) -> Done:
    """
    Decide awards of a round.

    Held ones that are approved become payable; the money of rejected ones returns to the accounts that paid it;
    reinstated ones become payable from there.

    Raises: NothingHeld, NothingRejected, RoundCorrected.
    """
    awards = meant(request, state.awards)
    kind, recorded, postings = _DECIDED[request.decision](state, awards)
    before = {"state": request.decision.state.value}
    figures = of_decision(request.decision.step, awards, made_on=state.made_on)
    return Done(kind, before, recorded, postings, figures=figures, of=Whose.of(state.round))


def meant(request: DecideAwards, awards: Sequence[Standing]) -> list[MadeAward]:
    """Find the awards that a decision is about. Raises: NothingHeld, NothingRejected."""
    state, bet_ids = request.decision.state, set(request.bet_ids)
    found = [one for one, stands in awards if stands is state and (not bet_ids or one.bet_id in bet_ids)]
    missing = sorted(bet_ids - {one.bet_id for one in found})
    if missing or not found:
        named = f"bet {', '.join(missing)}" if missing else request.subject.name
        refusal = NothingHeld if state is AwardState.HELD else NothingRejected
        message = f"No award of {named} is {state}."
        raise refusal(message, table_id=request.table_id, round_id=request.round_id, bet_ids=missing)
    return found


_Decided = tuple[EntryKind, Facts, Postings]


def _approved(state: RoundAwards, awards: Sequence[MadeAward]) -> _Decided:
    postings = held_awards.approval(awards, casino_id=state.round.casino_id, sheet=state.sheet)
    return EntryKind.AWARDS_APPROVED, held_awards.of_step(state.round, AwardStep.APPROVED, awards), postings


def _rejected(state: RoundAwards, awards: Sequence[MadeAward]) -> _Decided:
    origin = _origin(state)
    recorded = held_awards.of_step(state.round, AwardStep.REJECTED, awards, origin=origin)
    return EntryKind.AWARDS_REJECTED, recorded, held_awards.rejection(awards, origin, base=state.sheet.base)


def _reinstated(state: RoundAwards, awards: Sequence[MadeAward]) -> _Decided:
    running = _running(state)
    origin = held_awards.taken_again(_origin(state), won_since=running.won_since)
    postings = held_awards.reinstatement(
        awards, origin, running.pools, running=running.rules, casino_id=state.round.casino_id, sheet=state.sheet
    )
    recorded = held_awards.of_reinstatement(state.round, awards, origin, positions=running.positions)
    return EntryKind.AWARDS_REINSTATED, recorded, postings


_DECIDED: Final[Mapping[Decision, Callable[[RoundAwards, Sequence[MadeAward]], _Decided]]] = {
    Decision.APPROVE: _approved,
    Decision.REJECT: _rejected,
    Decision.REINSTATE: _reinstated,
}


def _origin(state: RoundAwards) -> dict[AwardKey, held_awards.Origin]:
    """Which account paid how much of each award."""
    return held_awards.origins([one for one, _ in state.awards if not one.correction], state.settled)


def _running(state: RoundAwards) -> Running:
    round_, running = state.round, state.running
    if running is None:
        message = "A reinstatement sees the running jackpot."
        raise LookupError(message)
    if running.is_corrected:
        message = f"Round {round_.round_id} of table {round_.table_id} was corrected: what it awards is in force there."
        raise RoundCorrected(message, table_id=round_.table_id, round_id=round_.round_id)
    return running


class HeldAwards(RoundKind[DecideAwards]):
    """Decide held awards of a round."""

    name = "held-awards"
    payload = HeldAwardsPayload
    acts = {  # noqa: RUF012  declared in `Kind`
        EntryKind.AWARDS_APPROVED: "jackpot.award.approved",
        EntryKind.AWARDS_REJECTED: "jackpot.award.rejected",
        EntryKind.AWARDS_REINSTATED: "jackpot.award.reinstated",
    }

    def version(self, session: Session, request: DecideAwards) -> str:
        """
        Name the awards that are to be decided, and where all of them stand; another decision on one makes it another.

        Who pays for a reinstatement depends on the cycle, so that names its cycle too, and keeps it running.
        """
        awards = _awards(session, kinds.find_round(session, request))
        keys = {one.key for one in meant(request, _standing(awards))}
        ids = [one.award_id for one in awards if records.made(one).key in keys]
        named = f"{request.decision.state}-{len(ids)}-{sha256(' '.join(ids).encode()).hexdigest()[:16]}"
        if request.decision is Decision.REINSTATE:
            return f"{named}-{jackpot_acts.hold(session, request.jackpot_id).books.cycle.cycle}"
        return named

    def releases(self, session: Session, request: DecideAwards) -> Round | None:
        """Return the round, unless its awards are to be rejected."""
        return None if request.decision is Decision.REJECT else super().releases(session, request)

    def stated(self, payload: object) -> Mapping[str, Any]:
        """Return the round and the step. Which awards are meant, `decide` finds again."""
        request = self.read(payload)
        return {**request.stated, "step": request.decision.step.value}

    def apply(self, session: Session, act: Act, request: DecideAwards) -> Applied:
        """Decide them. Raises: UnknownJackpot, UnknownRound, JackpotRetired, and as `decide`."""
        round_ = kinds.find_round(session, request)
        standing = _standing(_awards(session, round_))
        awards = meant(request, standing)
        running = _read_running(session, round_) if request.decision is Decision.REINSTATE else None
        sheet = kinds.sheet_of(session, round_)
        settled, made_on = _settled(session, round_), records.made_on(session, round_.jackpot_id, round_.round_key)[0]
        done = decide(RoundAwards(round_, sheet, standing, settled, made_on, running), request)
        act_seq, applied = book(session, act, done, jackpot_id=round_.jackpot_id, subject=request.subject.name)
        records.take_step(
            session,
            request.decision.step,
            [one.key for one in awards],
            jackpot_id=round_.jackpot_id,
            round_key=round_.round_key,
            taken_at=act.now,
            act_seq=act_seq,
        )
        return applied


def _awards(session: Session, round_: Round) -> tuple[BookedAward, ...]:
    return records.of_round(session, round_) if round_.state is RoundState.SETTLED else ()


def _standing(awards: Sequence[BookedAward]) -> list[Standing]:
    return [(records.made(one), one.state) for one in awards]


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
