"""A round's terms: fixed when it is opened, and read again, under a stripe's lock, when it is settled or reversed."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from jackpot_service.database.transactions import Session, pipelined
from jackpot_service.domain.accounts import Pools
from jackpot_service.domain.bets import BookedBet
from jackpot_service.domain.money import RateSheet
from jackpot_service.domain.rounds import Round, RoundState
from jackpot_service.domain.settlement import Terms
from jackpot_service.ledger import books, stripes
from jackpot_service.ledger.cycles import Cycle
from jackpot_service.records import bets as bet_records
from jackpot_service.records import immutable, references, rounds, settings_in_force
from jackpot_service.records.immutable import Table
from jackpot_service.records.rounds import RoundName
from jackpot_service.records.settings_in_force import InForce


@dataclass(frozen=True, slots=True)
class RoundTerms:
    """
    The terms that a round is opened with if its table's request is the first that names it.

    `place` is that of the request among those that the settings in force were asked for.
    """

    table: Table
    in_force: InForce
    place: int = 0

    def open_round(self, round_id: str, *, now: datetime) -> Round:
        """
        Open a round that has no entry yet, under the rules version and the rate sheet in force.

        Raises: NoRate if no rate sheet of the jackpot's base currency was in force.
        """
        return Round(
            jackpot_id=self.in_force.jackpot_id,
            round_key=rounds.new_key(now),
            table_id=self.table.table_id,
            round_id=round_id,
            casino_id=self.table.casino_id,
            state=RoundState.OPEN,
            rules_version=self.in_force.rules_version,
            rate_sheet=self.in_force.require_sheet(self.place),
            steps=0,
            bet_count=0,
            weight=Decimal(0),
            opened_at=now,
        )


@dataclass(frozen=True, slots=True)
class RoundSeen:
    """A round that is locked, None if it was never seen; all its bets, and what is in force for a new one."""

    round: Round | None
    booked: tuple[BookedBet, ...]
    in_force: InForce

    @property
    def live(self) -> tuple[BookedBet, ...]:
        """The bets that are not void."""
        return tuple(booked_bet for booked_bet in self.booked if not booked_bet.is_void)


def lock_and_see(session: Session, jackpot_id: str, name: RoundName, *, now: datetime) -> RoundSeen:
    """Lock a round, if it is known, and read its bets; every later change of it waits for the commit."""
    with pipelined(session) as pipe:
        settings_cursor = settings_in_force.send_read(pipe, jackpot_id, came=[now])
        round_cursor = rounds.send_lock(pipe, jackpot_id, [name])
        booked_cursor = bet_records.send_of_round(pipe, jackpot_id, name)
    in_force = settings_in_force.in_force_of(settings_cursor, jackpot_id)
    return RoundSeen(rounds.round_of(round_cursor), tuple(bet_records.booked_of(booked_cursor)), in_force)


@dataclass(frozen=True, slots=True)
class Locked:
    """Read under the lock: the running cycle, the pools, the last booking, and where the round's entries stand."""

    cycle: Cycle
    pools: Pools
    booked_at: datetime
    places: dict[int, tuple[int, int]]


def lock_and_read(session: Session, after: Round, *, stripe_no: int) -> Locked:
    """
    Write the round as it will be, lock a stripe, then read the running cycle and where the round's entries stand.

    The round comes first: everybody locks rounds before stripes, and a round that is opened is locked by its insert. A
    hit holds all stripes, so holding any one keeps the cycle as it is until the commit.
    """
    with pipelined(session) as pipe:
        rounds.save(pipe, [after])
        stripes.lock_one(pipe, after.jackpot_id, stripe_no)
        books_cursor = books.send_read(pipe, after.jackpot_id)
        place_cursor = bet_records.send_places(pipe, after)
    held = books.books_of(books_cursor)
    return Locked(held.cycle, held.pools, held.booked_at, bet_records.places_of(place_cursor))


def won_since(booked: Collection[BookedBet], cycle: Cycle, places: dict[int, tuple[int, int]]) -> frozenset[str]:
    """The ids of the bets that were booked in an earlier cycle than the running one."""
    earlier = {step for step, (stripe_no, seq) in places.items() if cycle.began_after(stripe_no=stripe_no, seq=seq)}
    return frozenset(booked_bet.bet.bet_id for booked_bet in booked if booked_bet.step in earlier)


def terms(session: Session, round_: Round, cycle: Cycle) -> Terms:
    """Put together what a round is settled or reversed under."""
    rules = immutable.rules(session, round_.jackpot_id, round_.rules_version)
    return Terms(
        rules=rules,
        sheet=immutable.sheet(session, rules.base, round_.rate_sheet),
        casino_id=round_.casino_id,
        cycle=cycle.cycle,
        running=immutable.rules(session, round_.jackpot_id, cycle.rules_version),
        following=immutable.rules(session, round_.jackpot_id, cycle.following_version),
    )


def sheet_of(session: Session, round_: Round) -> RateSheet:
    """Return the rate sheet that a round keeps."""
    return immutable.sheet(session, references.require_base(session, round_.jackpot_id), round_.rate_sheet)
