"""
Payout tiers: from which amount awards are held, and what has to be there before they are payable.

A tier names how many people approve, which evidence they need, and whom to notify. An award reaches every tier whose
amount it costs at least and whose prizes it is one of; what those ask for is asked for together.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final, Protocol

from jackpot_service.domain.counting import counted
from jackpot_service.domain.errors import Conflict
from jackpot_service.domain.money import plain
from jackpot_service.domain.prizes import Tier

MOST_APPROVALS: Final = 3
MOST_TIERS: Final = 20
MOST_NOTIFIED: Final = 20


class Evidence(StrEnum):
    """The evidence that a payout tier may ask for, each recorded by a person."""

    SURVEILLANCE = "surveillance"
    """The reference of the recording."""
    CARDS_CHECKED = "cards-checked"
    TABLE_CHECKED = "table-checked"
    WITNESS = "witness"


@dataclass(frozen=True, slots=True)
class PayoutTier:
    """
    From which cost on an award is held, in the base currency; of which prizes, or of all if none is named.

    `approvals` people approve it besides the one who requests that, once each kind of `evidence` was recorded.
    `notify` names the desks or people whom somebody notifies; the ledger itself sends nothing.
    """

    from_amount: Decimal
    approvals: int = 1
    prizes: tuple[Tier, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    notify: tuple[str, ...] = ()

    def is_reached(self, tier: str, cost: Decimal) -> bool:
        """Whether an award of a prize, at its cost in the base currency, reaches this tier."""
        return cost >= self.from_amount and (not self.prizes or tier in self.prizes)

    def in_words(self, base: str) -> str:
        """Say it for a report: `from 0 EUR, royal flush: 1 approval, surveillance, cards checked`."""
        prizes = "".join(f", {prize.value.replace('_', ' ')}" for prize in self.prizes)
        evidence = "".join(f", {kind.value.replace('-', ' ')}" for kind in self.evidence)
        return f"from {plain(self.from_amount)} {base}{prizes}: {counted(self.approvals, 'approval')}{evidence}"


@dataclass(frozen=True, slots=True)
class Requirement:
    """The demands before awards are payable: how many approvals and which evidence. Also whom to notify."""

    approvals: int
    evidence: tuple[Evidence, ...]
    notify: tuple[str, ...]


class Costly(Protocol):
    """An award of a prize, at its cost in the base currency."""

    @property
    def tier(self) -> str: ...  # noqa: D102
    @property
    def cost(self) -> Decimal: ...  # noqa: D102


class EvidenceMissing(Conflict, code="evidence-missing", title="Evidence is missing"):
    """The payout tier of an award asks for evidence that nobody has recorded."""


def is_any_reached(tiers: Sequence[PayoutTier], awards: Iterable[Costly]) -> bool:
    """Whether any of the awards reaches a tier: then all that their pool pays are held."""
    return any(tier.is_reached(award.tier, award.cost) for award in awards for tier in tiers)


def requirement_of(tiers: Sequence[PayoutTier], awards: Iterable[Costly]) -> Requirement:
    """Put together what the tiers ask for that any of the awards reaches: at least one approval."""
    costs = [(award.tier, award.cost) for award in awards]
    reached = [tier for tier in tiers if any(tier.is_reached(*cost) for cost in costs)]
    return Requirement(
        approvals=max((tier.approvals for tier in reached), default=1),
        evidence=tuple(kind for kind in Evidence if any(kind in tier.evidence for tier in reached)),
        notify=tuple(sorted({name for tier in reached for name in tier.notify})),
    )


def missing_evidence(requirement: Requirement, recorded: Collection[Evidence]) -> tuple[Evidence, ...]:
    """Return the kinds of evidence that are asked for and were not recorded."""
    return tuple(kind for kind in requirement.evidence if kind not in recorded)


def met_requirement(
    tiers: Sequence[PayoutTier], awards: Iterable[Costly], recorded: Collection[Evidence], *, subject: str
) -> Requirement:
    """Return what the tiers ask for that the awards reach. Raises: EvidenceMissing, which names all that is missing."""
    requirement = requirement_of(tiers, awards)
    missing = missing_evidence(requirement, recorded)
    if missing:
        named = [kind.value for kind in missing]
        message = f"The awards of {subject} need evidence before they are payable: {', '.join(named)}."
        raise EvidenceMissing(message, missing=named)
    return requirement


def as_document(tier: PayoutTier) -> dict[str, Any]:
    """Write a tier as a rules version holds it."""
    return {
        "from": plain(tier.from_amount),
        "prizes": [prize.value for prize in tier.prizes],
        "approvals": tier.approvals,
        "evidence": [kind.value for kind in tier.evidence],
        "notify": list(tier.notify),
    }


def from_document(document: Mapping[str, Any]) -> PayoutTier:
    """Read a tier back from `as_document`."""
    return PayoutTier(
        from_amount=Decimal(document["from"]),
        approvals=document["approvals"],
        prizes=tuple(map(Tier, document["prizes"])),
        evidence=tuple(map(Evidence, document["evidence"])),
        notify=tuple(document["notify"]),
    )
