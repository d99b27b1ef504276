"""What acts tell: of a jackpot's life, money moved by hand, awards, statements, rounds judged anew, rates."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from jackpot_service.domain.facts import without_hashes
from jackpot_service.domain.journal import EntryKind
from jackpot_service.events.award_documents import AwardName
from jackpot_service.events.drafts import OfAward, Telling, totals
from jackpot_service.events.event import Data, Draft, EventType
from jackpot_service.events.round_documents import Totals
from jackpot_service.records.acts import RecordedAct
from jackpot_service.usecases.changes.registry import KINDS

_INTERNAL: Final = frozenset({"positions", "round_key"})
"""What acts record for `verify` alone."""


@dataclass(frozen=True, slots=True)
class Told:
    """An act; the base currencies of jackpots, and the casinos of the tables that it names without."""

    act: RecordedAct
    bases: Mapping[str, str]
    casinos: Mapping[str, str]

    @property
    def people(self) -> Data:
        """Who acted and why, for the house: the act's place in the audit trail, and the request behind it."""
        act = self.act
        return {
            "seq": act.seq,
            "principal": act.principal,
            "reason": act.reason,
            "request_id": act.request_id,
            "decides": act.decides,
        }

    def draft(self, type_: EventType, data: Data, *, subject: str | None = None) -> Draft:
        """Draft an event of the act."""
        return Draft(type_, subject or self.act.subject, data, self.people)

    def of_jackpot(self, jackpot_id: str | None = None) -> dict[str, Any]:
        """The jackpot that the act is about, unless another is named, and its base currency."""
        jackpot_id = jackpot_id or self.act.jackpot_id or ""
        return {"jackpot_id": jackpot_id, "currency": self.bases[jackpot_id]}


def tell(act: RecordedAct, *, bases: Mapping[str, str], casinos: Mapping[str, str]) -> list[Telling]:
    """Tell an act; nothing if it left everything as it was, as suspending a suspended jackpot does."""
    return _TELL[EntryKind(act.kind)](Told(act, bases, casinos))


