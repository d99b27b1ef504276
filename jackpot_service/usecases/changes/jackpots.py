"""Kinds of change of one jackpot, which holds still meanwhile: what they see, and how they are booked."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol, TypeVar

from jackpot_service.database.transactions import Session
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.lives import Life
from jackpot_service.domain.money import POOL_DECIMALS, has_decimals, plain
from jackpot_service.domain.pools import Pools
from jackpot_service.domain.rules import LARGEST_AMOUNT, JackpotRules
from jackpot_service.ledger import books
from jackpot_service.records import changes, pinned
from jackpot_service.usecases import acts, jackpot_acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.kinds import Applied, Done, Kind
from jackpot_service.usecases.jackpot_acts import StillJackpot


class AboutJackpot(Protocol):
    """A request about a jackpot."""

    @property
    def jackpot_id(self) -> str:
        """Whose id it is."""


C = TypeVar("C", bound=AboutJackpot)


class BadAmount(Refused):
    """The amount cannot be moved."""

    code = "amount-invalid"
    title = "Invalid amount"


class AboveLimit(Refused):
    """The meter would hold more than its limit lets it offer."""

    code = "above-limit"
    title = "The meter would exceed its limit"


@dataclass(frozen=True, slots=True)
class JackpotState:
    """
    A jackpot as a decision sees it, all its stripes at `positions`.

    `rules` are those of the running `cycle`; `versions` hold those of the newest version, pending or not. `base_amount`
    is what the first cycle was started with. `refundable` is what refunds of open rounds may still take back from the
    reserve; 0 in the proof, which does not know which rounds were open then.
    """

    jackpot_id: str
    life: Life
    pools: Pools
    positions: tuple[int, ...]
    cycle: int
    rules: JackpotRules
    newest_version: int
    versions: Mapping[int, JackpotRules]
    base_amount: Decimal
    refundable: Decimal = Decimal(0)

    @property
    def base(self) -> str:
        """The jackpot's base currency."""
        return self.rules.base


def state_of(session: Session, jackpot: StillJackpot) -> JackpotState:
    """Read what a decision sees of a jackpot that holds still."""
    held = jackpot.books
    newest = held.cycle.following_version
    return JackpotState(
        jackpot.jackpot_id,
        jackpot.life,
        held.pools,
        held.positions,
        held.cycle.cycle,
        jackpot.rules,
        newest,
        {newest: pinned.rules(session, jackpot.jackpot_id, newest)},
        books.base_amount(session, jackpot.jackpot_id),
    )


class JackpotKind(Kind[C]):
    """A kind of change that is one entry of one jackpot."""

    @abstractmethod
    def decide(self, state: JackpotState, request: C) -> Done:
        """Decide it, purely. Raises: what it is refused by."""

    def look(self, _session: Session, state: JackpotState, _request: C) -> JackpotState:
        """Look at what else the decision needs, which only `apply` can see."""
        return state

    def write(self, session: Session, act: Act, state: JackpotState, done: Done) -> None:
        """Write what there is besides the entry. Raises: what only the moment refuses it by."""

    def version(self, session: Session, request: C) -> str:
        """
        Name the last approved change of the jackpot, and the cycle.

        Keeps the jackpot locked, so that the cycle is still that one when the change is made. Raises: UnknownJackpot.
        """
        cycle = jackpot_acts.hold(session, request.jackpot_id).books.cycle.cycle
        return f"{changes.last_approved(session, request.jackpot_id)}.{cycle}"

    def apply(self, session: Session, act: Act, request: C) -> Applied:
        """Book it. Raises: UnknownJackpot, JackpotRetired, and as `decide`."""
        jackpot = jackpot_acts.hold_unretired(session, request.jackpot_id)
        state = self.look(session, state_of(session, jackpot), request)
        done = self.decide(state, request)
        self.write(session, act, state, done)
        subject = f"jackpot {jackpot.jackpot_id}"
        _, applied = book(session, act, done, jackpot_id=jackpot.jackpot_id, subject=subject)
        return applied


def book(session: Session, act: Act, done: Done, *, jackpot_id: str, subject: str) -> tuple[int, Applied]:
    """Book what was decided as an act with one entry in a jackpot's book; the act's seq, and what it did."""
    act_seq, effect = acts.do(
        session,
        act,
        done.kind,
        book=jackpot_id,
        subject=subject,
        before=done.before,
        recorded=done.recorded,
        after=done.after,
        postings=done.postings,
        figures=done.figures,
        of=done.of,
    )
    return act_seq, Applied(done.before, done.shown, (effect,))


def facts_of_pools(pools: Pools) -> Facts:
    """Write what the pools of a jackpot hold."""
    return {
        "pools": {
            "meter_players": plain(pools.meter_players),
            "meter_house": plain(pools.meter_house),
            "reserve": plain(pools.reserve),
            "prize_fund": plain(pools.prize_fund),
        }
    }


def require_amount(amount: Decimal) -> None:
    """Raises: BadAmount unless the amount can be moved between pools."""
    if not amount or abs(amount) >= LARGEST_AMOUNT or not has_decimals(amount, POOL_DECIMALS):
        message = f"An amount is not 0, below 10^15, and has at most {POOL_DECIMALS} decimals."
        raise BadAmount(message)


def require_within(limit: Decimal | None, after: Pools, *, base: str) -> None:
    """Raises: AboveLimit if the meter would hold more than its limit."""
    if limit is not None and after.meter > limit:
        message = f"The meter would hold {plain(after.meter)}; its limit is {plain(limit)} {base}."
        raise AboveLimit(message)
