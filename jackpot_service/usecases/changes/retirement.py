"""The end of a jackpot: no more bets for good; its players' money goes to another, the house's back to the house."""

from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import Annotated, ClassVar

from jackpot_service.database.transactions import Session
from jackpot_service.domain import accounts, posting_rules
from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.change_policy import MONEY_BY_HAND
from jackpot_service.domain.errors import Conflict, Refused
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.lives import Life
from jackpot_service.domain.money import ZERO, plain
from jackpot_service.domain.rules import FundedBy
from jackpot_service.records import changes, lives, references
from jackpot_service.usecases import acts, jackpot_acts
from jackpot_service.usecases.acts import Act, Done
from jackpot_service.usecases.changes.jackpots import JackpotKind, JackpotState, facts_of_pools, moved, state_of
from jackpot_service.usecases.changes.kinds import Applied, Conditions, Plan
from jackpot_service.usecases.fields import Identifier
from jackpot_service.usecases.jackpot_acts import StillJackpot


class BadTarget(Refused, code="target-invalid", title="Invalid target jackpot"):
    """The balances cannot be transferred to that jackpot."""


class TargetClosed(Conflict, code="target-closed", title="The target jackpot is not open"):
    """The target jackpot takes no bets now."""


class StillInPlay(Conflict, code="jackpot-in-play", title="The jackpot is still in play"):
    """The jackpot has open rounds, or awards that nobody has decided about."""


class InsufficientFunds(Conflict, code="insufficient-funds", title="Insufficient funds"):
    """The prize fund, the reserve or the players' part of the meter is below zero: the house makes that good first."""


@dataclass(frozen=True, slots=True)
class Balances:
    """The players' money that is transferred: of the meter, of the reserve and of the prize fund."""

    meter: Decimal
    reserve: Decimal
    prize_fund: Decimal

    @property
    def facts(self) -> Facts:
        """The facts of them that entries record."""
        return {field_.name: plain(getattr(self, field_.name)) for field_ in fields(self)}


@dataclass(frozen=True, kw_only=True)
class RetireJackpot(JackpotKind):
    """A jackpot ends and hands its players' money to another; the transfer is named by the change request."""

    name = "retirement"
    about = "jackpot {0.jackpot_id}"
    acts: ClassVar = {EntryKind.JACKPOT_RETIRED: "jackpot.retired"}
    policy = MONEY_BY_HAND

    to: Annotated[str, Identifier(metadata={"description": "The jackpot that receives."})]
    request_id: str = ""

    def require_sense(self) -> None:
        """Raises: BadTarget if the jackpot itself would receive."""
        if self.to == self.jackpot_id:
            message = "A jackpot does not receive its own money."
            raise BadTarget(message, jackpot_id=self.to)

    def completed(self, conditions: Conditions) -> "RetireJackpot":
        """Fill in the change request's id."""
        return replace(self, request_id=conditions.request_id)

    def version(self, session: Session) -> str:
        """Name the state of both. Raises: UnknownJackpot."""
        references.require_base(session, self.to)
        return f"{super().version(session)}/{changes.last_approved(session, self.to)}"

    def decide(self, state: JackpotState) -> Done:
        """
        Empty the pools of a retired jackpot: the players' money to the transfer, the house's part of the meter to it.

        Raises: InsufficientFunds.

        Source: domain decision 22 (docs/decisions/money-by-hand.md).
        """
        pools, base = state.pools, state.base
        balances = _transferable(pools)
        leaving = {
            accounts.METER_PLAYERS: -balances.meter,
            accounts.RESERVE: -balances.reserve,
            accounts.PRIZE_FUND: -balances.prize_fund,
        }
        postings = posting_rules.joined(
            [
                posting_rules.for_fill(pools.fill, base=base),
                posting_rules.for_recovery(pools.meter_house - pools.fill, base=base),
                posting_rules.for_transfer(leaving, request_id=self.request_id, base=base),
            ]
        )
        recorded = {
            "state": Life.RETIRED.value,
            "to": self.to,
            "transferred": balances.facts,
            "to_house_seed": plain(postings.moved(accounts.HOUSE_SEED)),
        }
        before = {"state": state.life.value, **facts_of_pools(pools)}
        return moved(EntryKind.JACKPOT_RETIRED, state, postings, recorded, before=before)

    def plan(self, session: Session, _act: Act) -> Plan:
        """Decide both entries. Raises: as `apply`."""
        _, _, done, received = self._both_decided(session)
        return Plan(done.before, done.recorded, ((self.jackpot_id, done), (self.to, received)))

    def _both_decided(self, session: Session) -> tuple[StillJackpot, StillJackpot, Done, Done]:
        ending = jackpot_acts.hold_unretired(session, self.jackpot_id)
        _require_out_of_play(session, self.jackpot_id)
        target = _held_target(session, self.to, ending)
        done = self.decide(state_of(session, ending))
        return ending, target, done, receive(state_of(session, target), done.recorded, self)

    def apply(self, session: Session, act: Act) -> Applied:
        """
        Close the jackpot and empty it: two entries, one in each book, which together move nothing but between them.

        The jackpot that ends is locked before it is looked at, so that no bet comes between; looking may take long, so
        the other is locked only then.

        Raises: UnknownJackpot, JackpotRetired, StillInPlay, BadTarget, TargetClosed, InsufficientFunds.
        """
        ending, target, done, received = self._both_decided(session)
        act_seq, not_before = acts.next_seq(session), jackpot_acts.booking_time(session, act, (ending, target))
        effects = (
            jackpot_acts.book(session, act, ending, done, act_seq=act_seq, not_before=not_before, accepting=False),
            jackpot_acts.book(session, act, target, received, act_seq=act_seq, not_before=not_before),
        )
        acts.record_done(session, act, done, subject=self.subject, book=self.jackpot_id, effects=effects)
        return Applied(done.before, done.recorded, effects)


