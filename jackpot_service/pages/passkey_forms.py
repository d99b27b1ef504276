"""The parts of forms that a passkey answers: the options for the browser, and the answer that comes back."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import orjson
from marshmallow import ValidationError

from jackpot_service import passkeys as ceremonies
from jackpot_service.api.passkeys import AssertionSchema, assertion_of, site
from jackpot_service.api.request_context import look, now
from jackpot_service.auth.browser_sessions import SignedIn
from jackpot_service.domain.passkeys import BadAssertion
from jackpot_service.pages.cookies import cookie
from jackpot_service.passkeys import Assertion
from jackpot_service.records import passkeys as records
from jackpot_service.usecases.passkeys import ANSWERED_WITHIN

NO_ANSWER: Final = "The passkey gave no answer that can be read. Try again."

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNIT: Final = timedelta(microseconds=1)
_BYTES_OF_TIME: Final = 8
_LATEST: Final = (datetime(9999, 1, 1, tzinfo=UTC) - _EPOCH) // _UNIT


class OldQuestion(Exception):
    """The form was shown too long ago: its browser is asked anew."""


@dataclass(frozen=True, slots=True)
class Question:
    """The challenge of a form, and when that was shown."""

    challenge: bytes
    asked_at: datetime


def options_of_sign_in() -> Mapping[str, Any]:
    """Return what a browser is asked for at a sign-in: any passkey of this site, which names its person."""
    return ceremonies.request_options(site(), _challenge(now()))


def options_of_proof(shown: SignedIn) -> Mapping[str, Any] | None:
    """Return what a browser is asked for where a person shows again who they are; None if they have no passkey."""
    known = look(lambda session: records.live_of(session, shown.principal.name, rp_id=site().rp_id))
    return ceremonies.request_options(site(), _challenge(now()), known=known) if known else None


def _challenge(at: datetime) -> bytes:
    """
    Return the challenge of a form that is shown at a time: that time, and a hash by the secret of the cookie.

    Nobody else knows the secret, so nothing is stored of people whom nobody knows yet. It is good once: a passkey that
    has signed something since the form was shown is refused, as `require_signature` says.
    """
    time = ((at - _EPOCH) // _UNIT).to_bytes(_BYTES_OF_TIME, "big")
    return time + hmac.new(cookie().secret.encode(), b"passkey " + time, hashlib.sha256).digest()


def question_of(assertion: Assertion) -> Question:
    """
    Return what was answered, if it is of a form of this browser.

    Raises: BadAssertion if it is not; OldQuestion if the form was shown too long ago.
    """
    challenge = ceremonies.challenge_in(assertion.client_data)
    time = int.from_bytes(challenge[:_BYTES_OF_TIME], "big")
    asked_at = _EPOCH + min(time, _LATEST) * _UNIT
    if not hmac.compare_digest(challenge, _challenge(asked_at)):
        message = "It answers another question than this browser was asked."
        raise BadAssertion(message)
    if not timedelta(0) <= now() - asked_at < ANSWERED_WITHIN:
        raise OldQuestion
    return Question(challenge, asked_at)


def assertion_in(form: Mapping[str, str]) -> Assertion | None:
    """Read the assertion in a form; None if it has none. Raises: BadAssertion."""
    text = form.get("assertion", "")
    if not text:
        return None
    try:
        return assertion_of(AssertionSchema().load(orjson.loads(text)))
    except (orjson.JSONDecodeError, ValidationError) as error:
        raise BadAssertion(NO_ANSWER) from error
