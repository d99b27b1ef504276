"""Whether people and keys are what their acts made of them: who they are, what binds them, since when revoked."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from jackpot_service.domain import facts
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.principals import SYSTEM_OPERATOR, Principal, Role
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof.references import Document, References

Found = Iterator[Mismatch]


def documents(references: References) -> Iterator[Document]:
    """Write principals and keys as the facts that their acts show."""
    for row in references.principals.values():
        if row.name == SYSTEM_OPERATOR.name:
            continue  # Of no act: the schema begins with it.
        principal = Principal(row.name, Role(row.role), row.casino_id, is_automaton=row.is_automaton)
        recorded = facts.of_principal(principal)
        yield Document(f"principal {row.name}", row.entry_seq, EntryKind.PRINCIPAL_ADDED, recorded)
    for row in references.keys.values():
        recorded = facts.of_key(
            key_id=row.key_id,
            principal=row.principal,
            table_ids=row.table_ids,
            secret_hash=row.secret_hash,
            issuer=row.issuer,
            subject=row.subject,
        )
        yield Document(f"key {row.key_id}", row.entry_seq, EntryKind.KEY_CREATED, recorded)


def check(references: References, entries: Mapping[int, BookedEntry]) -> Found:
    """Check what people and keys name, and each revocation."""
    yield from bindings_exist(references)
    yield from keys_were_revoked(references, entries)


def bindings_exist(references: References) -> Found:
    """What principals and keys name exists: casinos, principals, tables."""
    for row in references.principals.values():
        if row.casino_id is not None and row.casino_id not in references.casinos:
            yield _unknown(f"principal {row.name}", f"casino {row.casino_id}")
    for row in references.keys.values():
        if row.principal not in references.principals:
            yield _unknown(f"key {row.key_id}", f"principal {row.principal}")
        for table_id in row.table_ids:
            if table_id not in references.tables:
                yield _unknown(f"key {row.key_id}", f"table {table_id}")


def _unknown(place: str, what: str) -> Mismatch:
    return Mismatch(Code.KEY_BINDING, REFERENCE_BOOK, place, f"there is no {what}")


def keys_were_revoked(references: References, entries: Mapping[int, BookedEntry]) -> Found:
    """Each revoked key was revoked by one act, at that act's time; each such act has its key."""
    recorded = defaultdict(list)
    for seq, entry in entries.items():
        if entry.kind == EntryKind.KEY_REVOKED and seq in references.acts:
            recorded[str(references.acts[seq].after.get("key_id"))].append((seq, entry.received_at))
    for row in references.keys.values():
        acts = recorded.pop(row.key_id, [])
        due = [facts.of_revocation(key_id=row.key_id, principal=row.principal, revoked_at=at) for _, at in acts]
        if [row.revoked_at] * (row.revoked_at is not None) != [at for _, at in acts]:
            yield _revocation(f"key {row.key_id}", f"revoked at {row.revoked_at}, by acts {[seq for seq, _ in acts]}")
        elif due != [references.acts[seq].after for seq, _ in acts]:
            yield _revocation(f"key {row.key_id}", f"its act {acts[0][0]} says something else")
    for key_id, acts in recorded.items():
        yield _revocation(f"key {key_id}", f"acts {[seq for seq, _ in acts]} revoked it, and it is not there")


def _revocation(place: str, detail: str) -> Mismatch:
    return Mismatch(Code.KEY_REVOCATION, REFERENCE_BOOK, place, detail)
