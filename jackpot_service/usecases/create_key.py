"""Creating a key. Its secret is told once and never stored; only its hash is."""

import hashlib
import secrets

from jackpot_service.db import Session
from jackpot_service.domain import facts
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.records import references as records
from jackpot_service.records.pinned import UnknownTable
from jackpot_service.records.references import Key
from jackpot_service.usecases import acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.add_table import UnknownCasino

PREFIX = "jk"
SECRET_BYTES = 32


class BadKey(Refused):
    """A key that no principal could use."""

    code = "key-invalid"
    title = "The key cannot be"


def hash_of(secret: str) -> bytes:
    """What is stored of a secret. 256 random bits need no slow hash."""
    return hashlib.sha256(secret.encode()).digest()


def create_key(session: Session, act: Act, principal: Principal) -> str:
    """
    Create a key for a principal and return it whole: `jk_<id>_<secret>`, the only time that it is seen.

    Raises: BadKey if a table server's key names no casino, or another's names tables; UnknownCasino; UnknownTable, also
    for a table of another casino.
    """
    _require_binding(principal)
    acts.lock(session)
    if principal.casino_id is not None and records.casino_name(session, principal.casino_id) is None:
        message = f"There is no casino {principal.casino_id}."
        raise UnknownCasino(message, casino_id=principal.casino_id)
    for table_id in sorted(principal.table_ids):
        table = records.table(session, table_id)
        if table is None or table.casino_id != principal.casino_id:
            message = f"Casino {principal.casino_id} has no table {table_id}."
            raise UnknownTable(message, table_id=table_id)
    key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(SECRET_BYTES)
    key = Key(key_id, hash_of(secret), principal)
    recorded = facts.of_key(key_id=key_id, secret_hash=key.secret_hash, principal=principal)
    seq = acts.post(session, act, EntryKind.KEY_CREATED, subject=f"key {key_id}", after=recorded)
    records.add_key(session, key, entry_seq=seq)
    return f"{PREFIX}_{key_id}_{secret}"


def _require_binding(principal: Principal) -> None:
    if principal.role is Role.TABLE and principal.casino_id is None:
        message = "A table server's key belongs to a casino."
        raise BadKey(message)
    if principal.role in {Role.RATES, Role.OPERATOR, Role.AUDITOR} and principal.casino_id is not None:
        message = f"The role {principal.role} is not bound to a casino."
        raise BadKey(message)
    if principal.table_ids and principal.role is not Role.TABLE:
        message = f"The role {principal.role} is not bound to tables."
        raise BadKey(message)
