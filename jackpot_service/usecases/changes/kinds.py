"""What a kind of change is: one class in a module of its own, listed once in `registry`."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Final, Generic, TypeVar

from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import Whose
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.figures import Figure
from jackpot_service.domain.journal import EntryKind, Postings
from jackpot_service.domain.money import RateSheet
from jackpot_service.domain.principals import Role
from jackpot_service.domain.rates import DEFAULT_BAND
from jackpot_service.domain.rounds import Round
from jackpot_service.records import pinned, references, rounds
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases import payloads
from jackpot_service.usecases.acts import Act, Effect
from jackpot_service.usecases.fields import Identifier
from jackpot_service.usecases.payloads import Payload

C = TypeVar("C")

NO_POSTINGS: Final = Postings()


@dataclass(frozen=True, slots=True)
class Conditions:
    """
    What a change depends on that is neither in its payload nor in the books.

    `booked_at` is the instant at which it would be booked now. `request_id` is that of the change request. `rate_band`
    is how far the installation lets rates move without asking again, which matters only when a change is asked for:
    what must be confirmed stays what it was.
    """

    booked_at: datetime
    request_id: str
    rate_band: Decimal = DEFAULT_BAND


@dataclass(frozen=True, slots=True)
class Subject:
    """What a change is about, in words, and whose jackpot it is, if it is one's."""

    name: str
    jackpot_id: str | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """
    What a change comes to: the act's and its entry's kind, what the entry records, what it books, and its figures.

    The act shows `before`, and `after`: unless stated, what the entry records. `of` is whose the figures are.
    """

    kind: EntryKind
    before: Facts
    recorded: Facts
    postings: Postings = NO_POSTINGS
    after: Facts | None = None
    figures: Sequence[Figure] = ()
    of: Whose | None = None

    @property
    def shown(self) -> Facts:
        """What the act shows as the state after it."""
        return self.recorded if self.after is None else self.after


@dataclass(frozen=True, slots=True)
class Applied:
    """What a change did, or would do: the state before and after, and the entries booked in jackpots' books."""

    before: Facts | None
    after: Facts
    effects: tuple[Effect, ...] = ()


class Kind(ABC, Generic[C]):
    """
    A kind of change.

    `payload` is the schema of what its maker states. `roles` may ask for it and decide it. `acts` are the kinds of act
    that carry it out, each with the type of its event; a casino sees those about itself if `is_of_casinos`. A retired
    jackpot refuses it if `needs_unretired`.

    Each module has a pure `decide(state, request)` besides: `apply` reads the state under its locks, calls it, and
    writes what it makes; the proof reads the state as of then from the books, calls it, and compares.
    """

    name: ClassVar[str]
    payload: ClassVar[type[Payload]]
    roles: ClassVar[frozenset[Role]] = frozenset({Role.OPERATOR})
    acts: ClassVar[Mapping[EntryKind, str]]
    needs_unretired: ClassVar[bool] = True
    is_of_casinos: ClassVar[bool] = False

    def read(self, values: Any) -> C:  # noqa: ANN401  JSON
        """Turn the payload into a value. Raises: BadPayload, or another refusal, for what cannot be."""
        read: C = payloads.load(self.payload, values)
        return read

    def complete(self, request: C, _conditions: Conditions) -> C:
        """Put in what the payload leaves to the moment: when it is asked for, and again when it is approved."""
        return request

    @abstractmethod
    def subject(self, request: C) -> Subject:
        """Name what it is about."""

    @abstractmethod
    def version(self, session: Session, request: C) -> str:
        """Name the state of the subject that the change is made against."""

    @abstractmethod
    def apply(self, session: Session, act: Act, request: C) -> Applied:
        """
        Do the change by an act of its own; raises what it is refused by.

        Under the lock of the reference book, in the transaction that approves it; for a dry run in one that is rolled
        back.
        """

    def to_confirm(self, _session: Session, _request: C) -> Mapping[str, str]:
        """Find the figures that an approver must repeat."""
        return {}

    def releases(self, _session: Session, _request: C) -> Round | None:
        """Find the round whose players get money by it: nobody who made a key of that round approves it."""
        return None

    def stated(self, _payload: object) -> Mapping[str, Any]:
        """Return what its act shows of the payload under the same names; nothing where `decide` makes it all anew."""
        return {}


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
        return find_round(session, request)


def find_round(session: Session, request: OfRound) -> Round:
    """Raises: UnknownJackpot, UnknownRound."""
    references.require_base(session, request.jackpot_id)
    return rounds.require(session, request.jackpot_id, request.name)


def sheet_of(session: Session, round_: Round) -> RateSheet:
    """Return the rate sheet that a round is pinned to."""
    return pinned.sheet(session, references.require_base(session, round_.jackpot_id), round_.rate_sheet)
