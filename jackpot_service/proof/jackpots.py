"""A jackpot's rules, sheets, cycles, tables and status over time, and whether they are as its acts say."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from operator import or_
from typing import Any

from sqlalchemy import select

from jackpot_service.database.models import RulesVersionRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain import facts, posting_rules
from jackpot_service.domain.accounts import METER_HOUSE
from jackpot_service.domain.bets import Bet
from jackpot_service.domain.contributions import Contributed, Contributions, sum_stakes
from jackpot_service.domain.entries import Entry
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.lives import Life
from jackpot_service.domain.money import RateSheet
from jackpot_service.domain.rounds import Round
from jackpot_service.domain.rules import JackpotRules, as_document, from_document
from jackpot_service.ledger import digests, replay
from jackpot_service.ledger.mismatches import Code, Found, Mismatch
from jackpot_service.ledger.replay import BookedCycle, BookedEntry, BookedStripe
from jackpot_service.ledger.verification import Verified
from jackpot_service.proof import table_limits
from jackpot_service.proof.decoding import UNDERIVABLE, is_written_alike
from jackpot_service.proof.positions import PoolsByPosition
from jackpot_service.proof.references import RecordedEffect, References
from jackpot_service.proof.table_limits import LimitsChange

LIFE_AFTER: Mapping[str, Life] = {
    EntryKind.JACKPOT_SUSPENDED: Life.SUSPENDED,
    EntryKind.JACKPOT_RESUMED: Life.OPEN,
    EntryKind.JACKPOT_RETIRED: Life.RETIRED,
}
"""The status in which each kind of entry leaves its jackpot."""


@dataclass(frozen=True, slots=True)
class StatusChange:
    """A status of a jackpot from an entry on stripe 0 on: entries beyond its positions came after it."""

    seq: int
    life: Life
    positions: tuple[int, ...]

    def is_before(self, entry: BookedEntry) -> bool:
        """Whether the status changed before an entry was booked. A stripe that it does not name was added later."""
        number = entry.stripe_no
        return (self.positions[number] if number < len(self.positions) else 0) < entry.seq


def status_changes_of(effects: Mapping[int, RecordedEffect]) -> tuple[StatusChange, ...]:
    """Read from the acts how a jackpot's status changed, in the order of stripe 0."""
    return tuple(
        StatusChange(seq, LIFE_AFTER[effect.kind], effect.positions)
        for seq, effect in sorted(effects.items())
        if effect.kind in LIFE_AFTER and effect.positions is not None
    )


def life_before(changes: Sequence[StatusChange], seq: int) -> Life:
    """Where a jackpot stood right before an entry of its stripe 0."""
    return next((change.life for change in reversed(changes) if change.seq < seq), Life.OPEN)


def stripes_follow(book: str, stripes: Sequence[BookedStripe], changes: Sequence[StatusChange]) -> Found:
    """Every stripe takes bets, or none does, as the last change of status says."""
    is_open = not changes or changes[-1].life is Life.OPEN
    for stripe in stripes:
        if stripe.accepting is not is_open:
            detail = "takes no bets, by no entry" if is_open else f"takes bets, the jackpot is {changes[-1].life}"
            yield Mismatch(Code.STRIPE_ACCEPTING, book, f"stripe {stripe.stripe_no}", detail)


