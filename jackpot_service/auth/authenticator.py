"""
Authentication: a bearer key, or a token of the issuer, becomes a principal. Routes state which roles may call them.

Every route states its roles (`allow`) or that it is open to all (`anyone`). A route that states nothing stops the
start of the service, so nothing is open by omission.
"""

import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeVar

import psycopg
import sqlalchemy
import structlog
from sqlalchemy.exc import SQLAlchemyError

from jackpot_service.auth.tokens import Tokens, tokens_of
from jackpot_service.config.settings import Config
from jackpot_service.database import deadlines
from jackpot_service.database.clocks import utc_now
from jackpot_service.database.transactions import Session, read
from jackpot_service.domain.errors import Forbidden, Unauthenticated
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.records import keys
from jackpot_service.records.keys import LiveKey, Subject
from jackpot_service.usecases.keys import PREFIX, hash_of

KEPT_S: Final = 15
"""How long a process believes in a key it has seen: a revoked one is refused everywhere within this time."""

MOST_KEPT: Final = 10_000

LONGEST_KEY_ID: Final = 64

_HEX: Final = frozenset("0123456789abcdef")

LONGEST_NOTE_S: Final = 0.5
"""For so long a call waits for it to be noted that its key was used."""

log = structlog.get_logger()

View = TypeVar("View", bound=Callable[..., Any])


class BadKeyShown(Unauthenticated, code="unauthenticated"):
    """No key, or one that is not in force. The answer does not state what exactly is wrong."""


class RoleForbidden(Forbidden, code="role-forbidden"):
    """The key's role may not do this."""


@dataclass(slots=True)
class _Cached:
    key: LiveKey
    until: float
    is_noted: bool = False


@dataclass(slots=True)
class Authenticator:
    """Turns keys and tokens into principals, and remembers keys for a quarter of a minute."""

    engine: sqlalchemy.Engine
    monotonic: Callable[[], float] = time.monotonic
    clock: Callable[[], datetime] = utc_now
    tokens: Tokens | None = None
    _cache: dict[str | Subject, _Cached] = field(default_factory=dict)

    @classmethod
    def configured(
        cls,
        config: Config,
        engine: sqlalchemy.Engine,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        clock: Callable[[], datetime] = utc_now,
    ) -> "Authenticator":
        """One that takes tokens as well, if the configuration names an issuer."""
        return cls(engine, monotonic, clock, tokens_of(config, clock=clock, monotonic=monotonic))

    def principal(self, authorization: str | None) -> Principal:
        """Read an Authorization header. Raises: BadKeyShown; BadToken, IssuerUnavailable if it is no key."""
        shown = authorization or ""
        if self.tokens is not None and (token := _token_in(shown)) is not None:
            subject = Subject(self.tokens.issuer.issuer, self.tokens.subject(token))
            return self.key_of_subject(subject).principal
        return self.key(shown).principal

    def key(self, authorization: str) -> LiveKey:
        """Read the key that an Authorization header shows. Raises: BadKeyShown, also for a token."""
        key_id, secret = _key_in(authorization)
        if key_id is None:
            message = "Send a key as «Authorization: Bearer jk_…»."
            raise BadKeyShown(message)
        cached = self._known(key_id, lambda session: keys.live(session, key_id))
        if cached is None or not _is_secret_of(cached, secret):
            message = "This key is not in force."
            raise BadKeyShown(message)
        return self._used(cached)

    def key_in_force(self, key_id: str) -> LiveKey | None:
        """Look up the key of an id, for a session that it began; None if it was revoked. Raises: Unavailable."""
        cached = self._known(key_id, lambda session: keys.live(session, key_id))
        return None if cached is None else cached.key

    def remembered(self, authorization: str) -> Principal | None:
        """Read a header without asking anybody: None unless it shows a key that was seen of late, and is believed."""
        key_id, secret = _key_in(authorization)
        cached = None if key_id is None else self._cache.get(key_id)
        if (
            cached is None
            or not cached.is_noted
            or cached.until <= self.monotonic()
            or not _is_secret_of(cached, secret)
        ):
            return None
        return cached.key.principal

    def is_token(self, authorization: str) -> bool:
        """Whether a header shows a token, about which the issuer may have to be asked."""
        return self.tokens is not None and _token_in(authorization) is not None

    def key_id_in(self, authorization: str) -> str | None:
        """Read the id of a header's key, which may be nobody's; None if it shows no key."""
        return _key_in(authorization)[0]

    def ids_in_force(self) -> frozenset[str]:
        """Read the ids of all keys in force. Raises: Unavailable."""
        return read(self.engine, keys.ids_in_force)

    def key_of_subject(self, subject: Subject) -> LiveKey:
        """Look up whom a subject of an issuer is, which is listed as a key. Raises: BadKeyShown; Unavailable."""
        cached = self._known(subject, lambda session: keys.live_of_subject(session, subject))
        if cached is None:
            message = "The subject of this token is not known here."
            raise BadKeyShown(message)
        return self._used(cached)

    def _known(self, shown: str | Subject, look: Callable[[Session], LiveKey | None]) -> _Cached | None:
        now = self.monotonic()  # Before it is looked up: what is revoked meanwhile is not believed for longer.
        cached = self._cache.get(shown)
        if cached is not None and cached.until > now:
            return cached
        key = read(self.engine, look)
        if key is None:
            self._cache.pop(shown, None)
            return None
        if len(self._cache) >= MOST_KEPT:
            self._cache.clear()
        cached = self._cache[shown] = _Cached(key, now + KEPT_S)
        return cached

    def _used(self, cached: _Cached) -> LiveKey:
        """Note that a key was used, if the database takes that now: nobody is refused for it."""
        if not cached.is_noted:
            cached.is_noted = True
            now, last = self.clock(), cached.key.last_used_at
            if last is None or now - last >= keys.USES_APART:
                self._note_use(cached.key.key_id, now)
        return cached.key

    def _note_use(self, key_id: str, now: datetime) -> None:
        try:
            with deadlines.within(LONGEST_NOTE_S), self.engine.begin() as session:
                keys.note_use(session, key_id, at=now)
        except (SQLAlchemyError, psycopg.Error) as error:
            log.debug("key-use-not-noted", key_id=key_id, detail=type(error).__name__)


