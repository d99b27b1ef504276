"""Adding a casino."""

import zoneinfo
from datetime import time

from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts
from jackpot_service.domain.casinos import MIDNIGHT, UTC_ZONE, Casino
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.journal import EntryKind
from jackpot_service.records import references as records
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act, AlreadyExists

LOCAL_NAMES = frozenset({"localtime"})
"""Files beside the zones that mean another zone on each machine."""


class UnknownZone(Refused):
    """No time zone of this name, or not one that both this program and the database know."""

    code = "zone-unknown"
    title = "Unknown time zone"


def add_casino(
    session: Session, act: Act, *, casino_id: str, name: str, zone: str = UTC_ZONE, day_starts: time = MIDNIGHT
) -> bool:
    """
    Add a casino, once: the same again changes nothing. Returns whether it was added now.

    Its zone and the time at which its gaming days start never change: days that were told are told for good.

    Raises: UnknownZone; AlreadyExists if the id belongs to a casino of another name, zone or start of the day.
    """
    new = Casino(casino_id, name, zone, day_starts)
    _require_zone(session, zone)
    acts.lock(session)
    found = records.casino(session, casino_id)
    if found == new:
        return False
    if found is not None:
        message = f"Casino {casino_id} exists, as {found.name!r}, in {found.zone}, from {found.day_starts:%H:%M}."
        raise AlreadyExists(message, casino_id=casino_id)
    seq = acts.post(session, act, EntryKind.CASINO_ADDED, subject=f"casino {casino_id}", after=facts.of_casino(new))
    records.add_casino(session, new, entry_seq=seq)
    return True


def _require_zone(session: Session, zone: str) -> None:
    if zone == UTC_ZONE:
        return
    if zone in LOCAL_NAMES or zone not in zoneinfo.available_timezones() or not records.is_zone(session, zone):
        message = f"There is no time zone {zone}; name one as the IANA does, such as Europe/Riga."
        raise UnknownZone(message, zone=zone)