@dataclass(frozen=True)
class Jackpot:
    """
    A jackpot's data, for the checks of its entries. `documents` are the rules versions as stored, whatever they say.

    `rules` lacks a version that cannot be read; `rules_seqs` are the entries, on stripe 0, that recorded the versions.
    `limit_rows` are the limits of tables as stored, `limits_changes` as acts recorded them. `corrections` are the
    entries that corrected settled rounds, by the key that each recorded, if it did; `outside` are all entries of no
    round.
    """

    jackpot_id: str
    references: References
    stripes: tuple[BookedStripe, ...]
    cycles: tuple[BookedCycle, ...]
    documents: Mapping[int, Any]
    rules: Mapping[int, JackpotRules]
    pools: PoolsByPosition
    effects: Mapping[int, RecordedEffect]
    rules_seqs: Mapping[int, int]
    status_changes: tuple[StatusChange, ...]
    limit_rows: table_limits.Rows
    limits_changes: tuple[LimitsChange, ...]
    corrections: Mapping[int | None, Sequence[BookedEntry]]
    outside: Sequence[BookedEntry]

    @property
    def base(self) -> str:
        """The jackpot's base currency."""
        return self.references.jackpots[self.jackpot_id]

    def sheet(self, number: int) -> RateSheet:
        """Raises: KeyError if there is none of this number."""
        return self.references.sheets[self.base, number]

    def contributed(self, bets: Iterable[Bet], round_: Round) -> Contributed:
        """Figure what a round's bets contributed. Raises: KeyError without its rules or its sheet; NoRate."""
        stakes = sum_stakes((currency, stake_minor) for _, _, _, currency, stake_minor, _ in bets)
        rules, sheet = self.rules[round_.rules_version], self.sheet(round_.rate_sheet)
        return self._contributions.of(stakes, round_, rules=rules, sheet=sheet)

    @cached_property
    def _contributions(self) -> Contributions:
        return Contributions()

    def cycle_at(self, entry: BookedEntry) -> BookedCycle:
        """
        Find the cycle that ran when an entry was booked; that of the entry which opened a cycle is the one before.

        Raises: LookupError if no cycle had begun.
        """
        for cycle in reversed(self.cycles):
            if cycle.seq_on(entry.stripe_no) < entry.seq:
                return cycle
        message = "no cycle had begun"
        raise LookupError(message)

    def versions_by(self, entry: BookedEntry) -> frozenset[int]:
        """The rules versions of the cycles that had begun when an entry was booked. Raises: LookupError if none had."""
        return self._versions_by_cycle[self.cycle_at(entry).cycle]

    @cached_property
    def _versions_by_cycle(self) -> Mapping[int, frozenset[int]]:
        """The rules versions of each cycle and those before it; cycles are in the order of their numbers."""
        versions = accumulate((frozenset({cycle.rules_version}) for cycle in self.cycles), or_)
        return {cycle.cycle: so_far for cycle, so_far in zip(self.cycles, versions, strict=True)}

    @cached_property
    def cycles_by_number(self) -> Mapping[int, BookedCycle]:
        """The cycles by their numbers."""
        return {cycle.cycle: cycle for cycle in self.cycles}

    @cached_property
    def ends(self) -> Mapping[int, int]:
        """The seq of the last entry on each stripe."""
        return {stripe.stripe_no: stripe.seq for stripe in self.stripes}

    def recorded_at(self, entry: BookedEntry) -> Mapping[str, Any] | None:
        """The facts of an entry of no round, by the act that booked it; None if no act did."""
        effect = self.effects.get(entry.seq) if entry.stripe_no == 0 else None
        return None if effect is None else effect.recorded

    def corrected_since(self, since: Verified) -> Iterator[int]:
        """The keys of the rounds that were corrected after the jackpot was verified."""
        for key, entries in self.corrections.items():
            if key is not None and entries[-1].seq > since.seq_on(0):
                yield key

    def stripes_at(self, seq: int) -> int:
        """Count the stripes that there were when stripe 0 stood at a seq."""
        return sum(stripe.added_by <= seq for stripe in self.stripes)

    def opened_by(self, entry: BookedEntry) -> BookedCycle | None:
        """The cycle that an entry opened, if it opened one."""
        return self._cycles_by_opening.get((entry.stripe_no, entry.seq))

    @cached_property
    def _cycles_by_opening(self) -> Mapping[tuple[int, int], BookedCycle]:
        """The cycles by stripe and seq of the entry that opened them; the first, where several name the same."""
        return {(cycle.stripe_no, cycle.seq): cycle for cycle in reversed(self.cycles)}


def read(
    session: Session, jackpot_id: str, references: References, since: Verified, fresh: Sequence[BookedEntry]
) -> Jackpot:
    """
    Read a jackpot's documents as they are now, past every cache.

    `fresh` are its entries of no round that came since it was verified. Those before are read as far as acts name them.
    """
    named = [seq for seq in references.index_of(jackpot_id).effects if seq <= since.seq_on(0)]
    before = replay.entries_at(session, jackpot_id, 0, named)
    outside = [*(entry for entry in before if entry.round_key is None), *fresh]
    rows = session.execute(
        select(RulesVersionRow.version, RulesVersionRow.document, RulesVersionRow.entry_seq)
        .where(RulesVersionRow.jackpot_id == jackpot_id)
        .order_by(RulesVersionRow.version)
    ).all()
    documents = {row.version: row.document for row in rows}
    rules_seqs = {row.version: row.entry_seq for row in rows}
    rules = {}
    for version, document in documents.items():
        try:
            rules[version] = from_document(document)
        except UNDERIVABLE:  # `rules_are_readable` names it.
            continue
    stripes, cycles = replay.stripes(session, jackpot_id), replay.cycles(session, jackpot_id)
    effects = references.index_of(jackpot_id).effects
    status_changes = status_changes_of(effects)
    corrected = _corrections(outside, effects)
    return Jackpot(
        jackpot_id,
        references,
        stripes,
        cycles,
        documents,
        rules,
        PoolsByPosition(session, jackpot_id, since),
        effects,
        rules_seqs,
        status_changes,
        table_limits.rows_of(session, jackpot_id),
        table_limits.changes_of(effects),
        corrected,
        outside,
    )


