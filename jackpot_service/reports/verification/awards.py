"""Whether awards took the steps that acts say, and decisions and compensations moved the money that was due."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Row

from jackpot_service.domain import award_facts, held_awards, posting_rules
from jackpot_service.domain.accounts import AWARDS_HELD
from jackpot_service.domain.awards import FIRST_STEPS, AwardState, AwardStep, is_a_life, state_of
from jackpot_service.domain.held_awards import AwardKey, MadeAward
from jackpot_service.domain.journal import EntryKind, Postings
from jackpot_service.domain.money import EXACT, ZERO, plain
from jackpot_service.domain.rounds import RoundState
from jackpot_service.ledger import replay
from jackpot_service.ledger.mismatches import Code, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.reports.verification import acts, corrections
from jackpot_service.reports.verification.documents import RoundDocuments
from jackpot_service.reports.verification.jackpots import Jackpot

Found = Iterator[Mismatch]

STEP_OF: Final[Mapping[str, AwardStep]] = {
    EntryKind.AWARDS_APPROVED: AwardStep.APPROVED,
    EntryKind.AWARDS_REJECTED: AwardStep.REJECTED,
    EntryKind.AWARD_PAID: AwardStep.PAID,
}
"""The step that awards take by each kind of act."""

OF_ROUNDS: Final = frozenset({*STEP_OF, EntryKind.COMPENSATION})
"""The kinds of act that are about one round."""


class HeldMoney:
    """What `awards:held` holds by the entries, to be compared with the awards that are held."""

    def __init__(self) -> None:
        self.booked = ZERO
        self.due = ZERO

    def note(self, entry: BookedEntry) -> None:
        """Take notice of an entry, in any order."""
        for account, _, amount, _ in entry.lines:
            if account == AWARDS_HELD and replay.is_exact(amount):
                self.booked = EXACT.add(self.booked, amount)

    def add(self, round_: RoundDocuments) -> None:
        """Take notice of a round's awards."""
        steps = _steps(round_)
        for row in round_.of("awards"):
            if replay.is_exact(row.cost) and _is_held(steps[row.bet_id, row.tier, row.correction]):
                self.due = EXACT.add(self.due, row.cost)

    def check(self, book: str) -> Found:
        """What is held is what the held awards cost."""
        if self.booked != self.due:
            detail = f"holds {plain(self.booked)}, the awards that are held cost {plain(self.due)}"
            yield Mismatch(Code.HELD_BALANCE, book, AWARDS_HELD, detail)


def _is_held(rows: Sequence[Row[Any]]) -> bool:
    return bool(rows) and state_of([AwardStep(row.step) for row in rows]) is AwardState.HELD


def _is_before(step: Row[Any], act: Row[Any]) -> bool:
    return step.act_seq is None or step.act_seq < act.seq


def _steps(round_: RoundDocuments) -> defaultdict[AwardKey, list[Row[Any]]]:
    found: defaultdict[AwardKey, list[Row[Any]]] = defaultdict(list)
    for row in round_.of("award_steps"):
        found[row.bet_id, row.tier, row.correction].append(row)
    return found


