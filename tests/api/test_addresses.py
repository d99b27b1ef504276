"""Where a call comes from: nobody's word about it is believed but that of a proxy that the operator trusts."""

from ipaddress import ip_network

import pytest

from jackpot_service.api.entrance import address_of

TRUSTED = (ip_network("10.0.0.0/8"), ip_network("2001:db8:1::/48"))


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("192.0.2.1", [], "192.0.2.1"),
        ("192.0.2.1", ["198.51.100.7"], "192.0.2.1"),
        ("10.0.0.1", ["198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["203.0.113.9, 198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["203.0.113.9, 198.51.100.7,10.9.9.9"], "198.51.100.7"),
        ("10.0.0.1", ["203.0.113.9", "198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", [""], "10.0.0.1"),
        ("10.0.0.1", ["nobody"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.7, nobody"], "10.0.0.1"),
        ("10.0.0.1", ["fe80::1%" + 5000 * "x"], "10.0.0.1"),  # It would be an address, and be kept.
        ("10.0.0.1", ["\xff, 198.51.100.7"], "198.51.100.7"),
        ("::ffff:10.0.0.1", ["198.51.100.7"], "198.51.100.7"),
        ("2001:db8:1::1", ["2001:db8:2:3:4:5:6:7"], "2001:db8:2:3::/64"),
        ("2001:db8:2:3::1", [], "2001:db8:2:3::/64"),
        ("", ["198.51.100.7"], ""),
    ],
)
def test_where_a_call_comes_from(peer: str, forwarded: list[str], expected: str) -> None:
    headers = [(b"x-forwarded-for", value.encode("latin-1")) for value in forwarded]
    assert address_of({"client": (peer, 1), "headers": headers}, trusted=TRUSTED) == expected


def test_a_call_without_a_peer_comes_from_nowhere() -> None:
    assert address_of({"headers": []}, trusted=TRUSTED) == ""