def _corrections(
    outside: Sequence[BookedEntry], effects: Mapping[int, RecordedEffect]
) -> dict[int | None, list[BookedEntry]]:
    by_round: dict[int | None, list[BookedEntry]] = {}
    for entry in outside:
        effect = effects.get(entry.seq)
        if effect is not None and (entry.stripe_no, effect.kind) == (0, EntryKind.ROUND_CORRECTED):
            key = effect.recorded.get("round_key")
            by_round.setdefault(key if type(key) is int else None, []).append(entry)
    return by_round


def check(jackpot: Jackpot, entries: Sequence[BookedEntry]) -> Found:
    """Check a jackpot's opening and its documents; `entries` are those that belong to no round."""
    yield from rules_are_readable(jackpot)
    yield from rules_were_recorded(jackpot)
    yield from cycles_began_under_the_newest_rules(jackpot)
    yield from stripes_follow(jackpot.jackpot_id, jackpot.stripes, jackpot.status_changes)
    yield from table_limits.check(jackpot.jackpot_id, jackpot.limit_rows, jackpot.stripes, jackpot.effects)
    yield from entries_are_effects_of_acts(jackpot, entries)
    additions = [entry for entry in entries if entry.stripe_no == 0 and entry.kind == EntryKind.STRIPES_ADDED]
    yield from stripes_were_added(jackpot, additions)
    opening = next((entry for entry in entries if (entry.stripe_no, entry.seq) == (0, 1)), None)
    if opening is None or opening.kind != EntryKind.JACKPOT_OPENED:
        yield Mismatch(Code.JACKPOT_OPENING, jackpot.jackpot_id, "stripe 0, seq 1", "does not open the jackpot")
    elif 1 in jackpot.rules:
        yield from opening_is_as_recorded(jackpot, opening, jackpot.rules[1])


def entries_are_effects_of_acts(jackpot: Jackpot, entries: Sequence[BookedEntry]) -> Found:
    """Each entry of no round was booked by an act, which says what it recorded; each such saying has its entry."""
    effects = jackpot.effects
    for entry in entries:
        effect = effects.get(entry.seq) if entry.stripe_no == 0 else None
        is_opening = entry.kind == EntryKind.JACKPOT_OPENED
        if effect is None or effect.kind != entry.kind or is_opening is not (entry.seq == 1):
            detail = f"a {entry.kind} that no act booked"
            yield Mismatch(Code.ENTRY_KIND, jackpot.jackpot_id, entry.place, detail)
        elif digests.digest_of_booked(_entry(entry, effect), entry.content) != entry.digest:
            detail = f"{entry.kind}: act {effect.act} says that it recorded something else"
            yield Mismatch(Code.ENTRY_DIGEST, jackpot.jackpot_id, entry.place, detail)
        elif entry.principal != (actor := jackpot.references.acts[effect.act].principal):
            detail = f"{entry.kind} by {entry.principal}, its act {effect.act} is of {actor}"
            yield Mismatch(Code.ACT_PRINCIPAL, jackpot.jackpot_id, entry.place, detail)
    for seq in sorted(effects.keys() - {entry.seq for entry in entries if entry.stripe_no == 0}):
        detail = f"act {effects[seq].act} says that it booked a {effects[seq].kind} there"
        yield Mismatch(Code.ACT_EFFECTS, jackpot.jackpot_id, f"stripe 0, seq {seq}", detail)


def _entry(entry: BookedEntry, effect: RecordedEffect) -> Entry:
    return Entry(
        book=entry.book,
        kind=EntryKind(entry.kind),
        principal=entry.principal,
        received_at=entry.received_at,
        facts=entry.facts,
        in_rows=facts.facts_of_entry_of_act(act=effect.act, recorded=effect.recorded),
        postings=entry.postings(),
    )


def rules_are_readable(jackpot: Jackpot) -> Found:
    """Every version says what rules say and nothing else, in the jackpot's base."""
    for version, document in jackpot.documents.items():
        place = f"rules version {version}"
        rules = jackpot.rules.get(version)
        if rules is None or not is_written_alike(as_document(rules), document):
            yield Mismatch(Code.RULES_DOCUMENT, jackpot.jackpot_id, place, f"says {document}")
        elif rules.base != jackpot.base:
            detail = f"in {rules.base}, the jackpot's base is {jackpot.base}"
            yield Mismatch(Code.JACKPOT_BASE, jackpot.jackpot_id, place, detail)


