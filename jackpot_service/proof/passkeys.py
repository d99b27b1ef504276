"""Whether passkeys are what their acts made of them, and whether every approval is signed as it was to be."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row

from jackpot_service import passkeys as ceremonies
from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts
from jackpot_service.domain.changes import Outcome
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.facts import Facts, instant
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.passkeys import BadAssertion, SignedApproval
from jackpot_service.domain.principals import Role
from jackpot_service.ledger import replay
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.passkeys import Assertion
from jackpot_service.proof import change_policies
from jackpot_service.proof.decoding import UNDERIVABLE
from jackpot_service.proof.references import Document, References
from jackpot_service.records.changes import assertion_of
from jackpot_service.records.passkeys import passkey_of
from jackpot_service.usecases.changes.registry import CARRIES_OUT, KINDS
from jackpot_service.usecases.changes.signed_effects import challenge_of, postings_of, substance_of
from jackpot_service.usecases.passkeys import ANSWERED_WITHIN

SLACK: Final = timedelta(minutes=1)
"""By which the clocks of servers may differ, and for which an effect may be figured before it is shown."""


def documents(references: References) -> Iterator[Document]:
    """Write passkeys and their revocations as the facts that their acts show."""
    for row in references.passkeys.values():
        yield Document(f"passkey {row.passkey_id}", row.entry_seq, EntryKind.PASSKEY_REGISTERED, passkey_of(row).facts)
    for row in references.passkey_revocations.values():
        passkey = references.passkeys.get(row.passkey_id)
        recorded = facts.facts_of_passkey_revocation(
            passkey_id=row.passkey_id,
            principal="" if passkey is None else passkey.principal,
            revoked_at=row.revoked_at,
        )
        name = f"revocation of passkey {row.passkey_id}"
        yield Document(name, row.entry_seq, EntryKind.PASSKEY_REVOKED, recorded)


def assertion_facts(row: Row[Any]) -> Facts | None:
    """Write what a passkey signed a decision with, as its act shows it; None if none did."""
    assertion = assertion_of(row)
    return None if assertion is None else assertion.facts


def check(session: Session, references: References, entries: Mapping[int, BookedEntry]) -> Found:
    """Check passkeys, and the assertions of approvals."""
    yield from passkeys_are_of_those_who_registered_them(references, entries)
    yield from revocations_were_of_those_who_may(references, entries)
    yield from approvals_are_signed(session, references)
    yield from counters_go_up(references)


def passkeys_are_of_those_who_registered_them(references: References, entries: Mapping[int, BookedEntry]) -> Found:
    """Each passkey was registered by the person whom it shows."""
    for row in references.passkeys.values():
        entry = entries.get(row.entry_seq)
        if entry is not None and entry.principal != row.principal:
            yield _passkey_record(row.passkey_id, f"is of {row.principal}, and {entry.principal} registered it")


def revocations_were_of_those_who_may(references: References, entries: Mapping[int, BookedEntry]) -> Found:
    """
    Each revocation is of a passkey, after its registration, at the act's time, by somebody who may.

    That is an operator who is another person, or its person, who has another one in force.
    """
    for row in references.passkey_revocations.values():
        passkey, entry = references.passkeys.get(row.passkey_id), entries.get(row.entry_seq)
        if passkey is None:
            yield _passkey_record(row.passkey_id, "was revoked, and is not there")
        elif entry is not None:
            actor = references.principals.get(entry.principal)
            if entry.principal == passkey.principal:
                may_revoke = bool(_in_force(passkey.principal, row.entry_seq, references) - {row.passkey_id})
            else:
                may_revoke = actor is not None and actor.role == Role.OPERATOR
            if not may_revoke:
                yield _passkey_record(row.passkey_id, f"was revoked by {entry.principal}, who may not")
            if row.entry_seq <= passkey.entry_seq or row.revoked_at != entry.received_at:
                yield _passkey_record(row.passkey_id, f"was revoked at {instant(row.revoked_at)}, when it was not")


def _passkey_record(passkey_id: str, detail: str) -> Mismatch:
    return Mismatch(Code.PASSKEY_RECORD, REFERENCE_BOOK, f"passkey {passkey_id}", detail)


def approvals_are_signed(session: Session, references: References) -> Found:
    """Each approval is signed by its checker's passkey, unless it need not be: over its request and what was done."""
    last = {row.request_id: row for row in references.change_decisions.values() if row.is_final}
    for row in references.change_decisions.values():
        request = references.change_requests.get(row.request_id)
        if row.outcome != Outcome.APPROVED or request is None:
            continue  # A decision without its request is named by the check of changes.
        assertion = assertion_of(row)
        if assertion is None:
            yield from _unsigned(row, request, references)
        else:
            yield from _signed(session, row, request, assertion, references, last=last.get(row.request_id))


def _unsigned(row: Row[Any], request: Row[Any], references: References) -> Found:
    had = _in_force(row.checker, row.entry_seq, references)
    if had:
        detail = f"{row.checker} approved it without a signature, and had passkey {min(had)}"
        yield _mismatch(Code.ASSERTION_MISSING, row, detail)
    elif change_policies.policy_at(references, request.kind, row.entry_seq).needs_passkey:
        detail = f"{row.checker} approved it without a signature, which the change policy asks for"
        yield _mismatch(Code.ASSERTION_MISSING, row, detail)


