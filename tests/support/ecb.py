"""The European Central Bank's document of a day, as tests make it."""

from datetime import date

DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
<gesmes:subject>Reference rates</gesmes:subject>
<Cube><Cube time='{day}'>{quotes}</Cube></Cube>
</gesmes:Envelope>"""

QUOTES = {"USD": "1.0500", "GBP": "0.83450", "SEK": "11.5715"}
"""One euro in each currency; not all that a world's sheet has."""


def document(day: date, **quotes: str) -> bytes:
    """Make the document of a day, with other quotes than the usual where they are stated."""
    cubes = "".join(f"<Cube currency='{code}' rate='{rate}'/>" for code, rate in {**QUOTES, **quotes}.items())
    return DOCUMENT.format(day=day, quotes=cubes).encode()
