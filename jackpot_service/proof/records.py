"""The records of a round's entries: the facts that they store, those in rows, and whether their digests cover both."""

from jackpot_service.domain import facts
from jackpot_service.domain.entries import Entry, RoundStep
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.ledger import digests
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot


def digests_cover_the_rows(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """Each entry's digest is that of the facts that it stores and of the rows that it wrote."""
    for entry in round_.entries:
        detail = f"{round_.place}, step {entry.step}: what its {entry.kind} stores is not what it recorded"
        try:
            is_covered = digests.digest_of_booked(recorded(entry, round_, jackpot), entry.content) == entry.digest
        except (LedgerError, LookupError, ValueError, TypeError, ArithmeticError) as error:
            is_covered, detail = False, f"{round_.place}, step {entry.step}: {error}"
        if not is_covered:
            yield Mismatch(Code.ENTRY_DIGEST, entry.book, entry.place, detail)
        elif entry.kind == EntryKind.VOIDS and entry.facts != _voids(entry, round_):
            detail = f"{round_.place}, step {entry.step}: the rows of its voids are not those it recorded"
            yield Mismatch(Code.ENTRY_DIGEST, entry.book, entry.place, detail)


def recorded(entry: BookedEntry, round_: RoundDocuments, jackpot: Jackpot) -> Entry:
    """
    Put an entry together again as it was booked, from the facts that it stores and the rows as they are now.

    Raises: LookupError where a row is missing, ValueError or TypeError where something cannot be read, Unbalanced.
    """
    of, step = round_.round, entry.step or 0
    return Entry(
        book=entry.book,
        kind=entry.known_kind,
        principal=entry.principal,
        received_at=entry.received_at,
        facts=entry.facts,
        in_rows={**_in_rows(entry, round_, jackpot), **({} if step > 1 else facts.facts_of_terms(of))},
        postings=entry.postings(),
        round_step=RoundStep(of.casino_id, of.table_id, of.round_id, of.round_key, step, of.rules_version),
    )


def _in_rows(entry: BookedEntry, round_: RoundDocuments, jackpot: Jackpot) -> Facts:
    if entry.kind == EntryKind.BETS:
        return {"bets": facts.facts_of_bets(round_.batch(step=entry.step))}
    if entry.kind != EntryKind.RESULT:
        return {}
    opened = jackpot.opened_by(entry)
    cycle = (
        {}
        if opened is None
        else facts.facts_of_cycle(cycle=opened.cycle, rules_version=opened.rules_version, cut=opened.cut)
    )
    return {"awards": facts.facts_of_awards(round_.awards), **cycle}


def _voids(entry: BookedEntry, round_: RoundDocuments) -> Facts:
    """The facts of an entry's voids, from their rows; when they occurred and why, the entry alone stores."""
    rows = [row for row in round_.of("voids") if row.step == entry.step]
    return {
        **facts.facts_of_voids(
            [row.bet_id for row in rows if not row.is_tombstone],
            [row.bet_id for row in rows if row.is_tombstone],
            occurred_at=None,
            reason=None,
        ),
        "occurred_at": entry.facts.get("occurred_at"),
        "reason": entry.facts.get("reason"),
    }
