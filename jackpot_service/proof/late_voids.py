"""Whether each void after its round's closing is an exception, and no other void is one."""

from collections import Counter
from collections.abc import Iterator

import orjson

from jackpot_service.domain import facts
from jackpot_service.domain.exceptions import LATE_VOID
from jackpot_service.domain.journal import EntryKind
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot


def late_voids_are_exceptions(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """The exceptions of a round state just the voids that entries after its closing booked, and by whom, each once."""
    expected = [_written(entry.principal, facts.facts_of_late_voids(entry.facts)) for entry in _late(round_)]
    stored = [_written(row.principal, row.detail.get("request")) for row in round_.noted(LATE_VOID)]
    if not expected and not stored:
        return  # As of nearly all rounds.
    for voids_due in (Counter(expected) - Counter(stored)).elements():
        yield Mismatch(Code.LATE_VOID, jackpot.jackpot_id, round_.place, f"no exception states {voids_due}")
    for voids_kept in (Counter(stored) - Counter(expected)).elements():
        detail = f"an exception states {voids_kept}, which no entry booked after the closing"
        yield Mismatch(Code.LATE_VOID, jackpot.jackpot_id, round_.place, detail)


def _late(round_: RoundDocuments) -> Iterator[BookedEntry]:
    """Name the entries of voids after the one that closed the round's betting, if one did."""
    is_closed = False
    for entry in round_.entries:
        if is_closed and entry.kind == EntryKind.VOIDS:
            yield entry
        is_closed = is_closed or entry.kind == EntryKind.CLOSING


def _written(principal: str, stated: object) -> str:
    return orjson.dumps([principal, stated], option=orjson.OPT_SORT_KEYS).decode()


CHECKS = (late_voids_are_exceptions,)
