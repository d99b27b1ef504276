"""The tables of casinos with what is set for them, of gaming tables, and of principals, their keys and sessions."""

from datetime import datetime, time
from decimal import Decimal

from sqlalchemy.orm import Mapped

from jackpot_service.database.models.base import Base, Count, primary_key


class CasinoRow(Base):
    """
    A casino: a company that runs gaming tables. It collects the stakes and pays the awards.

    Its gaming days start at `day_starts`, a wall-clock time in its zone. The check of the zone is that it can be used.
    """

    __tablename__ = "casinos"

    casino_id: Mapped[str] = primary_key()
    name: Mapped[str]
    entry_seq: Mapped[int]
    zone: Mapped[str]
    day_starts: Mapped[time]


class WithholdingRuleRow(Base):
    """
    A version of a casino's withholding rule in a currency, by the act of this seq; amounts are its minor units.

    It is the rule of rounds that are opened from `in_force_from` on, until a later version is.
    """

    __tablename__ = "withholding_rules"

    casino_id: Mapped[str] = primary_key()
    currency: Mapped[str] = primary_key()
    version: Mapped[Count] = primary_key()
    in_force_from: Mapped[datetime]
    least_multiple: Mapped[int | None]
    report_at_minor: Mapped[int]
    withhold_at_minor: Mapped[int | None]
    percent: Mapped[Decimal | None]
    entry_seq: Mapped[int]


class CasinoClaimsRow(Base):
    """For how long awards can be claimed at a casino, and where forfeited ones go, since the act of this seq."""

    __tablename__ = "casino_claims"

    casino_id: Mapped[str] = primary_key()
    version: Mapped[Count] = primary_key()
    claim_days: Mapped[Count | None]
    forfeited_to: Mapped[str]
    entry_seq: Mapped[int]


class TableRow(Base):
    """A gaming table. Its casino, game and jackpot never change; a table that moves gets a new id."""

    __tablename__ = "tables"

    table_id: Mapped[str] = primary_key()
    casino_id: Mapped[str]
    game: Mapped[str]
    jackpot_id: Mapped[str | None]
    entry_seq: Mapped[int]


class PrincipalRow(Base):
    """
    A user or a service account: one name, one role, one department, perhaps one casino. None of it ever changes.

    Names are the same that differ in their case alone, or that look alike, as two functions of the database know.
    `cli`, of no act, is the command line.
    """

    __tablename__ = "principals"

    name: Mapped[str] = primary_key()
    role: Mapped[str]
    casino_id: Mapped[str | None]
    is_automaton: Mapped[bool]
    department: Mapped[str]
    entry_seq: Mapped[int]


class KeyRow(Base):
    """
    A key of a principal: a secret, of which only the hash is here, or a subject of an issuer of tokens.

    `revoked_at` is written once. `last_used_at` is a note for people, which the books do not vouch for.
    """

    __tablename__ = "keys"

    key_id: Mapped[str] = primary_key()
    secret_hash: Mapped[bytes | None]
    principal: Mapped[str]
    table_ids: Mapped[list[str]]
    revoked_at: Mapped[datetime | None]
    entry_seq: Mapped[int]
    issuer: Mapped[str | None]
    subject: Mapped[str | None]
    last_used_at: Mapped[datetime | None]


class BrowserSessionRow(Base):
    """
    A person who has signed in with a browser: the cookie holds a secret, of which only the hash is here.

    `proved_at` is when they last showed their key or passkey: the passkey is in `proof_passkey_id`. One who signed in
    with a passkey has it in `passkey_id`. A session that has ended is removed: the books know nothing of it.
    """

    __tablename__ = "browser_sessions"

    secret_hash: Mapped[bytes] = primary_key()
    key_id: Mapped[str]
    began_at: Mapped[datetime]
    proved_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    passkey_id: Mapped[str | None]
    proof_passkey_id: Mapped[str | None]
