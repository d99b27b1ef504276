"""The tables of passkeys: public keys of people, and what authenticators are asked to sign."""

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Mapped

from jackpot_service.database.models.base import Base, primary_key


class PasskeyRow(Base):
    """A passkey that a person registered by the act of this seq. None of it ever changes."""

    __tablename__ = "passkeys"

    passkey_id: Mapped[str] = primary_key()
    principal: Mapped[str]
    name: Mapped[str]
    credential_id: Mapped[bytes]
    public_key: Mapped[bytes]
    sign_count: Mapped[int]
    rp_id: Mapped[str]
    entry_seq: Mapped[int]


class PasskeyRevocationRow(Base):
    """The end of a passkey, by the act of this seq."""

    __tablename__ = "passkey_revocations"

    passkey_id: Mapped[str] = primary_key()
    revoked_at: Mapped[datetime]
    entry_seq: Mapped[int]


class PasskeyUseRow(Base):
    """The last use of a passkey, and the counter that its authenticator stated then; the books do not vouch for it."""

    __tablename__ = "passkey_uses"

    passkey_id: Mapped[str] = primary_key()
    sign_count: Mapped[int]
    used_at: Mapped[datetime]


class PasskeyChallengeRow(Base):
    """
    A question to an authenticator of a person, until it is answered or too old: the books know nothing of it.

    One about a change request has the request's id, and the effect that the person is shown. Any other is about a new
    passkey.
    """

    __tablename__ = "passkey_challenges"

    challenge: Mapped[bytes] = primary_key()
    principal: Mapped[str] = primary_key()
    made_at: Mapped[datetime]
    request_id: Mapped[str | None]
    effect: Mapped[dict[str, Any] | None]