def rules_were_recorded(jackpot: Jackpot) -> Found:
    """Each version was recorded as it is: the first by the jackpot's opening, the others by an entry of their own."""
    for version, document in jackpot.documents.items():
        place, seq = f"rules version {version}", jackpot.rules_seqs[version]
        effect = jackpot.effects.get(seq)
        kind = EntryKind.JACKPOT_OPENED if version == 1 else EntryKind.RULES_CHANGED
        if effect is None or effect.kind != kind or (seq == 1) is not (version == 1):
            detail = f"there is no {kind} at stripe 0, seq {seq}"
            yield Mismatch(Code.DOCUMENT_WITHOUT_ENTRY, jackpot.jackpot_id, place, detail)
        elif version > 1 and not is_written_alike(
            effect.recorded.get("rules"), {"version": version, "document": document}
        ):
            yield Mismatch(Code.ENTRY_DIGEST, jackpot.jackpot_id, place, f"is not as stripe 0, seq {seq} recorded it")
    for seq, effect in jackpot.effects.items():
        if effect.kind == EntryKind.RULES_CHANGED and seq not in jackpot.rules_seqs.values():
            detail = "the rules version that it recorded is not there"
            yield Mismatch(Code.ENTRY_DIGEST, jackpot.jackpot_id, f"stripe 0, seq {seq}", detail)


def cycles_began_under_the_newest_rules(jackpot: Jackpot) -> Found:
    """Every cycle was opened under the newest version that stood, on stripe 0, before its cut."""
    for cycle in jackpot.cycles:
        place = f"cycle {cycle.cycle}"
        expected = max((version for version, seq in jackpot.rules_seqs.items() if seq <= cycle.seq_on(0)), default=None)
        if cycle.rules_version not in jackpot.documents:
            detail = f"there is no rules version {cycle.rules_version}"
            yield Mismatch(Code.RULES_MISSING, jackpot.jackpot_id, place, detail)
        elif cycle.rules_version != expected:
            detail = f"opened under rules version {cycle.rules_version}, the newest was {expected}"
            yield Mismatch(Code.CYCLE_RULES, jackpot.jackpot_id, place, detail)


def stripes_were_added(jackpot: Jackpot, additions: Sequence[BookedEntry]) -> Found:
    """Every stripe came with the opening or by an entry that recorded it, and such an entry booked nothing else."""
    adding = {1, *(entry.seq for entry in additions)}
    for stripe in jackpot.stripes:
        if stripe.added_by not in adding:
            detail = f"was added by no entry: there is none at stripe 0, seq {stripe.added_by}"
            yield Mismatch(Code.STRIPE_ADDITION, jackpot.jackpot_id, f"stripe {stripe.stripe_no}", detail)
    for entry in additions:
        expected = facts.facts_of_stripes(
            stripe.stripe_no for stripe in jackpot.stripes if stripe.added_by == entry.seq
        )
        if jackpot.recorded_at(entry) != expected:
            yield Mismatch(Code.ENTRY_DIGEST, jackpot.jackpot_id, entry.place, "the stripes that it added")
        if entry.lines:
            yield Mismatch(Code.ENTRY_POSTINGS, jackpot.jackpot_id, entry.place, "booked money with new stripes")


def opening_is_as_recorded(jackpot: Jackpot, entry: BookedEntry, rules: JackpotRules) -> Found:
    """The opening recorded the first rules version, seeded the base amount, and opened the first cycle."""
    first = jackpot.opened_by(entry)
    if first is None or (first.cycle, first.rules_version, first.cut) != (1, 1, (1,)):
        yield Mismatch(Code.JACKPOT_OPENING, jackpot.jackpot_id, entry.place, f"opened {first}")
    base_amount = entry.pools().meter_house
    seed = posting_rules.for_seed(base_amount, base=jackpot.base)
    if entry.lines != replay.lines_of(seed):
        detail = f"a base amount in {METER_HOUSE} and nothing else was to be booked"
        yield Mismatch(Code.ENTRY_POSTINGS, jackpot.jackpot_id, entry.place, detail)
    if jackpot.recorded_at(entry) != facts.facts_of_jackpot(jackpot.jackpot_id, rules, base_amount=base_amount):
        yield Mismatch(Code.ENTRY_DIGEST, jackpot.jackpot_id, entry.place, "the jackpot's opening")
