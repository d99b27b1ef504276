"""The bytes that an approver signs: as docs/changes.md shows them, and as a stranger checks them by the audit trail."""

import hashlib
import json
import re
from base64 import urlsafe_b64decode
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

from jackpot_service.domain.changes import Change
from jackpot_service.domain.principals import Role
from jackpot_service.usecases.changes.signed_effects import challenge_of
from tests.support.answers import Body
from tests.support.authenticator import Authenticator, body_of_assertion, body_of_credential
from tests.support.every_kind import PAYLOADS
from tests.support.world import World

PAGE: Final = Path(__file__).parents[2] / "docs" / "changes.md"
APPROVAL: Final = "/v1/change-requests/q1/approval"


def printed() -> tuple[str, str]:
    """Read the document of the page, without its line breaks, and the hash that the page states."""
    match = re.search(r"has the SHA-256\n`([0-9a-f]{64})`.\n\n```json\n(.*?)\n```", PAGE.read_text("utf-8"), re.DOTALL)
    assert match
    return match[2].replace("\n", ""), match[1]


def test_the_printed_document_is_what_is_signed() -> None:
    text, stated = printed()
    assert hashlib.sha256(text.encode()).hexdigest() == stated
    document = json.loads(text)
    request = document["request"]
    change = Change(
        request_id=request["request_id"],
        kind=request["kind"],
        subject=request["subject"],
        jackpot_id=request["jackpot_id"],
        payload=request["payload"],
        reason=request["reason"],
        base_version=request["base_version"],
        to_confirm=request["confirm"],
        maker=request["maker"],
        made_at=datetime.fromisoformat(request["made_at"]),
        expires_at=datetime.fromisoformat(request["expires_at"]),
        approvals_due=request["approvals_due"],
    )
    assert challenge_of(change, document["effect"], is_emergency=False).hex() == stated
    assert challenge_of(change, document["effect"], is_emergency=True).hex() != stated


@pytest.mark.slow
def test_a_stranger_checks_an_approval_by_the_audit_trail_alone(world: World) -> None:
    approve_with_a_passkey(world)
    acts: dict[str, Body] = {act["kind"]: act for act in world.get("/v1/audit", role=Role.AUDITOR).ok()["items"]}
    requested, approved, registered = (
        acts[kind] for kind in ("change_requested", "change_approved", "passkey_registered")
    )
    signed = approved["after"]["assertion"]
    client_data, stated = bytes_of(signed["client_data"]), bytes_of(signed["authenticator_data"])

    assert json.loads(client_data)["origin"] == "http://localhost:8000"
    assert bytes_of(json.loads(client_data)["challenge"]) == hashlib.sha256(signed_by(requested, approved)).digest()
    assert stated[:32] == hashlib.sha256(b"localhost").digest()
    public_key, signature = public_key_in(registered), bytes_of(signed["signature"])
    public_key.verify(signature, stated + hashlib.sha256(client_data).digest(), ec.ECDSA(SHA256()))
    with pytest.raises(InvalidSignature):
        public_key.verify(signature, stated + hashlib.sha256(client_data + b" ").digest(), ec.ECDSA(SHA256()))


def approve_with_a_passkey(world: World) -> None:
    world.open(base_amount="1000")
    world.ask("adjustment", PAYLOADS["adjustment"]).ok(201)
    blue, key = Authenticator(), world.person("Bob", Role.FINANCE)
    options = world.call("POST", "/v1/passkeys/options", key=key).ok()["publicKey"]
    credential = body_of_credential(blue.make(options))
    new = {"request_id": "p1", "name": "blue", "reason": "mine", "credential": credential}
    world.post("/v1/passkeys", new, key=key).ok(201)
    options = world.call("POST", f"{APPROVAL}/options", key=key).ok()["publicKey"]
    world.post(APPROVAL, {"reason": "checked", "assertion": body_of_assertion(blue.sign(options))}, key=key).ok()


def signed_by(requested: Body, approved: Body) -> bytes:
    """Write what was signed, of the act of the request and that of its approval."""
    about = {name: requested[name] for name in ("subject", "jackpot_id", "reason")}
    by = {"maker": requested["principal"], "made_at": requested["received_at"]}
    document: dict[str, Any] = {
        "v": 1,
        "act": "approve",
        "is_emergency": approved["after"]["is_emergency"],
        "request": {**requested["after"], **about, **by},
        "effect": approved["after"]["assertion"]["effect"],
    }
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def public_key_in(registered: Body) -> ec.EllipticCurvePublicKey:
    """Read a COSE key of P-256: its last members are -2 and -3, the coordinates."""
    cose = bytes_of(registered["after"]["public_key"])
    assert (cose[7:10], cose[42:45]) == (b"\x21\x58\x20", b"\x22\x58\x20")
    x, y = (int.from_bytes(coordinate, "big") for coordinate in (cose[10:42], cose[45:77]))
    return ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()


def bytes_of(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
