"""
Accepting batches of jackpot bets: all of a batch, or nothing.

Batches of several rounds can be booked in one transaction (`accept_group`): they share its round trips and its commit,
and nothing else. A batch that is refused harms no other.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from jackpot_service.database.pipelines import Cursor, Pipeline
from jackpot_service.database.transactions import Session, committed, committed_nothing
from jackpot_service.domain import batches, facts
from jackpot_service.domain.accounts import Meter
from jackpot_service.domain.batches import BatchTerms, require_acceptable
from jackpot_service.domain.bets import Bets, SortedBatch, require_distinct, sort_out
from jackpot_service.domain.contributions import sum_stakes
from jackpot_service.domain.entries import Entry, RoundStep
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import NoRate, Rate, RateSheet
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rounds import Round, RoundState, RoundView, share_per_unit
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.ledger import books, journal, stripes
from jackpot_service.records import bets as bet_records
from jackpot_service.records import immutable, rounds, settings_in_force, verdicts
from jackpot_service.records.immutable import Table
from jackpot_service.records.lives import meter_of
from jackpot_service.records.rounds import RoundName
from jackpot_service.records.settings_in_force import InForce, NotAsExpected, OptimisticSettings
from jackpot_service.usecases import batch_rounds
from jackpot_service.usecases.batch_rounds import BatchSeen
from jackpot_service.usecases.round_terms import RoundTerms


class AcceptBets(NamedTuple):
    """A batch of bets, as a table server sent it at `now`."""

    principal: Principal
    table_id: str
    round_id: str
    bets: Bets
    now: datetime
    game_number: str | None = None

    @property
    def name(self) -> RoundName:
        """The caller's ids of the round."""
        return RoundName(self.table_id, self.round_id)


class BetsAccepted(NamedTuple):
    """
    How many of the batch were booked and how many had been before; which of its bets are void.

    `share_per_unit` is M / W for display; None where the round is over or its rules do not share.
    """

    round: RoundView
    accepted: int
    replayed: int
    void: tuple[str, ...]
    meter: Meter
    base_rate: Rate
    share_per_unit: Decimal | None


class _Decision(NamedTuple):
    """The decision on a batch: the round after it; its new bets as they are written, and its entry, if it has any."""

    batch: SortedBatch
    round: Round
    rules: JackpotRules
    sheet: RateSheet
    columns: Mapping[str, str] | None = None
    entry: Entry | None = None


def accept_group(
    session: Session,
    commands: Sequence[AcceptBets],
    optimistic_settings: OptimisticSettings | None = None,
    *,
    may_expect: bool = True,
) -> tuple[BetsAccepted | LedgerError, ...]:
    """
    Accept batches of one jackpot, each of another round, in one transaction; it commits with its last statements.

    The settings in force are asked for first, unless they may be, and are, expected to be as they were. Then they are
    required, before the statements that write and together with them.

    The outcomes are in the order of the commands: an answer, or the error that a batch is refused by. Errors are
    UnknownTable, NoJackpot, DuplicateBet, BetConflict, GameNumberConflict, RoundSettled, RoundCancelled, BettingClosed,
    OccurredAhead, UnknownCurrency, NoRate, CurrencyNotAccepted, StakeOutOfRange, HandLimit.

    Locks the rounds that are known, in the order of table and round id. One that is not is opened: its unique key stops
    others that open it too, and the loser tries again. The entries stand one after another on one stripe, in the last
    statement that writes. A replay is counted on its round.

    Raises: JackpotSuspended; NotAsExpected, and nothing was written: ask instead; ValueError for batches of several
    jackpots, or two of one round.
    """
    tables, refusals = _tables(session, commands)
    if not tables:
        return tuple(refusals.values())
    jackpot_id = _require_one_jackpot(tables.values())
    _require_rounds_once(commands)
    by_place = {place: commands[place] for place in tables}
    expected = (
        None if optimistic_settings is None or not may_expect else optimistic_settings.of(jackpot_id, len(by_place))
    )
    if optimistic_settings is not None and expected is not None:
        return _in_order(_book_as_expected(session, by_place, tables, optimistic_settings, expected), refusals)
    in_force, seen = _read(session, jackpot_id, list(by_place.values()))
    if optimistic_settings is not None:
        optimistic_settings.note(in_force)
    decisions, refused = _decide(session, by_place, tables, in_force, seen)
    for number, (place, command) in enumerate(by_place.items()):
        if place in refused:
            terms = RoundTerms(tables[place], in_force, number)
            with suppress(NoRate):  # Without a sheet no round is opened, and nothing more is found.
                batches.with_all(refused[place], tuple(_batch_refusals(session, command, terms, seen)))
    answers = _book(session, in_force, decisions) if decisions else {}
    return _in_order(answers, {**refusals, **refused})


