"""A principal, who speaks to the ledger: with one role, perhaps bound to a casino and to some of its tables."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from jackpot_service.domain.errors import Conflict, Forbidden, Refused
from jackpot_service.domain.shapes import DEPARTMENT

LONGEST_NAME = 100

NAME_LETTERS = " -~À-ÖØ-öø-ıĴ-ľŁ-ňŊ-žƠơƯưȘ-țḀ-ẕẞẠ-ỹΆΈ-ΊΌΎ-ΡΣ-ώЀ-џҊ-ӿ"
"""
The letters of a new name, as ranges of a regular expression: ASCII and the letters of Latin, Greek and Cyrillic.

Of these the database knows which look alike; see docs/decisions/people-and-keys.md.
"""

_LEGIBLE = re.compile(f"[{NAME_LETTERS}]+")

LONGEST_SUBJECT = 255
"""The most characters that OpenID Connect allows."""

MOST_LIVE_KEYS = 2
"""The old one and the new one, while they rotate. Secrets and subjects are counted apart."""


class BadPrincipal(Refused, code="principal-invalid", title="Invalid principal"):
    """There can be no such principal: its name is none, or its role and its casino do not go together."""


class PrincipalConflict(Conflict, code="principal-conflict", title="The name belongs to another principal"):
    """The name belongs to somebody with another role, casino or department, or only its spelling differs."""


class KeyForbidden(Forbidden, code="key-forbidden", title="Such a key is made by the owner of the database only"):
    """Its user could request or approve changes; one person with two such keys could approve their own requests."""


class UserRequired(Forbidden, code="user-required", title="A user must do this"):
    """A person has to do this: no service account, and no key of a table, may."""


class KeyLimitReached(Conflict, code="key-limit-reached", title="One of the keys must be revoked first"):
    """The principal has as many live keys as rotation needs."""


class Role(StrEnum):
    """The purpose of a principal, which decides what it may do."""

    TABLE = "table"
    FINANCE = "finance"
    RATES = "rates"
    OPERATOR = "operator"
    AUDITOR = "auditor"
    DISPLAY = "display"


READERS: Final = frozenset(Role) - {Role.DISPLAY}
"""The roles that may read what is no secret among those with a key. A display may read its feed, and nothing else."""


CHANGE_ROLES: Final = frozenset({Role.FINANCE, Role.OPERATOR, Role.RATES})
"""The roles that a change policy may name. Tables are machines, and an auditor looks at what others decided."""

MACHINES: Final = frozenset({Role.TABLE, Role.DISPLAY})
"""The roles that are never a person's."""


@dataclass(frozen=True, slots=True)
class Principal:
    """
    A user or a service account, as a key names it.

    A name stands for one of them, with one role, one casino and one department; which tables it may see, each of its
    keys says. A principal with a casino sees that casino only; one with tables, those tables only. Table servers and
    displays are service accounts, and so is an owner of a key that was made for an automaton. A service account may
    request a change and never approves one. Unless stated, the department has the role's name.
    """

    name: str
    role: Role
    casino_id: str | None = None
    table_ids: frozenset[str] = frozenset()
    is_automaton: bool = False
    department: str = ""

    def __post_init__(self) -> None:
        """Fill in the department."""
        if not self.department:
            object.__setattr__(self, "department", self.role.value)

    @property
    def is_service_account(self) -> bool:
        """Whether nobody stands behind it who could approve something."""
        return self.is_automaton or self.role in MACHINES

    @property
    def may_request(self) -> bool:
        """Whether a change policy could let it ask for changes: nobody of a casino asks for those of the house."""
        return self.casino_id is None and self.role in CHANGE_ROLES

    @property
    def may_approve(self) -> bool:
        """Whether a change policy could let it approve what somebody else asked for."""
        return self.may_request and not self.is_service_account

    def sees_casino(self, casino_id: str) -> bool:
        """Whether the casino's rounds, bets and awards are shown to it."""
        return self.casino_id is None or self.casino_id == casino_id

    def sees_table(self, table_id: str, casino_id: str) -> bool:
        """Whether a table of a casino is shown to it."""
        return self.sees_casino(casino_id) and (not self.table_ids or table_id in self.table_ids)


