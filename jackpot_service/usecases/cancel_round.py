"""Cancelling a round: every live bet is refunded, and the round takes nothing more."""

from dataclasses import dataclass
from datetime import datetime

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import facts, figures
from jackpot_service.domain.bets import Bet, BookedBet
from jackpot_service.domain.entries import Entry, RoundStep
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.occurrence import require_not_ahead
from jackpot_service.domain.outcomes import Cancellation, require_hands_of_one_deck
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rounds import Round, RoundState, RoundView
from jackpot_service.domain.settlement import reverse
from jackpot_service.ledger import journal, stripes
from jackpot_service.records import immutable, rounds, verdicts
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases import denied_prizes, round_terms
from jackpot_service.usecases.denied_prizes import Ending
from jackpot_service.usecases.round_terms import RoundSeen, RoundTerms


class CancellationConflict(Conflict, code="cancellation-conflict", title="The round has another cancellation"):
    """The round was cancelled before, with another content."""


@dataclass(frozen=True, slots=True)
class CancelRound:
    """A cancellation, as a table server sent it at `now`."""

    principal: Principal
    table_id: str
    round_id: str
    cancellation: Cancellation
    now: datetime


@dataclass(frozen=True, slots=True)
class RoundCancelledNow:
    """The cancelled round and its refunds, in the order of bet ids; whether this call did it or a call before."""

    round: RoundView
    refunds: tuple[Bet, ...]
    is_replay: bool


def cancel_round(session: Session, command: CancelRound) -> RoundCancelledNow:
    """
    Refund all live bets of a round at their original figures, and end it.

    A round that was never seen is opened, its terms are fixed, and it is ended.

    Raises: UnknownTable, NoJackpot, RoundSettled, CancellationConflict, OccurredAhead, NoRate.
    """
    table, jackpot_id = immutable.table_with_jackpot(session, command.principal, command.table_id)
    name = RoundName(table.table_id, command.round_id)
    seen = round_terms.lock_and_see(session, jackpot_id, name, now=command.now)
    round_, live = seen.round, seen.live
    if round_ is not None and round_.state is RoundState.CANCELLED:
        return _replay(session, round_, command.cancellation, live)
    round_ = round_ or RoundTerms(table, seen.in_force).open_round(command.round_id, now=command.now)
    round_.require_not_ended()
    require_hands_of_one_deck(command.cancellation.hands)
    require_not_ahead(command.cancellation.occurred_at, now=command.now)
    return _book(session, command, round_, seen, stripe_no=stripes.choose(seen.in_force.stripes))


def _replay(
    session: Session, round_: Round, cancellation: Cancellation, live: tuple[BookedBet, ...]
) -> RoundCancelledNow:
    with pipelined(session) as pipe:
        cursor = verdicts.send_ending(pipe, round_)
    recorded = verdicts.ending_of(cursor)
    booked = facts.cancellation_of(recorded)
    if booked.content != cancellation.content:
        message = f"Round {round_.round_id} was cancelled before, with reason {booked.reason!r}."
        raise CancellationConflict(message, table_id=round_.table_id, round_id=round_.round_id)
    with pipelined(session) as pipe:
        rounds.count_replays(pipe, [round_])
    return RoundCancelledNow(
        RoundView(round_, recorded["cycle"]), tuple(booked_bet.bet for booked_bet in live), is_replay=True
    )


def _book(
    session: Session, command: CancelRound, round_: Round, seen: RoundSeen, *, stripe_no: int
) -> RoundCancelledNow:
    live = seen.live
    after = round_.stepped(state=RoundState.CANCELLED)
    locked = round_terms.lock_and_read(session, after, stripe_no=stripe_no)
    cycle, terms = locked.cycle, round_terms.terms(session, round_, locked.cycle)
    bets = tuple(booked_bet.bet for booked_bet in live)
    won_since = round_terms.won_since(live, cycle, locked.places)
    cancellation = command.cancellation
    entry = Entry(
        book=round_.jackpot_id,
        kind=EntryKind.CANCELLATION,
        principal=command.principal.name,
        received_at=command.now,
        facts=facts.facts_of_cancellation(cancellation, cycle=cycle.cycle),
        in_rows=facts.facts_of_opening(after),
        postings=reverse(bets, terms=terms, won_since=won_since),
        round_step=RoundStep.of(after),
        figures=figures.figures_of_refunds(bets, terms=terms, won_since=won_since),
    )
    denied_prizes.keep(
        session,
        Ending(round_, seen.booked, cancellation.hands, command.principal, command.now, is_cancelled=True),
        terms=terms,
        pools=locked.pools,
        cycle=cycle,
        places=locked.places,
    )
    with pipelined(session) as pipe:
        journal.post(pipe, entry, stripe_no=stripe_no, not_before=locked.booked_at)
    return RoundCancelledNow(RoundView(after, cycle.cycle), bets, is_replay=False)
