"""The parts of forms that a passkey answers: the options for the browser, and the answer that comes back."""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import orjson
from marshmallow import ValidationError

from jackpot_service import passkeys as ceremonies
from jackpot_service.api.passkeys import AssertionSchema, assertion_of, site
from jackpot_service.api.request_context import look
from jackpot_service.auth.browser_sessions import SignedIn
from jackpot_service.domain.passkeys import BadAssertion
from jackpot_service.pages.cookies import cookie
from jackpot_service.passkeys import Assertion
from jackpot_service.records import passkeys as records

NO_ANSWER: Final = "The passkey gave no answer that can be read. Try again."


def options_of_sign_in() -> Mapping[str, Any]:
    """Return what a browser is asked for at a sign-in: any passkey of this site, which names its person."""
    return ceremonies.request_options(site(), challenge_of_cookie())


def options_of_proof(shown: SignedIn) -> Mapping[str, Any] | None:
    """Return what a browser is asked for where a person shows again who they are; None if they have no passkey."""
    live = look(lambda session: records.live_of(session, shown.principal.name))
    known = [listed.passkey for listed in live if listed.passkey.rp_id == site().rp_id]
    return (
        ceremonies.request_options(site(), challenge_of_cookie(shown.session.proved_at), known=known) if known else None
    )


def challenge_of_cookie(proved_at: datetime | None = None) -> bytes:
    """
    Return the challenge of a sign-in, or of a proof by somebody who last proved at a time who they are.

    It follows from the secret of the cookie, which nobody else knows and each sign-in replaces, and from that time. So
    it is good once, and nothing is stored of people whom nobody knows yet.
    """
    about = "" if proved_at is None else proved_at.isoformat()
    return hmac.new(cookie().secret.encode(), f"passkey {about}".encode(), hashlib.sha256).digest()


def assertion_in(form: Mapping[str, str]) -> Assertion | None:
    """Read the assertion in a form; None if it has none. Raises: BadAssertion."""
    text = form.get("assertion", "")
    if not text:
        return None
    try:
        return assertion_of(AssertionSchema().load(orjson.loads(text)))
    except (orjson.JSONDecodeError, ValidationError) as error:
        raise BadAssertion(NO_ANSWER) from error
