"""
Accepting batches of jackpot bets: all of a batch, or nothing.

Batches of several rounds can be booked in one transaction (`accept_group`): they share its round trips and its commit,
and nothing else. A batch that is refused harms no other.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from jackpot_service.database.pipelines import Cursor, Pipeline
from jackpot_service.database.transactions import Session, committed, committed_nothing, pipelined
from jackpot_service.domain import currencies, facts, figures, posting_rules, table_limits
from jackpot_service.domain.acceptance import require_hands, require_stakes
from jackpot_service.domain.accounts import Meter
from jackpot_service.domain.allocation import contribute, sums_by_currency
from jackpot_service.domain.bets import Bet, Bets, BookedBet, SortedBatch, require_distinct, sort_out
from jackpot_service.domain.entries import Entry, RoundStep
from jackpot_service.domain.errors import FieldError, LedgerError
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import NoRate, Rate, RateSheet
from jackpot_service.domain.occurrence import require_bets_not_ahead
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rounds import Round, RoundView, share_per_unit
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.domain.table_limits import TableLimits
from jackpot_service.ledger import books, journal, stripes
from jackpot_service.records import bets as bet_records
from jackpot_service.records import immutable, rounds, settings_in_force, verdicts
from jackpot_service.records.immutable import Table
from jackpot_service.records.lives import meter_of
from jackpot_service.records.rounds import RoundName
from jackpot_service.records.settings_in_force import InForce, NotAsExpected, OptimisticSettings
from jackpot_service.usecases.round_terms import RoundTerms


@dataclass(frozen=True, slots=True)
class AcceptBets:
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


@dataclass(frozen=True, slots=True)
class BetsAccepted:
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


@dataclass(frozen=True, slots=True)
class _Seen:
    """The rows of a round that a batch may meet; none, if the round was never seen."""

    round: Round | None = None
    booked: Sequence[BookedBet] = ()
    tombstones: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class _Decision:
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
    asked = {place: commands[place] for place in tables}
    expected = None if optimistic_settings is None or not may_expect else optimistic_settings.of(jackpot_id, len(asked))
    if optimistic_settings is not None and expected is not None:
        return _in_order(_book_as_expected(session, asked, tables, optimistic_settings, expected), refusals)
    in_force, seen = _read(session, jackpot_id, list(asked.values()))
    if optimistic_settings is not None:
        optimistic_settings.note(in_force)
    decisions, refused = _decide(session, asked, tables, in_force, seen)
    answers = _book(session, in_force, decisions) if decisions else {}
    return _in_order(answers, {**refusals, **refused})


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
            table, _ = immutable.table_with_jackpot(session, command.principal, command.table_id)
            require_distinct(command.bets)
            tables[place] = table
        except LedgerError as refusal:
            refusals[place] = _kept(refusal)
    return tables, refusals


def _kept(refusal: LedgerError) -> LedgerError:
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


def _read(session: Session, jackpot_id: str, asked: Sequence[AcceptBets]) -> tuple[InForce, Mapping[RoundName, _Seen]]:
    """Read what is in force, and what the books hold of the rounds that are known, which it locks."""
    with pipelined(session) as pipe:
        cursor = settings_in_force.send_read(pipe, jackpot_id, came=_came(asked), names=_names(asked))
    in_force = settings_in_force.in_force_of(cursor, jackpot_id)
    known = [asked[number - 1] for number in in_force.rounds_seen]
    return in_force, _lock_and_read(session, jackpot_id, known) if known else {}


def _came(commands: Iterable[AcceptBets]) -> list[datetime]:
    return [command.now for command in commands]


def _names(commands: Iterable[AcceptBets]) -> list[RoundName]:
    return [command.name for command in commands]


def _lock_and_read(session: Session, jackpot_id: str, commands: Sequence[AcceptBets]) -> dict[RoundName, _Seen]:
    """Lock the rounds, then read, in later statements, what they hold."""
    names = _names(commands)
    with pipelined(session) as pipe:
        round_cursor = rounds.send_lock(pipe, jackpot_id, names)
        booked_cursor = bet_records.send_of_batches(pipe, jackpot_id, names, [command.bets for command in commands])
        tombstone_cursor = bet_records.send_tombstones(pipe, jackpot_id, names)
    booked = bet_records.booked_by_round(booked_cursor)
    tombstones = bet_records.tombstones_of(tombstone_cursor)
    return {
        RoundName(round_.table_id, round_.round_id): _Seen(
            round_, booked.get(round_.round_key, ()), tombstones.get(round_.round_key, {}).keys()
        )
        for round_ in rounds.rounds_of(round_cursor)
    }


def _decide(
    session: Session,
    asked: Mapping[int, AcceptBets],
    tables: Mapping[int, Table],
    in_force: InForce,
    seen: Mapping[RoundName, _Seen],
) -> tuple[dict[int, _Decision], dict[int, LedgerError]]:
    """Decide each batch by itself: what becomes of it, or what refuses it, by their places."""
    decisions: dict[int, _Decision] = {}
    refusals: dict[int, LedgerError] = {}
    for number, (place, command) in enumerate(asked.items()):
        try:
            terms = RoundTerms(tables[place], in_force, number)
            decisions[place] = _decision(session, command, terms, seen.get(command.name, _Seen()))
        except LedgerError as refusal:
            refusals[place] = _kept(refusal)
    return decisions, refusals


def _decision(session: Session, command: AcceptBets, terms: RoundTerms, seen: _Seen) -> _Decision:
    """The ladder of a batch: identity, the round's state, meaning."""
    batch = sort_out(command.bets, seen.booked, seen.tombstones)
    round_ = seen.round or terms.open_round(command.round_id, now=command.now)
    rules = immutable.rules(session, round_.jackpot_id, round_.rules_version)
    sheet = immutable.sheet(session, rules.base, round_.rate_sheet)
    numbered = round_.numbered(command.game_number)
    if batch.new is None:
        return _Decision(batch, round_, rules, sheet)
    round_.require_open()
    require_bets_not_ahead(batch.new, now=command.now)
    of_table = immutable.limits(session, round_.jackpot_id, terms.in_force.limits_version).get(round_.table_id)
    _require_acceptable(
        batch.new,
        bet_records.live(seen.booked),
        rules=rules,
        sheet=sheet,
        limits=None if of_table is None else of_table.limits,
        now=command.now,
    )
    stakes = sums_by_currency(zip(batch.new.currencies, batch.new.stakes_minor, strict=True))
    contributed = contribute(stakes, split=rules.split, sheet=sheet)
    after = numbered.stepped(bets=len(batch.new), weight=contributed.value)
    columns = facts.of_bets(batch.new)
    entry = Entry(
        book=round_.jackpot_id,
        kind=EntryKind.BETS,
        principal=command.principal.name,
        received_at=command.now,
        facts={**facts.of_game_number(round_, after), **facts.of_limits(of_table)},
        in_rows={"bets": columns, **facts.of_opening(after)},
        postings=posting_rules.for_contribution(contributed, casino_id=round_.casino_id, sheet=sheet),
        round_step=RoundStep.of(after),
        figures=figures.of_bets(contributed, batch.new.currencies),
    )
    return _Decision(batch, after, rules, sheet, columns, entry)


def _require_acceptable(
    new: Bets,
    live: Sequence[Bet],
    *,
    rules: JackpotRules,
    sheet: RateSheet,
    limits: TableLimits | None,
    now: datetime,
) -> None:
    """The ladder of meaning: currency, rate, stake, hands."""
    for currency in sorted(set(new.currencies)):
        try:
            currencies.tender(currency, on=now.date())
            sheet.rate(currency)
        except (currencies.UnknownCurrency, NoRate) as error:
            error.field_errors = tuple(
                FieldError(f"/bets/{place}/currency", error.code, error.detail)
                for place, other in zip(new.places, new.currencies, strict=True)
                if other == currency
            )
            raise
    require_stakes(new, rules=rules, sheet=sheet)
    if limits is not None:
        table_limits.require_stakes(new, limits, sheet=sheet)
    require_hands(new, live=live, rules=rules)


def _book_as_expected(
    session: Session,
    asked: Mapping[int, AcceptBets],
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
            pipe, expected, came=_came(asked.values()), names=_names(asked.values())
        )
        decisions, refused = _decide(session, asked, tables, expected, {})
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
