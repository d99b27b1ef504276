"""Settling a round by its result: judge the dealt cards, pay what they win, refund dead hands, refill what was won."""

from dataclasses import dataclass
from datetime import datetime

from jackpot_service.database.pipelines import Pipeline
from jackpot_service.database.transactions import Session, committed, pipelined
from jackpot_service.domain import facts, figures
from jackpot_service.domain.bets import Bet, BookedBet
from jackpot_service.domain.counting import counted
from jackpot_service.domain.entries import Entry, RoundStep
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.occurrence import require_not_ahead, require_not_before
from jackpot_service.domain.outcomes import Result, Verdict, judge, require_hands_of_one_deck
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rounds import Round, RoundState, RoundView
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.domain.settlement import Settlement, settle
from jackpot_service.ledger import books, cycles, journal, stripes
from jackpot_service.ledger.books import Books
from jackpot_service.ledger.cycles import Cycle
from jackpot_service.records import bets as bet_records
from jackpot_service.records import immutable, rounds, verdicts
from jackpot_service.records.rounds import RoundName
from jackpot_service.records.verdicts import BookedAward
from jackpot_service.usecases import denied_prizes, round_terms
from jackpot_service.usecases.denied_prizes import Ending
from jackpot_service.usecases.round_terms import RoundSeen, RoundTerms


class ResultConflict(Conflict, code="result-conflict", title="The round has another result"):
    """The round was settled before, by another result."""


class BetCountMismatch(Conflict, code="bet-count-mismatch", title="The number of bets differs"):
    """The table server and the ledger do not agree on the round's live bets; nothing is settled."""


class ClosingRequired(Conflict, code="closing-required", title="Betting has to be closed first"):
    """The rules take a result only after the round's betting was closed."""


@dataclass(frozen=True, slots=True)
class SettleRound:
    """A result, as a table server sent it at `now`."""

    principal: Principal
    table_id: str
    round_id: str
    result: Result
    now: datetime
    game_number: str | None = None


@dataclass(frozen=True, slots=True)
class RoundSettledNow:
    """
    The settled round, its awards and refunds; whether this call settled it or a call before.

    `settlement` is what its entry recorded: see `facts.facts_of_settlement`.
    """

    round: RoundView
    settlement: Facts
    awards: tuple[BookedAward, ...]
    refunds: tuple[Bet, ...]
    is_replay: bool


@dataclass(frozen=True, slots=True)
class _Locked:
    """The state that was read under the lock: the books, and where the round's entries stand."""

    books: Books
    places: dict[int, tuple[int, int]]


def settle_round(session: Session, command: SettleRound) -> RoundSettledNow:
    """
    Judge a round, pay its awards and refill what was won. Commits, with its last statements.

    Locks the round; then all stripes if the meter pays, otherwise one. Work that does not need the meter's amount is
    done before that.

    Raises: BadHands, CardRepeated, UnknownTable, NoJackpot, GameNumberConflict, ResultConflict, RoundCancelled,
    BetCountMismatch, ClosingRequired, OccurredAhead, DatedBeforeBet, HandMissing, NoRate.
    """
    table, jackpot_id = immutable.table_with_jackpot(session, command.principal, command.table_id)
    name = RoundName(table.table_id, command.round_id)
    seen = round_terms.lock_and_see(session, jackpot_id, name, now=command.now)
    round_, live = seen.round, seen.live
    if round_ is not None:
        round_.numbered(command.game_number)
    if round_ is not None and round_.state is RoundState.SETTLED:
        return _replay(session, round_, command.result, live)
    if round_ is not None:
        round_.require_not_ended()
        _require_closing(round_, immutable.rules(session, jackpot_id, round_.rules_version))
    require_count(command.result.bet_count, live, name=name)
    require_hands_of_one_deck(command.result.hands, command.result.dealer)
    require_not_ahead(command.result.occurred_at, now=command.now)
    require_not_before((booked_bet.bet for booked_bet in live), command.result.occurred_at)
    round_ = round_ or RoundTerms(table, seen.in_force).open_round(command.round_id, now=command.now)
    rules = immutable.rules(session, jackpot_id, round_.rules_version)
    verdict = judge((booked_bet.bet for booked_bet in live), command.result.hands, rules)
    return _book(session, command, round_, seen, verdict, stripe_no=stripes.choose(seen.in_force.stripes))


def require_count(bet_count: int, live: tuple[BookedBet, ...], *, name: RoundName) -> None:
    """Raises: BetCountMismatch."""
    if bet_count != len(live):
        held = counted(len(live), "live bet")
        message = f"The ledger holds {held} of this round; the table server counts {bet_count}."
        raise BetCountMismatch(
            message,
            table_id=name.table_id,
            round_id=name.round_id,
            bet_count=len(live),
            bet_ids=[booked_bet.bet.bet_id for booked_bet in live],
        )


def _require_closing(round_: Round, rules: JackpotRules) -> None:
    """
    A result closes its round by itself, unless the rules require that betting was closed before.

    A round that was never seen took no bet: there is nothing to close.
    """
    if rules.close_required and round_.state is not RoundState.CLOSED:
        message = f"Betting on round {round_.round_id} of table {round_.table_id} has to be closed before its result."
        raise ClosingRequired(message, table_id=round_.table_id, round_id=round_.round_id)


