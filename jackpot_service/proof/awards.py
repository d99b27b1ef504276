"""Whether awards took the steps that acts say, and decisions about them moved the money that was due."""

from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import Row

from jackpot_service.database.transactions import Session
from jackpot_service.domain import held_awards
from jackpot_service.domain.accounts import AWARDS_HELD
from jackpot_service.domain.awards import FIRST_STEPS, AwardState, AwardStep, is_a_life, state_by_steps
from jackpot_service.domain.entries import Attribution
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.figures import figures_of_decision
from jackpot_service.domain.held_awards import AwardKey, Decision, MadeAward
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.money import ZERO, plain
from jackpot_service.ledger import replay
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedEntry
from jackpot_service.ledger.verification import NOTHING, Verified
from jackpot_service.proof import (
    acts,
    claims,
    corrections,
    documents,
    figures,
    manual_payments,
    payments,
    payout_tiers,
    people,
    slips,
)
from jackpot_service.proof.documents import RoundDocuments
from jackpot_service.proof.jackpots import Jackpot
from jackpot_service.proof.settlements import positions_are_right
from jackpot_service.usecases.acts import Done
from jackpot_service.usecases.changes.held_awards import DecideAwards, RoundAwards, Running

STEP_OF: Final[Mapping[str, AwardStep]] = {
    EntryKind.AWARDS_APPROVED: AwardStep.APPROVED,
    EntryKind.AWARDS_REJECTED: AwardStep.REJECTED,
    EntryKind.AWARDS_REINSTATED: AwardStep.REINSTATED,
    EntryKind.AWARD_STOPPED: AwardStep.STOPPED,
    EntryKind.AWARDS_RELEASED: AwardStep.RELEASED,
    EntryKind.AWARD_FORFEITED: AwardStep.FORFEITED,
}
"""The step that awards take by each kind of act."""

GIVE_NOTHING: Final = frozenset({EntryKind.AWARDS_REJECTED, EntryKind.AWARD_STOPPED, EntryKind.AWARD_FORFEITED})
"""The acts on awards by which no player gets money."""

PAGE = 1000
"""Of so many acts the rounds are looked for at a time."""

DECISION_OF: Final = {decision.step: decision for decision in Decision}


class HeldMoney:
    """The balance of `awards:held` by the entries, to be compared with the awards that are held."""

    def __init__(self, since: Verified = NOTHING) -> None:
        self._since = since
        self.booked = since.held
        self.expected = ZERO

    @property
    def left(self) -> Decimal:
        """The amount booked for rounds of which no notice was taken yet."""
        return self.booked - self.expected

    def note(self, entry: BookedEntry) -> None:
        """Take notice of an entry, in any order."""
        for account, _, amount, _ in entry.lines:
            if account == AWARDS_HELD and replay.is_exact(amount):
                self.booked += amount

    def expect(self, amount: Decimal) -> None:
        """Take notice of awards that cost so much."""
        self.expected += amount

    def add(self, round_: RoundDocuments) -> None:
        """Take notice of a round's awards; of a round that was verified before, of what changed since."""
        if round_.has_bets_alone:
            return  # As of most rounds: neither awards nor steps of any.
        steps = _steps(round_)
        self.expected += _held(round_, steps)
        if round_.round.round_key <= self._since.last_round_key:
            then = {key: [row for row in rows if self._was_taken(row, round_)] for key, rows in steps.items()}
            self.expected -= _held(round_, then)

    def _was_taken(self, step: Row[Any], round_: RoundDocuments) -> bool:
        if step.act_seq is not None:
            return bool(step.act_seq <= self._since.acts)
        settled = [entry for entry in round_.entries if entry.kind == EntryKind.RESULT]
        return any(entry.seq <= self._since.seq_on(entry.stripe_no) for entry in settled)

    def check(self, book: str) -> Found:
        """The amount held is the cost of the held awards."""
        if self.booked != self.expected:
            detail = f"holds {plain(self.booked)}, the awards that are held cost {plain(self.expected)}"
            yield Mismatch(Code.HELD_BALANCE, book, AWARDS_HELD, detail)


