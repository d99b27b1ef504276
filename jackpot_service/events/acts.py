"""Events of acts: a jackpot's life, money moved by hand, awards, statements, corrected rounds, rates."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import select, text

from jackpot_service.database.models import TableRow
from jackpot_service.database.transactions import Session
from jackpot_service.domain.entries import REFERENCE_BOOK
from jackpot_service.domain.facts import without_hashes
from jackpot_service.domain.journal import EntryKind
from jackpot_service.events.awards import AwardEvent, AwardName, Unplaced
from jackpot_service.events.event import Data, EventType, Payload, Total, totals
from jackpot_service.records.acts import RecordedAct
from jackpot_service.usecases.changes.registry import KINDS

# In the order of `RecordedAct`; looked up by their seqs, as entries of rounds are by their keys.
_ACTS = text(
    """
    SELECT a.seq, e.kind, e.principal, e.received_at, e.booked_at, a.request_id, a.decides, a.subject, a.jackpot_id,
           a.reason, a.request, a.before, a.after, a.effects
    FROM unnest(CAST(:seqs AS bigint[])) AS k (seq)
    CROSS JOIN LATERAL (SELECT o.* FROM acts o WHERE o.seq = k.seq LIMIT 1) AS a
    CROSS JOIN LATERAL (
        SELECT o.kind, o.principal, o.received_at, o.booked_at
        FROM entries o
        WHERE o.jackpot_id = :book AND o.stripe_no = 0 AND o.seq = k.seq
        LIMIT 1
    ) AS e
    """
)

_INTERNAL: Final = frozenset({"positions", "round_key"})
"""The facts that acts record for `verify` alone."""


@dataclass(frozen=True, slots=True)
class _Act:
    """An act; the base currencies of jackpots, and the casinos of the tables that it names alone."""

    recorded: RecordedAct
    bases: Mapping[str, str]
    casinos: Mapping[str, str]

    @property
    def people(self) -> Data:
        """The principal and reason, for the house: the act's place in the audit trail, and the request behind it."""
        act = self.recorded
        return {
            "seq": act.seq,
            "principal": act.principal,
            "reason": act.reason,
            "request_id": act.request_id,
            "decides": act.decides,
        }

    def payload(self, type_: EventType, data: Data, *, subject: str | None = None) -> Payload:
        """Make the payload of an event of the act."""
        return Payload(type_, subject or self.recorded.subject, data, self.people)

    def jackpot_and_currency(self, jackpot_id: str | None = None) -> dict[str, Any]:
        """The jackpot that the act is about, unless another is named, and its base currency."""
        jackpot_id = jackpot_id or self.recorded.jackpot_id or ""
        return {"jackpot_id": jackpot_id, "currency": self.bases[jackpot_id]}


def recorded(session: Session, seqs: Collection[int]) -> Mapping[int, RecordedAct]:
    """Read acts, by their seqs."""
    rows = session.execute(_ACTS, {"book": REFERENCE_BOOK, "seqs": list(seqs)}) if seqs else ()
    acts = (RecordedAct(*row) for row in rows)
    return {act.seq: act for act in acts}


def casinos_of(session: Session, acts: Iterable[RecordedAct]) -> Mapping[str, str]:
    """Read the casinos of the tables whose rounds were corrected: those acts do not name them."""
    tables = {act.after["table_id"] for act in acts if act.kind == EntryKind.ROUND_CORRECTED}
    if not tables:
        return {}
    question = select(TableRow.table_id, TableRow.casino_id).where(TableRow.table_id.in_(tables))
    return dict(session.execute(question).all())


def events_of(act: RecordedAct, *, bases: Mapping[str, str], casinos: Mapping[str, str]) -> list[Unplaced]:
    """Return an act's events; none if it left everything as it was, as suspending a suspended jackpot does."""
    return _BUILDERS[EntryKind(act.kind)](_Act(act, bases, casinos))