class ActsOnRounds:
    """
    The acts on awards and cancelled rounds of a jackpot, by round key; each round takes its own out.

    `entries` are those of no round.
    """

    def __init__(self, jackpot: Jackpot, entries: Sequence[BookedEntry]) -> None:
        self._jackpot = jackpot
        self._entries = {entry.seq: entry for entry in entries if entry.stripe_no == 0}
        self._acts: defaultdict[object, list[Row[Any]]] = defaultdict(list)
        for row in jackpot.references.acts.values():
            if row.kind in OF_ROUNDS and _round_of(row).get("jackpot_id") == jackpot.jackpot_id:
                self._acts[_round_of(row).get("round_key")].append(row)

    def check(self, round_: RoundDocuments) -> Found:
        """The round's awards took the steps that its acts say; those acts, and its compensations, are as due."""
        rows = self._acts.pop(round_.round.round_key, [])
        on_awards = [row for row in rows if row.kind in STEP_OF]
        yield from lives_are_possible(round_)
        yield from steps_were_taken_by_acts(round_, on_awards)
        for row in on_awards:
            yield from self._step_is_due(row, round_)
        yield from self._compensations_are_due([row for row in rows if row.kind == EntryKind.COMPENSATION], round_)

    def rest(self) -> Found:
        """No act is about a round that is not there."""
        book = self._jackpot.jackpot_id
        for row in (row for rows in self._acts.values() for row in rows):
            yield Mismatch(Code.ACT_RECORD, book, f"act {row.seq}", f"a {row.kind} of a round that is not there")

    def _step_is_due(self, row: Row[Any], round_: RoundDocuments) -> Found:
        book, step = self._jackpot.jackpot_id, STEP_OF[row.kind]
        made = {award.key: award for award in _made(round_)}
        awards = [made[key] for key in self._due_to(row, round_)]
        if step is AwardStep.PAID:
            told = {**award_facts.of_step(round_.round, step, awards), "payment": row.after.get("payment")}
            yield from acts.says(row, told, book)
        elif step is AwardStep.APPROVED:
            sheet = self._jackpot.sheet(round_.round.rate_sheet)
            yield from acts.says(row, award_facts.of_step(round_.round, step, awards), book)
            due = held_awards.approval(awards, casino_id=round_.round.casino_id, sheet=sheet)
            yield from acts.booked(row, due, book, self._entries)
        else:
            settled = [award for award in made.values() if not award.correction]
            origin = held_awards.origins(settled, _booked_by_settlement(round_))
            yield from acts.says(row, award_facts.of_step(round_.round, step, awards, origin=origin), book)
            due = held_awards.rejection(awards, origin, base=self._jackpot.base)
            yield from acts.booked(row, due, book, self._entries)

    def _due_to(self, row: Row[Any], round_: RoundDocuments) -> list[AwardKey]:
        """The awards that an act takes a step with: of a decision, those that were held, of the bets asked for."""
        request = self._jackpot.references.change_requests.get(row.decides)
        if request is None:  # A payment, or a decision that nobody asked for, which `changes` finds.
            return _named_by(row)
        asked = request.payload.get("bets")
        return [
            key
            for key, steps in _steps(round_).items()
            if (asked is None or key[0] in asked) and _is_held([step for step in steps if _is_before(step, row)])
        ]

    def _compensations_are_due(self, rows: Sequence[Row[Any]], round_: RoundDocuments) -> Found:
        book, by_seq = self._jackpot.jackpot_id, {row.seq: row for row in rows}
        live = {(one.bet.bet_id, one.bet.player_id) for one in round_.bets if not one.is_void}
        sheet = self._jackpot.sheet(round_.round.rate_sheet)
        for given in round_.of("compensations"):
            act = by_seq.pop(given.act_seq, None)
            if act is None:
                detail = f"compensation of bet {given.bet_id}: act {given.act_seq} did not give it"
                yield Mismatch(Code.DOCUMENT_WITHOUT_ENTRY, book, round_.place, detail)
                continue
            if round_.round.state is not RoundState.CANCELLED or (given.bet_id, given.player_id) not in live:
                detail = f"{given.bet_id} of {given.player_id} was compensated; the round is {round_.round.state}"
                yield Mismatch(Code.COMPENSATION_ROUND, book, round_.place, detail)
            due = award_facts.of_compensation(
                round_.round,
                bet_id=given.bet_id,
                player_id=given.player_id,
                amount_minor=given.amount_minor,
                currency=given.currency,
                cost=given.cost,
                document=given.document,
            )
            yield from acts.says(act, due, book)
            postings = posting_rules.for_compensation(
                given.amount_minor, given.currency, casino_id=round_.round.casino_id, sheet=sheet
            )
            yield from acts.booked(act, postings, book, self._entries)
            if given.cost != sheet.base_value(given.amount_minor, given.currency):
                detail = f"compensation of bet {given.bet_id} cost {plain(given.cost)}, by another rate"
                yield Mismatch(Code.COMPENSATION_ROUND, book, round_.place, detail)
        for seq in by_seq:
            detail = f"act {seq} gave a compensation that is not there"
            yield Mismatch(Code.DOCUMENT_WITHOUT_ENTRY, book, round_.place, detail)


def lives_are_possible(round_: RoundDocuments) -> Found:
    """The steps of each award can follow one another; of a settlement's, the first alone was taken by no act."""
    for (bet_id, tier, correction), rows in _steps(round_).items():
        by_settlement = [AwardStep(row.step) for row in rows if row.act_seq is None]
        taken = [AwardStep(row.step) for row in rows]
        begun = not by_settlement if correction else len(by_settlement) == 1 and by_settlement[0] in FIRST_STEPS
        if not is_a_life(taken) or not begun:
            detail = f"bet {bet_id}, {tier}: took {', '.join(taken)}; by its settlement {', '.join(by_settlement)}"
            yield Mismatch(Code.AWARD_STEPS, round_.round.jackpot_id, round_.place, detail)


def steps_were_taken_by_acts(round_: RoundDocuments, on_awards: Sequence[Row[Any]]) -> Found:
    """Every step but the first was taken by an act that says so, when its request came in; see also `corrections`."""
    due = {(*key, STEP_OF[row.kind].value, row.received_at, row.seq) for row in on_awards for key in _named_by(row)}
    found = {
        (row.bet_id, row.tier, row.correction, row.step, row.taken_at, row.act_seq)
        for row in round_.of("award_steps")
        if row.act_seq is not None and not corrections.is_of_a_correction(row)
    }
    for bet_id, tier, _, step, _, act_seq in sorted(due ^ found, key=str):
        detail = f"bet {bet_id}, {tier}: {step} is missing, or act {act_seq} did not take it, or not then"
        yield Mismatch(Code.AWARD_STEPS, round_.round.jackpot_id, round_.place, detail)


def _round_of(row: Row[Any]) -> Mapping[str, Any]:
    found = row.after.get("round") if isinstance(row.after, dict) else None
    return found if isinstance(found, dict) else {}


def _named_by(row: Row[Any]) -> list[AwardKey]:
    """The awards that an act names. Raises: KeyError, TypeError where it does not say it as such an act does."""
    return [(award["bet_id"], award["tier"], award["correction"]) for award in row.after["awards"]]


def _made(round_: RoundDocuments) -> list[MadeAward]:
    return [
        MadeAward(row.bet_id, row.tier, row.amount_minor, row.currency, row.cost, row.funded_by, row.correction)
        for row in round_.of("awards")
    ]


def _booked_by_settlement(round_: RoundDocuments) -> Postings:
    return next(entry for entry in round_.entries if entry.kind == EntryKind.RESULT).postings()
