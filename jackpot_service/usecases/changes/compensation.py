"""
A compensation: what the house grants, by a manual decision, to somebody who would have won.

That is a bettor of a cancelled round, or one whose prize was denied in a settled round. The first grant for a denied
bet closes its exception. A negative one takes back what was granted.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import held_awards, posting_rules
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.bets import Bet, BookedBet
from jackpot_service.domain.change_policy import MONEY_BY_HAND
from jackpot_service.domain.corrections import PastAward
from jackpot_service.domain.currencies import written
from jackpot_service.domain.errors import Conflict, NotFound
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import RateSheet, plain
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.domain.rules import LARGEST_AMOUNT
from jackpot_service.records import bets as bet_records
from jackpot_service.records import corrections, exceptions, manual_payments
from jackpot_service.records.exceptions import DeniedBet
from jackpot_service.records.manual_payments import Compensation
from jackpot_service.usecases.acts import Act, Done
from jackpot_service.usecases.changes.kinds import RoundKind
from jackpot_service.usecases.fields import CurrencyCode, Identifier, MinorUnits, Text
from jackpot_service.usecases.payloads import bad_field
from jackpot_service.usecases.round_terms import sheet_of


class RoundNotCancelled(Conflict, code="round-not-cancelled", title="The round was not cancelled"):
    """Only a bettor of a cancelled round is compensated, or one whose prize was denied."""


class UnknownBet(NotFound, code="bet-unknown", title="Unknown bet"):
    """The round has no such bet that is live or whose prize was denied, or it is another player's."""


class BetAwarded(Conflict, code="bet-awarded", title="The bet has an award"):
    """A correction of the round has made the award that was denied."""


class NotGranted(Conflict, code="compensation-not-granted", title="Amount exceeds what was granted"):
    """No more is taken back than was granted for the bet in that currency."""


@dataclass(frozen=True, slots=True)
class CompensableRound:
    """
    A round with its rates, its bets, the denied ones of them, and what was granted before, by bet and currency.

    `bets` are those that are live, and those that were made void and whose prize was denied. `awarded` are the ids of
    those with an award that is in force.
    """

    round: Round
    sheet: RateSheet
    bets: Mapping[str, Bet]
    denied: Mapping[str, DeniedBet]
    awarded: frozenset[str]
    granted_minor: Mapping[tuple[str, str], int]
    compensations: int

    def open_exception_of(self, bet_id: str) -> str | None:
        """The exception of a bet whose denied prize waits for a decision; None if none does."""
        denied = self.denied.get(bet_id)
        return denied.exception_id if denied is not None and denied.is_open else None


