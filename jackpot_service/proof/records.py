"""The records of a round's entries: the facts that they store, those in rows, and whether their digests cover both."""

from jackpot_service.domain import facts
from jackpot_service.domain.awards import AwardState
from jackpot_service.domain.bets import Bet, Bets
from jackpot_service.domain.entries import Entry, RoundStep
from jackpot_service.domain.errors import LedgerError
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.prizes import Tier
from jackpot_service.domain.rules import FundedBy
from jackpot_service.domain.settlement import Award
from jackpot_service.ledger import digests
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot

FIRST_STATES = (AwardState.PAYABLE, AwardState.HELD)
"""How an award begins."""


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
        return {"bets": facts.facts_of_bets(Bets.of(round_.accepted(step=entry.step)))}
    if entry.kind != EntryKind.RESULT:
        return {}
    opened = jackpot.opened_by(entry)
    cycle = (
        {}
        if opened is None
        else facts.facts_of_cycle(cycle=opened.cycle, rules_version=opened.rules_version, cut=opened.cut)
    )
    return {"awards": facts.facts_of_awards(awards(round_)), **cycle}


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


def awards(round_: RoundDocuments) -> tuple[Award, ...]:
    """Read the awards of the round's settlement as they began, by bet id and tier. Raises: ValueError."""
    if not round_.of("awards"):
        return ()
    steps = {(row.bet_id, row.tier, row.step) for row in round_.of("award_steps") if not row.correction}
    return tuple(
        Award(
            bet=Bet(row.bet_id, player_id="", hand="", currency=row.currency, stake_minor=0),
            tier=Tier(row.tier),
            amount_minor=row.amount_minor,
            cost=row.cost,
            funded_by=FundedBy(row.funded_by),
            state=_first_state(row.bet_id, row.tier, steps),
        )
        for row in sorted(round_.of("awards"), key=lambda row: (row.bet_id, row.tier))
        if not row.correction
    )


def _first_state(bet_id: str, tier: str, steps: set[tuple[str, str, str]]) -> AwardState:
    """How an award began; rejected, as none begins, where no such step is there."""
    begun = (state for state in FIRST_STATES if (bet_id, tier, state.value) in steps)
    return next(begun, AwardState.REJECTED)