def _plainly(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """What an act recorded, without what is internal; a version of the rules as two members."""
    shown = {name: value for name, value in without_hashes(recorded).items() if name not in _INTERNAL}
    if "rules" in shown:
        rules = shown.pop("rules")
        shown |= {"rules_version": rules["version"], "rules": rules["document"]}
    return shown


def _about_a_jackpot(type_: EventType) -> Callable[[Told], list[Telling]]:
    def told(told: Told) -> list[Telling]:
        data = {**told.of_jackpot(), **_plainly(told.act.after)}
        return [told.draft(type_, data)] if told.act.effects else []

    return told


def _opened(told: Told) -> list[Telling]:
    recorded = _plainly(told.act.after)
    cycle = recorded.pop("opened_cycle")["cycle"]
    del recorded["base"]
    return [told.draft(EventType.OPENED, {**told.of_jackpot(), **recorded, "cycle": cycle})]


def _retired(told: Told) -> list[Telling]:
    """Two jackpots: the one that ends, and the one that its players' money goes to."""
    _, received = told.act.effects
    data = {**told.of_jackpot(received["book"]), **_plainly(received["recorded"])}
    subject = f"jackpot {received['book']}"
    return [
        *_about_a_jackpot(EventType.RETIRED)(told),
        told.draft(EventType.TRANSFER_RECEIVED, data, subject=subject),
    ]


def _reference(type_: EventType) -> Callable[[Told], list[Telling]]:
    return lambda told: [told.draft(type_, _plainly(told.act.after))]


def _rates(told: Told) -> list[Telling]:
    recorded = told.act.after
    rates = [{"currency": code, "rate": rate, "exponent": exponent} for code, rate, exponent in recorded["rates"]]
    data = {**recorded, "rates": rates, "source": recorded.get("source")}
    return [told.draft(EventType.RATES_PUBLISHED, data)]


def _awards(type_: EventType) -> Callable[[Told], list[Telling]]:
    """A step that awards of one round took: an event for each, with what the act says of it and of all."""

    def told(told: Told) -> list[Telling]:
        recorded = told.act.after
        of_all = {"payment": recorded["payment"]} if "payment" in recorded else {}
        return [
            OfAward(type_, _name(recorded["round"], award), {**_accounts(award), **of_all}, told.people)
            for award in recorded["awards"]
        ]

    return told


def _name(round_: Mapping[str, Any], award: Mapping[str, Any]) -> AwardName:
    return AwardName(round_["jackpot_id"], round_["round_key"], award["bet_id"], award["tier"], award["correction"])


def _accounts(award: Mapping[str, Any]) -> dict[str, Any]:
    """Where the money of a rejected award went, or that of a reinstated one came from: amounts by account."""
    return {name: award[name] for name in ("returned_to", "taken_from") if name in award}


def _compensated(told: Told) -> list[Telling]:
    recorded = dict(told.act.after)
    round_ = _plainly(recorded.pop("round"))
    cost = recorded.pop("cost")
    data = {**round_, "cost_base": cost, **recorded, "base_currency": told.bases[round_["jackpot_id"]]}
    return [told.draft(EventType.ROUND_COMPENSATED, data)]


def _corrected(told: Told) -> list[Telling]:
    recorded = told.act.after
    jackpot_id = told.of_jackpot()["jackpot_id"]
    data = {
        **told.of_jackpot(),
        "table_id": recorded["table_id"],
        "round_id": recorded["round_id"],
        "casino_id": told.casinos[recorded["table_id"]],
        "correction": recorded["number"],
        "cycle": recorded["cycle"],
        "meter": recorded["meter"],
        "total_stake_base": recorded["weight"],
        "awards": _sums(recorded["awards"]),
        "reversed": _sums(recorded["reversed"]),
        "refunded_bet_ids": recorded["refunds"],
        "borne": recorded["borne"],
        "house_seed": recorded["house_seed"],
        "meter_after": recorded["meter_after"],
        "reserve_after": recorded["reserve_after"],
        "prize_fund_after": recorded["prize_fund_after"],
    }
    round_ = {"jackpot_id": jackpot_id, "round_key": recorded["round_key"]}
    return [
        told.draft(EventType.ROUND_CORRECTED, data),
        *(OfAward(EventType.AWARD_MADE, _name(round_, award), {}, told.people) for award in recorded["awards"]),
        *(OfAward(EventType.AWARD_REVERSED, _name(round_, award), {}, told.people) for award in recorded["reversed"]),
    ]


def _sums(awards: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    found = Totals()
    for award in awards:
        found.add(award["currency"], award["amount_minor"])
    return totals(found.listed(), counted="awards")


_TELL: Final[Mapping[EntryKind, Callable[[Told], list[Telling]]]] = {
    **{act: _about_a_jackpot(EventType(kind.acts[act])) for kind in KINDS.values() for act in kind.acts},
    EntryKind.JACKPOT_OPENED: _opened,
    EntryKind.JACKPOT_SUSPENDED: _about_a_jackpot(EventType.SUSPENDED),
    EntryKind.JACKPOT_RESUMED: _about_a_jackpot(EventType.RESUMED),
    EntryKind.JACKPOT_RETIRED: _retired,
    EntryKind.AWARDS_APPROVED: _awards(EventType.AWARD_APPROVED),
    EntryKind.AWARDS_REJECTED: _awards(EventType.AWARD_REJECTED),
    EntryKind.AWARDS_REINSTATED: _awards(EventType.AWARD_REINSTATED),
    EntryKind.AWARD_PAID: _awards(EventType.AWARD_PAID),
    EntryKind.COMPENSATION: _compensated,
    EntryKind.ROUND_CORRECTED: _corrected,
    EntryKind.STATEMENT_SETTLED: _reference(EventType.STATEMENT_SETTLED),
    EntryKind.RATES_PUBLISHED: _rates,
    EntryKind.CASINO_ADDED: _reference(EventType.CASINO_ADDED),
    EntryKind.TABLE_ADDED: _reference(EventType.TABLE_ADDED),
}
"""How each kind of act that is told is told; a kind of change that needs no more, by what it recorded."""