@dataclass(frozen=True, kw_only=True)
class Compensate(RoundKind[CompensableRound]):
    """The house grants an amount for a bet that would have won, in a currency of the round's own rate sheet."""

    name = "compensation"
    acts: ClassVar = {EntryKind.COMPENSATION: "jackpot.round.compensated"}
    policy = MONEY_BY_HAND
    needs_unretired = False

    bet_id: Annotated[str, Identifier()]
    player_id: Annotated[
        str | None, Identifier(metadata={"description": "If stated, it has to be that of the bet."})
    ] = None
    amount_minor: Annotated[int, MinorUnits(metadata={"description": "Negative: taken back."})]
    currency: Annotated[str, CurrencyCode()]
    document: Annotated[str, Text()]

    @classmethod
    def stated(cls, payload: object) -> Mapping[str, Any]:
        """Return all that is requested."""
        request = cls.read(payload)
        player = {} if request.player_id is None else {"player_id": request.player_id}
        names = ("bet_id", "amount_minor", "currency", "document")
        return request.round_ids | player | {name: getattr(request, name) for name in names}

    def version(self, session: Session) -> str:
        """Count the round's compensations, and say whether a decision on the bet's denied prize is open."""
        state = self.state(session, None)
        return f"{state.compensations}{'' if state.open_exception_of(self.bet_id) is None else '-denied'}"

    def state(self, session: Session, _act: Act | None) -> CompensableRound:
        """Read the round. Raises: UnknownJackpot, UnknownRound."""
        round_ = self.find_round(session)
        with pipelined(session) as pipe:
            cursor = bet_records.send_of_round(pipe, round_.jackpot_id, self.round_name)
        booked = bet_records.booked_of(cursor)
        denied = exceptions.denied_in(session, table_id=self.table_id, round_id=self.round_id)
        before = manual_payments.compensations_of(session, round_)
        return CompensableRound(
            round_,
            sheet_of(session, round_),
            compensable(booked, denied),
            denied,
            awarded(corrections.past_awards(session, round_)),
            granted_before(before),
            len(before),
        )

    def require_possible(self, state: CompensableRound) -> None:
        """Raises: RoundNotCancelled, UnknownBet, BetAwarded, NoRate, BadPayload, NotGranted."""
        round_ = state.round
        if round_.state is not RoundState.CANCELLED and self.bet_id not in state.denied:
            message = (
                f"Round {round_.round_id} of table {round_.table_id} is {round_.state}, and no prize of bet "
                f"{self.bet_id} was denied."
            )
            raise RoundNotCancelled(message, table_id=self.table_id, round_id=self.round_id, state=str(round_.state))
        bet = state.bets.get(self.bet_id)
        if bet is None or self.player_id not in {None, bet.player_id}:
            player = "" if self.player_id is None else f" of player {self.player_id}"
            message = (
                f"Round {round_.round_id} of table {round_.table_id} has no bet {self.bet_id}{player} to compensate."
            )
            raise UnknownBet(message, table_id=self.table_id, round_id=self.round_id, bet_id=self.bet_id)
        if self.amount_minor > 0 and self.bet_id in state.awarded:
            message = f"Bet {self.bet_id} has an award in {self.subject}: nothing is granted on top of it."
            raise BetAwarded(message, table_id=self.table_id, round_id=self.round_id, bet_id=self.bet_id)
        self._cost(state)
        before = state.granted_minor.get((self.bet_id, self.currency), 0)
        if self.amount_minor < 0 and before + self.amount_minor < 0:
            message = (
                f"For bet {self.bet_id} {written(before, self.currency)} was granted, and no more can be taken back."
            )
            raise NotGranted(message, bet_id=self.bet_id, currency=self.currency, granted_minor=before)

    def decide(self, state: CompensableRound) -> Done:
        """Decide what is granted to the player of the bet. Raises: as `require_possible` and `granted`."""
        self.require_possible(state)
        return self.granted(state, player_id=state.bets[self.bet_id].player_id)

    def granted(self, state: CompensableRound, *, player_id: str) -> Done:
        """Figure what is granted to a player, at the round's own rates. Raises: NoRate, BadPayload."""
        recorded = {
            "round": held_awards.facts_of_round(state.round),
            "bet_id": self.bet_id,
            "player_id": player_id,
            "amount_minor": self.amount_minor,
            "currency": self.currency,
            "cost": plain(self._cost(state)),
            "document": self.document,
            "exception_id": state.open_exception_of(self.bet_id),
        }
        postings = posting_rules.for_compensation(
            self.amount_minor, self.currency, casino_id=state.round.casino_id, sheet=state.sheet
        )
        return Done(EntryKind.COMPENSATION, {"compensations": state.compensations}, recorded, postings)

    def write(self, session: Session, _act: Act, act_seq: int, state: CompensableRound, done: Done) -> None:
        """Write the compensation, and that it closes the exception of a denied prize."""
        new = Compensation(
            act_seq,
            self.bet_id,
            done.recorded["player_id"],
            self.amount_minor,
            self.currency,
            Decimal(done.recorded["cost"]),
            self.document,
        )
        manual_payments.add_compensation(session, state.round, new)
        if done.recorded["exception_id"] is not None:
            exceptions.acknowledge(session, done.recorded["exception_id"], entry_seq=act_seq)

    def _cost(self, state: CompensableRound) -> Decimal:
        cost = state.sheet.base_value(self.amount_minor, self.currency)
        if abs(cost) >= LARGEST_AMOUNT:
            message = f"is worth {plain(cost)} {state.sheet.base}: more than any compensation could be"
            raise bad_field("amount_minor", message)
        return cost


def compensable(booked: Iterable[BookedBet], denied: Collection[str]) -> dict[str, Bet]:
    """Find the bets of a round that can be compensated: those that are live, or were denied a prize."""
    return {
        booked_bet.bet.bet_id: booked_bet.bet
        for booked_bet in booked
        if not booked_bet.is_void or booked_bet.bet.bet_id in denied
    }


def awarded(awards: Iterable[PastAward]) -> frozenset[str]:
    """Find the bets of a round that have an award in force: neither rejected nor taken back."""
    ended = {AwardState.REJECTED, AwardState.REVERSED}
    return frozenset(past.award.bet.bet_id for past in awards if past.award.state not in ended)


def compensated(rows: Any) -> frozenset[str]:  # noqa: ANN401  as below
    """Find the bets that were granted more than was taken back, in any currency."""
    return frozenset(bet_id for (bet_id, _), amount_minor in granted_before(rows).items() if amount_minor > 0)


def granted_before(rows: Any) -> dict[tuple[str, str], int]:  # noqa: ANN401  compensations, or their rows
    """Sum minor units by bet and currency."""
    sums: dict[tuple[str, str], int] = {}
    for compensation in rows:
        sums[compensation.bet_id, compensation.currency] = (
            sums.get((compensation.bet_id, compensation.currency), 0) + compensation.amount_minor
        )
    return sums
