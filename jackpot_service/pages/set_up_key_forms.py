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
    Role.FINANCE: "finance: of a casino; that of the house is made with the database",
    Role.AUDITOR: "auditor: reads everything",
    Role.OPERATOR: "operator: your own alone",
    Role.RATES: "rates: made with the database",
}
"""The roles of a key, and how far one operator may make it: see `principals.require_may_create`."""

OF_WHOM: Final = (
    "could ask for changes or approve them, such as those of operators, of rates and of the house's finance"
)

ABOUT_KEYS: Final = (
    f"It is shown on the next page, once. Keys that {OF_WHOM}, are made by the owner of the database (jackpot db key). "
    "You may make your own."
)

ABOUT_ACCOUNTS: Final = (
    f"The person signs in at their company. Accounts that {OF_WHOM}, are let in by the owner of the database "
    "(jackpot db user)."
)


def _owner_fields(roles: Mapping[str, str]) -> tuple[Field, ...]:
    return (
        Field(
            "principal", "Name", "Of a person or a machine. One that looks like another is refused.", most=LONGEST_NAME
        ),
        Field("role", "Role", options=roles),
        Field("casino_id", "Casino", "Without one it is the house.", options=casino_choices(), is_required=False),
        Field("department", "Department", "For ever. Without one it is named as the role.", is_required=False),
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
                "Of a table server: their ids, with spaces between. Without any all tables of its casino.",
                is_required=False,
                most=10_000,
                read=words,
            ),
            Field(
                "service_account",
                "A service account",
                "No person stands behind the key: it approves nothing, and opens no pages.",
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
        f"The key {key.key_id} of {key.principal.name} is refused everywhere within 15 seconds, for good. "
        "Sessions that it began end with it.",
    )


def passkey_revocation_form(key: ListedKey, passkey: Passkey) -> Form:
    """Return the form by which a passkey of a key's owner is revoked."""
    return _revocation_form(
        key,
        "passkey",
        f"The passkey “{passkey.name}” of {key.principal.name} signs in nobody and signs nothing any more, for good. "
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
    reason = Field("reason", "Reason", "It stands in the log of the service.", most=500)
    return Form(
        "Sign somebody out",
        f"All sessions of {key.principal.name} end now, in every browser. They can sign in again; revoke their keys "
        "to keep them out.",
        "Sign them out",
        (reason,),
        flask.url_for("pages.show_key", key_id=key.key_id),
        "keys",
    )