def receive(state: JackpotState, sent: Facts, request: RetireJackpot) -> Done:
    """
    Decide the other half: put the transferred balances, as the retirement recorded them, into the target, like to like.

    Where the target's meter pays the fixed prizes, what was for them becomes its meter: it has no use for a prize fund.
    """
    balances = Balances(**{name: Decimal(amount) for name, amount in sent["transferred"].items()})
    has_prize_fund = state.rules.fixed_prizes_from is FundedBy.PRIZE_FUND
    coming = {
        accounts.METER_PLAYERS: balances.meter if has_prize_fund else balances.meter + balances.prize_fund,
        accounts.RESERVE: balances.reserve,
        accounts.PRIZE_FUND: balances.prize_fund if has_prize_fund else ZERO,
    }
    postings = posting_rules.for_transfer(coming, request_id=request.request_id, base=state.base)
    recorded = {"from": request.jackpot_id, "transferred": balances.facts}
    return moved(EntryKind.TRANSFER_RECEIVED, state, postings, recorded, before={})


def _transferable(pools: Pools) -> Balances:
    """
    Find what a jackpot with these pools hands on, once the house's part has filled the players', if that is below zero.

    Raises: InsufficientFunds if a pool is below zero even so; an adjustment or a true-up, each approved, lifts it.
    """
    balances = Balances(pools.meter_players + pools.fill, pools.reserve, pools.prize_fund)
    named = {
        "players' part of the meter": balances.meter,
        "reserve": balances.reserve,
        "prize fund": balances.prize_fund,
    }
    for name, amount in named.items():
        if amount < ZERO:
            message = f"The {name} is {plain(amount)}: it is lifted to zero before the jackpot is retired."
            raise InsufficientFunds(message)
    return balances


def _require_out_of_play(session: Session, jackpot_id: str) -> None:
    lives.take_time(session)
    open_round = lives.open_round(session, jackpot_id)
    if open_round is not None:
        message = (
            f"Round {open_round.round_id} of table {open_round.table_id} is open: settle or cancel it, and all others."
        )
        raise StillInPlay(message, table_id=open_round.table_id, round_id=open_round.round_id)
    if lives.has_held_award(session, jackpot_id):
        message = f"Jackpot {jackpot_id} has a held award: approve or reject it, and all others."
        raise StillInPlay(message)


def _held_target(session: Session, jackpot_id: str, ending: StillJackpot) -> StillJackpot:
    target = jackpot_acts.hold(session, jackpot_id)
    if target.base != ending.base:
        message = f"Jackpot {jackpot_id} is in {target.base}, {ending.jackpot_id} in {ending.base}."
        raise BadTarget(message, jackpot_id=jackpot_id)
    if target.life is not Life.OPEN:
        message = f"Jackpot {jackpot_id} is {target.life}."
        raise TargetClosed(message, jackpot_id=jackpot_id)
    return target
