"""Whether each rate sheet that two people made is what they agreed on: the request, put over the sheet before it."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Row

from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.rate_changes import rates_after, stated_rates
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof.references import References

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
    except (LookupError, ArithmeticError, ValueError, TypeError, AttributeError) as error:
        return f"makes none: {type(error).__name__}"
    rates = stated_rates(references.sheets[sheet.base, sheet.number])
    if (sheet.base, rates, sheet.effective_at, sheet.source) != agreed:
        return "makes another sheet"
    return None


def _agreed(references: References, request: Row[Any], entry: BookedEntry) -> tuple[Any, ...]:
    """Base, rates, effective time and source that a request makes: in force from its booking unless it says when."""
    payload, number = request.payload, int(request.base_version)
    before = stated_rates(references.sheets[payload["base"], number]) if number else {}
    rates = {code: Decimal(rate) for code, rate in payload.get("rates", {}).items()}
    after = rates_after(before, rates=rates, leaves=payload.get("leaves", ()), is_whole=payload.get("whole", False))
    effective_at = datetime.fromisoformat(payload["effective_at"]) if "effective_at" in payload else entry.booked_at
    return payload["base"], after, effective_at, payload.get("source")
