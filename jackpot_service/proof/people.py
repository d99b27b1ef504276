"""Whether people and keys are what their acts made of them, and whether each did only what they may do."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row

from jackpot_service.domain import facts
from jackpot_service.domain.changes import Outcome
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.principals import MACHINES, SYSTEM_OPERATOR, Principal, Role
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.proof import change_policies
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.references import Document, References, round_of

USABLE_AROUND: Final = timedelta(minutes=1)
"""For so long before it is made and after it is revoked a key counts as usable: clocks differ, keys are remembered."""


def switches_begin_off(references: References) -> Found:
    """Emergency approvals were off until an act switched them on."""
    first = next(iter(references.emergency_switches), None)
    if first is None or first.is_on or first.entry_seq:
        detail = "the first row is not that of the beginning, which says off"
        yield Mismatch(Code.DOCUMENT_WITHOUT_ENTRY, REFERENCE_BOOK, "emergency switches", detail)


def act_was_of_one_who_may(act: Row[Any], references: References) -> Found:
    """An act is of somebody who was there by then, of a role and a casino that do such acts."""
    actor = references.principals.get(act.principal)
    for why in _reasons_against_actor(act, actor, references):
        yield Mismatch(Code.ACT_PRINCIPAL, REFERENCE_BOOK, f"act {act.seq}", f"a {act.kind} by {act.principal}: {why}")


def _reasons_against_actor(act: Row[Any], actor: Row[Any] | None, references: References) -> Iterator[str]:
    if actor is None:
        yield "is nobody"
        return
    if actor.entry_seq >= act.seq:
        yield f"was added by act {actor.entry_seq}"
    if actor.role not in _roles_of(act, references):
        yield f"is of the role {actor.role}"
    if act.kind in OF_PEOPLE and _is_service_account(actor):
        yield "is a service account"
    if act.kind in OF_CASINOS:
        casino_id = round_of(act).get("casino_id")
        is_of_house = actor.casino_id is None and (act.kind != EntryKind.AWARD_PAID or actor.role == Role.OPERATOR)
        if isinstance(casino_id, str) and actor.casino_id != casino_id and not is_of_house:
            yield f"is of casino {actor.casino_id}, the award is of {casino_id}"
    elif actor.casino_id is not None and act.kind not in OF_ONESELF:
        yield f"is of casino {actor.casino_id}"


def _roles_of(act: Row[Any], references: References) -> frozenset[Role]:
    """The roles that do such an act; what two people do, each does by the change policy in force then."""
    if act.decides is None and act.kind != EntryKind.CHANGE_REQUESTED:
        return ROLES.get(act.kind, frozenset({Role.OPERATOR}))
    request = references.change_requests.get(act.decides or act.request_id)
    if request is None:
        return frozenset(Role)  # Named by the check of changes.
    policy = change_policies.policy_at(references, request.kind, act.seq)
    if act.decides is None:
        return policy.requested_by
    decision = references.change_decisions.get((act.decides, act.principal, Outcome.APPROVED.value))
    return policy.requested_by if decision is not None and decision.is_emergency else policy.decided_by


ROLES: Final[Mapping[str, frozenset[Role]]] = {
    EntryKind.AWARD_PAID: frozenset({Role.TABLE, Role.FINANCE, Role.OPERATOR}),
    EntryKind.SLIP_PRINTED: frozenset({Role.TABLE, Role.FINANCE, Role.OPERATOR}),
    EntryKind.AWARD_STOPPED: frozenset({Role.FINANCE, Role.OPERATOR, Role.AUDITOR}),
    EntryKind.EVIDENCE_RECORDED: frozenset({Role.FINANCE, Role.OPERATOR, Role.AUDITOR}),
    EntryKind.EXCEPTION_ACKNOWLEDGED: frozenset({Role.FINANCE, Role.OPERATOR}),
    EntryKind.PERIOD_CLOSED: frozenset({Role.FINANCE}),
    **dict.fromkeys((EntryKind.PASSKEY_REGISTERED, EntryKind.PASSKEY_REVOKED), frozenset(Role) - MACHINES),
}
"""The roles that do acts alone, besides operators."""

OF_ONESELF: Final = frozenset({EntryKind.PASSKEY_REGISTERED, EntryKind.PASSKEY_REVOKED})
"""The acts about oneself, which people of casinos do as well; see `proof.passkeys`."""

OF_PEOPLE: Final = OF_ONESELF | {EntryKind.AWARD_STOPPED, EntryKind.EVIDENCE_RECORDED}
"""The acts of one person that no service account does."""

OF_CASINOS: Final = frozenset(
    {EntryKind.AWARD_PAID, EntryKind.SLIP_PRINTED, EntryKind.AWARD_STOPPED, EntryKind.EVIDENCE_RECORDED}
)
"""The acts that people of the award's casino do as well."""


def _is_service_account(row: Row[Any]) -> bool:
    return _principal(row).is_service_account


def _principal(row: Row[Any]) -> Principal:
    role = Role(row.role)
    return Principal(row.name, role, row.casino_id, is_automaton=row.is_automaton, department=row.department)