def _plainly(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """The facts that an act recorded, without internal ones; a version of the rules as two members."""
    shown = {name: value for name, value in without_hashes(recorded).items() if name not in _INTERNAL}
    if "rules" in shown:
        rules = shown.pop("rules")
        shown |= {"rules_version": rules["version"], "rules": rules["document"]}
    return shown


def _about_a_jackpot(type_: EventType) -> Callable[[_Act], list[Unplaced]]:
    def build(act: _Act) -> list[Unplaced]:
        data = {**act.jackpot_and_currency(), **_plainly(act.recorded.after)}
        return [act.payload(type_, data)] if act.recorded.effects else []

    return build


def _opened(act: _Act) -> list[Unplaced]:
    recorded = _plainly(act.recorded.after)
    cycle = recorded.pop("opened_cycle")["cycle"]
    del recorded["base"]
    return [act.payload(EventType.OPENED, {**act.jackpot_and_currency(), **recorded, "cycle": cycle})]


def _retired(act: _Act) -> list[Unplaced]:
    """Two jackpots: the one that ends, and the one that its players' money goes to."""
    _, received = act.recorded.effects
    data = {**act.jackpot_and_currency(received["book"]), **_plainly(received["recorded"])}
    subject = f"jackpot {received['book']}"
    return [
        *_about_a_jackpot(EventType.RETIRED)(act),
        act.payload(EventType.TRANSFER_RECEIVED, data, subject=subject),
    ]


def _reference(type_: EventType) -> Callable[[_Act], list[Unplaced]]:
    return lambda act: [act.payload(type_, _plainly(act.recorded.after))]


def _rates(act: _Act) -> list[Unplaced]:
    recorded = act.recorded.after
    rates = [{"currency": code, "rate": rate, "exponent": exponent} for code, rate, exponent in recorded["rates"]]
    data = {**recorded, "rates": rates, "source": recorded.get("source")}
    return [act.payload(EventType.RATES_PUBLISHED, data)]


def _awards(type_: EventType) -> Callable[[_Act], list[Unplaced]]:
    """A step that awards of one round took: an event for each, with what the act says of it and of all."""

    def build(act: _Act) -> list[Unplaced]:
        recorded = act.recorded.after
        of_all = {name: recorded[name] for name in ("payment", "reverses", "forfeiture") if name in recorded}
        return [
            AwardEvent(type_, _name(recorded["round"], award), {**_accounts(award), **of_all}, act.people)
            for award in recorded["awards"]
        ]

    return build


def _name(round_: Mapping[str, Any], award: Mapping[str, Any]) -> AwardName:
    return AwardName(round_["jackpot_id"], round_["round_key"], award["bet_id"], award["tier"], award["correction"])


def _accounts(award: Mapping[str, Any]) -> dict[str, Any]:
    """Where the money of a rejected award went, or that of a reinstated one came from: amounts by account."""
    return {name: award[name] for name in ("returned_to", "taken_from") if name in award}


def _compensated(act: _Act) -> list[Unplaced]:
    recorded = dict(act.recorded.after)
    round_ = _plainly(recorded.pop("round"))
    cost = recorded.pop("cost")
    data = {**round_, "cost_base": cost, **recorded, "base_currency": act.bases[round_["jackpot_id"]]}
    return [act.payload(EventType.ROUND_COMPENSATED, data)]


def _about_a_round(type_: EventType) -> Callable[[_Act], list[Unplaced]]:
    """All that was recorded of a round, and the round's ids."""

    def build(act: _Act) -> list[Unplaced]:
        recorded = dict(act.recorded.after)
        return [act.payload(type_, {**_plainly(recorded.pop("round")), **recorded})]

    return build


def _corrected(act: _Act) -> list[Unplaced]:
    recorded = act.recorded.after
    jackpot_id = act.jackpot_and_currency()["jackpot_id"]
    data = {
        **act.jackpot_and_currency(),
        "table_id": recorded["table_id"],
        "round_id": recorded["round_id"],
        "casino_id": act.casinos[recorded["table_id"]],
        "correction": recorded["number"],
        "cycle": recorded["cycle"],
        "meter": recorded["meter"],
        "total_stake_base": recorded["weight"],
        "awards": _sums(recorded["awards"]),
        "reversed": _sums(recorded["reversed"]),
        "refunded_bet_ids": recorded["refunds"],
        "charged_to": recorded["charged_to"],
        "house_seed": recorded["house_seed"],
        "meter_after": recorded["meter_after"],
        "reserve_after": recorded["reserve_after"],
        "prize_fund_after": recorded["prize_fund_after"],
    }
    round_ = {"jackpot_id": jackpot_id, "round_key": recorded["round_key"]}
    return [
        act.payload(EventType.ROUND_CORRECTED, data),
        *(AwardEvent(EventType.AWARD_MADE, _name(round_, award), {}, act.people) for award in recorded["awards"]),
        *(AwardEvent(EventType.AWARD_REVERSED, _name(round_, award), {}, act.people) for award in recorded["reversed"]),
    ]


def _sums(awards: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return totals((Total(award["currency"], award["amount_minor"], 1) for award in awards), counted="awards")


_BUILDERS: Final[Mapping[EntryKind, Callable[[_Act], list[Unplaced]]]] = {
    **{act: _about_a_jackpot(EventType(kind.acts[act])) for kind in KINDS.values() for act in kind.acts},
    EntryKind.JACKPOT_OPENED: _opened,
    EntryKind.JACKPOT_SUSPENDED: _about_a_jackpot(EventType.SUSPENDED),
    EntryKind.JACKPOT_RESUMED: _about_a_jackpot(EventType.RESUMED),
    EntryKind.JACKPOT_RETIRED: _retired,
    EntryKind.AWARDS_APPROVED: _awards(EventType.AWARD_APPROVED),
    EntryKind.AWARDS_REJECTED: _awards(EventType.AWARD_REJECTED),
    EntryKind.AWARDS_REINSTATED: _awards(EventType.AWARD_REINSTATED),
    EntryKind.AWARD_STOPPED: _awards(EventType.AWARD_STOPPED),
    EntryKind.EVIDENCE_RECORDED: _about_a_round(EventType.EVIDENCE_RECORDED),
    EntryKind.AWARDS_RELEASED: _awards(EventType.AWARD_RELEASED),
    EntryKind.AWARD_FORFEITED: _awards(EventType.AWARD_FORFEITED),
    EntryKind.AWARD_PAID: _awards(EventType.AWARD_PAID),
    EntryKind.PAYMENT_REVERSED: _awards(EventType.PAYMENT_REVERSED),
    EntryKind.COMPENSATION: _compensated,
    EntryKind.COMPENSATION_DECLINED: _about_a_round(EventType.COMPENSATION_DECLINED),
    EntryKind.ROUND_CORRECTED: _corrected,
    EntryKind.STATEMENT_SETTLED: _reference(EventType.STATEMENT_SETTLED),
    EntryKind.RATES_PUBLISHED: _rates,
    EntryKind.CHANGE_POLICY_CHANGED: _reference(EventType.CHANGE_POLICY_CHANGED),
    EntryKind.WITHHOLDING_CHANGED: _reference(EventType.WITHHOLDING_CHANGED),
    EntryKind.CASINO_CLAIMS_CHANGED: _reference(EventType.CASINO_CLAIMS_CHANGED),
    EntryKind.CASINO_ADDED: _reference(EventType.CASINO_ADDED),
    EntryKind.TABLE_ADDED: _reference(EventType.TABLE_ADDED),
}
"""The event builder of each kind of act that is notified; of most kinds of change the event says what was recorded."""
