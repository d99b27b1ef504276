"""A round recalled whole, and a table's latest rounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from sqlalchemy import case, select

from jackpot_service.database.models import EntryRow
from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain.accounts import Meter
from jackpot_service.domain.bets import BookedBet
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import RateSheet
from jackpot_service.domain.principals import Principal
from jackpot_service.domain.rounds import LAST_KEY, Round, RoundView, first_key_at, share_per_unit
from jackpot_service.domain.rules import JackpotRules
from jackpot_service.domain.table_limits import TableLimits
from jackpot_service.ledger import books
from jackpot_service.records import bets as bet_records
from jackpot_service.records import corrections, immutable, manual_payments, rounds, verdicts
from jackpot_service.records.corrections import BookedCorrection
from jackpot_service.records.lives import meter_of
from jackpot_service.records.manual_payments import Compensation
from jackpot_service.records.rounds import RoundName
from jackpot_service.records.verdicts import BookedAward


@dataclass(frozen=True, slots=True)
class EntryPlace:
    """
    One entry of a round: what it was, and where and when it was booked.

    `limits` are those of its table that its bets were taken under; None if the table had none, or it is no bets.
    `stated` is what a closing or voids recorded: a count, or ids and why, and a time; None of other kinds.
    """

    step: int | None
    kind: str
    principal: str
    stripe_no: int
    seq: int
    received_at: datetime
    booked_at: datetime
    limits: TableLimits | None
    stated: Facts | None = None


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """Everything the ledger holds of a round; `ending` is what its result or cancellation recorded, if it is over."""

    view: RoundView
    bets: tuple[BookedBet, ...]
    tombstones: Mapping[str, int]
    ending: Facts
    awards: tuple[BookedAward, ...]
    corrections: tuple[BookedCorrection, ...]
    compensations: tuple[Compensation, ...]
    entries: tuple[EntryPlace, ...]
    rules: JackpotRules
    sheet: RateSheet


def round_record(session: Session, principal: Principal, *, table_id: str, round_id: str) -> RoundRecord:
    """Recall a round. Raises: UnknownTable, UnknownRound."""
    jackpot_id = immutable.visible_table(session, principal, table_id).jackpot_id
    name = RoundName(table_id, round_id)
    if jackpot_id is None:
        raise rounds.unknown(name)
    with pipelined(session) as pipe:
        round_cursor = rounds.send_find(pipe, jackpot_id, name)
        booked_cursor = bet_records.send_of_round(pipe, jackpot_id, name)
        tombstone_cursor = bet_records.send_tombstones(pipe, jackpot_id, [name])
        books_cursor = books.send_read(pipe, jackpot_id)
    round_ = rounds.round_of(round_cursor)
    if round_ is None:
        raise rounds.unknown(name)
    rules = immutable.rules(session, jackpot_id, round_.rules_version)
    ending, awards = _ending(session, round_)
    ended_in = ending.get("settlement", ending).get("cycle")
    return RoundRecord(
        view=RoundView(round_, ended_in or books.books_of(books_cursor).cycle.cycle),
        bets=bet_records.booked_of(booked_cursor),
        tombstones=bet_records.tombstones_of(tombstone_cursor).get(round_.round_key, {}),
        ending=ending,
        awards=awards,
        corrections=corrections.corrections_of_round(session, round_),
        compensations=manual_payments.compensations_of(session, round_),
        entries=_entries(session, round_),
        rules=rules,
        sheet=immutable.sheet(session, rules.base, round_.rate_sheet),
    )


def _ending(session: Session, round_: Round) -> tuple[Facts, tuple[BookedAward, ...]]:
    if not round_.has_ended:
        return {}, ()
    with pipelined(session) as pipe:
        ending_cursor = verdicts.send_ending(pipe, round_)
        awards_cursor = verdicts.send_awards(pipe, round_, correction=0)
    return verdicts.ending_of(ending_cursor), verdicts.awards_of(awards_cursor)


_STATED: Final = (EntryKind.VOIDS.value, EntryKind.CLOSING.value)


def _entries(session: Session, round_: Round) -> tuple[EntryPlace, ...]:
    columns = (
        EntryRow.step,
        EntryRow.kind,
        EntryRow.principal,
        EntryRow.stripe_no,
        EntryRow.seq,
        EntryRow.received_at,
        EntryRow.booked_at,
        EntryRow.facts["limits_version"].astext.label("limits_version"),
        case((EntryRow.kind.in_(_STATED), EntryRow.facts)).label("stated"),
    )
    rows = session.execute(
        select(*columns)
        .where(EntryRow.jackpot_id == round_.jackpot_id, EntryRow.round_key == round_.round_key)
        .order_by(EntryRow.step)
    )
    return tuple(
        EntryPlace(
            row.step,
            row.kind,
            row.principal,
            row.stripe_no,
            row.seq,
            row.received_at,
            row.booked_at,
            _limits(session, round_, row.limits_version),
            row.stated,
        )
        for row in rows
    )


def _limits(session: Session, round_: Round, version: str | None) -> TableLimits | None:
    if version is None:
        return None
    return immutable.limits(session, round_.jackpot_id, int(version))[round_.table_id].limits


@dataclass(frozen=True, slots=True)
class RoundShare:
    """A round, the meter of its jackpot, and what one unit staked would get of a royal flush now; None if nothing."""

    round: Round
    meter: Meter
    share_per_unit: Decimal | None


def round_share(session: Session, principal: Principal, *, table_id: str, round_id: str) -> RoundShare:
    """
    Read what a bettor's share would be: the round and the meter in one round trip, for displays that ask often.

    Raises: UnknownTable, UnknownRound.
    """
    jackpot_id = immutable.visible_table(session, principal, table_id).jackpot_id
    name = RoundName(table_id, round_id)
    if jackpot_id is None:
        raise rounds.unknown(name)
    with pipelined(session) as pipe:
        round_cursor = rounds.send_find(pipe, jackpot_id, name)
        books_cursor = books.send_read(pipe, jackpot_id)
    round_ = rounds.round_of(round_cursor)
    if round_ is None:
        raise rounds.unknown(name)
    meter = meter_of(session, jackpot_id, books.books_of(books_cursor))
    rules = immutable.rules(session, jackpot_id, round_.rules_version)
    return RoundShare(round_, meter, share_per_unit(round_, rules=rules, meter=meter))


def latest_rounds(
    session: Session,
    principal: Principal,
    *,
    table_id: str,
    limit: int,
    before: int = LAST_KEY,
    opened_from: datetime | None = None,
    opened_to: datetime | None = None,
) -> Sequence[RoundView]:
    """
    List a table's rounds, newest first, perhaps only those opened in a period (its end excluded).

    The period's ends are cut to milliseconds. Raises: UnknownTable.
    """
    jackpot_id = immutable.visible_table(session, principal, table_id).jackpot_id
    if jackpot_id is None:
        return ()
    with pipelined(session) as pipe:
        cursor = rounds.send_latest(
            pipe,
            jackpot_id=jackpot_id,
            table_id=table_id,
            before=before,
            from_key=first_key_at(opened_from) if opened_from else 0,
            to_key=first_key_at(opened_to) if opened_to else LAST_KEY,
            limit=limit,
        )
        books_cursor = books.send_read(pipe, jackpot_id)
    running = books.books_of(books_cursor).cycle.cycle
    listed = rounds.rounds_of(cursor)
    with pipelined(session) as pipe:
        ended_cursor = verdicts.send_ending_cycles(pipe, listed)
    ended_in = verdicts.ending_cycles_of(ended_cursor)
    return [RoundView(round_, ended_in.get(round_.round_key, running)) for round_ in listed]
