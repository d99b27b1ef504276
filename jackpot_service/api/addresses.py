"""Where a call comes from: its peer, or what a proxy that the operator trusts says about it."""

import ipaddress
from collections.abc import Mapping, Sequence
from typing import Any, Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_BITS_OF_A_SITE: Final = 64
"""Of an address of IPv6: whoever has one has all that begin with these."""

_FORWARDED_FOR: Final = b"x-forwarded-for"


def address_of(scope: Mapping[str, Any], *, trusted: Sequence[Network]) -> str:
    """
    Name where a call comes from; callers of one IPv6 site are one.

    `X-Forwarded-For` is read from its end, as far as those who wrote it are trusted: what stands further in front is
    the caller's own word. What is no address there is not believed, and ends the reading.
    """
    client = scope.get("client") or ("",)
    address = _read(str(client[0]))
    if address is None:
        return ""
    said = b",".join(value for name, value in scope["headers"] if name == _FORWARDED_FOR)
    for text in reversed(said.decode("latin-1").split(",")) if said else ():
        if not any(address in network for network in trusted):
            break
        further = _read(text.strip())
        if further is None:
            break
        address = further
    return _site_of(address)


def _read(text: str) -> Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _site_of(address: Address) -> str:
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(ipaddress.IPv6Network((address, _BITS_OF_A_SITE), strict=False))
