"""What changes about one round have in common: how they name it, and how it is found."""

from dataclasses import dataclass

from jackpot_service.database.transactions import Session
from jackpot_service.domain.money import RateSheet
from jackpot_service.domain.rounds import Round
from jackpot_service.records import pinned, references, rounds
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases.changes.kinds import Subject
from jackpot_service.usecases.changes.payloads import Payload


@dataclass(frozen=True, slots=True)
class NamedRound:
    """A round by the ids that people know it by."""

    jackpot_id: str
    table_id: str
    round_id: str

    @property
    def subject(self) -> Subject:
        """What a change of it is about."""
        return Subject(f"round {self.table_id}/{self.round_id}", self.jackpot_id)


def read(payload: Payload) -> NamedRound:
    """Read `"jackpot_id", "table_id", "round_id"`. Raises: BadPayload."""
    return NamedRound(payload.identifier("jackpot_id"), payload.identifier("table_id"), payload.identifier("round_id"))


def find(session: Session, named: NamedRound) -> Round:
    """Raises: UnknownJackpot, UnknownRound."""
    references.require_base(session, named.jackpot_id)
    return rounds.require(session, named.jackpot_id, RoundName(named.table_id, named.round_id))


def sheet_of(session: Session, round_: Round) -> RateSheet:
    """The rate sheet that a round is pinned to."""
    return pinned.sheet(session, references.require_base(session, round_.jackpot_id), round_.rate_sheet)
