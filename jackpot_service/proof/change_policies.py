"""Whether each version of the change policy is what two people made of the one before, and which was in force when."""

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import Row

from jackpot_service.domain.change_policy import ChangePolicy, KindPolicy
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.journal import EntryKind
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.proof.decoding import UNDERIVABLE
from jackpot_service.proof.references import Document, References
from jackpot_service.records.change_policies import kind_policy
from jackpot_service.usecases.changes.change_policy import ChangeChangePolicy
from jackpot_service.usecases.changes.registry import SHIPPED_POLICY

NOBODY: Final = KindPolicy(frozenset(), frozenset())
"""The policy of a kind of change of which nothing readable says who asks and who decides."""


def policy_at(references: References, kind: str, seq: int) -> KindPolicy:
    """Return what was in force of a kind of change for the act of a seq; for the shipped kinds what was shipped."""
    policy = SHIPPED_POLICY.get(kind, NOBODY)
    for row in references.change_policies:
        if row.kind == kind and 0 < row.entry_seq < seq:
            policy = _read(row)
    return policy


def _read(row: Row[Any]) -> KindPolicy:
    try:
        return kind_policy(row)
    except UNDERIVABLE:
        return NOBODY  # The check of documents names what the act shows instead.


def first_version_is_as_shipped(references: References) -> Found:
    """Version 1, of no act, has a row for each kind of change, which says what the service is shipped with."""
    first = {row.kind: _read(row) for row in references.change_policies if row.version == 1 and row.entry_seq == 0}
    for kind in sorted(SHIPPED_POLICY.keys() | first.keys()):
        if first.get(kind) != SHIPPED_POLICY.get(kind):
            detail = f"{kind}: states {_written(first.get(kind))}, shipped was {_written(SHIPPED_POLICY.get(kind))}"
            yield Mismatch(Code.DOCUMENT_WITHOUT_ENTRY, REFERENCE_BOOK, "change policy 1", detail)


def _written(policy: KindPolicy | None) -> str:
    """Write a policy so that it reads the same each time, whatever the order of its roles in memory."""
    return "nothing" if policy is None else json.dumps(policy.facts)


def documents(references: References) -> Iterator[Document]:
    """Write each later version as the facts that its act shows."""
    versions: defaultdict[tuple[int, int], dict[str, Any]] = defaultdict(dict)
    for row in references.change_policies:
        if row.version != 1 or row.entry_seq != 0:
            stated = {"requested_by": sorted(row.requested_by), "decided_by": sorted(row.decided_by)}
            versions[row.version, row.entry_seq][row.kind] = {
                **stated,
                "needs_other_department": row.needs_other_department,
                "needs_other_role": row.needs_other_role,
                "needs_passkey": row.needs_passkey,
            }
    for (version, seq), kinds in versions.items():
        recorded = {"version": version, "kinds": kinds}
        yield Document(f"change policy {version}", seq, EntryKind.CHANGE_POLICY_CHANGED, recorded)


def versions_are_what_was_approved(references: References) -> Found:
    """Each act that changed the policy shows the policy before, and after it what was asked for put over that."""
    before = ChangePolicy(1, SHIPPED_POLICY)
    for seq in sorted({row.entry_seq for row in references.change_policies if row.entry_seq}):
        act = references.acts.get(seq)
        request = None if act is None else references.change_requests.get(act.decides)
        if act is None or request is None:
            continue  # Named by the check of documents, or of changes.
        try:
            after = ChangeChangePolicy.read(request.payload).decide(before)
        except UNDERIVABLE as error:
            detail = f"act {seq} put over version {before.version}: {type(error).__name__}"
            yield Mismatch(Code.CHANGE_DONE, REFERENCE_BOOK, f"change request {request.request_id}", detail)
            continue
        if (act.before, act.after) != (before.facts, after.facts):
            detail = f"act {seq} shows {act.after}, due was {after.facts}"
            yield Mismatch(Code.CHANGE_DONE, REFERENCE_BOOK, f"change request {request.request_id}", detail)
        before = after
