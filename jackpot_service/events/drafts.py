"""What an entry's events are made from: drafts, and awards that are read only if a page has room for them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jackpot_service.domain.money import plain
from jackpot_service.events.award_documents import AwardName, ToldAward
from jackpot_service.events.event import Data, Draft, EventType
from jackpot_service.events.round_documents import Total


@dataclass(frozen=True, slots=True)
class OfAward:
    """An event about one award, to be drafted when the award is read; `more` is what it says besides."""

    type: EventType
    name: AwardName
    more: Mapping[str, Any] = field(default_factory=dict)
    act: Data | None = None


Telling = Draft | OfAward
"""One event of an entry; its number is its place among them."""


def draft_of(telling: OfAward, award: ToldAward, *, currency: str) -> Draft:
    """Draft an event about an award, in a jackpot of a base currency."""
    data = {
        "award_id": award.award_id,
        "jackpot_id": award.name.book,
        "table_id": award.table_id,
        "round_id": award.round_id,
        "casino_id": award.casino_id,
        "correction": award.name.correction,
        "bet_id": award.name.bet_id,
        "player_id": award.player_id,
        "hand": award.hand,
        "tier": award.name.tier,
        "amount_minor": award.amount_minor,
        "currency": award.currency,
        "cost_base": plain(award.cost),
        "base_currency": currency,
        "funded_by": award.funded_by,
    }
    began = {"state": award.began.value} if telling.type is EventType.AWARD_MADE else {}
    return Draft(telling.type, f"award {award.award_id}", {**data, **began, **telling.more}, telling.act)


def totals(found: Iterable[Total], *, counted: str) -> list[dict[str, Any]]:
    """Write sums of money, a currency each; `counted` is what they are sums of."""
    return [{"currency": one.currency, "amount_minor": one.amount_minor, counted: one.how_many} for one in found]