def refusals_of(session: Session, command: AcceptBets) -> tuple[LedgerError, ...]:
    """
    Find everything that would refuse a batch for its bets; nothing is written. Locks the round, if it is known.

    Raises: UnknownTable, NoJackpot; NoRate if no rate sheet of the jackpot's base currency is in force.
    """
    table, jackpot_id = immutable.table_with_jackpot(session, command.principal, command.table_id)
    in_force, seen = _read(session, jackpot_id, [command])
    return tuple(_batch_refusals(session, command, RoundTerms(table, in_force), seen))


def _batch_refusals(
    session: Session, command: AcceptBets, terms: RoundTerms, seen: Mapping[RoundName, BatchSeen]
) -> Iterator[LedgerError]:
    """Find what refuses a batch for its bets. Raises: as `refusals_of`."""
    known = seen.get(command.name, BatchSeen())
    round_ = known.round or terms.open_round(command.round_id, now=command.now)
    batch_terms = _terms_of(session, round_, terms, command) if round_.state is RoundState.OPEN else None
    in_force = terms.in_force
    return batches.refusals(
        command.bets,
        known.booked,
        known.tombstones,
        batch_terms,
        opens_round=known.round is None,
        suspension=None if in_force.is_accepting else journal.suspended(in_force.jackpot_id),
    )


def _terms_of(session: Session, round_: Round, terms: RoundTerms, command: AcceptBets) -> BatchTerms:
    """Put together what the bets of a batch have to keep in their round."""
    rules = immutable.rules(session, round_.jackpot_id, round_.rules_version)
    return BatchTerms(
        rules=rules,
        sheet=immutable.sheet(session, rules.base, round_.rate_sheet),
        limits=immutable.limits(session, round_.jackpot_id, terms.in_force.limits_version).get(round_.table_id),
        now=command.now,
    )


def _in_order(
    answers: Mapping[int, BetsAccepted], refusals: Mapping[int, LedgerError]
) -> tuple[BetsAccepted | LedgerError, ...]:
    return tuple(
        answers[place] if place in answers else refusals[place] for place in range(len(answers) + len(refusals))
    )


def _tables(session: Session, commands: Sequence[AcceptBets]) -> tuple[dict[int, Table], dict[int, LedgerError]]:
    """Find each batch's table, by the batch's place; or what refuses it before anything of its round is read."""
    tables: dict[int, Table] = {}
    refusals: dict[int, LedgerError] = {}
    for place, command in enumerate(commands):
        try:
            tables[place], _ = immutable.table_with_jackpot(session, command.principal, command.table_id)
        except LedgerError as refusal:
            refusals[place] = _without_traceback(refusal)
    return tables, refusals


def _without_traceback(refusal: LedgerError) -> LedgerError:
    """Take an error's traceback away: it holds the frame that is about to hold the error, a cycle."""
    return refusal.with_traceback(None)


def _require_one_jackpot(tables: Iterable[Table]) -> str:
    jackpots = {table.jackpot_id for table in tables}
    jackpot_id = jackpots.pop()
    if jackpots or jackpot_id is None:
        message = "A transaction touches one jackpot."
        raise ValueError(message)
    return jackpot_id


def _require_rounds_once(commands: Sequence[AcceptBets]) -> None:
    if len({command.name for command in commands}) < len(commands):
        message = "A group holds one batch of a round: the second would not see the first."
        raise ValueError(message)


def _read(
    session: Session, jackpot_id: str, commands: Sequence[AcceptBets]
) -> tuple[InForce, Mapping[RoundName, BatchSeen]]:
    return batch_rounds.read(
        session, jackpot_id, _names(commands), [command.bets for command in commands], came=_came(commands)
    )


def _came(commands: Iterable[AcceptBets]) -> list[datetime]:
    return [command.now for command in commands]


def _names(commands: Iterable[AcceptBets]) -> list[RoundName]:
    return [command.name for command in commands]


def _decide(
    session: Session,
    by_place: Mapping[int, AcceptBets],
    tables: Mapping[int, Table],
    in_force: InForce,
    seen: Mapping[RoundName, BatchSeen],
) -> tuple[dict[int, _Decision], dict[int, LedgerError]]:
    """Decide each batch by itself: what becomes of it, or what refuses it, by their places."""
    decisions: dict[int, _Decision] = {}
    refusals: dict[int, LedgerError] = {}
    for number, (place, command) in enumerate(by_place.items()):
        try:
            terms = RoundTerms(tables[place], in_force, number)
            decisions[place] = _decision(session, command, terms, seen.get(command.name, BatchSeen()))
        except LedgerError as refusal:
            refusals[place] = _without_traceback(refusal)
    return decisions, refusals


