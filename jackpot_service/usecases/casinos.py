"""Adding casinos and their gaming tables."""

import zoneinfo
from datetime import time

from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts
from jackpot_service.domain.casinos import MIDNIGHT, UTC_ZONE, Casino
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.games import GAME_IDS
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.rulebooks import GAME
from jackpot_service.records import references as records
from jackpot_service.records.immutable import Table
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act, AlreadyExists

LOCAL_NAMES = frozenset({"localtime"})
"""Files next to the zones that mean another zone on each machine."""


class UnknownZone(Refused, code="zone-unknown", title="Unknown time zone"):
    """No time zone of this name, or not one that both this program and the database know."""


def add_casino(
    session: Session, act: Act, *, casino_id: str, name: str, zone: str = UTC_ZONE, day_starts: time = MIDNIGHT
) -> bool:
    """
    Add a casino, once: the same again changes nothing. Returns whether it was added now.

    Its zone and the time at which its gaming days start never change: days that were reported stay as they are.

    Raises: UnknownZone; AlreadyExists if the id belongs to a casino of another name, zone or start of the day;
    RequestConflict.
    """
    new = Casino(casino_id, name, zone, day_starts)
    _require_zone(session, zone)
    acts.lock(session)
    recorded = facts.facts_of_casino(new)
    if acts.is_replay(session, act, EntryKind.CASINO_ADDED, recorded):
        return False
    stored = records.casino(session, casino_id)
    if stored == new:
        return False
    if stored is not None:
        message = f"Casino {casino_id} exists, as {stored.name!r}, in {stored.zone}, from {stored.day_starts:%H:%M}."
        raise AlreadyExists(message, casino_id=casino_id)
    seq = acts.record(
        session,
        act,
        EntryKind.CASINO_ADDED,
        subject=f"casino {casino_id}",
        after=recorded,
        request=acts.request_of(act, recorded),
    )
    records.add_casino(session, new, entry_seq=seq)
    return True


def _require_zone(session: Session, zone: str) -> None:
    if zone == UTC_ZONE:
        return
    if zone in LOCAL_NAMES or zone not in zoneinfo.available_timezones() or not records.is_zone(session, zone):
        message = f"There is no time zone {zone}; name one as the IANA does, such as Europe/Riga."
        raise UnknownZone(message, zone=zone)


class BadGame(Refused, code="game-invalid", title="The game does not fit"):
    """No such game, or one on which the jackpot is not played."""


def add_table(session: Session, act: Act, new: Table) -> bool:
    """
    Add a table, once: the same again changes nothing. Returns whether it was added now.

    Raises: BadGame, UnknownCasino, UnknownJackpot; AlreadyExists if the id belongs to another table; RequestConflict.
    """
    _require_game(new)
    acts.lock(session)
    recorded = facts.facts_of_table(
        table_id=new.table_id, casino_id=new.casino_id, game=new.game, jackpot_id=new.jackpot_id
    )
    if acts.is_replay(session, act, EntryKind.TABLE_ADDED, recorded):
        return False
    stored = records.table(session, new.table_id)
    if stored == new:
        return False
    if stored is not None:
        message = f"Table {new.table_id} exists, at casino {stored.casino_id}; a table that moves gets a new id."
        raise AlreadyExists(message, table_id=new.table_id)
    records.require_casino(session, new.casino_id)
    if new.jackpot_id is not None:
        records.require_base(session, new.jackpot_id)
    seq = acts.record(
        session,
        act,
        EntryKind.TABLE_ADDED,
        subject=f"table {new.table_id}",
        after=recorded,
        request=acts.request_of(act, recorded),
        jackpot_id=new.jackpot_id,
    )
    records.add_table(session, new, entry_seq=seq)
    return True


def _require_game(new: Table) -> None:
    if new.game not in GAME_IDS:
        message = f"The games are {', '.join(GAME_IDS)}; {new.game} is none of them."
        raise BadGame(message, game=new.game)
    if new.jackpot_id is not None and new.game != GAME:
        message = f"No rulebook has a jackpot bet on {new.game}."
        raise BadGame(message, game=new.game)
