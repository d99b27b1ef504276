"""A decision on held awards of a round: payable after all, or not; what was rejected can be reinstated."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from jackpot_service.database.transactions import Session
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.changes import ChangeKind
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.held_awards import Decision
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.records import awards as records
from jackpot_service.records.verdicts import BookedAward
from jackpot_service.usecases import acts, jackpot_acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes import of_rounds
from jackpot_service.usecases.changes.award_decisions import DECISIONS
from jackpot_service.usecases.changes.kinds import Applied, Kind
from jackpot_service.usecases.changes.of_rounds import NamedRound
from jackpot_service.usecases.changes.payloads import Payload, flawed, identifier_of


class NothingHeld(Conflict):
    """The round, or one of the bets that were named, has no award that is held."""

    code = "nothing-held"
    title = "No held award there"


class NothingRejected(Conflict):
    """The round, or one of the bets that were named, has no award that was rejected."""

    code = "nothing-rejected"
    title = "No award was rejected there"


@dataclass(frozen=True, slots=True)
class HeldAwards:
    """Which awards of a round to decide, all that the decision could be about unless bets are named, and how."""

    round: NamedRound
    bet_ids: frozenset[str]
    decision: Decision


def read(values: Mapping[str, Any]) -> HeldAwards:
    """Read `{"jackpot_id", "table_id", "round_id", "bets"?: [bet ids], "decision": "approve"|"reject"|"reinstate"}`."""
    payload = Payload(values)
    named = of_rounds.read(payload)
    bet_ids = payload.items("bets", identifier_of, what="bet ids") if payload.has("bets") else ()
    decision = Decision(payload.one_of("decision", *Decision))
    payload.end()
    if len(set(bet_ids)) != len(bet_ids):
        raise flawed("bets", "names a bet twice")
    return HeldAwards(named, frozenset(bet_ids), decision)


def apply(session: Session, act: Act, change: HeldAwards) -> Applied:
    """Decide them. Raises: UnknownJackpot, UnknownRound, NothingHeld, NothingRejected; see also `award_decisions`."""
    round_ = of_rounds.find(session, change.round)
    awards = _of_round(session, round_)
    meant = _meant(change, awards)
    decide = DECISIONS[change.decision]
    decided = decide(session, round_, [*map(records.made, awards)], [*map(records.made, meant)])
    before = {"state": change.decision.state.value}
    act_seq, effect = acts.do(
        session,
        act,
        decided.kind,
        book=round_.jackpot_id,
        subject=change.round.subject.name,
        before=before,
        recorded=decided.recorded,
        postings=decided.postings,
    )
    records.take_step(
        session,
        change.decision.step,
        [(award.bet_id, award.tier, award.correction) for award in meant],
        jackpot_id=round_.jackpot_id,
        round_key=round_.round_key,
        taken_at=act.now,
        act_seq=act_seq,
    )
    return Applied(before, decided.recorded, (effect,))


def _of_round(session: Session, round_: Round) -> tuple[BookedAward, ...]:
    return records.of_round(session, round_) if round_.state is RoundState.SETTLED else ()


def _meant(change: HeldAwards, awards: tuple[BookedAward, ...]) -> tuple[BookedAward, ...]:
    """Raises: NothingHeld, NothingRejected."""
    state = change.decision.state
    meant = tuple(
        award for award in awards if award.state is state and (not change.bet_ids or award.bet_id in change.bet_ids)
    )
    missing = sorted(change.bet_ids - {award.bet_id for award in meant})
    if missing or not meant:
        named = f"bet {', '.join(missing)}" if missing else change.round.subject.name
        refusal = NothingHeld if state is AwardState.HELD else NothingRejected
        message = f"No award of {named} is {state}."
        raise refusal(message, table_id=change.round.table_id, round_id=change.round.round_id, bet_ids=missing)
    return meant


def version(session: Session, change: HeldAwards) -> str:
    """
    Name the awards that are to be decided, and where all of them stand; another decision on one makes it another.

    Who pays for a reinstatement depends on the cycle, so that names its cycle too, and keeps it running.
    """
    awards = _meant(change, _of_round(session, of_rounds.find(session, change.round)))
    names = " ".join(award.award_id for award in awards)
    named = f"{change.decision.state}-{len(awards)}-{sha256(names.encode()).hexdigest()[:16]}"
    if change.decision is Decision.REINSTATE:
        return f"{named}-{jackpot_acts.hold(session, change.round.jackpot_id).books.cycle.cycle}"
    return named


def _released(session: Session, change: HeldAwards) -> Round | None:
    """Return the round, unless its awards are to be rejected."""
    return None if change.decision is Decision.REJECT else of_rounds.find(session, change.round)


KIND = Kind(
    name=ChangeKind.HELD_AWARDS,
    read=read,
    subject=lambda change: change.round.subject,
    version=version,
    apply=apply,
    releases=_released,
)