def _replay(session: Session, round_: Round, result: Result, live: tuple[BookedBet, ...]) -> RoundSettledNow:
    with pipelined(session) as pipe:
        ending_cursor = verdicts.send_ending(pipe, round_)
        awards_cursor = verdicts.send_awards(pipe, round_, correction=0)
    recorded = verdicts.ending_of(ending_cursor)
    booked = facts.result_of(recorded["result"])
    if booked.content != result.content:
        _refuse_other_result(round_, booked, result)
    with pipelined(session) as pipe:
        rounds.count_replays(pipe, [round_])
    settlement = recorded["settlement"]
    return RoundSettledNow(
        RoundView(round_, settlement["cycle"]),
        settlement,
        tuple(award.as_it_began() for award in verdicts.awards_of(awards_cursor)),
        tuple(booked_bet.bet for booked_bet in live if booked_bet.bet.bet_id in settlement["refunds"]),
        is_replay=True,
    )


def _refuse_other_result(round_: Round, booked: Result, sent: Result) -> None:
    pairs = zip(("bet_count", "hands", "dealer"), booked.content, sent.content, strict=True)
    differing = [name for name, before, after in pairs if before != after]
    message = f"Round {round_.round_id} was settled by another result, which differs in {' and '.join(differing)}."
    raise ResultConflict(message, table_id=round_.table_id, round_id=round_.round_id, differing=differing)


def _lock_and_read(session: Session, after: Round, *, stripe_no: int, locks_all: bool) -> _Locked:
    """
    Write the round as it will be, lock, then read in later statements, so that what is read cannot change.

    The round comes first: everybody locks rounds before stripes, and a round that is opened is locked by its insert.
    """
    with pipelined(session) as pipe:
        rounds.save(pipe, [after])
        if locks_all:
            stripes.lock_all(pipe, after.jackpot_id)
        else:
            stripes.lock_one(pipe, after.jackpot_id, stripe_no)
        books_cursor = books.send_read(pipe, after.jackpot_id)
        place_cursor = bet_records.send_places(pipe, after)
    return _Locked(books.books_of(books_cursor), bet_records.places_of(place_cursor))


def _book(
    session: Session,
    command: SettleRound,
    round_: Round,
    seen: RoundSeen,
    verdict: Verdict,
    *,
    stripe_no: int,
) -> RoundSettledNow:
    live = seen.live
    after = round_.numbered(command.game_number).stepped(state=RoundState.SETTLED)
    locked = _lock_and_read(session, after, stripe_no=stripe_no, locks_all=verdict.pays_from_meter)
    cycle, positions = locked.books.cycle, locked.books.positions
    terms, won_since = round_terms.terms(session, round_, cycle), round_terms.won_since(live, cycle, locked.places)
    settlement = settle(verdict, terms=terms, pools=locked.books.pools, won_since=won_since)
    cut = cycles.cut_after(positions, stripe_no=stripe_no) if verdict.is_hit else None
    bets = [booked_bet.bet for booked_bet in live]
    entry = Entry(
        book=round_.jackpot_id,
        kind=EntryKind.RESULT,
        principal=command.principal.name,
        received_at=command.now,
        facts={
            "result": facts.facts_of_result(command.result),
            "settlement": facts.facts_of_settlement(settlement, bets, cycle=cycle.cycle, positions=positions),
            **facts.facts_of_game_number(round_, after),
        },
        in_rows={
            "awards": facts.facts_of_awards(settlement.awards),
            **facts.facts_of_next_cycle(settlement, rules_version=cycle.following_version, cut=cut),
            **facts.facts_of_opening(after),
        },
        postings=settlement.postings,
        round_step=RoundStep.of(after),
        figures=figures.figures_of_settlement(settlement, bets, terms=terms, won_since=won_since),
    )
    denied_prizes.keep(
        session,
        Ending(round_, seen.booked, command.result.hands, command.principal, command.now, is_cancelled=False),
        terms=terms,
        pools=locked.books.pools,
        cycle=cycle,
        places=locked.places,
    )
    with committed(session) as pipe:
        verdicts.add_awards(pipe, after, settlement.awards, now=command.now)
        if cut is not None:
            _open_next(pipe, settlement, entry, cycle, cut, stripe_no=stripe_no)
        journal.post(pipe, entry, stripe_no=stripe_no, not_before=locked.books.booked_at)
        if cut is not None:
            stripes.level(pipe, entry.book, stripe_no=stripe_no)
    awards = verdicts.booked_awards(after, settlement.awards)
    return RoundSettledNow(
        RoundView(after, cycle.cycle), entry.facts["settlement"], awards, settlement.refunds, is_replay=False
    )


def _open_next(
    pipe: Pipeline, settlement: Settlement, entry: Entry, cycle: Cycle, cut: tuple[int, ...], *, stripe_no: int
) -> None:
    cycles.open_next(
        pipe,
        entry.book,
        cycle=settlement.cycle_after,
        rules_version=cycle.following_version,
        stripe_no=stripe_no,
        cut=cut,
    )
