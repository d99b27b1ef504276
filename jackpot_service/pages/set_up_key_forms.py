"""The forms of people and keys, in the words that say how far one operator may go."""

from collections.abc import Mapping
from typing import Final

import flask

from jackpot_service.domain.passkeys import Passkey
from jackpot_service.domain.principals import LONGEST_NAME, LONGEST_SUBJECT, MACHINES, Role
from jackpot_service.pages.choices import casino_choices
from jackpot_service.pages.set_up_forms import REASON, Field, Form, is_yes, words
from jackpot_service.records.keys import ListedKey

PURPOSES: Final = {
    Role.TABLE: "table: a server of a casino's tables",
    Role.DISPLAY: "display: a wall or a feed",
    Role.FINANCE: "finance: of a casino only (for the house: jackpot db key)",
    Role.AUDITOR: "auditor: reads everything",
    Role.OPERATOR: "operator: only your own key",
    Role.RATES: "rates: only by jackpot db key",
}
"""The roles of a key, and how far one operator may make it: see `principals.require_may_create`."""

OF_WHOM: Final = (
    "could ask for changes or approve them, such as those of operators, of rates and of the house's finance"
)

ABOUT_KEYS: Final = (
    f"The key is shown once, on the next page. Keys that {OF_WHOM}, are made by the owner of the database "
    "(jackpot db key). You may make one for yourself."
)

ABOUT_ACCOUNTS: Final = (
    f"The person signs in at their company. Accounts that {OF_WHOM}, are let in by the owner of the database "
    "(jackpot db user)."
)


def _owner_fields(roles: Mapping[str, str]) -> tuple[Field, ...]:
    return (
        Field(
            "principal",
            "Name",
            "Of a person or a machine. A name that looks like an existing one is refused.",
            most=LONGEST_NAME,
        ),
        Field("role", "Role", options=roles),
        Field("casino_id", "Casino", "Without one, it is for the house.", options=casino_choices(), is_required=False),
        Field("department", "Department", "It never changes. If empty, it is named as the role.", is_required=False),
    )


def key_form() -> Form:
    """Return the form by which a key is made."""
    roles = {role.value: text for role, text in PURPOSES.items()}
    return Form(
        "Make a key",
        ABOUT_KEYS,
        "Make the key",
        (
            *_owner_fields(roles),
            Field(
                "table_ids",
                "Tables",
                "Of a table server: the ids of its tables, with spaces between. If empty: all tables of its casino.",
                is_required=False,
                most=10_000,
                read=words,
            ),
            Field(
                "service_account",
                "A service account",
                "The key belongs to a machine, not to a person: it approves nothing, and cannot sign in here.",
                kind="checkbox",
                is_required=False,
                read=is_yes,
            ),
            REASON,
        ),
        flask.url_for("pages.show_set_up_keys"),
        "keys",
    )


def person_form() -> Form:
    """Return the form by which somebody with a company account is let in."""
    roles = {role.value: text for role, text in PURPOSES.items() if role not in MACHINES}
    return Form(
        "Let in a company account",
        ABOUT_ACCOUNTS,
        "Let them in",
        (
            *_owner_fields(roles),
            Field(
                "subject",
                "Subject",
                "The `sub` of the account. A person who signs in without being let in reads it there.",
                most=LONGEST_SUBJECT,
            ),
            REASON,
        ),
        flask.url_for("pages.show_set_up_keys"),
        "keys",
    )


def revocation_form(key: ListedKey) -> Form:
    """Return the form by which a key is revoked."""
    return _revocation_form(
        key,
        "key",
        f"The key {key.key_id} of {key.principal.name} stops working everywhere within 15 seconds, for good. "
        "Sessions that began with it end too.",
    )


def passkey_revocation_form(key: ListedKey, passkey: Passkey) -> Form:
    """Return the form by which a passkey of a key's owner is revoked."""
    return _revocation_form(
        key,
        "passkey",
        f"The passkey “{passkey.name}” of {key.principal.name} can never again sign in or sign approvals. "
        "Their keys and other passkeys stay. Without a passkey, their approvals are not signed.",
    )


def _revocation_form(key: ListedKey, revoked: str, sentence: str) -> Form:
    return Form(
        f"Revoke a {revoked}",
        sentence,
        f"Revoke the {revoked}",
        (REASON,),
        flask.url_for("pages.show_key", key_id=key.key_id),
        "keys",
        is_grave=True,
    )


def sign_out_form(key: ListedKey) -> Form:
    """Return the form by which the owner of a key is signed out."""
    reason = Field("reason", "Reason", "It is kept in the log of the service.", most=500)
    return Form(
        "Sign somebody out",
        f"All sessions of {key.principal.name} end now, in every browser. They can sign in again; revoke their keys "
        "to keep them out.",
        "Sign them out",
        (reason,),
        flask.url_for("pages.show_key", key_id=key.key_id),
        "keys",
    )