def _held(round_: RoundDocuments, steps: Mapping[AwardKey, Sequence[Row[Any]]]) -> Decimal:
    """The cost of the round's awards that stand as held after these steps."""
    held = (row for row in round_.of("awards") if _is_held(steps.get(_key(row), ())))
    return sum((row.cost for row in held if replay.is_exact(row.cost)), ZERO)


def _is_held(steps: Sequence[Row[Any]]) -> bool:
    """Whether an award stands as held; it does not after a step that is none, which the checks of its round name."""
    try:
        return _stands(steps, AwardState.HELD)
    except ValueError:
        return False


def _stands(rows: Sequence[Row[Any]], state: AwardState) -> bool:
    return bool(rows) and state_by_steps([AwardStep(row.step) for row in rows]) is state


def _key(row: Row[Any]) -> AwardKey:
    return row.bet_id, row.tier, row.correction


def _stood_before(act: Row[Any], steps: Sequence[Row[Any]]) -> AwardState | None:
    """Where an award stood by its steps before an act; None where it had taken none."""
    before = [AwardStep(row.step) for row in steps if row.act_seq is None or row.act_seq < act.seq]
    return state_by_steps(before) if before else None


def _steps(round_: RoundDocuments) -> defaultdict[AwardKey, list[Row[Any]]]:
    by_award: defaultdict[AwardKey, list[Row[Any]]] = defaultdict(list)
    for row in round_.of("award_steps"):
        by_award[_key(row)].append(row)
    return by_award