def _token_in(authorization: str) -> str | None:
    """Return the token that a header shows; None if it shows a key, or nothing that could be either."""
    scheme, _, shown = authorization.partition(" ")
    shown = shown.strip()
    return shown if scheme.lower() == "bearer" and not shown.startswith(f"{PREFIX}_") else None


def _key_in(authorization: str) -> tuple[str | None, str]:
    """Return the id and the secret of the key that a header shows; without an id if it shows none."""
    scheme, _, shown = authorization.partition(" ")
    prefix, _, rest = shown.strip().partition("_")
    key_id, _, secret = rest.partition("_")
    is_key = scheme.lower() == "bearer" and prefix == PREFIX and _is_hex(key_id) and secret.isascii()
    return key_id if is_key else None, secret


def _is_secret_of(cached: _Cached, secret: str) -> bool:
    stored = cached.key.secret_hash
    return stored is not None and hmac.compare_digest(stored, hash_of(secret))


def _is_hex(text: str) -> bool:
    return 0 < len(text) <= LONGEST_KEY_ID and _HEX.issuperset(text)


def allow(*roles: Role) -> Callable[[View], View]:
    """State which roles may use a view."""

    def mark(view: View) -> View:
        view.roles = frozenset(roles)  # type: ignore[attr-defined]
        return view

    return mark


def anyone(view: View) -> View:
    """State that a view needs no key."""
    view.roles = None  # type: ignore[attr-defined]
    return view


def page(view: View) -> View:
    """State that a view is a page, which no key opens: who may see it is found by the cookie of a session."""
    view.roles = None  # type: ignore[attr-defined]
    view.is_page = True  # type: ignore[attr-defined]
    return view


def is_page(view: Callable[..., Any]) -> bool:
    """Whether a view is a page."""
    return bool(getattr(view, "is_page", False))


def roles_of(view: Callable[..., Any]) -> frozenset[Role] | None:
    """The roles that a view states, None if it is open to all. Raises: LookupError if it states nothing."""
    if not hasattr(view, "roles"):
        message = f"The view {view.__name__} states no roles."
        raise LookupError(message)
    roles: frozenset[Role] | None = view.roles
    return roles


def allowed(view: Callable[..., Any]) -> frozenset[Role]:
    """The roles that a view states. Raises: LookupError if it is open to all, or states nothing."""
    roles = roles_of(view)
    if roles is None:
        message = f"The view {view.__name__} is open to all."
        raise LookupError(message)
    return roles


def require_role(principal: Principal, roles: frozenset[Role]) -> None:
    """Raises: RoleForbidden."""
    if principal.role not in roles:
        may = sorted(map(str, roles))
        message = f"Only these roles may do this: {', '.join(may)}. The caller has the role {principal.role}."
        raise RoleForbidden(message, role=str(principal.role), roles=may)


def require_house(principal: Principal) -> None:
    """Raises: RoleForbidden for a key with a casino."""
    if principal.casino_id is not None:
        message = "This is for the house, not for a casino."
        raise RoleForbidden(message, role=str(principal.role))
