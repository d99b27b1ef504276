"""The tables of administrative acts, and of changes that two people agree on."""

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped

from jackpot_service.database.models.base import Base, Count, primary_key


class ActRow(Base):
    """
    An administrative act: what the entry of this seq in the reference book recorded. All of them are the audit trail.

    `request_id` is the caller's id of the act, `decides` the change request that it decides or carries out. `effects`
    are the entries that it booked in jackpots' books, as `domain.facts.facts_of_effect` writes them.
    """

    __tablename__ = "acts"

    seq: Mapped[int] = primary_key()
    request_id: Mapped[str | None]
    decides: Mapped[str | None]
    subject: Mapped[str]
    jackpot_id: Mapped[str | None]
    reason: Mapped[str | None]
    request: Mapped[dict[str, Any] | None]
    before: Mapped[dict[str, Any] | None]
    after: Mapped[dict[str, Any]]
    effects: Mapped[list[dict[str, Any]]]


class ChangeRequestRow(Base):
    """A change that a user or service account requested; `entry_seq` is the act that says so."""

    __tablename__ = "change_requests"

    request_id: Mapped[str] = primary_key()
    kind: Mapped[str]
    subject: Mapped[str]
    jackpot_id: Mapped[str | None]
    payload: Mapped[dict[str, Any]]
    reason: Mapped[str]
    base_version: Mapped[str]
    to_confirm: Mapped[dict[str, Any]]
    maker: Mapped[str]
    made_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    approvals_due: Mapped[Count]
    entry_seq: Mapped[int]


class ChangeDecisionRow(Base):
    """
    A checker's decision on a change request. The database itself holds that the checker is not the maker.

    A trigger refuses a checker who may not decide the kind, or is the maker in other letters. `is_emergency` marks the
    one exception, an approval by its own maker: see `EmergencySwitchRow`. One decision is final: a rejection, or the
    last of the approvals that are due.

    An approval that a passkey signed has the assertion, and in `signed_effect` the effect that its checker was shown.
    """

    __tablename__ = "change_decisions"

    request_id: Mapped[str] = primary_key()
    checker: Mapped[str] = primary_key()
    outcome: Mapped[str] = primary_key()
    maker: Mapped[str]
    reason: Mapped[str]
    confirmed: Mapped[dict[str, Any]]
    is_emergency: Mapped[bool]
    is_final: Mapped[bool]
    decided_at: Mapped[datetime]
    entry_seq: Mapped[int]
    passkey_id: Mapped[str | None]
    authenticator_data: Mapped[bytes | None]
    client_data: Mapped[bytes | None]
    signature: Mapped[bytes | None]
    signed_effect: Mapped[dict[str, Any] | None]


class ChangePolicyRow(Base):
    """
    The roles that ask for a kind of change and decide it, since the act of this seq; the latest version is in force.

    The schema begins with version 1, of no act: the policy that the service is shipped with.
    """

    __tablename__ = "change_policies"

    kind: Mapped[str] = primary_key()
    version: Mapped[Count] = primary_key()
    requested_by: Mapped[list[str]]
    decided_by: Mapped[list[str]]
    needs_other_department: Mapped[bool]
    needs_other_role: Mapped[bool]
    needs_passkey: Mapped[bool]
    entry_seq: Mapped[int]


class EmergencySwitchRow(Base):
    """
    Whether one person alone may approve an own request, since the act of this seq; the latest row says what is so now.

    The schema begins with a row of seq 0 that says off.
    """

    __tablename__ = "emergency_switches"

    entry_seq: Mapped[int] = primary_key()
    is_on: Mapped[bool]
