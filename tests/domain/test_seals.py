"""What a seal is in bytes, and what is none."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from jackpot_service.domain import seals
from jackpot_service.domain.seals import BadSeal, Seal, SealedStripe, SealLink

HEAD: Final = bytes(range(32))

SEAL: Final = Seal(
    number=2,
    sealed_at=seals.sealed_at(datetime(2026, 11, 20, 9, 0, tzinfo=UTC)),
    service_version="0.1.0",
    previous=SealLink(1, "ab" * 32),
    stripes=(SealedStripe("-", 0, 7, HEAD), SealedStripe("live", 1, 0, HEAD)),
    public_key_id="cd" * 32,
    signature=bytes(64),
)
FIRST: Final = replace(SEAL, number=1, previous=None)

DOCUMENT: Final[dict[str, Any]] = json.loads(SEAL.canonical_bytes)


@pytest.mark.parametrize("seal", [FIRST, SEAL])
def test_a_seal_is_read_as_it_was_written(seal: Seal) -> None:
    assert seals.read(seal.canonical_bytes) == seal


def test_its_bytes_are_its_keys_in_order_without_white_space() -> None:
    assert SEAL.canonical_bytes == json.dumps(DOCUMENT, sort_keys=True, separators=(",", ":")).encode()
    assert SEAL.canonical_bytes.startswith(b'{"format":"jackpot-seal-1","number":2,"previous":{"number":1,"sha256":"ab')
    assert DOCUMENT["stripes"] == [["-", 0, 7, HEAD.hex()], ["live", 1, 0, HEAD.hex()]]


def test_what_is_signed_is_all_of_it_but_the_signature() -> None:
    unsigned = {name: value for name, value in DOCUMENT.items() if name != "signature"}
    assert SEAL.signed_bytes == json.dumps(unsigned, sort_keys=True, separators=(",", ":")).encode()
    assert replace(SEAL, signature=bytes([1] * 64)).signed_bytes == SEAL.signed_bytes


def test_the_next_seal_names_its_number_and_the_hash_of_its_bytes() -> None:
    assert SEAL.link == SealLink(2, seals.sha256(SEAL.canonical_bytes))


def test_white_space_around_it_makes_no_other_seal_of_it() -> None:
    assert seals.read(json.dumps(DOCUMENT, indent=4).encode()) == SEAL


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in DOCUMENT.items() if key != name}


WRONG: Final[dict[str, object]] = {
    "no object": [],
    "another version": DOCUMENT | {"format": "jackpot-seal-2"},
    "more than a seal says": DOCUMENT | {"comment": "x"},
    "number 0": DOCUMENT | {"number": 0},
    "number true": DOCUMENT | {"number": True},
    "a huge number": DOCUMENT | {"number": 10**30},
    "nothing before a second": DOCUMENT | {"previous": None},
    "something before a first": DOCUMENT | {"number": 1},
    "before it another than the one before": DOCUMENT | {"previous": {"number": 7, "sha256": "ab" * 32}},
    "a hash of another length": DOCUMENT | {"previous": {"number": 1, "sha256": "ab"}},
    "previous of another kind": DOCUMENT | {"previous": "1"},
    "no time": DOCUMENT | {"sealed_at": "yesterday"},
    "a version that is no text": DOCUMENT | {"service_version": 1},
    "stripes of another kind": DOCUMENT | {"stripes": 7},
    "a stripe of three": DOCUMENT | {"stripes": [["-", 0, 7]]},
    "a stripe twice": DOCUMENT | {"stripes": [DOCUMENT["stripes"][0]] * 2},
    "a stripe below zero": DOCUMENT | {"stripes": [["-", -1, 7, HEAD.hex()]]},
    "a seq beyond all": DOCUMENT | {"stripes": [["-", 0, 2**63, HEAD.hex()]]},
    "a seq that is no whole number": DOCUMENT | {"stripes": [["-", 0, "7", HEAD.hex()]]},
    "a book that has no such id": DOCUMENT | {"stripes": [["a\0b", 0, 7, HEAD.hex()]]},
    "a head in capitals": DOCUMENT | {"stripes": [["-", 0, 7, HEAD.hex().upper()]]},
    "a short signature": DOCUMENT | {"signature": "00"},
    **{f"no {name}": without(name) for name in DOCUMENT},
}


@pytest.mark.parametrize("document", WRONG.values(), ids=WRONG)
def test_what_is_no_seal_is_refused(document: object) -> None:
    with pytest.raises(BadSeal):
        seals.read(json.dumps(document).encode())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        "\u00e9".encode(),
        SEAL.canonical_bytes[:-1],
        SEAL.canonical_bytes + b"}",
        b"[" * 100_000,
        b'{"format": NaN}',
        b'{"number": 1.0}',
        b"9" * 10_000,
    ],
    ids=["empty", "no text", "not ASCII", "truncated", "too long", "deep", "NaN", "a fraction", "many digits"],
)
def test_what_is_not_json_is_refused(content: bytes) -> None:
    with pytest.raises(BadSeal):
        seals.read(content)
