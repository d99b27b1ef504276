"""
A compensation: what the house grants, by a manual decision, to somebody who would have won in a cancelled round.

A negative one takes back what was granted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import held_awards, posting_rules
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.errors import Conflict, NotFound
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import RateSheet, plain
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.domain.rules import LARGEST_AMOUNT
from jackpot_service.records import bets as bet_records
from jackpot_service.records import compensations
from jackpot_service.records.compensations import Compensation
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes import kinds
from jackpot_service.usecases.changes.jackpots import book
from jackpot_service.usecases.changes.kinds import Applied, Done, OfRound, OfRoundPayload, RoundKind
from jackpot_service.usecases.fields import CurrencyCode, Identifier, MinorUnits, Text
from jackpot_service.usecases.payloads import bad_field


class RoundNotCancelled(Conflict):
    """Only who would have won in a cancelled round is compensated."""

    code = "round-not-cancelled"
    title = "The round was not cancelled"


class UnknownBet(NotFound):
    """The round has no live bet of this id, or it is another player's."""

    code = "bet-unknown"
    title = "Unknown bet"


class NotGranted(Conflict):
    """No more is taken back than was granted for the bet in that currency."""

    code = "compensation-not-given"
    title = "Amount exceeds what was granted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compensate(OfRound):
    """
    What to grant for which bet, in a currency of the round's own rate sheet, and the document that says why.

    A negative amount is taken back from what was granted for the bet in that currency.
    """

    bet_id: str
    player_id: str | None = None
    amount_minor: int
    currency: str
    document: str


class CompensationPayload(OfRoundPayload):
    """The house grants something to a bettor of a cancelled round."""

    makes = Compensate

    bet_id = Identifier(required=True)
    player_id = Identifier(metadata={"description": "If stated, it has to be that of the bet."})
    amount_minor = MinorUnits(required=True, metadata={"description": "Negative: taken back."})
    currency = CurrencyCode(required=True)
    document = Text(required=True)


@dataclass(frozen=True, slots=True)
class CancelledRound:
    """A round with its rates, its live bets, and what was granted before, by bet and currency."""

    round: Round
    sheet: RateSheet
    live: Mapping[str, Bet]
    granted_minor: Mapping[tuple[str, str], int]
    compensations: int


def require_possible(state: CancelledRound, request: Compensate) -> None:
    """Raises: RoundNotCancelled, UnknownBet, NoRate, BadPayload, NotGranted."""
    round_ = state.round
    if state.round.state is not RoundState.CANCELLED:
        message = f"Round {round_.round_id} of table {round_.table_id} is {round_.state}: nothing is to be compensated."
        raise RoundNotCancelled(message, table_id=round_.table_id, round_id=round_.round_id, state=str(round_.state))
    bet = state.live.get(request.bet_id)
    if bet is None or request.player_id not in {None, bet.player_id}:
        player = "" if request.player_id is None else f" of player {request.player_id}"
        message = f"Round {round_.round_id} of table {round_.table_id} has no live bet {request.bet_id}{player}."
        raise UnknownBet(message, table_id=round_.table_id, round_id=round_.round_id, bet_id=request.bet_id)
    _cost(state, request)
    before = state.granted_minor.get((request.bet_id, request.currency), 0)
    if request.amount_minor < 0 and before + request.amount_minor < 0:
        message = f"For bet {request.bet_id} {before} minor units of {request.currency} were granted."
        raise NotGranted(message, bet_id=request.bet_id, currency=request.currency, given_minor=before)


def granted(state: CancelledRound, request: Compensate, *, player_id: str) -> Done:
    """Figure what is granted to a player, at the round's own rates. Raises: NoRate, BadPayload."""
    recorded = {
        "round": held_awards.of_round(state.round),
        "bet_id": request.bet_id,
        "player_id": player_id,
        "amount_minor": request.amount_minor,
        "currency": request.currency,
        "cost": plain(_cost(state, request)),
        "document": request.document,
    }
    postings = posting_rules.for_compensation(
        request.amount_minor, request.currency, casino_id=state.round.casino_id, sheet=state.sheet
    )
    return Done(EntryKind.COMPENSATION, {"compensations": state.compensations}, recorded, postings)


def _cost(state: CancelledRound, request: Compensate) -> Decimal:
    cost = state.sheet.base_value(request.amount_minor, request.currency)
    if abs(cost) >= LARGEST_AMOUNT:
        raise bad_field(
            "amount_minor", f"is worth {plain(cost)} {state.sheet.base}: more than any compensation could be"
        )
    return cost


def decide(state: CancelledRound, request: Compensate) -> Done:
    """Decide what is granted to the player of the bet. Raises: as `require_possible` and `granted`."""
    require_possible(state, request)
    return granted(state, request, player_id=state.live[request.bet_id].player_id)


class CompensationKind(RoundKind[Compensate]):
    """Compensate a bettor of a cancelled round."""

    name = "compensation"
    payload = CompensationPayload
    acts = {EntryKind.COMPENSATION: "jackpot.round.compensated"}  # noqa: RUF012  declared in `Kind`
    needs_unretired = False

    def version(self, session: Session, request: Compensate) -> str:
        """Count the round's compensations: another that is granted meanwhile should be looked at first."""
        return str(len(compensations.of_round(session, kinds.find_round(session, request))))

    def stated(self, payload: object) -> Mapping[str, Any]:
        """Return all that is asked for."""
        request = self.read(payload)
        player = {} if request.player_id is None else {"player_id": request.player_id}
        names = ("bet_id", "amount_minor", "currency", "document")
        return request.stated | player | {name: getattr(request, name) for name in names}

    def apply(self, session: Session, act: Act, request: Compensate) -> Applied:
        """Book it. Raises: UnknownJackpot, UnknownRound, and as `decide`."""
        round_ = kinds.find_round(session, request)
        done = decide(_read(session, round_, request), request)
        act_seq, applied = book(session, act, done, jackpot_id=round_.jackpot_id, subject=request.subject.name)
        new = Compensation(
            act_seq,
            request.bet_id,
            done.recorded["player_id"],
            request.amount_minor,
            request.currency,
            Decimal(done.recorded["cost"]),
            request.document,
        )
        compensations.add(session, round_, new)
        return applied


def _read(session: Session, round_: Round, request: Compensate) -> CancelledRound:
    with pipelined(session) as pipe:
        cursor = bet_records.send_of_round(pipe, round_.jackpot_id, request.name)
    live = {bet.bet_id: bet for bet in bet_records.live(bet_records.booked_of(cursor))}
    sheet, before = kinds.sheet_of(session, round_), compensations.of_round(session, round_)
    return CancelledRound(round_, sheet, live, granted_before(before), len(before))


def granted_before(rows: Any) -> dict[tuple[str, str], int]:  # noqa: ANN401  compensations, or their rows
    """Sum minor units by bet and currency."""
    found: dict[tuple[str, str], int] = {}
    for one in rows:
        found[one.bet_id, one.currency] = found.get((one.bet_id, one.currency), 0) + one.amount_minor
    return found
