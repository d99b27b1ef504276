"""Whether a round's corrections are what the right results, the verdicts before them, the rules and the pools make."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date
from decimal import Decimal
from typing import Any

from sqlalchemy import Row

from jackpot_service.domain import facts
from jackpot_service.domain.awards import FIRST_STEPS, AwardState, AwardStep
from jackpot_service.domain.corrections import Correction, PastAward, VerdictInForce, charged_to_pools
from jackpot_service.domain.entries import Attribution
from jackpot_service.domain.errors import Refused
from jackpot_service.domain.journal import EntryKind
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.proof import figures, payout_tiers
from jackpot_service.proof.bets import postings_are, terms_of, won_since
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot
from jackpot_service.proof.settlements import positions_are_right
from jackpot_service.records import corrections
from jackpot_service.records.verdicts import award_id
from jackpot_service.usecases.acts import Done
from jackpot_service.usecases.changes.compensation import compensated
from jackpot_service.usecases.changes.round_correction import SettledRound, decide


@dataclass(frozen=True, slots=True)
class Corrected:
    """An act that corrected a round: its entry in the jackpot's book, its row, and the correction that was due."""

    entry: BookedEntry
    act: Row[Any]
    derived: Correction
    done: Done


def corrections_are_of_acts(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """The round's corrections are numbered from 1, one for each act that corrected it, in the order of the acts."""
    acts = [_act(entry, jackpot).seq for entry in _entries(round_, jackpot)]
    rows = [(row.number, row.act_seq) for row in round_.of("corrections")]
    if rows != list(enumerate(acts, 1)):
        detail = f"its corrections by number and act are {rows}, the acts that corrected it {acts}"
        yield Mismatch(Code.CORRECTION_ACT, jackpot.jackpot_id, round_.place, detail)


def corrections_are_as_due(round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """Each correction is what its result makes of the verdict before it, and so are the awards and their steps."""
    corrected: list[Corrected] = []
    last: Mapping[str, Any] | None = None
    for entry in _entries(round_, jackpot):
        act, recorded = _act(entry, jackpot), jackpot.effects[entry.seq].recorded
        in_force = corrections.in_force(_first(entry, act, round_, jackpot), last)
        try:
            expected, done = _derived_of(entry, recorded, in_force, round_, jackpot)
        except Refused as refusal:
            yield Mismatch(Code.RESULT_HANDS, entry.book, entry.place, f"{round_.place}: {refusal.detail}")
            return
        corrected.append(Corrected(entry, act, expected, done))
        yield from _recorded_is(corrected[-1], recorded, round_, jackpot)
        last = recorded
    yield from _awards_are(corrected, round_, jackpot)
    yield from _steps_are(corrected, round_, jackpot)


def acts_on(round_: RoundDocuments, jackpot: Jackpot) -> Sequence[Row[Any]]:
    """Return the acts that corrected a round, in their order."""
    return [_act(entry, jackpot) for entry in _entries(round_, jackpot)]


def _entries(round_: RoundDocuments, jackpot: Jackpot) -> Sequence[BookedEntry]:
    return jackpot.corrections.get(round_.round.round_key, ())


def _act(entry: BookedEntry, jackpot: Jackpot) -> Row[Any]:
    return jackpot.references.acts[jackpot.effects[entry.seq].act]


def _first(entry: BookedEntry, act: Row[Any], round_: RoundDocuments, jackpot: Jackpot) -> VerdictInForce:
    """The round's settlement, with what its awards and those of corrections had become right before an act."""
    settlement = round_.ended["settlement"]
    settled = next(entry_ for entry_ in round_.entries if entry_.kind == EntryKind.RESULT)
    number = len([other for other in _entries(round_, jackpot) if other.seq < entry.seq])
    return VerdictInForce(
        number=0,
        result=round_.result,
        meter=Decimal(settlement["meter_before"]),
        awards=corrections.past_awards_of(
            [award for award in round_.of("awards") if award.correction <= number],
            [step for step in round_.of("award_steps") if step.act_seq is None or step.act_seq < act.seq],
            [payment for payment in round_.of("payments") if payment.act_seq < act.seq],
        ),
        charged_to=charged_to_pools(settled.lines),
        its_meter_runs=settlement["cycle_after"] == jackpot.cycle_at(entry).cycle,
    )


def _derived_of(
    entry: BookedEntry,
    recorded: Mapping[str, Any],
    in_force: VerdictInForce,
    round_: RoundDocuments,
    jackpot: Jackpot,
) -> tuple[Correction, Done]:
    """Raises: whatever such a correction would have been refused by."""
    running = jackpot.cycle_at(entry)
    state = SettledRound(
        round_.round,
        [booked_bet.bet for booked_bet in round_.bets if not booked_bet.is_void],
        in_force,
        terms_of(round_, jackpot, running=running, following=None),
        jackpot.pools.at(recorded["positions"]),
        recorded["positions"],
        won_since(running, round_),
        booked_on(round_, jackpot),
        compensated([row for row in round_.of("compensations") if row.act_seq < _act(entry, jackpot).seq]),
        tiers=payout_tiers.tiers_of(round_, jackpot),
        evidence=payout_tiers.evidence_before(_act(entry, jackpot), round_, jackpot),
    )
    return decide(state, facts.result_of(recorded["result"]))


def awards_before(act: Row[Any], round_: RoundDocuments) -> Sequence[PastAward]:
    """The awards of a round that had been made before an act, each in the state in which it was then."""
    steps = [step for step in round_.of("award_steps") if step.act_seq is None or step.act_seq < act.seq]
    made = {(step.bet_id, step.tier, step.correction) for step in steps}
    awards = [award for award in round_.of("awards") if (award.bet_id, award.tier, award.correction) in made]
    return corrections.past_awards_of(
        awards, steps, [payment for payment in round_.of("payments") if payment.act_seq < act.seq]
    )


def booked_on(round_: RoundDocuments, jackpot: Jackpot) -> Mapping[int, date]:
    """The UTC day on which each verdict on a round was booked, by its number: 0 for the result, then corrections."""
    settled = next(entry_ for entry_ in round_.entries if entry_.kind == EntryKind.RESULT)
    entries = (settled, *_entries(round_, jackpot))
    return {number: entry.booked_at.astimezone(UTC).date() for number, entry in enumerate(entries)}


def _recorded_is(
    corrected: Corrected,
    recorded: Mapping[str, Any],
    round_: RoundDocuments,
    jackpot: Jackpot,
) -> Found:
    """The act recorded the correction that was due, and the verdict before it, and booked what that makes."""
    entry, act, done = corrected.entry, corrected.act, corrected.done
    running = jackpot.cycle_at(entry)
    yield from payout_tiers.enough_approve(act, done.recorded, jackpot)
    yield from positions_are_right(recorded["positions"], running, entry, jackpot, names_all=True)
    yield from postings_are(done.postings, entry, round_)
    yield from figures.are(entry, Attribution.of(round_.round), done.figures)
    counted = facts.result_of(recorded["result"]).bet_count
    live = [booked_bet for booked_bet in round_.bets if not booked_bet.is_void]
    if counted != len(live):
        detail = f"{round_.place}: counts {counted}, live were {len(live)}"
        yield Mismatch(Code.RESULT_COUNT, entry.book, entry.place, detail)
    shown = (
        ("it recorded", recorded, done.recorded),
        ("its act shows", act.after, done.shown),
        ("its act shows before", act.before or {}, done.before),
    )
    for where, stored, expected in shown:
        for name in sorted(expected.keys() | stored.keys()):
            if stored.get(name) != expected.get(name):
                detail = f"{round_.place}: {where} {name} {stored.get(name)}, due was {expected.get(name)}"
                yield Mismatch(Code.CORRECTION_FIGURES, entry.book, entry.place, detail)


def _awards_are(done: Iterable[Corrected], round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """The awards of corrections are those that were due."""
    expected = {
        (
            award.bet.bet_id,
            award.tier.value,
            correction.derived.number,
            award.amount_minor,
            award.bet.currency,
            award.cost,
            award.funded_by.value,
            award_id(round_.round, award, correction=correction.derived.number),
        )
        for correction in done
        for award in correction.derived.awards
    }
    booked = {
        (
            row.bet_id,
            row.tier,
            row.correction,
            row.amount_minor,
            row.currency,
            row.cost,
            row.funded_by,
            row.award_id,
        )
        for row in round_.of("awards")
        if row.correction
    }
    for award in sorted(expected ^ booked):
        detail = f"{round_.place}: {award} is missing, or no correction made it"
        yield Mismatch(Code.AWARD_FIGURES, jackpot.jackpot_id, round_.place, detail)


def _steps_are(done: Iterable[Corrected], round_: RoundDocuments, jackpot: Jackpot) -> Found:
    """Corrections took exactly these steps: their own awards began, and those that they took back are reversed."""
    expected = {
        (award.bet.bet_id, award.tier.value, correction, state.value, corrected.entry.received_at, corrected.act.seq)
        for corrected in done
        for award, correction, state in (
            *((award, corrected.derived.number, award.state) for award in corrected.derived.awards),
            *((past.award, past.correction, AwardState.REVERSED) for past in corrected.derived.reversed_awards),
        )
    }
    taken = {
        (row.bet_id, row.tier, row.correction, row.step, row.taken_at, row.act_seq)
        for row in round_.of("award_steps")
        if is_of_a_correction(row)
    }
    for step in sorted(expected ^ taken, key=str):
        detail = f"{round_.place}: {step} is missing, or no correction took it, or not then"
        yield Mismatch(Code.AWARD_STEPS, jackpot.jackpot_id, round_.place, detail)


def is_of_a_correction(row: Row[Any]) -> bool:
    """Whether only a correction takes such a step: the first of an award of its own, or the one that takes it back."""
    return row.step == AwardStep.REVERSED or (row.correction and row.step in FIRST_STEPS)


CHECKS: tuple[Callable[[RoundDocuments, Jackpot], Found], ...] = (corrections_are_of_acts, corrections_are_as_due)
