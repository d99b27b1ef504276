"""Whether each rate sheet that two people made is what they agreed on: the request, put over the sheet before it."""

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Row

from jackpot_service.domain import facts
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.rates import stated_rates
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof.references import References
from jackpot_service.usecases.changes.kinds import Conditions
from jackpot_service.usecases.changes.rate_sheet import ChangeRates, Sheet

Found = Iterator[Mismatch]


def sheets_are_what_was_approved(references: References, entries: Mapping[int, BookedEntry]) -> Found:
    """A sheet that carries out a change request has its rates, its source and its time."""
    for (base, number), sheet in references.sheet_rows.items():
        act, entry = references.acts.get(sheet.entry_seq), entries.get(sheet.entry_seq)
        request = None if act is None else references.change_requests.get(act.decides)
        if request is None or entry is None:
            continue  # It was published by one, or lacks its act or its request, which is found elsewhere.
        wrong = _wrong(references, sheet, request, entry)
        if wrong is not None:
            detail = f"{request.request_id}, put over sheet {request.base_version}, {wrong}"
            yield Mismatch(Code.SHEET_CHANGE, REFERENCE_BOOK, f"rate sheet {base} {number}", detail)


def _wrong(references: References, sheet: Row[Any], request: Row[Any], entry: BookedEntry) -> str | None:
    """Say in what a sheet is not what was asked for; None if it is."""
    try:
        agreed = _agreed(references, request, entry)
    except (LedgerError, LookupError, ArithmeticError, ValueError, TypeError, AttributeError) as error:
        return f"makes none: {type(error).__name__}"
    rates = stated_rates(references.sheets[sheet.base, sheet.number])
    due = (agreed.base, agreed.rates, agreed.effective_at, facts.of_rate_source(agreed.source))
    if (sheet.base, rates, sheet.effective_at, sheet.source) != due:
        return "makes another sheet"
    return None


def _agreed(references: References, request: Row[Any], entry: BookedEntry) -> Sheet:
    """Decide again what a request makes of the sheet before: in force from its booking unless it says when."""
    number = int(request.base_version)
    asked = ChangeRates.read(request.payload).completed(Conditions(entry.booked_at, request.request_id))
    before = stated_rates(references.sheets[asked.base, number]) if number else {}
    return asked.decide(before)
