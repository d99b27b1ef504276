"""A decision on held awards of a round: they are payable after all, or their money returns to whoever paid it."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from jackpot_service.db import Session
from jackpot_service.domain import award_facts, held_awards
from jackpot_service.domain.awards import AwardState, AwardStep
from jackpot_service.domain.changes import ChangeKind
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.journal import EntryKind, Postings
from jackpot_service.domain.principals import Role
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.ledger import replay
from jackpot_service.records import awards as records
from jackpot_service.records import references
from jackpot_service.records.verdicts import BookedAward
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes import of_rounds
from jackpot_service.usecases.changes.kinds import Applied, Kind
from jackpot_service.usecases.changes.of_rounds import NamedRound
from jackpot_service.usecases.changes.payloads import Payload, flawed, identifier_of

APPROVE, REJECT = "approve", "reject"


class NothingHeld(Conflict):
    """The round, or one of the bets that were named, has no award that is held."""

    code = "nothing-held"
    title = "No award is held there"


@dataclass(frozen=True, slots=True)
class HeldAwards:
    """Which held awards of a round to decide, all of them unless bets are named, and how."""

    round: NamedRound
    bet_ids: frozenset[str]
    is_approval: bool


def read(values: Mapping[str, Any]) -> HeldAwards:
    """Read `{"jackpot_id", "table_id", "round_id", "bets"?: [bet ids], "decision": "approve"|"reject"}`."""
    payload = Payload(values)
    named = of_rounds.read(payload)
    bet_ids = payload.items("bets", identifier_of, what="bet ids") if payload.has("bets") else ()
    decision = payload.one_of("decision", APPROVE, REJECT)
    payload.end()
    if len(set(bet_ids)) != len(bet_ids):
        raise flawed("bets", "names a bet twice")
    return HeldAwards(named, frozenset(bet_ids), decision == APPROVE)


def apply(session: Session, act: Act, change: HeldAwards) -> Applied:
    """Decide them. Raises: UnknownJackpot, UnknownRound, NothingHeld."""
    round_ = of_rounds.find(session, change.round)
    awards = _of_round(session, round_)
    held = _held(change, awards)
    decide = _approved if change.is_approval else _rejected
    decided = decide(session, round_, awards, held)
    before = {"state": AwardState.HELD.value}
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
        decided.step,
        [(award.bet_id, award.tier, award.correction) for award in held],
        jackpot_id=round_.jackpot_id,
        round_key=round_.round_key,
        taken_at=act.now,
        act_seq=act_seq,
    )
    return Applied(before, decided.recorded, (effect,))


@dataclass(frozen=True, slots=True)
class _Decided:
    kind: EntryKind
    step: AwardStep
    recorded: Mapping[str, Any]
    postings: Postings


def _approved(
    session: Session, round_: Round, _awards: tuple[BookedAward, ...], held: tuple[BookedAward, ...]
) -> _Decided:
    made = [records.made(award) for award in held]
    sheet = of_rounds.sheet_of(session, round_)
    return _Decided(
        EntryKind.AWARDS_APPROVED,
        AwardStep.APPROVED,
        award_facts.of_step(round_, AwardStep.APPROVED, made),
        held_awards.approval(made, casino_id=round_.casino_id, sheet=sheet),
    )


def _rejected(
    session: Session, round_: Round, awards: tuple[BookedAward, ...], held: tuple[BookedAward, ...]
) -> _Decided:
    origin = held_awards.origins(map(records.made, awards), _booked_by_settlement(session, round_))
    made = [records.made(award) for award in held]
    return _Decided(
        EntryKind.AWARDS_REJECTED,
        AwardStep.REJECTED,
        award_facts.of_step(round_, AwardStep.REJECTED, made, origin=origin),
        held_awards.rejection(made, origin, base=references.require_base(session, round_.jackpot_id)),
    )


def _booked_by_settlement(session: Session, round_: Round) -> Postings:
    key = round_.round_key
    entries = replay.entries_of_rounds(session, round_.jackpot_id, after=key - 1, upto=key)
    return next(entry for entry in entries if entry.kind == EntryKind.RESULT).postings()


def _of_round(session: Session, round_: Round) -> tuple[BookedAward, ...]:
    return records.of_round(session, round_) if round_.state is RoundState.SETTLED else ()


def _held(change: HeldAwards, awards: tuple[BookedAward, ...]) -> tuple[BookedAward, ...]:
    """Raises: NothingHeld."""
    held = tuple(
        award
        for award in awards
        if award.state is AwardState.HELD and (not change.bet_ids or award.bet_id in change.bet_ids)
    )
    missing = sorted(change.bet_ids - {award.bet_id for award in held})
    if missing or not held:
        named = f"bet {', '.join(missing)}" if missing else change.round.subject.name
        message = f"No award of {named} is held."
        raise NothingHeld(message, table_id=change.round.table_id, round_id=change.round.round_id, bet_ids=missing)
    return held


def version(session: Session, change: HeldAwards) -> str:
    """Name the awards that are to be decided, all of them held; another decision on one of them makes it another."""
    awards = _held(change, _of_round(session, of_rounds.find(session, change.round)))
    names = " ".join(award.award_id for award in awards)
    return f"held-{len(awards)}-{sha256(names.encode()).hexdigest()[:16]}"


KIND = Kind(
    name=ChangeKind.HELD_AWARDS,
    roles=frozenset({Role.OPERATOR}),
    read=read,
    subject=lambda change: change.round.subject,
    version=version,
    apply=apply,
)
