"""
A compensation: what the house gives, by a manual decision, to somebody who would have won in a cancelled round.

A negative one takes back what was given.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import award_facts, posting_rules
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.changes import ChangeKind
from jackpot_service.domain.errors import Conflict, NotFound
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import RateSheet, plain
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.domain.rules import LARGEST_AMOUNT
from jackpot_service.records import bets as bet_records
from jackpot_service.records import compensations
from jackpot_service.records.compensations import Compensation
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes import of_rounds
from jackpot_service.usecases.changes.kinds import Applied, Kind
from jackpot_service.usecases.changes.of_rounds import NamedRound
from jackpot_service.usecases.changes.payloads import Payload, flawed


class RoundNotCancelled(Conflict):
    """Only who would have won in a cancelled round is compensated."""

    code = "round-not-cancelled"
    title = "The round was not cancelled"


class UnknownBet(NotFound):
    """The round has no live bet of this id, or it is another player's."""

    code = "bet-unknown"
    title = "Unknown bet"


class NotGiven(Conflict):
    """No more is taken back than was given for the bet in that currency."""

    code = "compensation-not-given"
    title = "Amount exceeds what was granted"


@dataclass(frozen=True, slots=True)
class CompensationAsked:
    """
    What to give for which bet, in a currency of the round's own rate sheet, and the document that says why.

    A negative amount is taken back from what was given for the bet in that currency.
    """

    round: NamedRound
    bet_id: str
    player_id: str | None
    amount_minor: int
    currency: str
    document: str


def read(values: Mapping[str, Any]) -> CompensationAsked:
    """
    Read what to give; `player_id` may be left out.

    `{"jackpot_id", "table_id", "round_id", "bet_id", "player_id"?, "amount_minor", "currency", "document"}`

    Raises: BadPayload.
    """
    payload = Payload(values)
    change = CompensationAsked(
        round=of_rounds.read(payload),
        bet_id=payload.identifier("bet_id"),
        player_id=payload.identifier("player_id") if payload.has("player_id") else None,
        amount_minor=payload.minor("amount_minor"),
        currency=payload.currency("currency"),
        document=payload.text("document"),
    )
    payload.end()
    return change


def apply(session: Session, act: Act, change: CompensationAsked) -> Applied:
    """Book it. Raises: UnknownJackpot, UnknownRound, RoundNotCancelled, UnknownBet, NotGiven, NoRate, BadPayload."""
    round_ = of_rounds.find(session, change.round)
    if round_.state is not RoundState.CANCELLED:
        message = f"Round {round_.round_id} of table {round_.table_id} is {round_.state}: nothing is to be compensated."
        raise RoundNotCancelled(message, table_id=round_.table_id, round_id=round_.round_id, state=str(round_.state))
    player_id = _bet(session, round_, change).player_id
    sheet = of_rounds.sheet_of(session, round_)
    cost = _cost(change, sheet)
    given = compensations.of_round(session, round_)
    _require_given(change, given)
    recorded = award_facts.of_compensation(
        round_,
        bet_id=change.bet_id,
        player_id=player_id,
        amount_minor=change.amount_minor,
        currency=change.currency,
        cost=cost,
        document=change.document,
    )
    before = {"compensations": len(given)}
    act_seq, effect = acts.do(
        session,
        act,
        EntryKind.COMPENSATION,
        book=round_.jackpot_id,
        subject=change.round.subject.name,
        before=before,
        recorded=recorded,
        postings=posting_rules.for_compensation(
            change.amount_minor, change.currency, casino_id=round_.casino_id, sheet=sheet
        ),
    )
    new = Compensation(act_seq, change.bet_id, player_id, change.amount_minor, change.currency, cost, change.document)
    compensations.add(session, round_, new)
    return Applied(before, recorded, (effect,))


def _cost(change: CompensationAsked, sheet: RateSheet) -> Decimal:
    """Raises: NoRate, BadPayload."""
    cost = sheet.base_value(change.amount_minor, change.currency)
    if abs(cost) >= LARGEST_AMOUNT:
        raise flawed("amount_minor", f"is worth {plain(cost)} {sheet.base}: more than any compensation could be")
    return cost


def _require_given(change: CompensationAsked, given: Iterable[Compensation]) -> None:
    before = sum(one.amount_minor for one in given if (one.bet_id, one.currency) == (change.bet_id, change.currency))
    if change.amount_minor < 0 and before + change.amount_minor < 0:
        message = f"For bet {change.bet_id} {before} minor units of {change.currency} were given."
        raise NotGiven(message, bet_id=change.bet_id, currency=change.currency, given_minor=before)


def _bet(session: Session, round_: Round, change: CompensationAsked) -> Bet:
    with pipelined(session) as pipe:
        cursor = bet_records.send_of_round(pipe, round_.jackpot_id, RoundName(round_.table_id, round_.round_id))
    for bet in bet_records.live(bet_records.booked_of(cursor)):
        if bet.bet_id == change.bet_id and change.player_id in {None, bet.player_id}:
            return bet
    player = "" if change.player_id is None else f" of player {change.player_id}"
    message = f"Round {round_.round_id} of table {round_.table_id} has no live bet {change.bet_id}{player}."
    raise UnknownBet(message, table_id=round_.table_id, round_id=round_.round_id, bet_id=change.bet_id)


def version(session: Session, change: CompensationAsked) -> str:
    """Count the round's compensations: another that is given meanwhile should be looked at first."""
    return str(len(compensations.of_round(session, of_rounds.find(session, change.round))))


KIND = Kind(
    name=ChangeKind.COMPENSATION,
    read=read,
    subject=lambda change: change.round.subject,
    version=version,
    apply=apply,
    releases=lambda session, change: of_rounds.find(session, change.round),
)
