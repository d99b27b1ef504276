"""Kinds of change of one jackpot, which holds still meanwhile: the state that they see, and what they may move."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated

from jackpot_service.database.transactions import Session
from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind, Postings
from jackpot_service.domain.lives import Life
from jackpot_service.domain.money import POOL_DECIMALS, has_decimals, plain
from jackpot_service.domain.rules import LARGEST_AMOUNT, JackpotRules
from jackpot_service.domain.table_limits import LimitsOfTables
from jackpot_service.ledger import books
from jackpot_service.records import changes, immutable
from jackpot_service.usecases import jackpot_acts
from jackpot_service.usecases.acts import Act, Done
from jackpot_service.usecases.changes.kinds import BookedKind
from jackpot_service.usecases.fields import Identifier
from jackpot_service.usecases.jackpot_acts import StillJackpot


class BadAmount(Refused, code="amount-invalid", title="Invalid amount"):
    """The amount cannot be moved."""


class AboveLimit(Refused, code="above-limit", title="The meter would exceed its limit"):
    """The meter would hold more than its limit lets it offer."""


@dataclass(frozen=True, slots=True)
class JackpotState:
    """
    A jackpot as a decision sees it, all its stripes at `positions`.

    `rules` are those of the running `cycle`; `versions` hold those of the newest version, pending or not. `base_amount`
    is what the first cycle was started with. `limits` are those of its tables, as of their version. `refundable` is
    what refunds of open rounds may still take back from the reserve; 0 in the proof, which does not know which rounds
    were open then.
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
    limits_version: int = 0
    limits: LimitsOfTables = field(default_factory=dict)
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
        {newest: immutable.rules(session, jackpot.jackpot_id, newest)},
        books.base_amount(session, jackpot.jackpot_id),
        held.limits_version,
        immutable.limits(session, jackpot.jackpot_id, held.limits_version),
    )


@dataclass(frozen=True, kw_only=True)
class JackpotKind(BookedKind[JackpotState]):
    """A kind of change of one jackpot."""

    jackpot_id: Annotated[str, Identifier()]

    @property
    def act_subject(self) -> str:
        """The jackpot."""
        return f"jackpot {self.jackpot_id}"

    def version(self, session: Session) -> str:
        """
        Name the last approved change of the jackpot, and the cycle.

        Keeps the jackpot locked, so that the cycle is still that one when the change is made. Raises: UnknownJackpot.
        """
        cycle = jackpot_acts.hold(session, self.jackpot_id).books.cycle.cycle
        return f"{changes.last_approved(session, self.jackpot_id)}.{cycle}"

    def state(self, session: Session, _act: Act) -> JackpotState:
        """Lock all stripes and read the jackpot. Raises: UnknownJackpot, JackpotRetired."""
        return state_of(session, jackpot_acts.hold_unretired(session, self.jackpot_id))


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


def moved(
    kind: EntryKind, state: JackpotState, postings: Postings, recorded: Facts, *, before: Facts | None = None
) -> Done:
    """Book postings between the pools of a jackpot; the entry records the pools after them as well."""
    after = {**recorded, **facts_of_pools(state.pools + postings.pools()), "positions": list(state.positions)}
    return Done(kind, facts_of_pools(state.pools) if before is None else before, after, postings)


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