def _decision(session: Session, command: AcceptBets, terms: RoundTerms, seen: BatchSeen) -> _Decision:
    """The ladder of a batch: identity, the round's state, meaning."""
    require_distinct(command.bets)
    batch = sort_out(command.bets, seen.booked, seen.tombstones)
    round_ = seen.round or terms.open_round(command.round_id, now=command.now)
    batch_terms = _terms_of(session, round_, terms, command)
    numbered = round_.numbered(command.game_number)
    if batch.new is None:
        return _Decision(batch, round_, batch_terms.rules, batch_terms.sheet)
    round_.require_open()
    require_acceptable(batch.new, seen.booked, batch_terms)
    stakes = sum_stakes(zip(batch.new.currencies, batch.new.stakes_minor, strict=True))
    contributed = immutable.contributions(session).of(stakes, round_, rules=batch_terms.rules, sheet=batch_terms.sheet)
    after = numbered.stepped(bets=len(batch.new), weight=contributed.contribution.value)
    columns = facts.facts_of_bets(batch.new)
    entry = Entry(
        book=round_.jackpot_id,
        kind=EntryKind.BETS,
        principal=command.principal.name,
        received_at=command.now,
        facts={**facts.facts_of_game_number(round_, after), **facts.facts_of_limits(batch_terms.limits)},
        in_rows={"bets": columns, **facts.facts_of_opening(after)},
        postings=contributed.postings,
        round_step=RoundStep.of(after),
        figures=contributed.figures,
    )
    return _Decision(batch, after, batch_terms.rules, batch_terms.sheet, columns, entry)


def _book_as_expected(
    session: Session,
    by_place: Mapping[int, AcceptBets],
    tables: Mapping[int, Table],
    optimistic_settings: OptimisticSettings,
    expected: InForce,
) -> dict[int, BetsAccepted]:
    """
    Require that all is as expected, decide while the database looks, and book.

    Raises: NotAsExpected, also if a batch is refused: nobody is by what is only expected.
    """
    _keep_at_hand(session, expected)
    with committed(session) as pipe:
        guess = settings_in_force.send_required(
            pipe, expected, came=_came(by_place.values()), names=_names(by_place.values())
        )
        decisions, refused = _decide(session, by_place, tables, expected, {})
        if refused:
            raise NotAsExpected
        sent = _send(pipe, expected, decisions)
    with committed_nothing(session):
        optimistic_settings.require_right(expected, guess)
    return _answers(session, expected, decisions, sent)


def _keep_at_hand(session: Session, expected: InForce) -> None:
    """Read rules and sheets, if the connection does not know them yet: nothing can be while a pipeline is open."""
    rules = immutable.rules(session, expected.jackpot_id, expected.rules_version)
    immutable.limits(session, expected.jackpot_id, expected.limits_version)
    for place in range(len(expected.rate_sheets)):
        immutable.sheet(session, rules.base, expected.require_sheet(place))


def _book(session: Session, in_force: InForce, decisions: Mapping[int, _Decision]) -> dict[int, BetsAccepted]:
    """Write what was decided, commit, and answer. Raises: JackpotSuspended."""
    if not in_force.is_accepting and any(decision.entry for decision in decisions.values()):
        raise journal.suspended(in_force.jackpot_id)
    with committed(session) as pipe:
        sent = _send(pipe, in_force, decisions)
    return _answers(session, in_force, decisions, sent)


class _Asked(NamedTuple):
    """The questions that are sent with the writes: the books, and in which cycle the rounds of replays ended."""

    books: Cursor
    cycles: Cursor | None


def _send(pipe: Pipeline, in_force: InForce, decisions: Mapping[int, _Decision]) -> _Asked:
    replays = [decision.round for decision in decisions.values() if decision.entry is None]
    rounds.count_replays(pipe, replays)
    _write(pipe, [decision for decision in decisions.values() if decision.entry], in_force)
    return _Asked(books.send_read(pipe, in_force.jackpot_id), verdicts.send_ending_cycles(pipe, replays))


def _answers(
    session: Session, in_force: InForce, decisions: Mapping[int, _Decision], sent: _Asked
) -> dict[int, BetsAccepted]:
    """Answer with the meter as the books showed it after what was written."""
    meter = meter_of(session, in_force.jackpot_id, books.books_of(sent.books))
    ended_in = verdicts.ending_cycles_of(sent.cycles)
    return {place: _accepted(decision, meter, ended_in) for place, decision in decisions.items()}


def _write(pipe: Pipeline, decisions: Sequence[_Decision], in_force: InForce) -> None:
    if not decisions:
        return
    rounds.save(pipe, [decision.round for decision in decisions])
    bet_records.add(pipe, [(decision.round, decision.columns) for decision in decisions if decision.columns])
    entries = [decision.entry for decision in decisions if decision.entry]
    stripe_no = stripes.choose(in_force.stripes)
    journal.post_all(pipe, entries, stripe_no=stripe_no, limits_version=in_force.limits_version)


def _accepted(decision: _Decision, meter: Meter, ended_in: Mapping[int, int]) -> BetsAccepted:
    round_ = decision.round
    return BetsAccepted(
        round=RoundView(round_, ended_in.get(round_.round_key, meter.cycle)),
        accepted=len(decision.batch.new or ()),
        replayed=decision.batch.replayed,
        void=decision.batch.void,
        meter=meter,
        base_rate=decision.sheet.rate(decision.sheet.base),
        share_per_unit=share_per_unit(round_, rules=decision.rules, meter=meter),
    )
