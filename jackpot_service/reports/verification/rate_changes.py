"""Whether each rate sheet that two people made is what they agreed on: the request, put over the sheet before it."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Row

from jackpot_service.domain.changes import ChangeKind
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.rate_changes import rates_after, stated_rates
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.reports.verification.references import References

Found = Iterator[Mismatch]


def sheets_are_what_was_approved(references: References, entries: Mapping[int, BookedEntry]) -> Found:
    """A sheet that carries out a change request has its rates, its source and its time; an approved one has a sheet."""
    made = set()
    for (base, number), sheet in references.sheet_rows.items():
        act, entry = references.acts.get(sheet.entry_seq), entries.get(sheet.entry_seq)
        if act is None or entry is None or act.decides is None:
            continue  # It was published by one, or its act is missing, which is found elsewhere.
        made.add(act.decides)
        request = references.change_requests.get(act.decides)
        wrong = "there is no such change request" if request is None else _wrong(references, sheet, request, entry)
        if wrong is not None:
            yield Mismatch(Code.SHEET_CHANGE, REFERENCE_BOOK, f"rate sheet {base} {number}", f"{act.decides}: {wrong}")
    for request_id, decision in references.change_decisions.items():
        request = references.change_requests.get(request_id)
        is_approved = decision.outcome == "approved" and request is not None and request.kind == ChangeKind.RATE_SHEET
        if is_approved and request_id not in made:
            place = f"change request {request_id}"
            yield Mismatch(Code.SHEET_CHANGE, REFERENCE_BOOK, place, "was approved, and has no sheet")


def _wrong(references: References, sheet: Row[Any], request: Row[Any], entry: BookedEntry) -> str | None:
    """Say in what a sheet is not what was asked for; None if it is."""
    decision = references.change_decisions.get(request.request_id)
    if decision is None or decision.outcome != "approved" or request.kind != ChangeKind.RATE_SHEET:
        return "is no approved change of rates"
    try:
        agreed = _agreed(references, request, entry)
    except (LookupError, ArithmeticError, ValueError, TypeError, AttributeError) as error:
        return f"cannot be put over sheet {request.base_version}: {type(error).__name__}"
    rates = stated_rates(references.sheets[sheet.base, sheet.number])
    if (sheet.base, rates, sheet.effective_at, sheet.source) != agreed:
        return f"put over sheet {request.base_version}, makes another sheet"
    return None


def _agreed(references: References, request: Row[Any], entry: BookedEntry) -> tuple[Any, ...]:
    """Base, rates, effective time and source that a request makes: in force from its booking unless it says when."""
    payload, number = request.payload, int(request.base_version)
    before = stated_rates(references.sheets[payload["base"], number]) if number else {}
    rates = {code: Decimal(rate) for code, rate in payload.get("rates", {}).items()}
    after = rates_after(before, rates=rates, leaves=payload.get("leaves", ()), is_whole=payload.get("whole", False))
    effective_at = datetime.fromisoformat(payload["effective_at"]) if "effective_at" in payload else entry.booked_at
    return payload["base"], after, effective_at, payload.get("source")
