"""JSON is read as strictly by the faster reader as by the slower: the latter alone reads what the former would bend."""

import json

import orjson
import pytest

from jackpot_service.proof.decoding import Unreadable, _json

READABLE = (
    "null",
    "-1",
    "18446744073709551615",
    "-9223372036854775808",
    '"1.5"',
    '["paid .5, or 1.5]", "é", "12345678901234567890"]',
    '{"a": [1, true, {"b": "0.123456789012345678"}], "c": null}',
    "[" * 200 + "]" * 200,
)

UNREADABLE = (
    "1.5",
    "[1.0]",
    '{"a": 0.5, "b": 1}',
    '{"a": -1.25}',
    "18446744073709551616",
    "[-9223372036854775809]",
    '{"a": 100000000000000000000}',
    "[0.0000000000000000000000001]",
    "1" * 400,
    "[" * 300 + "]" * 300,
    "[" * 5000 + "]" * 5000,
)


@pytest.mark.parametrize("document", READABLE)
def test_a_document_that_a_digest_covers_is_read(document: str) -> None:
    assert _json(document.encode()) == json.loads(document)
    assert orjson.dumps(_json(document)) == orjson.dumps(json.loads(document))


@pytest.mark.parametrize("document", UNREADABLE)
def test_a_document_that_no_digest_covers_is_unreadable(document: str) -> None:
    assert _json(document.encode()) == Unreadable(str(document.encode()[:200]))
    assert isinstance(_json(document), Unreadable)
