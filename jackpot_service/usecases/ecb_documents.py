"""
The European Central Bank's daily reference rates: a document that is read without belief.

It is an envelope of gesmes with three levels of `Cube`: one, one a day with its `time`, one a currency with `currency`
and `rate`, units for one euro. Of everything that cannot be so, one sentence is said.
"""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Final
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from jackpot_service.domain.errors import FieldError, Refused
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

POINTER: Final = "/document"
"""The document's place in a request."""


class BadDocument(Refused, code="document-invalid", title="Invalid document"):
    """It is not the ECB's document of a day's reference rates."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail, field_errors=(FieldError(POINTER, self.code, detail),))


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