def _in_force(person: str, seq: int, references: References) -> frozenset[str]:
    """Return the passkeys that a person had when the act of a seq was done."""
    return frozenset(
        passkey.passkey_id
        for passkey in references.passkeys.values()
        if passkey.principal == person and _is_in_force(passkey, seq, references)
    )


def _is_in_force(passkey: Row[Any], seq: int, references: References) -> bool:
    """Whether a passkey was registered and not revoked when the act of a seq was done."""
    revocation = references.passkey_revocations.get(passkey.passkey_id)
    return bool(passkey.entry_seq < seq and (revocation is None or seq < revocation.entry_seq))


def _signed(
    session: Session,
    row: Row[Any],
    request: Row[Any],
    assertion: SignedApproval,
    references: References,
    *,
    last: Row[Any] | None,
) -> Found:
    passkey = references.passkeys.get(assertion.passkey_id)
    if passkey is None or passkey.principal != row.checker or not _is_in_force(passkey, row.entry_seq, references):
        detail = f"{row.checker} had no passkey {assertion.passkey_id} then"
        yield _mismatch(Code.ASSERTION_PASSKEY, row, detail)
        return
    try:
        site = ceremonies.site_of(assertion.client_data, passkey.rp_id)
        challenge = ceremonies.challenge_in(assertion.client_data)
        is_of_request = challenge == challenge_of(request, assertion.effect, is_emergency=row.is_emergency)
        age = row.decided_at - datetime.fromisoformat(assertion.effect["figured_at"])
    except (BadAssertion, *UNDERIVABLE) as error:
        yield _mismatch(Code.ASSERTION_CHALLENGE, row, f"what was signed cannot be read: {error}")
        return
    if not is_of_request:
        yield _mismatch(Code.ASSERTION_CHALLENGE, row, f"{row.checker} signed another request, or another effect")
    if not -SLACK <= age < ANSWERED_WITHIN + SLACK:
        yield _mismatch(Code.ASSERTION_CHALLENGE, row, f"{row.checker} signed what was figured at another time")
    for why in _reasons_against_effect(session, last, request, assertion.effect, references):
        yield _mismatch(Code.ASSERTION_CHALLENGE, row, f"{row.checker} signed another effect: {why}")
    answer = Assertion(passkey.credential_id, assertion.authenticator_data, assertion.client_data, assertion.signature)
    try:
        ceremonies.require_signed(answer, passkey_of(passkey), site, challenge, sign_count=0)
    except BadAssertion as error:
        yield _mismatch(Code.ASSERTION_SIGNATURE, row, f"{row.checker}: {error.detail}")


def _reasons_against_effect(
    session: Session, last: Row[Any] | None, request: Row[Any], effect: Facts, references: References
) -> Iterator[str]:
    """Say why a signed effect is not what was done; of several approvals the last does it, and all have signed it."""
    act = None if last is None else references.acts.get(last.entry_seq + 1)
    if act is None or act.decides != request.request_id or act.kind not in CARRIES_OUT:
        return  # That nothing was done is named by the check of changes.
    try:
        requested = KINDS[request.kind].read(request.payload)
        without = requested.left_to_booking.keys() | (effect["after"].keys() - act.after.keys())
        done = {
            "currency": requested.currency_of_amounts(session),
            "before": act.before,
            "after": act.after,
            "entries": [_booked(session, stated) for stated in act.effects],
        }
        if substance_of(effect, without=without) != substance_of(done, without=without):
            yield "what was done moves or sets something else"
    except UNDERIVABLE as error:
        yield f"it cannot be compared: {type(error).__name__}: {error}"


def _booked(session: Session, effect: Facts) -> Facts:
    """Read what an entry moved that an act says that it booked. Raises: ValueError if it is not there."""
    (entry,) = replay.entries_at(session, effect["book"], 0, [effect["seq"]])
    return {"book": entry.book, "kind": entry.kind, "postings": postings_of(entry.lines)}


def counters_go_up(references: References) -> Found:
    """The counter of each authenticator goes up from approval to approval, unless it counts nothing."""
    last = {row.passkey_id: row.sign_count for row in references.passkeys.values()}
    by_seq = sorted(references.change_decisions.values(), key=lambda row: row.entry_seq)
    for row in by_seq:
        if row.passkey_id is None:
            continue
        before, count = last.get(row.passkey_id, 0), _count_in(row.authenticator_data)
        if (before or count) and count <= before:
            detail = f"{row.checker}'s authenticator counted {count} after {before}"
            yield _mismatch(Code.ASSERTION_SIGNATURE, row, detail)
        last[row.passkey_id] = max(before, count)


def _count_in(authenticator_data: bytes) -> int:
    """Read the counter: four bytes after the hash of the domain and the flags."""
    return int.from_bytes(authenticator_data[33:37], "big")


def _mismatch(code: Code, row: Row[Any], detail: str) -> Mismatch:
    return Mismatch(code, REFERENCE_BOOK, f"change request {row.request_id}", detail)
