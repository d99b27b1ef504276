"""Events about awards: which awards a settlement made, and what an event says of each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from jackpot_service.database.each_jackpot import by_jackpot, rows_of_each
from jackpot_service.database.transactions import Session
from jackpot_service.domain.awards import AwardStep, first_step
from jackpot_service.domain.money import plain
from jackpot_service.events.event import Data, EventType, Payload

# Rows are looked up by their keys. OFFSET keeps it so: without statistics the planner thinks that settlements made few
# of the awards, and would go through all of them for each round.
_OF_SETTLEMENTS = """
    SELECT a.*
    FROM unnest(%(round_keys)s::bigint[]) AS k (round_key)
    CROSS JOIN LATERAL (
        SELECT o.jackpot_id, o.round_key, o.bet_id, o.tier, o.correction
        FROM awards o
        WHERE o.jackpot_id = %(book)s AND o.round_key = k.round_key AND o.correction = 0
        OFFSET 0  -- Each by its key: before an analysis the planner would go through all awards.
    ) AS a
    ORDER BY a.bet_id COLLATE "C", a.tier COLLATE "C"
"""

_NAMED = """
    SELECT a.jackpot_id, a.round_key, a.bet_id, a.tier, a.correction, r.*, a.award_id, b.*,
           a.amount_minor, a.currency, a.cost, a.funded_by, a.steps
    FROM unnest(%(round_keys)s::bigint[], %(bet_ids)s::text[], %(tiers)s::text[], %(corrections)s::int[])
         AS k (round_key, bet_id, tier, correction)
    CROSS JOIN LATERAL (
        SELECT o.*, ARRAY(SELECT s.step FROM award_steps s
                          WHERE s.jackpot_id = %(book)s AND s.round_key = o.round_key AND s.bet_id = o.bet_id
                            AND s.tier = o.tier AND s.correction = o.correction) AS steps
        FROM awards o
        WHERE o.jackpot_id = %(book)s AND o.round_key = k.round_key AND o.bet_id = k.bet_id AND o.tier = k.tier
          AND o.correction = k.correction
        LIMIT 1
    ) AS a
    CROSS JOIN LATERAL (
        SELECT o.table_id, o.round_id, o.casino_id
        FROM rounds o
        WHERE o.jackpot_id = %(book)s AND o.round_key BETWEEN k.round_key AND k.round_key
        ORDER BY o.round_key
        LIMIT 1
    ) AS r
    CROSS JOIN LATERAL (
        SELECT o.player_id, o.hand
        FROM bets o
        WHERE o.jackpot_id = %(book)s AND o.round_key = k.round_key AND o.bet_id = k.bet_id
        LIMIT 1
    ) AS b
"""


class AwardName(NamedTuple):
    """An award as the books know it; `correction` numbers the verdict that made it, 0 for the settlement."""

    book: str
    round_key: int
    bet_id: str
    tier: str
    correction: int


@dataclass(frozen=True, slots=True)
class AwardEvent:
    """An event about one award, which is read only if a page has room for it; `more` is what the event adds."""

    type: EventType
    name: AwardName
    more: Mapping[str, Any] = field(default_factory=dict)
    act: Data | None = None


Unplaced = Payload | AwardEvent
"""One event of an entry, in the order of their numbers."""


def awards_of_settlements(
    session: Session, rounds: Iterable[tuple[str, int]]
) -> Mapping[tuple[str, int], list[AwardName]]:
    """Name the awards that settlements made, by book and round key."""
    by_round: dict[tuple[str, int], list[AwardName]] = {key: [] for key in sorted(rounds)}
    questions = (
        {"book": book, "round_keys": [round_key for _, round_key in keys]}
        for book, keys in by_jackpot(by_round, itemgetter(0)).items()
    )
    for row in rows_of_each(session, _OF_SETTLEMENTS, questions):
        name = AwardName(*row)
        by_round[name.book, name.round_key].append(name)
    return by_round


def payloads(
    session: Session, events: Sequence[AwardEvent], *, currencies: Mapping[str, str]
) -> Mapping[AwardName, Data]:
    """Read what events say of their awards, each as it was made; `currencies` are the base currencies of jackpots."""
    questions = [
        {
            "book": book,
            "round_keys": [name.round_key for name in names],
            "bet_ids": [name.bet_id for name in names],
            "tiers": [name.tier for name in names],
            "corrections": [name.correction for name in names],
        }
        for book, names in by_jackpot((event.name for event in events), attrgetter("book")).items()
    ]
    rows = map(_Named._make, rows_of_each(session, _NAMED, questions))
    return {AwardName(*row[:5]): _data(row, currency=currencies[row.jackpot_id]) for row in rows}


class _Named(NamedTuple):
    """A row of `_NAMED`."""

    jackpot_id: str
    round_key: int
    bet_id: str
    tier: str
    correction: int
    table_id: str
    round_id: str
    casino_id: str
    award_id: str
    player_id: str
    hand: str
    amount_minor: int
    currency: str
    cost: Decimal
    funded_by: str
    steps: Sequence[str]


def _data(row: _Named, *, currency: str) -> Data:
    return {
        "award_id": row.award_id,
        "jackpot_id": row.jackpot_id,
        "table_id": row.table_id,
        "round_id": row.round_id,
        "casino_id": row.casino_id,
        "correction": row.correction,
        "bet_id": row.bet_id,
        "player_id": row.player_id,
        "hand": row.hand,
        "tier": row.tier,
        "amount_minor": row.amount_minor,
        "currency": row.currency,
        "cost_base": plain(row.cost),
        "base_currency": currency,
        "funded_by": row.funded_by,
        "state": first_step([*map(AwardStep, row.steps)]).value,
    }


def payload_of(event: AwardEvent, award: Data) -> Payload:
    """Return an event's payload; only that of an award that was made says in which state it began."""
    stated = {name: value for name, value in award.items() if name != "state" or event.type is EventType.AWARD_MADE}
    return Payload(event.type, f"award {award['award_id']}", {**stated, **event.more}, event.act)
