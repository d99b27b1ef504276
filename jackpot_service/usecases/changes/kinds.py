"""A kind of change: one class in a module of its own, listed once in `registry`; its values are requests."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar

from jackpot_service.database.transactions import Session
from jackpot_service.domain.change_policy import HOUSE_DECIDES, KindPolicy
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.rates import DEFAULT_BAND
from jackpot_service.domain.rounds import Round
from jackpot_service.records import references, rounds
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases import acts, payloads
from jackpot_service.usecases.acts import Act, Done, Effect
from jackpot_service.usecases.fields import Identifier
from jackpot_service.usecases.payloads import Payload

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Conditions:
    """
    The conditions of a change that are neither in its payload nor in the books.

    `booked_at` is the instant at which it would be booked now. `request_id` is that of the change request. `rate_band`
    is how far the installation lets rates move without asking again, which matters only when a change is requested:
    what must be confirmed stays what it was.
    """

    booked_at: datetime
    request_id: str
    rate_band: Decimal = DEFAULT_BAND


@dataclass(frozen=True, slots=True)
class Plan:
    """A change as it was decided and not done: the state before and after, and what it would book, by book."""

    before: Facts | None
    after: Facts
    booked: tuple[tuple[str, Done], ...] = ()


@dataclass(frozen=True, slots=True)
class Applied:
    """A change's result, done or rehearsed: the state before and after, and the entries booked in jackpots' books."""

    before: Facts | None
    after: Facts
    effects: tuple[Effect, ...] = ()


class Kind(ABC):
    """
    A kind of change. A value of it is what a maker requests; the fields that are annotated are those of the payload.

    `about` names its subject, in words. `policy` says who requests and decides it, until a change policy says
    otherwise. `acts` are the kinds of act that carry it out, each with the type of its event; a casino sees those
    about itself if `is_of_casinos`. A retired jackpot refuses it if `needs_unretired`, but for the acts in
    `after_retirement`.

    A kind decides purely: `apply` reads the state under its locks, decides, and writes what that makes. `plan` reads
    and decides as well, and writes nothing. The proof reads the state as of then from the books, decides again, and
    compares.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    acts: ClassVar[Mapping[EntryKind, str]]
    policy: ClassVar[KindPolicy] = HOUSE_DECIDES
    needs_unretired: ClassVar[bool] = True
    after_retirement: ClassVar[frozenset[EntryKind]] = frozenset()
    is_of_casinos: ClassVar[bool] = False

    @classmethod
    def payload(cls) -> type[Payload]:
        """Return the schema of the payload."""
        return payloads.schema_of(cls, name=f"{cls.name.title().replace('-', '')}Payload")

    @classmethod
    def read(cls, values: Any) -> Self:  # noqa: ANN401  JSON
        """Turn a payload into a request. Raises: BadPayload, or another refusal, for what cannot be."""
        request: Self = payloads.load(cls.payload(), values)
        request.require_sense()
        return request

    @classmethod
    def stated(cls, _payload: object) -> Mapping[str, Any]:
        """Return what its act shows of the payload under the same names; nothing where `decide` makes it all anew."""
        return {}

    def require_sense(self) -> None:  # noqa: B027  not every kind has something to hold
        """Hold the fields against each other. Raises: BadPayload, or another refusal."""

    def completed(self, _conditions: Conditions) -> Self:
        """Fill in what the payload leaves to the moment: when it is requested, and again when it is approved."""
        return self

    @property
    def left_to_booking(self) -> Facts:
        """The members of the state after it, each null, that nobody knows before it is booked; as it was requested."""
        return {}

    @property
    def subject(self) -> str:
        """The subject of the change, in words."""
        return self.about.format(self)

    @property
    def subject_jackpot_id(self) -> str | None:
        """The jackpot that the change is about; None if it is about none."""
        return getattr(self, "jackpot_id", None)

    def currency_of_amounts(self, session: Session) -> str | None:
        """
        Name the currency of the amounts that its effect shows without one; None if there are none.

        Unless stated, it is the base currency of the jackpot. Raises: UnknownJackpot.
        """
        jackpot_id = self.subject_jackpot_id
        return None if jackpot_id is None else references.require_base(session, jackpot_id)

    def shown_after(self, _session: Session, after: Facts) -> Facts:
        """Complete the state after it, as its act shows it, by what the act leaves out and its effect shows."""
        return after

    @abstractmethod
    def version(self, session: Session) -> str:
        """Name the state of the subject on which the change is based."""

    @abstractmethod
    def plan(self, session: Session, act: Act) -> Plan:
        """
        Decide what `apply` would do, and write nothing. Raises: what it is refused by.

        In a snapshot it takes no lock: what it reads is of one instant, and nobody waits for it.
        """

    @abstractmethod
    def apply(self, session: Session, act: Act) -> Applied:
        """
        Do the change by an act of its own. Raises: what it is refused by.

        Under the lock of the reference book, in the transaction that approves it; for a dry run in one that is rolled
        back.
        """

    def to_confirm(self, _session: Session) -> Mapping[str, str]:
        """Find the figures that an approver must repeat."""
        return {}

    def approvals_due(self, _session: Session) -> int:
        """Say how many people approve it, besides the one who requests it."""
        return 1

    def releases(self, _session: Session) -> Round | None:
        """Find the round whose players get money by it: nobody who made a key of that round approves it."""
        return None


