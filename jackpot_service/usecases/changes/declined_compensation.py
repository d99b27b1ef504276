"""Declining compensation: two people decide that nothing is due to somebody whose prize was denied."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

from jackpot_service.database.transactions import Session
from jackpot_service.domain import held_awards
from jackpot_service.domain.change_policy import FINANCE_AND_OPERATOR
from jackpot_service.domain.errors import Conflict, NotFound
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.rounds import Round
from jackpot_service.records import exceptions
from jackpot_service.records.exceptions import DeniedBet
from jackpot_service.usecases.acts import Act, Done
from jackpot_service.usecases.changes.kinds import RoundKind
from jackpot_service.usecases.fields import Identifier


class UnknownDeniedPrize(NotFound, code="denied-prize-unknown", title="Unknown denied prize"):
    """No prize of this bet was denied."""


class DeniedPrizeDecided(Conflict, code="denied-prize-decided", title="The denied prize was decided"):
    """The denied prize was compensated, or compensation was declined."""


class DeniedPrizes(NamedTuple):
    """A round, and the denied prizes in it, by bet."""

    round: Round
    denied: Mapping[str, DeniedBet]


@dataclass(frozen=True, kw_only=True)
class DeclineCompensation(RoundKind[DeniedPrizes]):
    """The exception of a denied prize is closed without a grant; why, the request and its approval say."""

    name = "declined-compensation"
    acts: ClassVar = {EntryKind.COMPENSATION_DECLINED: "jackpot.compensation.declined"}
    policy = FINANCE_AND_OPERATOR
    needs_unretired = False

    bet_id: Annotated[str, Identifier()]

    @classmethod
    def stated(cls, payload: object) -> Mapping[str, Any]:
        """Return all that is requested."""
        request = cls.read(payload)
        return request.round_ids | {"bet_id": request.bet_id}

    def version(self, session: Session) -> str:
        """Name the exception, which is decided once. Raises: as `state` and `decide`."""
        return str(self.decide(self.state(session, None)).recorded["exception_id"])

    def releases(self, _session: Session) -> Round | None:
        """Return None: nobody gets money by it."""
        return None

    def state(self, session: Session, _act: Act | None) -> DeniedPrizes:
        """Read the round's denied prizes. Raises: UnknownJackpot, UnknownRound."""
        round_ = self.find_round(session)
        return DeniedPrizes(round_, exceptions.denied_in(session, table_id=self.table_id, round_id=self.round_id))

    def decide(self, state: DeniedPrizes) -> Done:
        """Decline compensation for the bet. Raises: UnknownDeniedPrize, DeniedPrizeDecided."""
        denied = state.denied.get(self.bet_id)
        if denied is None:
            message = f"No prize of bet {self.bet_id} was denied in {self.subject}."
            raise UnknownDeniedPrize(message, table_id=self.table_id, round_id=self.round_id, bet_id=self.bet_id)
        if not denied.is_open:
            message = f"Two people decided about the denied prize of bet {self.bet_id} before."
            raise DeniedPrizeDecided(message, exception_id=denied.exception_id)
        recorded = {
            "round": held_awards.facts_of_round(state.round),
            "bet_id": self.bet_id,
            "exception_id": denied.exception_id,
        }
        return Done(EntryKind.COMPENSATION_DECLINED, {"state": "open"}, recorded)

    def write(self, session: Session, _act: Act, act_seq: int, _state: DeniedPrizes, done: Done) -> None:
        """Write that it closes the exception."""
        exceptions.acknowledge(session, done.recorded["exception_id"], entry_seq=act_seq)
