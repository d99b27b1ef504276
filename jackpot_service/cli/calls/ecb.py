"""
The European Central Bank's daily reference rates: fetched within bounds of size and time, read without belief.

The document is an envelope of gesmes with three levels of `Cube`: one, one a day with its `time`, one a currency with
`currency` and `rate`, units for one euro. Of everything that cannot be so, one sentence is said.
"""

import time
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element, ParseError

import click
import httpx
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from jackpot_service.domain.errors import Refused
from jackpot_service.domain.money import ZERO
from jackpot_service.domain.rates import ReferenceRates
from jackpot_service.domain.shapes import CURRENCY, DAY, DECIMAL

NAME: Final = "ecb"
"""As the source of a rate sheet."""

PIVOT: Final = "EUR"

LARGEST_DOCUMENT: Final = 1 << 20
"""In bytes; a daily document has 1,700."""

ENVELOPE: Final = "{http://www.gesmes.org/xml/2002-08-01}Envelope"
CUBE: Final = "{http://www.ecb.int/vocabulary/2002-08-01/eurofxref}Cube"

LONGEST_QUOTE: Final = 24
LONGEST_SAID: Final = 40


class BadDocument(Refused, code="document-invalid", title="Invalid document"):
    """It is not the ECB's document of a day's reference rates."""


def read_document(document: bytes) -> ReferenceRates:
    """Read the rates of a day; a DTD is refused, and with it every entity. Raises: BadDocument."""
    if len(document) > LARGEST_DOCUMENT:
        raise BadDocument(f"It is larger than {LARGEST_DOCUMENT:,} bytes.")
    envelope = _parsed(document)
    if envelope.tag != ENVELOPE:
        raise BadDocument(f"Its root is {_shortened(envelope.tag)}, not the ECB's {ENVELOPE}.")
    days = [day for cube in envelope.findall(CUBE) for day in cube.findall(CUBE)]
    if len(days) != 1:
        raise BadDocument(f"It has {len(days)} days in elements {CUBE}, not one: take the daily document.")
    return ReferenceRates(PIVOT, _day(days[0]), _quotes(days[0].findall(CUBE)))


def _parsed(document: bytes) -> Element:
    try:
        root: Element = fromstring(document, forbid_dtd=True, forbid_entities=True, forbid_external=True)
    except DefusedXmlException as error:
        raise BadDocument(f"It has what such a document never has: {type(error).__name__}.") from None
    except (ParseError, ValueError, LookupError) as error:
        raise BadDocument(f"It is no XML: {_shortened(str(error))}.") from None
    return root


def _day(cube: Element) -> date:
    text = cube.get("time", "")
    if DAY.fullmatch(text):
        try:
            return date.fromisoformat(text)
        except ValueError:
            pass
    raise BadDocument(f"Its time {_shortened(text)} is no day.")


def _quotes(cubes: Iterable[Element]) -> dict[str, Decimal]:
    quotes: dict[str, Decimal] = {}
    for cube in cubes:
        code, text = cube.get("currency", ""), cube.get("rate", "")
        if not CURRENCY.fullmatch(code) or code == PIVOT:
            raise BadDocument(f"It quotes {_shortened(code)}, which is not another currency than {PIVOT}.")
        if code in quotes:
            raise BadDocument(f"It quotes {code} twice.")
        if not DECIMAL.fullmatch(text) or len(text) > LONGEST_QUOTE or Decimal(text) <= ZERO:
            raise BadDocument(f"Its rate of {code}, {_shortened(text)}, is not a positive decimal number.")
        quotes[code] = Decimal(text)
    if not quotes:
        raise BadDocument("It has no rates.")
    return quotes


def _shortened(text: str) -> str:
    """Quote what a document says: not at length, and nothing that a terminal would obey."""
    return ascii(text if len(text) <= LONGEST_SAID else f"{text[:LONGEST_SAID]}…")


PATIENCE_S: Final = 10.0
LONGEST_S: Final = 30.0

SCHEMES: Final = ("http://", "https://")


def fetch(place: str, *, most: int) -> bytes:
    """
    Read a file or a URL.

    Raises: click.ClickException, in one line, if it cannot be read, is larger than `most` bytes or takes too long.
    """
    if place.startswith(SCHEMES):
        if "@" in place:
            message = "a URL that holds a name or a password is refused: it would be shown and kept"
            raise click.ClickException(message)
        return _from_url(place, most=most)
    try:
        with Path(place).open("rb") as file:
            content = file.read(most + 1)
    except (OSError, ValueError) as error:
        message = f"{place} cannot be read: {getattr(error, 'strerror', None) or error}"
        raise click.ClickException(message) from None
    _require_size(place, len(content), most=most)
    return content


def _from_url(url: str, *, most: int) -> bytes:
    """Read a URL as it is sent, and nothing after a redirection: what is compressed could be anything, unpacked."""
    until = time.monotonic() + LONGEST_S
    content = bytearray()
    try:
        with httpx.stream("GET", url, headers={"Accept-Encoding": "identity"}, timeout=PATIENCE_S) as answer:
            _require_plain(url, answer)
            for part in answer.iter_raw():
                content += part
                _require_size(url, len(content), most=most)
                if time.monotonic() > until:
                    message = f"{url} takes longer than {LONGEST_S:g} s"
                    raise click.ClickException(message)
    # Hosts that cannot be are found out by codecs (ValueError), a proxy of another kind by what is not installed.
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, ImportError) as error:
        message = f"{url} cannot be read: {str(error) or type(error).__name__}"
        raise click.ClickException(message) from None
    return bytes(content)


def _require_plain(url: str, answer: httpx.Response) -> None:
    if answer.status_code != httpx.codes.OK:
        message = f"{url} answers {answer.status_code}"
        raise click.ClickException(message)
    if answer.headers.get("Content-Encoding", "identity") != "identity":
        message = f"{url} answers in a {answer.headers['Content-Encoding']} that was not asked for"
        raise click.ClickException(message)


def _require_size(place: str, size: int, *, most: int) -> None:
    if size > most:
        message = f"{place} is larger than {most:,} bytes"
        raise click.ClickException(message)
