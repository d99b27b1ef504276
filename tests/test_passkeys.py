"""What authenticators answer: what is good is taken, and whatever is wrong is refused by a sentence."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import cbor2
import pytest

from jackpot_service import passkeys
from jackpot_service.domain.passkeys import BadAssertion, BadRegistration, Passkey
from jackpot_service.passkeys import Assertion, NewCredential, Site
from tests.support.authenticator import ATTESTED, ORIGIN, THERE, USER_PRESENT, USER_VERIFIED, Authenticator

CHALLENGE: Final = b"c" * 32
ELSEWHERE: Final = Site("jackpot.example", "https://jackpot.example")
HUGE: Final = b"\x5b\x7f\xff\xff\xff\xff\xff\xff\xff"
"""The head of a text of nine quintillion bytes."""


def creation() -> dict[str, Any]:
    return passkeys.creation_options(passkeys.LOCALHOST, "Bob", CHALLENGE, known=())


def registered(authenticator: Authenticator) -> Passkey:
    made = passkeys.registered(authenticator.make(creation()), passkeys.LOCALHOST, CHALLENGE)
    return Passkey("p", "Bob", "blue", made.credential_id, made.public_key, made.sign_count, "localhost")


def request(site: Site = passkeys.LOCALHOST) -> dict[str, Any]:
    return passkeys.request_options(site, CHALLENGE)


def require(assertion: Assertion, passkey: Passkey, *, sign_count: int = 0, site: Site = passkeys.LOCALHOST) -> int:
    return passkeys.require_signed(assertion, passkey, site, CHALLENGE, sign_count=sign_count)


def test_options_ask_for_a_person_who_is_recognised_and_for_another_passkey_than_those_known() -> None:
    known = registered(Authenticator())
    options = passkeys.creation_options(passkeys.LOCALHOST, "Bob", CHALLENGE, known=[known])
    assert options["rp"] == {"name": "Jackpot ledger", "id": "localhost"}
    assert options["user"]["name"] == "Bob"
    assert options["authenticatorSelection"]["userVerification"] == "required"
    assert len(options["excludeCredentials"]) == 1
    assert options["attestation"] == "none"
    assert passkeys.request_options(passkeys.LOCALHOST, CHALLENGE, known=[known])["userVerification"] == "required"


def test_what_a_registered_passkey_signs_is_good() -> None:
    authenticator = Authenticator()
    passkey = registered(authenticator)
    assert passkey.public_key == authenticator.public_key
    assert require(authenticator.sign(request()), passkey) == 1
    assert require(authenticator.sign(request()), passkey, sign_count=1) == 2


def test_an_authenticator_that_counts_nothing_is_good() -> None:
    authenticator = Authenticator(counts=False)
    passkey = registered(authenticator)
    assert require(authenticator.sign(request()), passkey) == 0
    assert require(authenticator.sign(request()), passkey) == 0


def altered(assertion: Assertion, **members: Any) -> Assertion:
    client = json.loads(assertion.client_data)
    return replace(assertion, client_data=json.dumps({**client, **members}).encode())


WRONG_CLIENTS: Final[dict[str, Any]] = {
    "another origin": {"origin": "https://evil.example"},
    "the origin of another scheme": {"origin": "ftp://localhost:8000"},
    "an origin that only begins so": {"origin": "http://localhost.evil.example"},
    "an origin that is a list": {"origin": [ORIGIN]},
    "within a page of another site": {"crossOrigin": True},
    "another challenge": {"challenge": "eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHg"},
    "a challenge that is a number": {"challenge": 1},
    "a challenge that is no base64": {"challenge": "\N{HEBREW LETTER ALEF}"},
    "the answer to another question": {"type": "webauthn.create"},
}


@pytest.mark.parametrize("members", WRONG_CLIENTS.values(), ids=WRONG_CLIENTS.keys())
def test_an_assertion_for_something_else_is_refused(members: dict[str, Any]) -> None:
    authenticator = Authenticator()
    passkey = registered(authenticator)
    with pytest.raises(BadAssertion):
        require(authenticator.sign(request(), **members), passkey)


@pytest.mark.parametrize("members", WRONG_CLIENTS.values(), ids=WRONG_CLIENTS.keys())
def test_a_registration_for_something_else_is_refused(members: dict[str, Any]) -> None:
    stated = {"type": "webauthn.get"} if "type" in members else members
    with pytest.raises(BadRegistration):
        passkeys.registered(Authenticator().make(creation(), **stated), passkeys.LOCALHOST, CHALLENGE)


def test_a_site_with_an_address_takes_its_own_origin_alone() -> None:
    authenticator = Authenticator(origin="https://jackpot.example", rp_id="jackpot.example")
    made = passkeys.registered(authenticator.make(creation()), ELSEWHERE, CHALLENGE)
    passkey = Passkey("p", "Bob", "x", made.credential_id, made.public_key, 0, "jackpot.example")
    require(authenticator.sign(request()), passkey, site=ELSEWHERE)
    for origin in ("https://jackpot.example:8443", "http://jackpot.example", "https://a.jackpot.example"):
        authenticator.origin = origin
        with pytest.raises(BadAssertion, match="not of this site"):
            require(authenticator.sign(request()), passkey, site=ELSEWHERE)


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"rp_id": "jackpot.example"}, "RP ID"),
        ({"flags": USER_VERIFIED}, "not present"),
        ({"flags": USER_PRESENT}, "not verified"),
        ({"flags": THERE | ATTESTED}, "malformed"),
        ({"flags": THERE | 0x80}, "malformed"),
        ({"flags": THERE | 0x10}, "backed up"),
    ],
)
def test_an_authenticator_that_states_something_else_is_refused(stated: dict[str, Any], message: str) -> None:
    authenticator = Authenticator()
    passkey = registered(authenticator)
    for name, value in stated.items():
        setattr(authenticator, name, value)
    with pytest.raises(BadAssertion, match=message):
        require(authenticator.sign(request()), passkey)


@pytest.mark.parametrize("stated", [{"rp_id": "jackpot.example"}, {"flags": USER_VERIFIED}, {"flags": USER_PRESENT}])
def test_a_new_passkey_of_another_domain_or_of_nobody_who_was_there_is_refused(stated: dict[str, Any]) -> None:
    with pytest.raises(BadRegistration):
        passkeys.registered(Authenticator(**stated).make(creation()), passkeys.LOCALHOST, CHALLENGE)


@pytest.mark.parametrize("sign_count", [1, 7])
def test_a_counter_that_goes_back_or_stands_still_is_refused(sign_count: int) -> None:
    authenticator = Authenticator()
    passkey = registered(authenticator)
    with pytest.raises(BadAssertion, match="sign count"):
        require(authenticator.sign(request()), passkey, sign_count=sign_count)


def test_the_signature_of_another_passkey_is_refused() -> None:
    authenticator, another = Authenticator(), Authenticator()
    passkey = registered(authenticator)
    with pytest.raises(BadAssertion, match="signature"):
        require(another.sign(request()), passkey)


BYTES: Final[dict[str, Callable[[bytes], bytes]]] = {
    "nothing": lambda _: b"",
    "a byte": lambda _: b"\x00",
    "cut": lambda content: content[:-1],
    "cut in the middle": lambda content: content[: len(content) // 2],
    "longer": lambda content: content + b"\x00",
    "a bit changed": lambda content: content[:-1] + bytes([content[-1] ^ 1]),
    "a list in lists": lambda _: b"[" * 100_000,
    "CBOR in CBOR": lambda _: b"\x81" * 100_000,
    "a huge head": lambda _: HUGE,
    "no text": lambda _: b"\xff\xfe\xfd",
    "another document": lambda _: b'"text"',
    "a megabyte": lambda _: b"a" * 1_000_000,
}


@pytest.mark.parametrize("how", BYTES.values(), ids=BYTES.keys())
@pytest.mark.parametrize("part", ["authenticator_data", "client_data", "signature"])
def test_a_part_that_is_malformed_is_refused(part: str, how: Callable[[bytes], bytes]) -> None:
    authenticator = Authenticator()
    passkey = registered(authenticator)
    assertion = authenticator.sign(request())
    with pytest.raises(BadAssertion):
        require(replace(assertion, **{part: how(getattr(assertion, part))}), passkey)


@pytest.mark.parametrize("part", ["client_data", "attestation_object"])
@pytest.mark.parametrize("name", sorted(BYTES.keys() - {"longer"}))
def test_a_part_of_a_registration_that_is_malformed_is_refused(part: str, name: str) -> None:
    how = BYTES[name]
    new = Authenticator().make(creation())
    with pytest.raises(BadRegistration):
        passkeys.registered(replace(new, **{part: how(getattr(new, part))}), passkeys.LOCALHOST, CHALLENGE)


KEYS: Final[dict[str, Any]] = {
    "no map": [1, 2],
    "empty": {},
    "without its kind": {3: -7},
    "of an unknown kind": {1: 99, 3: -7},
    "of an unknown algorithm": {1: 2, 3: -999, -1: 1, -2: bytes(32), -3: bytes(32)},
    "of a hash that is broken": {1: 3, 3: -65535, -1: b"\x01" * 256, -2: b"\x01\x00\x01"},
    "a point beside the curve": {1: 2, 3: -7, -1: 1, -2: b"\x01" * 32, -3: b"\x01" * 32},
    "half a point": {1: 2, 3: -7, -1: 1, -2: bytes(32)},
    "a point of texts": {1: 2, 3: -7, -1: 1, -2: "x", -3: "y"},
}


class Strange(Authenticator):
    """An authenticator whose public key is what a test says."""

    stated: object = None

    @property
    def public_key(self) -> bytes:
        return cbor2.dumps(self.stated)


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS.keys())
def test_a_public_key_that_is_none_is_refused(key: object) -> None:
    authenticator = Strange()
    authenticator.stated = key
    with pytest.raises(BadRegistration):
        passkeys.registered(authenticator.make(creation()), passkeys.LOCALHOST, CHALLENGE)


def test_an_attestation_that_needs_certificates_is_refused() -> None:
    new = Authenticator().make(creation())
    attestation = cbor2.loads(new.attestation_object)
    for fmt in ("tpm", "android-safetynet", "fido-u2f", "apple", "nonsense", 7, None):
        changed = replace(new, attestation_object=cbor2.dumps({**attestation, "fmt": fmt}))
        with pytest.raises(BadRegistration):
            passkeys.registered(changed, passkeys.LOCALHOST, CHALLENGE)


@pytest.mark.parametrize(("length", "is_taken"), [(1023, True), (1024, False)])
def test_a_credential_has_an_id_of_a_thousand_bytes_at_most(length: int, *, is_taken: bool) -> None:
    authenticator = Authenticator(credential_id=b"c" * length)
    if is_taken:
        assert registered(authenticator).credential_id == authenticator.credential_id
    else:
        with pytest.raises(BadRegistration, match="longer than 1023 bytes"):
            registered(authenticator)


def test_the_browser_and_the_authenticator_name_one_credential() -> None:
    new = Authenticator().make(creation())
    with pytest.raises(BadRegistration, match="another credential"):
        passkeys.registered(NewCredential(b"x", new.client_data, new.attestation_object), passkeys.LOCALHOST, CHALLENGE)


@pytest.mark.parametrize("text", ["", "a", "a=", "YQ==", "Y+", "Y/", "YR", "Y\nQ", None, 1, "\N{SNOWMAN}"])
def test_only_base64url_as_it_is_written_is_read(text: object) -> None:
    with pytest.raises(ValueError, match="is not base64url"):
        passkeys.bytes_of(text)


@pytest.mark.parametrize(
    ("origin", "rp_id", "is_of_it"),
    [
        ("http://localhost", "localhost", True),
        ("http://localhost:65535", "localhost", True),
        ("http://localhost:8000/", "localhost", False),
        ("http://a.localhost", "localhost", False),
        ("http://127.0.0.1:8000", "localhost", False),
        ("https://jackpot.example", "jackpot.example", True),
        ("https://a.jackpot.example:8443", "jackpot.example", True),
        ("http://jackpot.example", "jackpot.example", False),
        ("https://jackpotxexample", "jackpot.example", False),
        ("https://evil-jackpot.example", "jackpot.example", False),
    ],
)
def test_an_origin_is_of_its_domain_by_https_or_of_this_machine(origin: str, rp_id: str, *, is_of_it: bool) -> None:
    assert passkeys.is_origin_of(origin, rp_id) is is_of_it
