"""Making bets of a round that has not ended void, known or not yet known."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain import facts, figures
from jackpot_service.domain.allocation import weight
from jackpot_service.domain.bets import BookedBet
from jackpot_service.domain.entries import Entry, RoundStep
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.exceptions import LATE_VOID
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.occurrence import require_not_ahead
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rounds import Round, RoundState, RoundView
from jackpot_service.domain.settlement import reverse
from jackpot_service.ledger import cycles, journal, stripes
from jackpot_service.records import bets as bet_records
from jackpot_service.records import closings, exceptions, immutable, rounds, settings_in_force
from jackpot_service.records.exceptions import ExceptionRecord
from jackpot_service.records.rounds import RoundName
from jackpot_service.usecases import round_terms
from jackpot_service.usecases.round_terms import RoundTerms


class ReasonRequired(Conflict, code="reason-required", title="A reason is required"):
    """A bet is to be made void after betting was closed, and nothing says why."""


@dataclass(frozen=True, slots=True)
class VoidBets:
    """The ids of bets to make void, as a table server sent them at `now`; after the closing with a reason."""

    principal: Principal
    table_id: str
    round_id: str
    bet_ids: tuple[str, ...]
    now: datetime
    occurred_at: datetime | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class BetsVoided:
    """Which ids were booked bets, now refunded, and which are tombstones; as it was when the last became void."""

    round: RoundView
    voided: tuple[str, ...]
    unknown: tuple[str, ...]


def void_bets(session: Session, command: VoidBets) -> BetsVoided:
    """
    Refund the bets at their original figures; leave a tombstone for each id that is not booked.

    Before betting is closed a disconnected player's bet is void; after it the bet stands. So a void after the closing
    states its reason, and is kept as an exception.

    A round that was never seen is opened by it, and its terms are fixed. Ids that are void already are a replay; the
    answer to a replay shows the round as it was then.

    Raises: UnknownTable, NoJackpot, RoundSettled, RoundCancelled, ReasonRequired, OccurredAhead, NoRate.
    """
    table, jackpot_id = immutable.table_with_jackpot(session, command.principal, command.table_id)
    name = RoundName(table.table_id, command.round_id)
    with pipelined(session) as pipe:
        settings_cursor = settings_in_force.send_read(pipe, jackpot_id, came=[command.now])
        round_cursor = rounds.send_lock(pipe, jackpot_id, [name])
        booked_cursor = bet_records.send_of_round(pipe, jackpot_id, name)
        tombstone_cursor = bet_records.send_tombstones(pipe, jackpot_id, [name])
    in_force = settings_in_force.in_force_of(settings_cursor, jackpot_id)
    round_ = rounds.round_of(round_cursor)
    # A round opened between these statements shows its bets only; opening it again then fails, and all is read again.
    seen = bet_records.booked_of(booked_cursor) if round_ is not None else ()
    booked = {booked_bet.bet.bet_id: booked_bet for booked_bet in seen}
    tombstones = bet_records.tombstones_of(tombstone_cursor).get(round_.round_key, {}) if round_ else {}
    voided = {bet_id for bet_id in command.bet_ids if bet_id in booked and not booked[bet_id].is_void}
    unknown = {bet_id for bet_id in command.bet_ids if bet_id not in booked and bet_id not in tombstones}
    if round_ is not None and not voided and not unknown:
        view = _replay(session, round_, command.bet_ids, booked=booked, tombstones=tombstones)
    else:
        round_ = round_ or RoundTerms(table, in_force).open_round(command.round_id, now=command.now)
        round_.require_not_ended()
        require_not_ahead(command.occurred_at, now=command.now)
        _require_reason(command, round_)
        refunded = [booked[bet_id] for bet_id in sorted(voided)]
        view = _book(session, command, round_, refunded, unknown, stripe_no=stripes.choose(in_force.stripes))
    return BetsVoided(
        round=view,
        voided=tuple(bet_id for bet_id in command.bet_ids if bet_id in booked),
        unknown=tuple(bet_id for bet_id in command.bet_ids if bet_id not in booked),
    )


def _replay(
    session: Session,
    round_: Round,
    bet_ids: Collection[str],
    *,
    booked: Mapping[str, BookedBet],
    tombstones: Mapping[str, int],
) -> RoundView:
    """Count the replay, and show the round as it was after the step that made the last of the ids void."""
    voided = {bet_id: booked_bet.void_step for bet_id, booked_bet in booked.items() if booked_bet.void_step is not None}
    void_steps = {**tombstones, **voided}
    step = max(void_steps[bet_id] for bet_id in bet_ids)
    with pipelined(session) as pipe:
        rounds.count_replays(pipe, [round_])
        place_cursor = bet_records.send_places(pipe, round_)
        closing_cursor = closings.send_find(pipe, round_)
    closing_step = closings.step_of(closing_cursor)
    stripe_no, seq = bet_records.places_of(place_cursor)[step]
    with pipelined(session) as pipe:
        cycle_cursor = cycles.send_at(pipe, round_.jackpot_id, stripe_no=stripe_no, seq=seq)
    cycle = cycles.at_of(cycle_cursor)
    live = [
        booked_bet.bet
        for booked_bet in booked.values()
        if booked_bet.step <= step and (booked_bet.void_step is None or booked_bet.void_step > step)
    ]
    rules = immutable.rules(session, round_.jackpot_id, round_.rules_version)
    sheet = immutable.sheet(session, rules.base, round_.rate_sheet)
    state = RoundState.CLOSED if closing_step is not None and closing_step < step else RoundState.OPEN
    then = round_._replace(state=state, steps=step, bet_count=len(live), weight=weight(live, sheet))
    return RoundView(then, cycle)


def _require_reason(command: VoidBets, round_: Round) -> None:
    if round_.state is RoundState.CLOSED and command.reason is None:
        message = f"Betting on round {round_.round_id} of table {round_.table_id} was closed: state why it is void."
        raise ReasonRequired(message, table_id=round_.table_id, round_id=round_.round_id)


def _book(
    session: Session,
    command: VoidBets,
    round_: Round,
    refunded: list[BookedBet],
    tombstones: set[str],
    *,
    stripe_no: int,
) -> RoundView:
    bets = [booked_bet.bet for booked_bet in refunded]
    rules = immutable.rules(session, round_.jackpot_id, round_.rules_version)
    sheet = immutable.sheet(session, rules.base, round_.rate_sheet)
    after = round_.stepped(bets=-len(bets), weight=-weight(bets, sheet))
    locked = round_terms.lock_and_read(session, after, stripe_no=stripe_no)
    terms = round_terms.terms(session, round_, locked.cycle)
    won_since = round_terms.won_since(refunded, locked.cycle, locked.places)
    voided = {bet.bet_id for bet in bets}
    entry = Entry(
        book=round_.jackpot_id,
        kind=EntryKind.VOIDS,
        principal=command.principal.name,
        received_at=command.now,
        facts=facts.facts_of_voids(voided, tombstones, occurred_at=command.occurred_at, reason=command.reason),
        in_rows=facts.facts_of_opening(after),
        postings=reverse(bets, terms=terms, won_since=won_since),
        round_step=RoundStep.of(after),
        figures=figures.figures_of_refunds(bets, terms=terms, won_since=won_since),
    )
    if round_.state is RoundState.CLOSED:
        _keep(session, command, entry.facts)
    with pipelined(session) as pipe:
        bet_records.add_voids(pipe, after, voided=voided, tombstones=tombstones)
        journal.post(pipe, entry, stripe_no=stripe_no, not_before=locked.booked_at)
    return RoundView(after, locked.cycle.cycle)


def _keep(session: Session, command: VoidBets, voids: Facts) -> None:
    """Keep a void after the closing as an exception, in the transaction that books it, once its locks are held."""
    request = facts.facts_of_late_voids(voids)
    record = ExceptionRecord(
        kind=LATE_VOID,
        table_id=command.table_id,
        round_id=command.round_id,
        principal=command.principal.name,
        noticed_at=command.now,
        content=["voids", request["bet_ids"]],
        request=request,
        detail=f"Void after betting was closed: {command.reason}",
    )
    exceptions.keep(session, [record])