def reasons_against_checker(row: Row[Any], request: Row[Any], references: References) -> Iterator[str]:
    """Say why a change was not for its checker to decide then."""
    checker, maker = references.principals.get(row.checker), references.principals.get(request.maker)
    if row.is_emergency and not _is_emergency_on(references, row.entry_seq):
        yield "emergency approvals were off"
    if checker is None:
        yield f"{row.checker} is nobody"
        return
    if _is_service_account(checker):
        yield f"{row.checker} is a service account"
    if checker.entry_seq >= row.entry_seq:
        yield f"{row.checker} was not there yet"
    policy = change_policies.policy_at(references, request.kind, row.entry_seq)
    if not policy.is_decider(_principal(checker), maker=request.maker):
        yield f"the role {checker.role} decides no {request.kind}"
    if maker is None or checker.name == maker.name:
        return
    if policy.needs_other_department and checker.department == maker.department:
        yield f"{row.checker} is of the maker's department, {maker.department}"
    if policy.needs_other_role and checker.role == maker.role:
        yield f"{row.checker} is of the maker's role, {maker.role}"
    if _is_alike(checker, maker):
        yield f"{row.checker} is {request.maker} in other letters"


def _is_alike(one: Row[Any], other: Row[Any]) -> bool:
    return bool(one.in_one_case == other.in_one_case or one.by_look == other.by_look)


def _is_emergency_on(references: References, seq: int) -> bool:
    before = [row for row in references.emergency_switches if row.entry_seq < seq]
    return bool(before and before[-1].is_on)


def nobody_released_what_an_own_key_won(
    acts: Iterable[Row[Any]], round_: RoundDocuments, references: References
) -> Found:
    """No act that released awards of a round, or paid them, is of a maker of its keys, or by a key of such a maker."""
    judged = list(acts)
    makers = _makers_of_round(round_, references) if judged else frozenset()
    for act in judged:
        actors = {act.principal} | _makers(references, act.principal, act.received_at)
        for name in sorted(makers & actors):
            detail = f"act {act.seq}, a {act.kind} by {act.principal}: {name} made a key of the round"
            yield Mismatch(Code.AWARD_PRINCIPAL, round_.round.jackpot_id, round_.place, detail)


def _makers_of_round(round_: RoundDocuments, references: References) -> frozenset[str]:
    entries = round_.entries
    return frozenset().union(*(_makers(references, entry.principal, entry.received_at) for entry in entries))


def _makers(references: References, principal: str, at: datetime) -> frozenset[str]:
    """Return who made the keys that a principal could use at an instant; nobody for those made on the machine."""
    return frozenset(
        key.maker
        for key in references.keys_made.get(principal, ())
        if key.maker != SYSTEM_OPERATOR.name
        and key.made_at - USABLE_AROUND <= at
        and (key.revoked_at is None or at <= key.revoked_at + USABLE_AROUND)
    )


def documents_of_people(references: References) -> Iterator[Document]:
    """Write principals and keys as the facts that their acts show."""
    for row in references.principals.values():
        if row.name == SYSTEM_OPERATOR.name:
            continue  # Of no act: the schema begins with it.
        recorded = facts.facts_of_principal(_principal(row))
        yield Document(f"principal {row.name}", row.entry_seq, EntryKind.PRINCIPAL_ADDED, recorded)
    for row in references.keys.values():
        recorded = facts.facts_of_key(
            key_id=row.key_id,
            principal=row.principal,
            table_ids=row.table_ids,
            secret_hash=row.secret_hash,
            issuer=row.issuer,
            subject=row.subject,
        )
        yield Document(f"key {row.key_id}", row.entry_seq, EntryKind.KEY_CREATED, recorded)


def check_keys(references: References) -> Found:
    """Check what people and keys name, and each revocation."""
    yield from bindings_of_people_exist(references)
    yield from keys_were_revoked(references)


def bindings_of_people_exist(references: References) -> Found:
    """The casinos, principals and tables exist that principals and keys name."""
    for row in references.principals.values():
        if row.casino_id is not None and row.casino_id not in references.casinos:
            yield _unknown(f"principal {row.name}", f"casino {row.casino_id}")
    for row in references.keys.values():
        if row.principal not in references.principals:
            yield _unknown(f"key {row.key_id}", f"principal {row.principal}")
        for table_id in row.table_ids:
            if table_id not in references.tables:
                yield _unknown(f"key {row.key_id}", f"table {table_id}")


def _unknown(place: str, missing: str) -> Mismatch:
    return Mismatch(Code.KEY_BINDING, REFERENCE_BOOK, place, f"there is no {missing}")


def keys_were_revoked(references: References) -> Found:
    """Each revoked key was revoked by one act, at that act's time; each such act has its key."""
    recorded = defaultdict(list)
    for act in map(references.acts.__getitem__, references.index.of_revocations):
        recorded[str(act.after.get("key_id"))].append((act.seq, act.received_at))
    for row in references.keys.values():
        acts = recorded.pop(row.key_id, [])
        expected = [
            facts.facts_of_revocation(key_id=row.key_id, principal=row.principal, revoked_at=at) for _, at in acts
        ]
        if [row.revoked_at] * (row.revoked_at is not None) != [at for _, at in acts]:
            at = facts.instant(row.revoked_at)
            yield _revocation(f"key {row.key_id}", f"revoked at {at}, by acts {[seq for seq, _ in acts]}")
        elif expected != [references.acts[seq].after for seq, _ in acts]:
            yield _revocation(f"key {row.key_id}", f"its act {acts[0][0]} says something else")
    for key_id, acts in recorded.items():
        yield _revocation(f"key {key_id}", f"acts {[seq for seq, _ in acts]} revoked it, and it is not there")


def _revocation(place: str, detail: str) -> Mismatch:
    return Mismatch(Code.KEY_REVOCATION, REFERENCE_BOOK, place, detail)
