"""What each decision on a round's awards books: held ones approved or rejected, rejected ones reinstated."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from jackpot_service.database.transactions import Session
from jackpot_service.domain import award_facts, held_awards
from jackpot_service.domain.awards import AwardStep
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.held_awards import AwardKey, Decision, MadeAward, Origin
from jackpot_service.domain.journal import EntryKind, Postings
from jackpot_service.domain.rounds import Round
from jackpot_service.ledger import replay
from jackpot_service.ledger.cycles import Cycle
from jackpot_service.records import acts, corrections, references
from jackpot_service.records import awards as records
from jackpot_service.usecases import jackpot_acts
from jackpot_service.usecases.changes import of_rounds


class RoundCorrected(Conflict):
    """The round was judged anew since its awards were rejected: another verdict is in force."""

    code = "round-corrected"
    title = "The round was corrected since"


@dataclass(frozen=True, slots=True)
class Decided:
    """The entry that a decision books."""

    kind: EntryKind
    recorded: Facts
    postings: Postings


Decide = Callable[[Session, Round, Sequence[MadeAward], Sequence[MadeAward]], Decided]
"""Decides some awards of a round; given are all that its settlement made, then those that it is about."""


def approved(session: Session, round_: Round, _all: Sequence[MadeAward], awards: Sequence[MadeAward]) -> Decided:
    """Held awards become payable."""
    sheet = of_rounds.sheet_of(session, round_)
    return Decided(
        EntryKind.AWARDS_APPROVED,
        award_facts.of_step(round_, AwardStep.APPROVED, awards),
        held_awards.approval(awards, casino_id=round_.casino_id, sheet=sheet),
    )


def rejected(session: Session, round_: Round, all_: Sequence[MadeAward], awards: Sequence[MadeAward]) -> Decided:
    """The money of held awards returns to whoever paid it."""
    origin = _origin(session, round_, all_)
    return Decided(
        EntryKind.AWARDS_REJECTED,
        award_facts.of_step(round_, AwardStep.REJECTED, awards, origin=origin),
        held_awards.rejection(awards, origin, base=references.require_base(session, round_.jackpot_id)),
    )


def reinstated(session: Session, round_: Round, all_: Sequence[MadeAward], awards: Sequence[MadeAward]) -> Decided:
    """
    Rejected awards become payable, from where their money returned to. Locks all stripes of the jackpot.

    Raises: JackpotRetired, RoundCorrected.
    """
    jackpot = jackpot_acts.hold_unretired(session, round_.jackpot_id)
    if corrections.count(session, round_):
        message = f"Round {round_.round_id} of table {round_.table_id} was corrected: what it awards is in force there."
        raise RoundCorrected(message, table_id=round_.table_id, round_id=round_.round_id)
    won_since = _returned_to_a_meter_won_since(session, round_, jackpot.books.cycle)
    origin = held_awards.taken_again(_origin(session, round_, all_), won_since=won_since)
    return Decided(
        EntryKind.AWARDS_REINSTATED,
        award_facts.of_reinstatement(round_, awards, origin, positions=jackpot.books.positions),
        held_awards.reinstatement(
            awards,
            origin,
            jackpot.books.pools,
            running=jackpot.rules,
            casino_id=round_.casino_id,
            sheet=of_rounds.sheet_of(session, round_),
        ),
    )


def _origin(session: Session, round_: Round, all_: Sequence[MadeAward]) -> dict[AwardKey, Origin]:
    key = round_.round_key
    entries = replay.entries_of_rounds(session, round_.jackpot_id, after=key - 1, upto=key)
    settled = next(entry for entry in entries if entry.kind == EntryKind.RESULT)
    return held_awards.origins(all_, settled.postings())


def _returned_to_a_meter_won_since(session: Session, round_: Round, running: Cycle) -> frozenset[AwardKey]:
    rejections = records.acts_of_step(session, round_, AwardStep.REJECTED)
    seqs = {act_seq: acts.by_seq(session, act_seq).effects[0]["seq"] for act_seq in set(rejections.values())}
    return frozenset(key for key, act_seq in rejections.items() if running.began_after(stripe_no=0, seq=seqs[act_seq]))


DECISIONS: Final[Mapping[Decision, Decide]] = {
    Decision.APPROVE: approved,
    Decision.REJECT: rejected,
    Decision.REINSTATE: reinstated,
}