class BookedKind(Kind, Generic[S]):
    """A kind of change that is one entry in the book of one jackpot, decided from a state of the type S."""

    jackpot_id: str

    @property
    def act_subject(self) -> str:
        """The subject of the act."""
        return self.subject

    @abstractmethod
    def state(self, session: Session, act: Act) -> S:
        """Read the state under its locks. Raises: what it is refused by before it is decided."""

    @abstractmethod
    def decide(self, state: S) -> Done:
        """Decide the change, purely. Raises: what it is refused by."""

    def require_payable(self, act: Act, state: S, done: Done) -> None:
        """Hold what was decided against the currencies of the day. Raises: what only the moment refuses it by."""

    def write(self, session: Session, act: Act, act_seq: int, state: S, done: Done) -> None:
        """Write the rows besides the entry."""

    def plan(self, session: Session, act: Act) -> Plan:
        """Decide the entry. Raises: as `state`, `decide` and `require_payable`."""
        _, done = self._decided(session, act)
        return Plan(done.before, done.shown, ((self.jackpot_id, done),))

    def _decided(self, session: Session, act: Act) -> tuple[S, Done]:
        state = self.state(session, act)
        done = self.decide(state)
        self.require_payable(act, state, done)
        return state, done

    def apply(self, session: Session, act: Act) -> Applied:
        """Book the entry. Raises: as `state`, `decide` and `require_payable`."""
        state, done = self._decided(session, act)
        act_seq, effect = acts.book(session, act, done, book=self.jackpot_id, subject=self.act_subject)
        self.write(session, act, act_seq, state, done)
        return Applied(done.before, done.shown, (effect,))


@dataclass(frozen=True, kw_only=True)
class RoundKind(BookedKind[S]):
    """A kind of change about one round, whose players get money by it, named by the ids that people know."""

    about = "round {0.table_id}/{0.round_id}"
    is_of_casinos = True

    jackpot_id: Annotated[str, Identifier()]
    table_id: Annotated[str, Identifier()]
    round_id: Annotated[str, Identifier()]

    @property
    def round_name(self) -> RoundName:
        """The round's name in its jackpot."""
        return RoundName(self.table_id, self.round_id)

    @property
    def round_ids(self) -> dict[str, str]:
        """The ids of the round, as acts show them."""
        return {"table_id": self.table_id, "round_id": self.round_id}

    def find_round(self, session: Session) -> Round:
        """Raises: UnknownJackpot, UnknownRound."""
        references.require_base(session, self.jackpot_id)
        return rounds.require(session, self.jackpot_id, self.round_name)

    def releases(self, session: Session) -> Round | None:
        """Return the round."""
        return self.find_round(session)
