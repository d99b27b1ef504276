"""
Who is calling: a bearer key becomes a principal; and what a route lets whom do.

Every route states its roles (`allow`) or that it is open to all (`anyone`); a route that states nothing stops the
start of the service, so nothing is open by omission.
"""

import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import sqlalchemy

from jackpot_service.db import transact
from jackpot_service.domain.errors import Forbidden, Unauthenticated
from jackpot_service.domain.principals import Principal, Role
from jackpot_service.records import references
from jackpot_service.usecases.create_key import PREFIX, hash_of

KEPT_S: Final = 15
"""How long a process believes in a key it has seen: a revoked one is refused everywhere within this time."""

MOST_KEPT: Final = 10_000

LONGEST_KEY_ID: Final = 64

View = TypeVar("View", bound=Callable[..., Any])


class BadKeyShown(Unauthenticated):
    """No key, or one that is not in force. What exactly is wrong is not told."""

    code = "unauthenticated"


class RoleForbidden(Forbidden):
    """The key's role may not do this."""

    code = "role-forbidden"


@dataclass(frozen=True, slots=True)
class _Kept:
    secret_hash: bytes
    principal: Principal
    until: float


@dataclass(slots=True)
class Authenticator:
    """Turns keys into principals, and remembers them for a quarter of a minute."""

    engine: sqlalchemy.Engine
    monotonic: Callable[[], float] = time.monotonic
    _kept: dict[str, _Kept] = field(default_factory=dict)

    def principal(self, authorization: str | None) -> Principal:
        """Read an Authorization header. Raises: BadKeyShown."""
        scheme, _, shown = (authorization or "").partition(" ")
        prefix, _, rest = shown.strip().partition("_")
        key_id, _, secret = rest.partition("_")
        if scheme.lower() != "bearer" or prefix != PREFIX or not _is_hex(key_id) or not secret.isascii():
            message = "Send a key as «Authorization: Bearer jk_…»."
            raise BadKeyShown(message)
        kept = self._known(key_id)
        if kept is None or not hmac.compare_digest(kept.secret_hash, hash_of(secret)):
            message = "This key is not in force."
            raise BadKeyShown(message)
        return kept.principal

    def _known(self, key_id: str) -> _Kept | None:
        kept = self._kept.get(key_id)
        if kept is not None and kept.until > self.monotonic():
            return kept
        key = transact(self.engine, lambda session: references.live_key(session, key_id))
        if key is None:
            self._kept.pop(key_id, None)
            return None
        if len(self._kept) >= MOST_KEPT:
            self._kept.clear()
        kept = self._kept[key_id] = _Kept(key.secret_hash, key.principal, self.monotonic() + KEPT_S)
        return kept


def _is_hex(text: str) -> bool:
    return 0 < len(text) <= LONGEST_KEY_ID and all(letter in "0123456789abcdef" for letter in text)


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


def roles_of(view: Callable[..., Any]) -> frozenset[Role] | None:
    """The roles that a view states, None if it is open to all. Raises: LookupError if it states nothing."""
    if not hasattr(view, "roles"):
        message = f"The view {view.__name__} states no roles."
        raise LookupError(message)
    roles: frozenset[Role] | None = view.roles
    return roles


def require_role(principal: Principal, roles: frozenset[Role]) -> None:
    """Raises: RoleForbidden."""
    if principal.role not in roles:
        message = f"A key of role {principal.role} may not do this."
        raise RoleForbidden(message, role=str(principal.role))
