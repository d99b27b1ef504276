"""The rate by which printed amounts are converted, with its sheet, its source and its time."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from jackpot_service.domain.languages import Words
from jackpot_service.domain.money import Rate
from jackpot_service.domain.rates import RateSource


@dataclass(frozen=True, slots=True)
class SheetInForce:
    """
    The rate sheet that is in force: its number, and since when.

    The printed rate came with the sheet `source_number`, which may be an earlier one; `source` is the document that its
    new rates were taken from, if there was one.
    """

    number: int
    effective_at: datetime
    source_number: int
    source: RateSource | None


@dataclass(frozen=True, slots=True)
class Conversion:
    """How amounts of a base currency are shown in a currency; without a sheet in force only in the base itself."""

    base: str
    rate: Rate
    sheet: SheetInForce | None


def conversion_sentences(conversion: Conversion | None, words: Words) -> Iterator[str]:
    """Say by which rate amounts are shown, and where it is from; nothing where nothing is shown."""
    if conversion is None:
        return
    say, base, sheet = words.say, conversion.base, conversion.sheet
    if sheet is None:
        yield say("No rate sheet of {base} is in force; amounts are shown in {base}.", base=base)
        return
    number, since = str(sheet.number), words.moment(sheet.effective_at)
    yield say(
        "Amounts are shown at {rate} {base} for 1 {currency}, by rate sheet {number}, in force since {since}.",
        rate=words.number(conversion.rate.base_per_unit),
        base=base,
        currency=conversion.rate.currency,
        number=number,
        since=since,
    )
    yield say(
        "Source of the rate, which came with sheet {number}: {source}.",
        number=str(sheet.source_number),
        source=source_text(sheet, words),
    )


def source_text(sheet: SheetInForce, words: Words) -> str:
    """Name the document that rates were taken from."""
    source = sheet.source
    if source is None:
        return words.say("stated by people, without a document")
    return words.say(
        "{name}, {day}, SHA-256 {sha256}", name=source.name, day=source.day.isoformat(), sha256=source.sha256
    )
