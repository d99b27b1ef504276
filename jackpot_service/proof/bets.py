"""Whether a round's bets, voids and cancellation were lawful, and booked what they should, while it could take them."""

from collections.abc import Callable, Sequence

from jackpot_service.domain import table_limits
from jackpot_service.domain.acceptance import HandLimit, require_hands, require_stakes
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.counting import counted
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.journal import EntryKind, Postings
from jackpot_service.domain.lives import Life
from jackpot_service.domain.settlement import Terms, reverse
from jackpot_service.ledger import replay
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedCycle, BookedEntry
from jackpot_service.proof import table_limits as in_force
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot


def bets_were_acceptable(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """Every batch kept the round's rules and rates and its table's limits then; no player held too many hands."""
    rules, sheet = jackpot.rules[round_.round.rules_version], jackpot.sheet(round_.round.rate_sheet)
    for entry in round_.entries:
        if not round_.accepted(step=entry.step):
            continue
        batch = round_.batch(step=entry.step)
        limits = in_force.before(jackpot.limits_changes, entry).get(round_.round.table_id)
        expected = None if limits is None else limits.version
        if entry.facts.get("limits_version") != expected:
            detail = (
                f"{round_.place}, step {entry.step}: says {entry.facts.get('limits_version')}, in force was {expected}"
            )
            yield Mismatch(Code.BET_LIMITS, entry.book, entry.place, detail)
        try:
            for currency in set(batch.currencies):
                sheet.rate(currency)
            require_stakes(batch, rules=rules, sheet=sheet)
            if limits is not None:
                table_limits.require_stakes(batch, limits.limits, sheet=sheet)
        except Refused as refusal:
            yield Mismatch(Code.BET_STAKE, entry.book, entry.place, _detail(round_, entry, refusal))
        try:
            require_hands(batch, live=round_.live(before_step=entry.step or 0), rules=rules)
        except HandLimit as refusal:
            yield Mismatch(Code.BET_HANDS, entry.book, entry.place, _detail(round_, entry, refusal))


def _detail(round_: RoundDocuments, entry: BookedEntry, refusal: Refused) -> str:
    field_errors = " ".join(error.detail for error in refusal.field_errors)
    return f"{round_.place}, step {entry.step}: {field_errors or refusal.detail}"


def voids_have_their_bets(round_: RoundDocuments, _jackpot: Jackpot) -> Found:
    """A void refunds a bet accepted before it; a tombstone has no bet at all."""
    step_of = {booked_bet.bet.bet_id: booked_bet.step for booked_bet in round_.bets}
    for row in round_.of("voids"):
        accepted = step_of.get(row.bet_id)
        is_lawful = accepted is None if row.is_tombstone else accepted is not None and accepted < row.step
        if not is_lawful:
            detail = f"bet {row.bet_id}: void in step {row.step}, accepted in {accepted}, tombstone: {row.is_tombstone}"
            yield Mismatch(Code.VOID_BET, round_.round.jackpot_id, round_.place, detail)


def contributions_and_refunds_were_booked(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """Entries of bets booked their contributions; voids and cancellations the same figures back."""
    for entry in round_.entries:
        match entry.kind:
            case EntryKind.BETS:
                expected = jackpot.contributed(round_.accepted(step=entry.step), round_.round).postings
            case EntryKind.VOIDS:
                voided = [booked_bet.bet for booked_bet in round_.bets if booked_bet.void_step == entry.step]
                expected = _refund(voided, entry, round_, jackpot)
            case EntryKind.CLOSING:
                expected = Postings()
            case EntryKind.CANCELLATION:
                expected = _refund(round_.live(before_step=entry.step or 0), entry, round_, jackpot)
            case _:
                continue
        yield from postings_are(expected, entry, round_)


def postings_are(expected: Postings, entry: BookedEntry, round_: RoundDocuments) -> Found:
    """The entry booked these postings and no others."""
    if entry.lines != expected.lines:
        lines = replay.lines_of(expected)
        detail = f"{round_.place}, step {entry.step}: booked {_shown(entry.lines)}, due was {_shown(lines)}"
        yield Mismatch(Code.ENTRY_POSTINGS, entry.book, entry.place, detail)


def _shown(lines: tuple[replay.Line, ...]) -> str:
    return "; ".join(f"{movement} {account} {amount} {currency}" for account, currency, amount, movement in lines)


def _refund(bets: Sequence[Bet], entry: BookedEntry, round_: RoundDocuments, jackpot: Jackpot) -> Postings:
    running = jackpot.cycle_at(entry)
    terms = terms_of(round_, jackpot, running=running, following=None)
    return reverse(bets, terms=terms, won_since=won_since(running, round_))


def terms_of(round_: RoundDocuments, jackpot: Jackpot, *, running: BookedCycle, following: BookedCycle | None) -> Terms:
    """Put together what a round was settled or reversed under. Raises: KeyError if rules or sheet are missing."""
    return Terms(
        rules=jackpot.rules[round_.round.rules_version],
        sheet=jackpot.sheet(round_.round.rate_sheet),
        casino_id=round_.round.casino_id,
        cycle=running.cycle,
        running=jackpot.rules[running.rules_version],
        following=jackpot.rules[(following or running).rules_version],
    )


def won_since(running: BookedCycle, round_: RoundDocuments) -> frozenset[str]:
    """The ids of the round's bets whose cycle had been won when an entry was booked, given the cycle that ran then."""
    earlier = {other.step for other in round_.entries if other.seq <= running.seq_on(other.stripe_no)}
    return frozenset(bet.bet_id for step in earlier for bet in round_.accepted(step=step))


def cancellation_names_its_cycle(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """A cancellation names the cycle in which its entry stands."""
    for entry in round_.entries:
        if entry.kind == EntryKind.CANCELLATION and entry.facts["cycle"] != jackpot.cycle_at(entry).cycle:
            detail = f"{round_.place}: {entry.facts['cycle']}, its entry stands in {jackpot.cycle_at(entry).cycle}"
            yield Mismatch(Code.CANCELLATION_CYCLE, entry.book, entry.place, detail)


def bets_came_while_open(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """No bets were booked while their jackpot took none."""
    for entry in round_.entries:
        change = next((change for change in reversed(jackpot.status_changes) if change.is_before(entry)), None)
        if entry.kind == EntryKind.BETS and change is not None and change.life is not Life.OPEN:
            detail = f"{round_.place}: its jackpot was {change.life}"
            yield Mismatch(Code.BET_SUSPENDED, entry.book, entry.place, detail)


def no_live_bet_was_left_at_retirement(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """When its jackpot was retired, the round was over or had no live bet."""
    retired = next((change for change in jackpot.status_changes if change.life is Life.RETIRED), None)
    before = [entry for entry in round_.entries if retired is not None and not retired.is_before(entry)]
    if not before or before[-1].kind in {EntryKind.RESULT, EntryKind.CANCELLATION, EntryKind.ROUND_CORRECTED}:
        return
    live = round_.live(before_step=(before[-1].step or 0) + 1)
    if live:
        detail = f"had {counted(len(live), 'live bet')} when its jackpot was retired"
        yield Mismatch(Code.RETIRED_IN_PLAY, round_.round.jackpot_id, round_.place, detail)


CHECKS: tuple[Callable[[RoundDocuments, Jackpot], Found], ...] = (
    bets_were_acceptable,
    voids_have_their_bets,
    contributions_and_refunds_were_booked,
    cancellation_names_its_cycle,
    bets_came_while_open,
    no_live_bet_was_left_at_retirement,
)
