"""Whether a settlement is what cards, bets, rules, rates and pools make: the whole of it is figured again."""

from collections.abc import Callable, Sequence
from itertools import chain, count, repeat
from operator import gt, lt

from jackpot_service.domain import facts
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.facts import Facts
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.outcomes import Verdict, judge, require_hands_of_one_deck
from jackpot_service.domain.settlement import Settlement, settle
from jackpot_service.ledger import cycles
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedCycle, BookedEntry
from jackpot_service.proof.bets import postings_are, terms_of, won_since
from jackpot_service.proof.decoding import is_written_alike
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot
from jackpot_service.records.verdicts import award_id

_CODES = {"cycle": Code.SETTLEMENT_CYCLE, "positions": Code.SETTLEMENT_POSITIONS}
"""Which code a differing field has; the others are figures."""


def result_was_settled_as_due(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """The result counted the live bets and had their hands, and its settlement is what `settle` makes of them."""
    entry = next((entry for entry in round_.entries if entry.kind == EntryKind.RESULT), None)
    if entry is None:
        return
    live, result = round_.live(before_step=entry.step or 0), round_.result
    if result.bet_count != len(live):
        detail = f"{round_.place}: counts {result.bet_count}, live were {len(live)}"
        yield Mismatch(Code.RESULT_COUNT, entry.book, entry.place, detail)
    try:
        require_hands_of_one_deck(result.hands, result.dealer)
        verdict = judge(live, result.hands, jackpot.rules[round_.round.rules_version])
    except Refused as refusal:
        yield Mismatch(Code.RESULT_HANDS, entry.book, entry.place, f"{round_.place}: {refusal.detail}")
        return
    yield from _settlement_is_due(live, verdict, entry, round_, jackpot)


def _settlement_is_due(
    live: Sequence[Bet], verdict: Verdict, entry: BookedEntry, round_: RoundDocuments, jackpot: Jackpot
) -> Found:
    stored: Facts = entry.facts["settlement"]
    is_hit = verdict.is_hit
    positions, running, opened = stored["positions"], jackpot.cycle_at(entry), jackpot.opened_by(entry)
    yield from positions_are_right(positions, running, entry, jackpot, names_all=verdict.pays_from_meter)
    yield from _hit_opened_a_cycle(positions, running, opened, entry, is_hit=is_hit)
    expected = settle(
        verdict,
        terms=terms_of(round_, jackpot, running=running, following=opened if is_hit else None),
        pools=jackpot.pools.at(positions),
        won_since=won_since(running, round_),
    )
    yield from postings_are(expected.postings, entry, round_)
    yield from _awards_began(expected, entry, round_)
    figured = facts.facts_of_settlement(expected, live, cycle=running.cycle, positions=positions)
    yield from _figures_are(figured, stored, entry, round_)
    made, booked = facts.facts_of_awards(expected.awards), facts.facts_of_awards(round_.awards)
    if made != booked:
        detail = f"{round_.place}: its awards are {booked}, due was {made}"
        yield Mismatch(Code.AWARD_FIGURES, entry.book, entry.place, detail)


def positions_are_right(
    positions: Sequence[int], running: BookedCycle, entry: BookedEntry, jackpot: Jackpot, *, names_all: bool
) -> Found:
    """
    Positions end right before the entry on its own stripe, and lie inside its cycle on every other.

    An entry that pays from the meter saw all stripes, and so names a position of each (`names_all`).
    """
    place = entry.place
    if not entry.stripe_no < len(positions) or positions[entry.stripe_no] != entry.seq - 1:
        yield Mismatch(Code.SETTLEMENT_POSITIONS, entry.book, place, f"{positions} does not end right before it")
    if any(map(lt, positions, chain(running.cut, repeat(0)))):
        yield Mismatch(Code.SETTLEMENT_POSITIONS, entry.book, place, f"{positions} lies before its cycle")
    following = jackpot.cycles_by_number.get(running.cycle + 1)
    if following is not None and any(map(gt, positions, chain(following.cut, repeat(0)))):
        yield Mismatch(Code.SETTLEMENT_POSITIONS, entry.book, place, f"{positions} lies beyond its cycle")
    if any(map(gt, positions, map(jackpot.ends.get, count(), repeat(0)))):
        yield Mismatch(Code.SETTLEMENT_POSITIONS, entry.book, place, f"{positions} lies beyond the stripes' ends")
    if names_all and len(positions) != jackpot.stripes_at(positions[0]):
        yield Mismatch(Code.SETTLEMENT_POSITIONS, entry.book, place, f"{positions} does not name all stripes")


def _hit_opened_a_cycle(
    positions: Sequence[int], running: BookedCycle, opened: BookedCycle | None, entry: BookedEntry, *, is_hit: bool
) -> Found:
    expected = (running.cycle + 1, cycles.cut_after(positions, stripe_no=entry.stripe_no)) if is_hit else None
    stored = None if opened is None else (opened.cycle, opened.cut)
    if stored != expected:
        yield Mismatch(Code.HIT_CYCLE, entry.book, entry.place, f"opened {stored}, due was {expected}")


def _figures_are(figured: Facts, stored: Facts, entry: BookedEntry, round_: RoundDocuments) -> Found:
    if is_written_alike(stored, figured):
        return
    for name in sorted(figured.keys() | stored.keys()):
        if not is_written_alike(stored.get(name), figured.get(name)):
            code = _CODES.get(name, Code.SETTLEMENT_FIGURES)
            detail = f"{round_.place}: {name} is {stored.get(name)}, due was {figured.get(name)}"
            yield Mismatch(code, entry.book, entry.place, detail)


def _awards_began(expected: Settlement, entry: BookedEntry, round_: RoundDocuments) -> Found:
    """
    Each award has its own id and exactly its first step, taken when the result came in.

    Later steps, and the awards of later verdicts, are those of acts.
    """
    ids = {(award.bet.bet_id, str(award.tier)): award_id(round_.round, award) for award in expected.awards}
    for row in round_.of("awards"):
        if not row.correction and ids.get((row.bet_id, row.tier), row.award_id) != row.award_id:
            detail = f"{round_.place}, bet {row.bet_id}: {row.award_id}"
            yield Mismatch(Code.AWARD_ID, entry.book, entry.place, detail)
    first_states = {
        (award.bet.bet_id, str(award.tier), str(award.state), entry.received_at) for award in expected.awards
    }
    steps = {(row.bet_id, row.tier, row.step, row.taken_at) for row in round_.of("award_steps") if row.act_seq is None}
    for bet_id, tier, step, _ in sorted(first_states ^ steps):
        detail = f"{round_.place}, bet {bet_id}, {tier}: {step} is missing, or no entry took it, or not then"
        yield Mismatch(Code.AWARD_STEPS, entry.book, entry.place, detail)


def only_results_open_cycles(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """No other entry of a round opens a cycle; whether a result should have is for the check of its settlement."""
    for entry in round_.entries:
        opened = jackpot.opened_by(entry)
        if opened is not None and entry.kind != EntryKind.RESULT:
            detail = f"a {entry.kind} opened cycle {opened.cycle}"
            yield Mismatch(Code.HIT_CYCLE, entry.book, entry.place, detail)


CHECKS: tuple[Callable[[RoundDocuments, Jackpot], Found], ...] = (result_was_settled_as_due, only_results_open_cycles)
