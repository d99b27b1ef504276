"""A change of a jackpot's rules: a new version, which waits until the running jackpot is won."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jackpot_service.database.transactions import Session
from jackpot_service.domain import currencies, life_facts
from jackpot_service.domain.changes import ChangeKind
from jackpot_service.domain.journal import EntryKind
from jackpot_service.domain.rule_changes import changed
from jackpot_service.domain.settings import require_payable_stakes
from jackpot_service.records import pinned, references
from jackpot_service.usecases import jackpot_acts
from jackpot_service.usecases.acts import Act
from jackpot_service.usecases.changes.kinds import Applied, Kind, Subject
from jackpot_service.usecases.changes.payloads import Payload


@dataclass(frozen=True, slots=True)
class RulesChange:
    """Which parameters of which jackpot get which values; None takes an optional one away."""

    jackpot_id: str
    settings: Mapping[str, str | None]


def read(values: Mapping[str, Any]) -> RulesChange:
    """Read `{"jackpot_id", "settings": {name: text or null}}`. Raises: BadPayload."""
    payload = Payload(values)
    change = RulesChange(
        jackpot_id=payload.identifier("jackpot_id"),
        settings=payload.mapping("settings", _setting, what="settings by name, each a text, or null to take it away"),
    )
    payload.end()
    return change


def _setting(value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError
    return value


def version(session: Session, change: RulesChange) -> str:
    """Name the newest version, pending or not: settings change that one. Raises: UnknownJackpot."""
    references.require_base(session, change.jackpot_id)
    return str(references.last_rules_version(session, change.jackpot_id))


def apply(session: Session, act: Act, change: RulesChange) -> Applied:
    """
    Write the new version. It is no cycle's until the next hit, which holds all stripes as this does.

    Raises: UnknownJackpot, JackpotRetired, UnknownSetting, UnknownCurrency, BadRules.
    """
    jackpot = jackpot_acts.hold_unretired(session, change.jackpot_id)
    newest = references.last_rules_version(session, change.jackpot_id)
    before = pinned.rules(session, change.jackpot_id, newest)
    after = changed(before, change.settings, on_offer=jackpot.books.pools.on_offer(jackpot.rules.limit))
    require_payable_stakes(after, exponent=currencies.tender(after.base, on=act.now.date()).exponent)
    positions = jackpot.books.positions
    references.add_rules(session, change.jackpot_id, newest + 1, after, entry_seq=positions[0] + 1)
    old = life_facts.of_rules(newest, before)
    new = life_facts.of_rules_change(newest + 1, after, positions=positions)
    effect = jackpot_acts.do(session, act, jackpot, EntryKind.RULES_CHANGED, before=old, recorded=new)
    return Applied(old, new, (effect,))


KIND = Kind(
    name=ChangeKind.RULES,
    read=read,
    subject=lambda change: Subject(f"rules of jackpot {change.jackpot_id}", change.jackpot_id),
    version=version,
    apply=apply,
)
