"""
Sessions: a person shows a key, a company account or a passkey once, and their browser shows a cookie from then on.

A cookie holds 256 random bits, of which the database has the hash. It opens the pages only: no call of the API takes
one. A session ends by itself, when its person signs out, and within 15 seconds of its key being revoked. One by a
passkey goes with a key of its person. When the passkey is revoked by which it began, or was proved last, it ends at
once. The next sign-in of anybody removes the rows of those that have ended.
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import psycopg
import sqlalchemy
import structlog
from sqlalchemy.exc import SQLAlchemyError

from jackpot_service.auth.authenticator import LONGEST_NOTE_S, Authenticator, BadKeyShown
from jackpot_service.auth.company_accounts import CompanyAccount
from jackpot_service.database import deadlines
from jackpot_service.database.transactions import Session, read, transact
from jackpot_service.domain.passkeys import BadAssertion
from jackpot_service.domain.principals import Principal, UserRequired
from jackpot_service.passkeys import Assertion, Site
from jackpot_service.records import browser_sessions, keys, passkeys
from jackpot_service.records.browser_sessions import BrowserSession
from jackpot_service.records.keys import LiveKey
from jackpot_service.usecases.keys import hash_of
from jackpot_service.usecases.passkeys import require_signature

IDLE: Final = timedelta(minutes=30)
"""After so long without a click a session ends."""

LONGEST: Final = timedelta(hours=12)
"""After so long it ends in any case."""

PROVED_FOR: Final = timedelta(minutes=15)
"""For so long after a key was shown its person may approve, pay and suspend; then they show it again."""

SEEN_APART: Final = timedelta(minutes=1)
"""How exactly it is known when a person was here."""

MOST_OF_A_KEY: Final = 20
"""Sessions that a key may have at a time; one more ends the one that began first."""

MOST_NOT_NOTED: Final = 10_000

SECRET_BYTES: Final = 32

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class SignedIn:
    """
    A person in front of the pages; `secret_hash` names their session.

    `by_account`: they have shown an account at the issuer of tokens, and no key.
    """

    principal: Principal
    secret_hash: bytes
    session: BrowserSession
    by_account: bool

    @property
    def ends_at(self) -> datetime:
        """When they are signed out if they do nothing more."""
        return self.session.ends_at(idle=IDLE, longest=LONGEST)

    def has_proved(self, *, at: datetime) -> bool:
        """Whether they have shown who they are of late."""
        return at < self.session.proved_at + PROVED_FOR

    def has_proved_by_passkey(self, *, at: datetime) -> bool:
        """Whether they have shown it of late by a passkey, and nothing else since."""
        return self.has_proved(at=at) and self.session.proof_passkey_id is not None


@dataclass(frozen=True, slots=True)
class BrowserSessions:
    """
    The sessions of a database, whose keys an authenticator knows.

    `not_noted` are sessions of a replica, which takes no notes: when their people were last in front of this process.
    """

    engine: sqlalchemy.Engine
    authenticator: Authenticator
    clock: Callable[[], datetime]
    not_noted: dict[bytes, datetime] = field(default_factory=dict)

    def begin(self, key: str) -> str:
        """
        Begin a session by a key; returns the secret of its cookie, which nobody else has.

        Raises: BadKeyShown; UserRequired; Unavailable.
        """
        return self._begin(self.authenticator.key(f"Bearer {key}"), proved_at=self.clock(), by="key")

    def knows_key(self, key: str) -> bool:
        """Whether a key has the id of one in force: it may be wrong all the same. Raises: Unavailable."""
        return self.authenticator.key_id_in(f"Bearer {key}") in self.authenticator.ids_in_force()

    def knows_passkey(self, credential_id: bytes) -> bool:
        """Whether there is a passkey of a credential, in force or not. Raises: Unavailable."""
        return read(self.engine, partial(passkeys.by_credential, credential_id=credential_id)) is not None

    def begin_by_account(self, account: CompanyAccount) -> str:
        """
        Begin a session by a company account; returns the secret of its cookie.

        The issuer says when they showed who they are. If it does not, they show it again before what is grave.

        Raises: BadKeyShown for an account that nobody has let in; UserRequired; Unavailable.
        """
        proved_at = account.authenticated_at or self.clock() - PROVED_FOR
        return self._begin(self.authenticator.key_of_subject(account.subject), proved_at=proved_at, by="account")

    def _begin(self, shown: LiveKey, *, proved_at: datetime, by: str) -> str:
        if shown.principal.is_service_account:
            message = f"{shown.principal.name} is a service account: nobody stands behind its key."
            raise UserRequired(message)
        secret, now = secrets.token_urlsafe(SECRET_BYTES), self.clock()
        new = partial(_begin, secret_hash=hash_of(secret), key_id=shown.key_id, at=now, proved_at=min(now, proved_at))
        transact(self.engine, new)
        log.info("signed-in", principal=shown.principal.name, key_id=shown.key_id, by=by)
        return secret

    def begin_with_passkey(self, assertion: Assertion, site: Site, challenge: bytes, *, asked_at: datetime) -> str:
        """
        Begin a session by an assertion of a passkey, whose person has a key in force; returns the cookie's secret.

        The passkey has signed nothing since it was asked. Raises: BadKeyShown; Unavailable.
        """
        secret, now = secrets.token_urlsafe(SECRET_BYTES), self.clock()

        def begin(session: Session) -> str:
            with _refused_as_key():
                passkey = require_signature(
                    session, assertion, site=site, challenge=challenge, at=now, unused_since=asked_at
                )
            key_ids = keys.live_ids_of(session, passkey.principal)
            if not key_ids:
                message = f"{passkey.principal} has no key in force."
                raise BadKeyShown(message)
            _begin(
                session,
                secret_hash=hash_of(secret),
                key_id=key_ids[-1],
                at=now,
                proved_at=now,
                passkey_id=passkey.passkey_id,
            )
            return passkey.principal

        principal = transact(self.engine, begin)
        log.info("signed-in", principal=principal, by="passkey")
        return secret

    def prove_with_passkey(
        self, signed_in: SignedIn, assertion: Assertion, site: Site, challenge: bytes, *, asked_at: datetime
    ) -> None:
        """Note that a person has shown a passkey, as above. Raises: BadKeyShown if it is not their own; Unavailable."""
        now, person = self.clock(), signed_in.principal.name

        def prove(session: Session) -> None:
            with _refused_as_key():
                passkey = require_signature(
                    session, assertion, site=site, challenge=challenge, at=now, person=person, unused_since=asked_at
                )
            browser_sessions.note_proof(session, signed_in.secret_hash, at=now, passkey_id=passkey.passkey_id)

        transact(self.engine, prove)

    def find(self, secret: str, *, is_click: bool = True) -> SignedIn | None:
        """
        Return who a cookie's secret shows; None if the session has ended, or its key.

        Only a click keeps the session alive. Raises: Unavailable.
        """
        secret_hash, now = hash_of(secret), self.clock()
        session = read(self.engine, partial(browser_sessions.find, secret_hash=secret_hash))
        if session is None:
            return None
        session = session.seen(self.not_noted.get(secret_hash, session.seen_at))
        if session.ends_at(idle=IDLE, longest=LONGEST) <= now:
            return None
        key = self.authenticator.key_in_force(session.key_id)
        if key is None:
            return None
        if is_click and now - session.seen_at >= SEEN_APART:
            self._note_seen(secret_hash, now)
        seen = session.seen(now) if is_click else session
        by_account = key.secret_hash is None and session.passkey_id is None
        return SignedIn(key.principal, secret_hash, seen, by_account=by_account)

    def prove(self, signed_in: SignedIn, key: str) -> None:
        """Note that a person has shown their key again. Raises: BadKeyShown if it is not their own; Unavailable."""
        self._prove(signed_in, self.authenticator.key(f"Bearer {key}"))

    def prove_by_account(self, signed_in: SignedIn, account: CompanyAccount) -> None:
        """Note that a person has shown their account again. Raises: BadKeyShown if it is not theirs; Unavailable."""
        self._prove(signed_in, self.authenticator.key_of_subject(account.subject))

    def _prove(self, signed_in: SignedIn, shown: LiveKey) -> None:
        if shown.principal != signed_in.principal:
            message = f"This is not shown by {signed_in.principal.name}."
            raise BadKeyShown(message)
        transact(self.engine, partial(browser_sessions.note_proof, secret_hash=signed_in.secret_hash, at=self.clock()))

    def end(self, signed_in: SignedIn) -> None:
        """Sign a person out here. Raises: Unavailable."""
        transact(self.engine, partial(browser_sessions.remove, secret_hash=signed_in.secret_hash))
        log.info("signed-out", principal=signed_in.principal.name)

    def end_all(self, signed_in: SignedIn) -> int:
        """Sign a person out everywhere; returns how many sessions they had. Raises: Unavailable."""
        count = transact(self.engine, partial(browser_sessions.remove_all, principal=signed_in.principal.name))
        log.info("signed-out-everywhere", principal=signed_in.principal.name, sessions=count)
        return count

    def _note_seen(self, secret_hash: bytes, now: datetime) -> None:
        """Note that a session's person is here: in this process alone, if the database does not take that now."""
        try:
            with deadlines.within(LONGEST_NOTE_S), self.engine.begin() as session:
                browser_sessions.note_seen(session, secret_hash, at=now)
        except (SQLAlchemyError, psycopg.Error) as error:
            log.debug("session-not-noted", detail=type(error).__name__)
            if len(self.not_noted) >= MOST_NOT_NOTED:
                self.not_noted.clear()
            self.not_noted[secret_hash] = now


@contextmanager
def _refused_as_key() -> Iterator[None]:
    """Refuse a passkey as a key that is not in force."""
    try:
        yield
    except BadAssertion as error:
        raise BadKeyShown(error.detail) from error


def _begin(
    session: Session,
    *,
    secret_hash: bytes,
    key_id: str,
    at: datetime,
    proved_at: datetime,
    passkey_id: str | None = None,
) -> None:
    browser_sessions.remove_ended(session, seen_before=at - IDLE, begun_before=at - LONGEST)
    browser_sessions.remove_eldest(session, key_id, but=MOST_OF_A_KEY - 1)
    browser_sessions.add(session, secret_hash, key_id=key_id, at=at, proved_at=proved_at, passkey_id=passkey_id)
