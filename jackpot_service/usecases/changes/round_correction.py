"""A correction of a settled round: its right result, as its table server should have told it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jackpot_service.database.transactions import Session
from jackpot_service.domain.cards import DECK, Card
from jackpot_service.domain.changes import ChangeKind
from jackpot_service.domain.outcomes import Result
from jackpot_service.domain.verdict import Hand, HandStatus
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes import of_rounds
from jackpot_service.usecases.changes.kinds import Applied, Kind
from jackpot_service.usecases.changes.of_rounds import NamedRound
from jackpot_service.usecases.changes.payloads import Payload, identifier_of
from jackpot_service.usecases.correct_round import CorrectRound, correct_round, lock_and_name

MOST_HANDS = 60
"""Far more than one deck can deal; and each of them may be dead, without cards."""

HANDS = f'at most {MOST_HANDS} hands, such as {{"hand": "1", "cards": ["As", …]}} or {{"hand": "2", "status": "dead"}}'


@dataclass(frozen=True, slots=True)
class RoundCorrection:
    """Which round of which jackpot, and its right result."""

    jackpot_id: str
    name: RoundName
    result: Result

    @property
    def round(self) -> NamedRound:
        """The round by its ids."""
        return NamedRound(self.jackpot_id, self.name.table_id, self.name.round_id)


def read(values: Mapping[str, Any]) -> RoundCorrection:
    """
    Read `{"jackpot_id", "table_id", "round_id", "result": {"bet_count", "hands": […], "dealer"?: […]}}`.

    A result is what a table server puts, without its time. Raises: BadPayload.
    """
    payload = Payload(values)
    told = payload.nested("result")
    correction = RoundCorrection(
        jackpot_id=payload.identifier("jackpot_id"),
        name=RoundName(payload.identifier("table_id"), payload.identifier("round_id")),
        result=Result(
            bet_count=told.whole("bet_count"),
            hands=told.items("hands", _hand, what=HANDS, most=MOST_HANDS),
            dealer=told.items("dealer", _card, what="cards", least=0, most=len(DECK)) if told.has("dealer") else (),
        ),
    )
    told.end()
    payload.end()
    return correction


def _hand(value: object) -> Hand:
    """Raises: ValueError."""
    if not isinstance(value, dict) or not value.keys() <= {"hand", "status", "cards"}:
        raise ValueError
    cards = value.get("cards", [])
    if not isinstance(cards, list) or len(cards) > len(DECK):
        raise ValueError
    status = HandStatus(value.get("status", HandStatus.DEALT))
    return Hand(identifier_of(value.get("hand")), status, tuple(map(_card, cards)))


def _card(value: object) -> Card:
    """Raises: ValueError."""
    if not isinstance(value, str) or value not in DECK:
        raise ValueError
    return Card(value)


def apply(session: Session, act: Act, change: RoundCorrection) -> Applied:
    """Judge the round anew. Raises: what `correct_round` raises."""
    done = correct_round(session, CorrectRound(act, change.jackpot_id, change.name, change.result))
    return Applied(done.before, done.after, (done.effect,))


KIND = Kind(
    name=ChangeKind.ROUND_CORRECTION,
    read=read,
    subject=lambda change: change.round.subject,
    version=lambda session, change: lock_and_name(session, change.jackpot_id, change.name),
    apply=apply,
    releases=lambda session, change: of_rounds.find(session, change.round),
)
