"""Who the principals are: the first key of a name makes one, every later key of it must agree."""

from dataclasses import replace

from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts, principals
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.principals import Principal
from jackpot_service.records import keys as records
from jackpot_service.records import references
from jackpot_service.records.pinned import UnknownTable
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act


def ensure(session: Session, act: Act, principal: Principal) -> None:
    """
    Add a principal where its name is new, with the lock held; where it is known, hold that it is the same.

    Raises: PrincipalConflict, also for a name that looks like another; BadPrincipal; UnknownCasino; UnknownTable, also
    for a table of another casino.
    """
    _require_places(session, principal)
    known = records.principal(session, principal.name)
    if known is not None:
        principals.require_same(known, principal)
        return
    principals.require_legible(principal.name)
    seq = acts.post(
        session,
        replace(act, request_id=None),
        EntryKind.PRINCIPAL_ADDED,
        subject=f"principal {principal.name}",
        after=facts.of_principal(principal),
    )
    records.add_principal(session, principal, entry_seq=seq)


def _require_places(session: Session, principal: Principal) -> None:
    casino_id = principal.casino_id
    if casino_id is not None:
        references.require_casino(session, casino_id)
    for table_id in sorted(principal.table_ids):
        table = references.table(session, table_id)
        if table is None or table.casino_id != casino_id:
            message = f"Casino {casino_id} has no table {table_id}."
            raise UnknownTable(message, table_id=table_id)
