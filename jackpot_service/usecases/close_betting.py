"""Closing a round's betting: no bet is taken after it, and a void needs a reason."""

from dataclasses import dataclass
from datetime import datetime

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import facts
from jackpot_service.domain.counting import counted
from jackpot_service.domain.entries import Entry, RoundStep
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.occurrence import require_not_ahead, require_not_before
from jackpot_service.domain.outcomes import Closing
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rounds import Round, RoundState, RoundView
from jackpot_service.ledger import books, journal, stripes
from jackpot_service.records import closings, immutable, rounds, verdicts
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases import round_terms
from jackpot_service.usecases.settle_round import require_count


class ClosingConflict(Conflict, code="closing-conflict", title="The round was closed with another count"):
    """Betting was closed before, with another number of bets."""


@dataclass(frozen=True, slots=True)
class CloseBetting:
    """A closing, as a table server sent it at `now`."""

    principal: Principal
    table_id: str
    round_id: str
    closing: Closing
    now: datetime


@dataclass(frozen=True, slots=True)
class BettingClosedNow:
    """The round after its closing; whether this call closed it or a call before."""

    round: RoundView
    is_replay: bool


def close_betting(session: Session, command: CloseBetting) -> BettingClosedNow:
    """
    Close a round's betting, if table server and ledger agree on the number of its live bets.

    A round that was never seen is not opened by it: with no bet there is nothing to close.

    Raises: UnknownTable, NoJackpot, UnknownRound, RoundSettled, RoundCancelled, ClosingConflict, BetCountMismatch,
    OccurredAhead, DatedBeforeBet.
    """
    table, jackpot_id = immutable.table_with_jackpot(session, command.principal, command.table_id)
    name = RoundName(table.table_id, command.round_id)
    seen = round_terms.lock_and_see(session, jackpot_id, name, now=command.now)
    if seen.round is not None and seen.round.state is not RoundState.OPEN:
        return _replay(session, seen.round, command.closing)
    require_count(command.closing.bet_count, seen.live, name=name)
    if seen.round is None:
        raise rounds.unknown(name)
    require_not_ahead(command.closing.occurred_at, now=command.now)
    require_not_before((booked_bet.bet for booked_bet in seen.live), command.closing.occurred_at)
    return _book(session, command, seen.round, stripe_no=stripes.choose(seen.in_force.stripes))


def _replay(session: Session, round_: Round, closing: Closing) -> BettingClosedNow:
    """Answer for a round that is closed, or has ended since: with the round as it is now."""
    with pipelined(session) as pipe:
        closing_cursor = closings.send_find(pipe, round_)
    booked = closings.closing_of(closing_cursor)
    if booked is None:
        round_.require_not_ended()
        message = f"Round {round_.round_id} of table {round_.table_id} is closed, and no entry closed it."
        raise LookupError(message)
    if booked.bet_count != closing.bet_count:
        message = f"Round {round_.round_id} was closed with {counted(booked.bet_count, 'live bet')}."
        raise ClosingConflict(message, table_id=round_.table_id, round_id=round_.round_id, bet_count=booked.bet_count)
    with pipelined(session) as pipe:
        rounds.count_replays(pipe, [round_])
        books_cursor = books.send_read(pipe, round_.jackpot_id)
        cycle_cursor = verdicts.send_ending_cycles(pipe, [round_])
    running = books.books_of(books_cursor).cycle.cycle
    ended_in = verdicts.ending_cycles_of(cycle_cursor)
    return BettingClosedNow(RoundView(round_, ended_in.get(round_.round_key, running)), is_replay=True)


def _book(session: Session, command: CloseBetting, round_: Round, *, stripe_no: int) -> BettingClosedNow:
    after = round_.stepped(state=RoundState.CLOSED)
    locked = round_terms.lock_and_read(session, after, stripe_no=stripe_no)
    entry = Entry(
        book=round_.jackpot_id,
        kind=EntryKind.CLOSING,
        principal=command.principal.name,
        received_at=command.now,
        facts=facts.facts_of_closing(command.closing),
        round_step=RoundStep.of(after),
    )
    with pipelined(session) as pipe:
        journal.post(pipe, entry, stripe_no=stripe_no, not_before=locked.booked_at)
    return BettingClosedNow(RoundView(after, locked.cycle.cycle), is_replay=False)
