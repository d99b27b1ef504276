"""Adding a casino."""

from jackpot_service.db import Session
from jackpot_service.domain import facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.records import references as records
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act, AlreadyExists


def add_casino(session: Session, act: Act, *, casino_id: str, name: str) -> bool:
    """
    Add a casino, once: the same id and name again change nothing. Returns whether it was added now.

    Raises: AlreadyExists if the id belongs to a casino of another name.
    """
    acts.lock(session)
    found = records.casino_name(session, casino_id)
    if found == name:
        return False
    if found is not None:
        message = f"Casino {casino_id} exists, under the name {found!r}."
        raise AlreadyExists(message, casino_id=casino_id)
    recorded = facts.of_casino(casino_id, name)
    seq = acts.post(session, act, EntryKind.CASINO_ADDED, subject=f"casino {casino_id}", after=recorded)
    records.add_casino(session, casino_id, name, entry_seq=seq)
    return True
