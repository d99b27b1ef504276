"""Correcting a settled round whose verdict was wrong: judged anew, paid for by further entries, nothing rewritten."""

from dataclasses import dataclass

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import correction_facts
from jackpot_service.domain.corrections import Correction, correct
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.lives import require_not_retired
from jackpot_service.domain.outcomes import Result, require_hands_of_one_deck
from jackpot_service.domain.past_verdicts import VerdictInForce, borne_by
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.ledger import books, replay, stripes
from jackpot_service.ledger.books import Books
from jackpot_service.records import bets as bet_records
from jackpot_service.records import corrections, lives, rounds, verdicts
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases import acts, reversals
from jackpot_service.usecases.acts import Act, Effect
from jackpot_service.usecases.settle_round import require_count


class RoundNotSettled(Conflict):
    """The round has no verdict: it is open, or it was cancelled."""

    code = "round-not-settled"
    title = "The round is not settled"


@dataclass(frozen=True, slots=True)
class CorrectRound:
    """Which round of which jackpot was settled wrongly, and its right result."""

    act: Act
    jackpot_id: str
    name: RoundName
    result: Result


@dataclass(frozen=True, slots=True)
class RoundCorrected:
    """The verdict that was in force, the one that is now, with its postings, and the entry that booked it."""

    before: Facts
    after: Facts
    effect: Effect


def lock_and_name(session: Session, jackpot_id: str, name: RoundName) -> str:
    """
    Name the state that a correction is made against, and keep it until the commit.

    It changes with every correction of the round, with every step of its awards, and with every hit: not with bets.

    Raises: UnknownRound, RoundNotSettled.
    """
    round_ = _settled(session, jackpot_id, name)
    cycle = _lock_and_read(session, jackpot_id).cycle.cycle
    return f"{corrections.count(session, round_)}.{corrections.count_steps(session, round_)}.{cycle}"


def correct_round(session: Session, command: CorrectRound) -> RoundCorrected:
    """
    Give a settled round another verdict, made from the right result under the round's own rules and rates.

    Locks the reference book, then all stripes of the jackpot. The round needs no lock: once it is settled, nothing but
    an act changes anything about it.

    Raises: UnknownRound, RoundNotSettled, JackpotRetired, BetCountMismatch, BadHands, CardRepeated, HandMissing,
    NothingToCorrect.
    """
    acts.lock(session)
    round_ = _settled(session, command.jackpot_id, command.name)
    held = _lock_and_read(session, command.jackpot_id)
    require_not_retired(command.jackpot_id, lives.life_of(session, command.jackpot_id, is_accepting=held.is_accepting))
    with pipelined(session) as pipe:
        booked_cursor = bet_records.send_of_round(pipe, command.jackpot_id, command.name)
        place_cursor = bet_records.send_places(pipe, round_)
    live = tuple(one for one in bet_records.booked_of(booked_cursor) if not one.is_void)
    require_count(command.result, live, name=command.name)
    require_hands_of_one_deck(command.result.hands, command.result.dealer)
    in_force = _in_force(session, round_, running=held.cycle.cycle)
    correction = correct(
        [one.bet for one in live],
        command.result,
        in_force,
        terms=reversals.terms(session, round_, held.cycle),
        pools=held.pools,
        won_since=reversals.won_since(live, held.cycle, bet_records.places_of(place_cursor)),
    )
    recorded = correction_facts.of_correction(
        correction, round_, command.result, cycle=held.cycle.cycle, positions=held.positions
    )
    before = correction_facts.of_verdict_in_force(in_force)
    return _book(session, command, round_, correction, before=before, recorded=recorded)


def _settled(session: Session, jackpot_id: str, name: RoundName) -> Round:
    round_ = rounds.require(session, jackpot_id, name)
    if round_.state is not RoundState.SETTLED:
        message = f"Round {name.round_id} of table {name.table_id} is {round_.state}: there is no verdict to correct."
        raise RoundNotSettled(message, table_id=name.table_id, round_id=name.round_id, state=round_.state.value)
    return round_


def _lock_and_read(session: Session, jackpot_id: str) -> Books:
    with pipelined(session) as pipe:
        stripes.lock_all(pipe, jackpot_id)
        cursor = books.send_read(pipe, jackpot_id)
    return books.books_of(cursor)


def _in_force(session: Session, round_: Round, *, running: int) -> VerdictInForce:
    with pipelined(session) as pipe:
        result_cursors = verdicts.send_result(pipe, round_)
        settlement_cursors = verdicts.send_settlement(pipe, round_)
    settlement, _ = verdicts.settlement_of(settlement_cursors)
    entries = replay.entries_of_rounds(session, round_.jackpot_id, after=round_.round_key - 1, upto=round_.round_key)
    settled = next(entry for entry in entries if entry.step == settlement.step)
    first = VerdictInForce(
        number=0,
        result=verdicts.result_of(result_cursors),
        meter=settlement.meter_before,
        awards=corrections.past_awards(session, round_),
        borne=borne_by(settled.lines),
        its_meter_runs=settlement.cycle_after == running,
    )
    return corrections.in_force(first, corrections.last(session, round_))


def _book(
    session: Session, command: CorrectRound, round_: Round, correction: Correction, *, before: Facts, recorded: Facts
) -> RoundCorrected:
    after = correction_facts.with_postings(recorded, correction.postings)
    act_seq, effect = acts.do(
        session,
        command.act,
        EntryKind.ROUND_CORRECTED,
        book=round_.jackpot_id,
        subject=f"round {round_.table_id}/{round_.round_id}",
        before=before,
        recorded=recorded,
        after=after,
        postings=correction.postings,
    )
    corrections.add(session, round_, correction, act_seq=act_seq, now=command.act.now)
    return RoundCorrected(before, after, effect)