class ActsOnRounds:
    """
    The acts on awards and cancelled rounds of a jackpot, by round key.

    `entries` are those of no round. Of the acts only key and seq are kept, 16 bytes each.
    """

    def __init__(self, jackpot: Jackpot, entries: Sequence[BookedEntry]) -> None:
        self._jackpot = jackpot
        self._entries = {entry.seq: entry for entry in entries if entry.stripe_no == 0}
        index = jackpot.references.index_of(jackpot.jackpot_id)
        order = sorted(range(len(index.seqs)), key=index.round_keys.__getitem__)
        self._keys = array("q", map(index.round_keys.__getitem__, order))
        self._seqs = array("q", map(index.seqs.__getitem__, order))
        self._strays = index.strays

    def have_their_rounds(self, session: Session) -> Found:
        """No act is about a round that is not there."""
        missing = list(self._strays)
        for start in range(0, len(self._keys), PAGE):
            keys, seqs = self._keys[start : start + PAGE], self._seqs[start : start + PAGE]
            there = documents.keys_there(session, self._jackpot.jackpot_id, set(keys))
            missing += (seq for key, seq in zip(keys, seqs, strict=True) if key not in there)
        for seq in sorted(missing):
            detail = f"a {self._jackpot.references.acts[seq].kind} of a round that is not there"
            yield Mismatch(Code.ACT_RECORD, self._jackpot.jackpot_id, f"act {seq}", detail)

    def rounds_since(self, seq: int) -> set[int]:
        """The keys of the rounds that an act after this one is about."""
        return {key for key, act_seq in zip(self._keys, self._seqs, strict=True) if act_seq > seq}

    def _about(self, key: int) -> list[Row[Any]]:
        first, end = bisect_left(self._keys, key), bisect_right(self._keys, key)
        acts = self._jackpot.references.acts
        return [acts[seq] for seq in self._seqs[first:end]]

    def check(self, round_: RoundDocuments) -> Found:
        """The round's awards took the steps that its acts say; those acts, and its compensations, are as due."""
        key = round_.round.round_key
        rows = self._about(key)
        if round_.has_bets_alone and not rows and key not in self._jackpot.corrections:
            # As of most rounds: no act is about it, and neither an award is there nor what acts write of one.
            self._jackpot.sheet(round_.round.rate_sheet)  # It has to be there all the same.
            return
        on_awards = [row for row in rows if row.kind in STEP_OF]
        yield from lives_are_possible(round_)
        yield from payout_tiers.evidence_is_of_its_round(round_, self._jackpot)
        yield from steps_were_taken_by_acts(round_, on_awards)
        for row in on_awards:
            yield from self._step_is_due(row, round_)
        paid = [row for row in rows if row.kind in figures.OF_PAYMENTS]
        made = {award.key: award for award in _made(round_)}
        yield from payments.are_due(paid, made, round_, self._jackpot, self._entries)
        printed = [row for row in rows if row.kind == EntryKind.SLIP_PRINTED]
        yield from slips.are_due(printed, made, round_, self._jackpot)
        granted = [row for row in rows if row.kind == EntryKind.COMPENSATION]
        declined = [row for row in rows if row.kind == EntryKind.COMPENSATION_DECLINED]
        corrected = corrections.acts_on(round_, self._jackpot)
        released = [row for row in on_awards if row.kind not in GIVE_NOTHING]
        yield from people.nobody_released_what_an_own_key_won(
            [*released, *paid, *granted, *corrected], round_, self._jackpot.references
        )
        yield from manual_payments.compensations_are_due(granted, round_, self._jackpot, self._entries)
        yield from manual_payments.declines_are_due(declined, round_, self._jackpot, self._entries)

    def _step_is_due(self, row: Row[Any], round_: RoundDocuments) -> Found:
        book, step = self._jackpot.jackpot_id, STEP_OF[row.kind]
        if step is AwardStep.STOPPED:
            yield from self._stop_is_due(row, round_)
            return
        if step is AwardStep.FORFEITED:
            yield from claims.forfeiture_is_due(row, _made(round_), round_, self._jackpot, self._entries)
            return
        running = None
        if step is AwardStep.REINSTATED:
            yield from self._reinstatement_was_possible(row, round_)
            running = self._running(row, round_)
        done = self._decided(row, round_, running)
        yield from payout_tiers.enough_approve(row, done.recorded, self._jackpot)
        yield from acts.says(row, done.recorded, book)
        yield from acts.booked(row, done, book, self._entries)

    def _stop_is_due(self, row: Row[Any], round_: RoundDocuments) -> Found:
        """It shows one award, and its entry moves no money."""
        made = {award.key: award for award in _made(round_)}
        [award] = [made[key] for key in _named_by(row)]
        made_on, sheet = corrections.booked_on(round_, self._jackpot), self._jackpot.sheet(round_.round.rate_sheet)
        paid_minor = payments.paid_before(row.seq, round_)[award.key]
        rest = held_awards.rest_of(award, paid_minor=paid_minor, sheet=sheet)
        yield from payments.something_was_left(row, award, round_)
        done = Done(
            EntryKind.AWARD_STOPPED,
            {},
            held_awards.facts_of_step(round_.round, AwardStep.STOPPED, [award]),
            figures=figures_of_decision(AwardStep.STOPPED, [rest], made_on=made_on),
            attributed_to=Attribution.of(round_.round),
        )
        yield from acts.says(row, done.recorded, self._jackpot.jackpot_id)
        yield from acts.booked(row, done, self._jackpot.jackpot_id, self._entries)

    def _decided(self, row: Row[Any], round_: RoundDocuments, running: Running | None) -> Done:
        """Decide again, of the bets that were asked for, from where awards stood; what is refused makes nothing due."""
        request = self._jackpot.references.change_requests.get(row.decides)
        # A decision that nobody asked for is found by `changes`.
        bet_ids = [key[0] for key in _named_by(row)] if request is None else request.payload.get("bets")
        steps = _steps(round_)
        awards = [(award, _stood_before(row, steps.get(award.key, ()))) for award in _made(round_)]
        settled = next(entry for entry in round_.entries if entry.kind == EntryKind.RESULT).postings()
        sheet, made_on = self._jackpot.sheet(round_.round.rate_sheet), corrections.booked_on(round_, self._jackpot)
        state = RoundAwards(
            round_.round,
            sheet,
            awards,
            settled,
            made_on,
            tiers=payout_tiers.tiers_of(round_, self._jackpot),
            evidence=payout_tiers.evidence_before(row, round_, self._jackpot, after=self._rejected_by(row, round_)),
            paid_minor=payments.paid_before(row.seq, round_),
            running=running,
        )
        stated_round = round_.round
        named = {
            "jackpot_id": stated_round.jackpot_id,
            "table_id": stated_round.table_id,
            "round_id": stated_round.round_id,
        }
        try:
            decision = DECISION_OF[STEP_OF[row.kind]]
            return DecideAwards(**named, decision=decision, bet_ids=bet_ids or ()).decide(state)
        except Conflict as refusal:
            return Done(EntryKind(row.kind), {}, {"refused": refusal.detail})

    def _rejected_by(self, row: Row[Any], round_: RoundDocuments) -> int:
        """The last act that rejected what an act reinstates: evidence from before counts no more."""
        named = set(_named_by(row))
        rejections = [step for step in round_.of("award_steps") if step.step == AwardStep.REJECTED]
        return max((step.act_seq for step in rejections if _key(step) in named), default=0)

    def _reinstatement_was_possible(self, row: Row[Any], round_: RoundDocuments) -> Found:
        jackpot, entry = self._jackpot, self._entries[row.effects[0]["seq"]]
        running = jackpot.cycle_at(entry)
        yield from positions_are_right(row.after["positions"], running, entry, jackpot, names_all=True)
        if any(other.seq < entry.seq for other in jackpot.corrections.get(round_.round.round_key, ())):
            detail = f"a {row.kind} after the round was corrected"
            yield Mismatch(Code.ACT_RECORD, jackpot.jackpot_id, f"act {row.seq}", detail)

    def _running(self, row: Row[Any], round_: RoundDocuments) -> Running:
        """The state a reinstatement saw: it pays from where the rejections returned the money, or a meter won since."""
        jackpot, positions = self._jackpot, row.after["positions"]
        running = jackpot.cycle_at(self._entries[row.effects[0]["seq"]])
        returned_before = self._returned_before(running.seq_on(0), round_)
        rules = jackpot.rules[running.rules_version]
        return Running(jackpot.pools.at(positions), positions, rules, returned_before, is_corrected=False)

    def _returned_before(self, cut: int, round_: RoundDocuments) -> set[AwardKey]:
        """The round's awards whose rejection was booked on stripe 0 before a cycle began there."""
        rejections = [row for row in round_.of("award_steps") if row.step == AwardStep.REJECTED]
        by_act = self._jackpot.references.acts
        return {_key(row) for row in rejections if by_act[row.act_seq].effects[0]["seq"] <= cut}


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
    expected = {
        (*key, STEP_OF[row.kind].value, row.received_at, row.seq) for row in on_awards for key in _named_by(row)
    }
    stored = {
        (row.bet_id, row.tier, row.correction, row.step, row.taken_at, row.act_seq)
        for row in round_.of("award_steps")
        if row.act_seq is not None and not corrections.is_of_a_correction(row)
    }
    for bet_id, tier, _, step, _, act_seq in sorted(expected ^ stored, key=str):
        detail = f"bet {bet_id}, {tier}: {step} is missing, or act {act_seq} did not take it, or not then"
        yield Mismatch(Code.AWARD_STEPS, round_.round.jackpot_id, round_.place, detail)


def _named_by(row: Row[Any]) -> list[AwardKey]:
    """The awards that an act names. Raises: KeyError, TypeError where it does not say it as such an act does."""
    return [(award["bet_id"], award["tier"], award["correction"]) for award in row.after["awards"]]


def _made(round_: RoundDocuments) -> list[MadeAward]:
    return [
        MadeAward(row.bet_id, row.tier, row.amount_minor, row.currency, row.cost, row.funded_by, row.correction)
        for row in round_.of("awards")
    ]
