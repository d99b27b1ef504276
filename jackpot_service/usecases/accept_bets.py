"""Accepting a batch of a round's jackpot bets: all of it, or nothing."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from jackpot_service.db import Session, committed, pipelined
from jackpot_service.domain import currencies, facts, posting_rules
from jackpot_service.domain.bets import Bet, require_hands, require_stakes
from jackpot_service.domain.contribution import contribute, stakes_by_currency
from jackpot_service.domain.entries import Entry, RoundStep
from jackpot_service.domain.errors import Conflict, Flaw, Refused
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.meters import Meter
from jackpot_service.domain.money import NoRate, Rate, RateSheet
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rounds import Round, RoundState, RoundView
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.ledger import books, journal, stripes
from jackpot_service.records import bets as bet_records
from jackpot_service.records import gaming_tables, pinned, rounds, standing, verdicts
from jackpot_service.records.bets import BookedBet
from jackpot_service.records.meters import meter_of
from jackpot_service.usecases import first_sight


class DuplicateBet(Refused):
    """A bet id stands twice in one batch."""

    code = "duplicate-bet"
    title = "A bet stands twice in the batch"


class BetConflict(Conflict):
    """A bet id was used before, for another bet."""

    code = "bet-conflict"
    title = "The bet id belongs to another bet"


_CONTENT = ("player_id", "hand", "currency", "stake_minor")
"""The names of `Bet.content`, in its order."""


@dataclass(frozen=True, slots=True)
class AcceptBets:
    """A batch of bets, as a table server sent it at `now`."""

    principal: Principal
    table_id: str
    round_id: str
    bets: tuple[Bet, ...]
    now: datetime


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
    """What the books hold of a round that a batch may meet; nothing, if the round was never seen."""

    round: Round | None = None
    booked: tuple[BookedBet, ...] = ()
    tombstones: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class _Batch:
    """A batch held against what the round already knows; new bets by their place in the batch."""

    new: Mapping[int, Bet]
    replayed: int
    void: tuple[str, ...]


def accept_bets(session: Session, command: AcceptBets) -> BetsAccepted:
    """
    Book the bets of a batch that are not yet booked; a round opens with its first.

    Locks the round, unless it opens it: then the round's unique key stops whoever opens it too, and the loser tries
    again. Books on one stripe, by the last statement that writes. A replay is counted on its round.

    Raises: UnknownTable, NoJackpot, DuplicateBet, BetConflict, RoundSettled, RoundCancelled, UnknownCurrency, NoRate,
    CurrencyNotAccepted, StakeOutOfRange, HandLimit, JackpotSuspended.
    """
    _require_distinct(command.bets)
    table, jackpot_id = gaming_tables.with_jackpot(session, command.principal, command.table_id)
    round_ids = {"jackpot_id": jackpot_id, "table_id": table.table_id, "round_id": command.round_id}
    with pipelined(session) as pipe:
        standing_cursor = standing.send_read(pipe, **round_ids, now=command.now)
    in_force = standing.standing_of(standing_cursor, jackpot_id)
    seen = _lock_and_read(session, command, round_ids) if in_force.is_round_seen else _Seen()
    round_, booked = seen.round, seen.booked
    batch = _sort_out(command.bets, booked, seen.tombstones)
    if not batch.new and round_ is not None:
        return _replay(session, round_, batch)
    if round_ is None:
        round_ = first_sight.pin(table, command.round_id, in_force, now=command.now)
    round_.require_open()
    rules = pinned.rules(session, jackpot_id, round_.rules_version)
    sheet = pinned.sheet(session, in_force.base, round_.rate_sheet)
    _require_acceptable(batch.new, bet_records.live(booked), rules=rules, sheet=sheet, now=command.now)
    return _book(session, command, round_, batch, rules=rules, sheet=sheet, stripe_no=stripes.choose(in_force.stripes))


def _lock_and_read(session: Session, command: AcceptBets, round_ids: Mapping[str, str]) -> _Seen:
    """Lock the round, then read, in later statements, what it holds."""
    with pipelined(session) as pipe:
        round_cursor = rounds.send_lock(pipe, **round_ids)
        booked_cursor = bet_records.send_of_batch(pipe, command.bets, **round_ids)
        tombstone_cursor = bet_records.send_tombstones(pipe, **round_ids)
    return _Seen(
        rounds.round_of(round_cursor),
        bet_records.booked_of(booked_cursor),
        bet_records.tombstones_of(tombstone_cursor),
    )


def _require_distinct(bets: Sequence[Bet]) -> None:
    counts = Counter(bet.bet_id for bet in bets)
    twice = [bet_id for bet_id, count in counts.items() if count > 1]
    if twice:
        flaws = tuple(
            Flaw(f"/bets/{index}/bet_id", DuplicateBet.code, f"{bet.bet_id} stands more than once in the batch.")
            for index, bet in enumerate(bets)
            if counts[bet.bet_id] > 1
        )
        message = f"{len(twice)} bet id(s) stand more than once in the batch."
        raise DuplicateBet(message, flaws=flaws, bet_ids=twice)


def _sort_out(bets: Sequence[Bet], booked: Sequence[BookedBet], tombstones: Collection[str]) -> _Batch:
    """Tell new bets from replays and void ones. Raises: BetConflict."""
    known = {one.bet.bet_id: one for one in booked}
    _require_same(bets, known)
    return _Batch(
        new={place: bet for place, bet in enumerate(bets) if bet.bet_id not in known and bet.bet_id not in tombstones},
        replayed=sum(bet.bet_id in known and not known[bet.bet_id].is_void for bet in bets),
        void=tuple(
            bet.bet_id
            for bet in bets
            if bet.bet_id in tombstones or (bet.bet_id in known and known[bet.bet_id].is_void)
        ),
    )


def _require_same(bets: Sequence[Bet], known: Mapping[str, BookedBet]) -> None:
    flaws = tuple(
        Flaw(f"/bets/{index}", BetConflict.code, _difference(known[bet.bet_id].bet, bet))
        for index, bet in enumerate(bets)
        if bet.bet_id in known and known[bet.bet_id].bet.content != bet.content
    )
    if flaws:
        ids = [bet.bet_id for bet in bets if bet.bet_id in known and known[bet.bet_id].bet.content != bet.content]
        message = f"{len(flaws)} bet id(s) of the batch were booked with other content: {', '.join(ids)}."
        raise BetConflict(message, flaws=flaws, bet_ids=ids)


def _difference(booked: Bet, sent: Bet) -> str:
    pairs = zip(_CONTENT, booked.content, sent.content, strict=True)
    said = [f"{name} {before} was booked, {after} was sent" for name, before, after in pairs if before != after]
    return f"Bet {booked.bet_id}: {'; '.join(said)}."


def _replay(session: Session, round_: Round, batch: _Batch) -> BetsAccepted:
    with pipelined(session) as pipe:
        rounds.count_replay(pipe, round_)
        books_cursor = books.send_read(pipe, round_.jackpot_id)
        cycle_cursor = verdicts.send_closing_cycle(pipe, round_)
    meter = meter_of(session, round_.jackpot_id, books.books_of(books_cursor))
    view = RoundView(round_, verdicts.closing_cycle_of(cycle_cursor) or meter.cycle)
    return _accepted(session, view, batch, meter, booked=0)


def _accepted(session: Session, view: RoundView, batch: _Batch, meter: Meter, *, booked: int) -> BetsAccepted:
    round_ = view.round
    rules = pinned.rules(session, round_.jackpot_id, round_.rules_version)
    is_shared = rules.is_shared and round_.state is RoundState.OPEN
    return BetsAccepted(
        round=view,
        accepted=booked,
        replayed=batch.replayed,
        void=batch.void,
        meter=meter,
        base_rate=pinned.sheet(session, rules.base, round_.rate_sheet).rate(rules.base),
        share_per_unit=meter.share_per_unit(round_.weight) if is_shared else None,
    )


def _require_acceptable(
    new: Mapping[int, Bet], standing_bets: Sequence[Bet], *, rules: JackpotRules, sheet: RateSheet, now: datetime
) -> None:
    """The ladder of meaning: currency, rate, stake, hands."""
    for currency in sorted({bet.currency for bet in new.values()}):
        try:
            currencies.tender(currency, on=now.date())
            sheet.rate(currency)
        except (currencies.UnknownCurrency, NoRate) as error:
            error.flaws = tuple(
                Flaw(f"/bets/{index}/currency", error.code, error.detail)
                for index, bet in new.items()
                if bet.currency == currency
            )
            raise
    require_stakes(new, rules=rules, sheet=sheet)
    require_hands(new, standing=standing_bets, rules=rules)


def _book(
    session: Session,
    command: AcceptBets,
    round_: Round,
    batch: _Batch,
    *,
    rules: JackpotRules,
    sheet: RateSheet,
    stripe_no: int,
) -> BetsAccepted:
    bets = tuple(batch.new.values())
    contributed = contribute(stakes_by_currency(bets), split=rules.split, sheet=sheet)
    after = round_.stepped(bets=len(bets), weight=contributed.value)
    entry = Entry(
        book=round_.jackpot_id,
        kind=EntryKind.BETS,
        principal=command.principal.name,
        received_at=command.now,
        facts={"bets": facts.of_bets(bets), **facts.of_opening(after)},
        postings=posting_rules.for_contribution(contributed, casino_id=round_.casino_id, sheet=sheet),
        round_step=RoundStep.of(after),
    )
    with journal.refused_if_suspended(round_.jackpot_id), committed(session) as pipe:
        rounds.save(pipe, after)
        bet_records.add(pipe, after, bets)
        journal.post_all(pipe, [entry], stripe_no=stripe_no, if_accepting=True)
        books_cursor = books.send_read(pipe, round_.jackpot_id)
    meter = meter_of(session, round_.jackpot_id, books.books_of(books_cursor))
    return _accepted(session, RoundView(after, meter.cycle), batch, meter, booked=len(bets))
