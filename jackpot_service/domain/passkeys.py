"""Passkeys: public keys of people, whose other halves their authenticators keep, and what those have signed."""

from dataclasses import dataclass
from typing import Final

from jackpot_service.domain import facts
from jackpot_service.domain.errors import Conflict, Forbidden, NotFound, Refused
from jackpot_service.domain.facts import Facts

LONGEST_NAME: Final = 100
"""Characters of a name that a person gives a passkey."""

LONGEST_CREDENTIAL_ID: Final = 1023
"""Bytes. Source: Web Authentication Level 3, 4, Credential ID."""

MOST_LIVE: Final = 10
"""Passkeys that a person may have at a time."""


class BadAssertion(Refused, code="assertion-invalid", title="The passkey's answer is not accepted"):
    """The passkey's answer is malformed, of another site or question, or not signed by a passkey of this person."""


class BadRegistration(Refused, code="passkey-invalid", title="The new passkey is not accepted"):
    """The authenticator's answer is malformed, of another site, or belongs to options that are too old or unknown."""


class PasskeyRequired(Forbidden, code="passkey-required", title="A passkey must sign the approval"):
    """The approver has a passkey, or the change policy asks for one, and the approval came without an assertion."""


class EffectMoved(Conflict, code="effect-moved", title="The change would do something else than was signed"):
    """The books have moved since the effect was shown: the approval was taken back, and nothing was done."""


class UnknownPasskey(NotFound, code="passkey-unknown", title="Unknown passkey"):
    """No passkey of this id, or it is somebody else's."""


class PasskeyRevoked(Conflict, code="passkey-revoked", title="The passkey was revoked before"):
    """The passkey was revoked before, by another request."""


class LastPasskey(Forbidden, code="passkey-last", title="Another person revokes the last passkey"):
    """The caller has no other passkey: from then on a key alone would approve, with no signature."""


class PasskeyNotShown(Forbidden, code="passkey-not-shown", title="A passkey must be shown first"):
    """The caller has a passkey and has not shown it: a key alone cannot add another one."""


class PasskeyLimitReached(Conflict, code="passkey-limit-reached", title="One of the passkeys must be revoked first"):
    """The person has as many passkeys as anybody may have."""


class PasskeyTaken(Conflict, code="passkey-taken", title="The passkey is registered already"):
    """The authenticator's credential was registered before, and stays its person's for ever."""


@dataclass(frozen=True, slots=True)
class Passkey:
    """
    A passkey: the person whom it shows, the name that they gave it, and what its signatures are checked with.

    `public_key` is a COSE key, as WebAuthn has it. `sign_count` is the authenticator's counter at the registration: 0
    for ever of one that counts nothing. `rp_id` is the domain for which it signs, and no other.
    """

    passkey_id: str
    principal: str
    name: str
    credential_id: bytes
    public_key: bytes
    sign_count: int
    rp_id: str

    @property
    def facts(self) -> Facts:
        """The facts that acts record of it."""
        return facts.facts_of_passkey(
            passkey_id=self.passkey_id,
            principal=self.principal,
            name=self.name,
            credential_id=self.credential_id,
            public_key=self.public_key,
            sign_count=self.sign_count,
            rp_id=self.rp_id,
        )


@dataclass(frozen=True, slots=True)
class SignedApproval:
    """
    An assertion as it is kept with the approval that it signs, and the effect that the approver was shown.

    The challenge in `client_data` is the SHA-256 of the change request together with this effect.
    """

    passkey_id: str
    authenticator_data: bytes
    client_data: bytes
    signature: bytes
    effect: Facts

    @property
    def facts(self) -> Facts:
        """The facts that the act of the approval records of it."""
        return facts.facts_of_assertion(
            passkey_id=self.passkey_id,
            authenticator_data=self.authenticator_data,
            client_data=self.client_data,
            signature=self.signature,
            effect=self.effect,
        )
