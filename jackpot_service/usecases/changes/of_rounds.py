"""What changes about one round have in common: how they name it, and how it is found."""

from dataclasses import dataclass
from typing import TypeVar

from jackpot_service.database.transactions import Session
from jackpot_service.domain.money import RateSheet
from jackpot_service.domain.rounds import Round
from jackpot_service.records import pinned, references, rounds
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases.changes.kinds import Kind, Subject
from jackpot_service.usecases.fields import Identifier
from jackpot_service.usecases.payloads import Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class OfRound:
    """A request about a round, by the ids that people know it by."""

    jackpot_id: str
    table_id: str
    round_id: str

    @property
    def subject(self) -> Subject:
        """What a change of it is about."""
        return Subject(f"round {self.table_id}/{self.round_id}", self.jackpot_id)

    @property
    def name(self) -> RoundName:
        """The round's name in its jackpot."""
        return RoundName(self.table_id, self.round_id)

    @property
    def stated(self) -> dict[str, str]:
        """The ids of the round, as acts show them."""
        return {"table_id": self.table_id, "round_id": self.round_id}


R = TypeVar("R", bound=OfRound)


class OfRoundPayload(Payload):
    """A payload about a round."""

    jackpot_id = Identifier(required=True)
    table_id = Identifier(required=True)
    round_id = Identifier(required=True)


class RoundKind(Kind[R]):
    """A kind of change about one round, whose players get money by it."""

    is_of_casinos = True

    def subject(self, request: R) -> Subject:
        """Name the round."""
        return request.subject

    def releases(self, session: Session, request: R) -> Round | None:
        """Return the round."""
        return find(session, request)


def find(session: Session, request: OfRound) -> Round:
    """Raises: UnknownJackpot, UnknownRound."""
    references.require_base(session, request.jackpot_id)
    return rounds.require(session, request.jackpot_id, request.name)


def sheet_of(session: Session, round_: Round) -> RateSheet:
    """Return the rate sheet that a round is pinned to."""
    return pinned.sheet(session, references.require_base(session, round_.jackpot_id), round_.rate_sheet)