SYSTEM_OPERATOR = Principal("cli", Role.OPERATOR, is_automaton=True)
"""The user of commands that work with the database itself: an operator, by right of its login. Nobody knows who it is,
so it approves nothing: a user who approves shows a key."""


def require_possible(principal: Principal) -> None:
    """Raises: BadPrincipal for a name, or a binding, that nobody can have."""
    name = principal.name
    is_plain = name.isprintable() and name == " ".join(name.split())
    if not (is_plain and 0 < len(name) <= LONGEST_NAME):
        message = f"A name is a plain text of 1 to {LONGEST_NAME} characters, with single spaces."
        raise BadPrincipal(message)
    if name.casefold() == SYSTEM_OPERATOR.name:
        message = f"The name {SYSTEM_OPERATOR.name} stands for whoever runs the command line."
        raise BadPrincipal(message)
    if principal.role is Role.TABLE and principal.casino_id is None:
        message = "A table server belongs to a casino."
        raise BadPrincipal(message)
    if principal.role in {Role.RATES, Role.OPERATOR, Role.AUDITOR} and principal.casino_id is not None:
        message = f"The role {principal.role} is not bound to a casino."
        raise BadPrincipal(message)
    if principal.table_ids and principal.role is not Role.TABLE:
        message = f"The role {principal.role} is not bound to tables."
        raise BadPrincipal(message)
    if not DEPARTMENT.fullmatch(principal.department):
        message = "A department is 1 to 64 small letters, digits and hyphens."
        raise BadPrincipal(message)


def require_legible(name: str) -> None:
    """Raises: BadPrincipal for a new name with letters of which it is not known which others they look like."""
    if not _LEGIBLE.fullmatch(name):
        message = "A name is written in letters of Latin, Greek or Cyrillic, and in what ASCII has besides."
        raise BadPrincipal(message)


def is_subject(text: object) -> bool:
    """Whether an issuer may name somebody so: 1 to 255 ASCII characters, by OpenID Connect; here, without control."""
    return isinstance(text, str) and 0 < len(text) <= LONGEST_SUBJECT and text.isascii() and text.isprintable()


def require_may_create(creator: Principal, principal: Principal) -> None:
    """
    Hold that nobody alone gets a second name for a change: such keys are made by the owner of the database.

    That is a key that asks for changes or approves them, whatever the policy, also a service account's: it could
    request what the creator then approves. Raises: KeyForbidden, unless it is the creator's own, who rotates it.
    """
    if principal.may_request and creator.name not in {principal.name, SYSTEM_OPERATOR.name}:
        message = (
            f"{principal.name} could ask for changes or approve them: "
            "«jackpot db key» makes that key, by the login that owns the database."
        )
        raise KeyForbidden(message)


def require_same(known: Principal, named: Principal) -> None:
    """
    Hold that both are one: in name, role, casino, department, and in being a user or a service account.

    A name that looks like the known one, or is it in other letters, is another and refused. Raises: PrincipalConflict.
    """
    if known.name != named.name:
        message = f"{named.name} looks like {known.name}, or is the same in other letters: that name is taken."
        raise PrincipalConflict(message, principal=known.name)
    if _identity(known) != _identity(named):
        message = f"{known.name} is {_in_words(known)}; it cannot be {_in_words(named)} as well."
        raise PrincipalConflict(message, principal=known.name)


def require_room(principal: str, *, live: int) -> None:
    """Raises: KeyLimitReached if a principal has as many live keys as it may."""
    if live >= MOST_LIVE_KEYS:
        message = f"{principal} has {live} live keys: revoke one."
        raise KeyLimitReached(message, principal=principal)


def _identity(principal: Principal) -> tuple[Role, str | None, str, bool]:
    return principal.role, principal.casino_id, principal.department, principal.is_service_account


def _in_words(principal: Principal) -> str:
    kind = "a service account" if principal.is_service_account else "a user"
    place = "" if principal.casino_id is None else f" of casino {principal.casino_id}"
    return f"{kind} of role {principal.role}{place}, department {principal.department}"
