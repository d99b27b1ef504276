"""Problems of keys, and of who may do what."""

from typing import Final

from jackpot_service.api.entrance import TooManyRequests
from jackpot_service.api.problem_catalogue.rows import Section, row, text, texts
from jackpot_service.auth.authenticator import BadKeyShown, RoleForbidden
from jackpot_service.auth.issuer import IssuerUnavailable
from jackpot_service.domain.passkeys import (
    BadRegistration,
    LastPasskey,
    PasskeyLimitReached,
    PasskeyNotShown,
    PasskeyRevoked,
    PasskeyTaken,
    UnknownPasskey,
)
from jackpot_service.domain.principals import (
    BadPrincipal,
    KeyForbidden,
    KeyLimitReached,
    PrincipalConflict,
    UserRequired,
)
from jackpot_service.usecases.keys import KeyRevoked, NoIssuer, UnknownKey

KEYS: Final = Section.of(
    "Keys and roles",
    row(BadKeyShown, "Send `Authorization: Bearer …` with a key in force, or a token of the configured issuer."),
    row(
        RoleForbidden,
        "Use a key of one of the roles that `roles` names. Where a key of a casino may not, use a key of the house.",
        role=text("The role of the key."),
        roles=texts("The roles that may do it, where the key's is none of them.", is_always=False),
    ),
    row(TooManyRequests, "Wait for `Retry-After` seconds. Send bets in batches, and share no key among servers."),
    row(IssuerUnavailable, "Send the same call again; use a key if it is urgent."),
    row(
        UserRequired,
        "Have a person do it, with their own key or token.",
        award_id=text("The award, where more than one person approves its payment.", is_always=False),
    ),
    row(BadPrincipal, "Correct the name, or the casino and tables that the role is bound to."),
    row(
        PrincipalConflict,
        "Use another name, or create the key for the principal as it is.",
        principal=text("The principal who has the name."),
    ),
    row(KeyForbidden, "Have the owner of the database make the key (`jackpot db key`)."),
    row(
        KeyLimitReached,
        "Revoke a key of the principal, then create the next.",
        principal=text("The principal."),
    ),
    row(UnknownKey, "Check the key's id in `GET /v1/keys`.", key_id=text("The id.")),
    row(NoIssuer, "Create a key, or configure the issuer (`JACKPOT_OIDC_ISSUER`)."),
    row(KeyRevoked, "Nothing is to be done.", key_id=text("The key.")),
    row(BadRegistration, "Begin anew: `POST /v1/passkeys/options`; the detail names what is wrong."),
    row(PasskeyTaken, "Use the passkey, or another authenticator."),
    row(PasskeyNotShown, "Sign in to the pages with a passkey, and add the next at `/account`."),
    row(
        LastPasskey,
        "Add another passkey first, or have another person, an operator, revoke it on the page of your key.",
    ),
    row(PasskeyLimitReached, "Revoke a passkey, then register the next."),
    row(UnknownPasskey, "Check the id in `GET /v1/passkeys`.", passkey_id=text("The id.")),
    row(PasskeyRevoked, "Nothing is to be done.", passkey_id=text("The passkey.")),
)
